"""Runs what is written in JavaScript: the packages it needs, its browser, and no process left."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def browser() -> str:
    """The Chromium that the tests drive."""
    return os.environ.get("CHROMIUM") or find(*CHROMIUMS)


def install(folder: Path, after: tuple[str, ...] = ()) -> None:
    """Install the packages that the lock file names, unless they are there already."""
    digest = hashlib.sha256()
    for name in ("package-lock.json", *after[1:]):
        digest.update((folder / name).read_bytes())
    mark = folder / "node_modules" / ".installed"
    if mark.exists() and mark.read_text(encoding="utf-8") == digest.hexdigest():
        return
    run(find("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
    if after:
        run(*after, cwd=folder)
    mark.write_text(digest.hexdigest(), encoding="utf-8")


def find(*names: str) -> str:
    for name in names:
        if found := shutil.which(name):
            return found
    pytest.fail(f"None of {', '.join(names)} is installed; .ci/run installs what the tests need")


def run(*command: str, cwd: Path, env: dict[str, str] | None = None) -> None:
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=420)
        except subprocess.TimeoutExpired:
            # The tests end the editor that they started when they are asked to leave.
            process.terminate()
            output, _ = process.communicate(timeout=30)
            pytest.fail(f"{' '.join(command)} did not end:\n{output}")
    assert process.returncode == 0, f"{' '.join(command)}\n{output}"
