"""The GitHub action's scripts, run in a checkout that someone else has written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.real

ACTION = Path(__file__).parents[2] / "action.yml"
# A distribution that needs nothing to be built: its command writes down how it was called.
BACKEND = """
from pathlib import Path
from zipfile import ZipFile

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "foldline-1-py3-none-any.whl"
    info = "Metadata-Version: 2.1\\nName: foldline\\nVersion: 1\\nProvides-Extra: server\\n"
    main = "import json, sys\\ndef main(): print(json.dumps(sys.argv[1:]))\\n"
    with ZipFile(Path(wheel_directory, name), "w") as wheel:
        wheel.writestr("recorded.py", main)
        wheel.writestr("foldline-1.dist-info/METADATA", info)
        wheel.writestr("foldline-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        scripts = "[console_scripts]\\nfoldline = recorded:main\\n"
        wheel.writestr("foldline-1.dist-info/entry_points.txt", scripts)
        wheel.writestr("foldline-1.dist-info/RECORD", "")
    return name
"""
PROJECT = """
[project]
name = "foldline"
version = "1"
optional-dependencies.server = []
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
# Modules that Python, `venv`, `ensurepip` and pip import.
PLANTED = (
    "argparse", "contextlib", "ensurepip", "foldline", "json", "logging", "os", "pathlib", "pip",
    "platform", "re", "runpy", "shutil", "site", "sitecustomize", "ssl", "subprocess", "sysconfig",
    "tempfile", "types", "typing", "usercustomize", "venv", "zipfile",
)  # fmt: skip


def script() -> dict[str, Any]:
    """The one step that runs a script."""
    steps = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]
    (step,) = (step for step in steps if "run" in step)
    assert step["shell"] == "bash"
    assert isinstance(step, dict)
    return step


def run(checkout: Path, paths: str, strict: str = "") -> subprocess.CompletedProcess[str]:
    """Run the script as GitHub does, with a source of ours and no index."""
    temporary, source = checkout.parent / "temporary", checkout.parent / "source"
    for folder, files in ((temporary, {}), (source, {"backend.py": BACKEND})):
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
    (source / "pyproject.toml").write_text(PROJECT)
    given = {
        "PYTHON": sys.executable,
        "SOURCE": str(source),
        "PATHS": paths,
        "FAIL_ON": "error",
        "STRICT": strict,
    }
    step = script()
    assert given.keys() == step["env"].keys()
    file = temporary / "script.sh"
    file.write_text(step["run"])
    bash = shutil.which("bash")
    assert bash is not None
    return subprocess.run(
        [bash, "--noprofile", "--norc", "-e", "-o", "pipefail", str(file)],
        cwd=checkout,
        env=os.environ | given | {"RUNNER_TEMP": str(temporary), "PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder whose files all say if Python runs them."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in PLANTED:
        (folder / f"{name}.py").write_text(f"open({str(folder / 'RAN')!r}, 'a').write({name!r})\n")
    return folder


@pytest.mark.parametrize(
    ("paths", "strict", "checked"),
    [
        pytest.param(".", [], ["."], marks=pytest.mark.slow),
        (
            "prompts  a.py\n\n\t--help $(touch RAN)\n",
            ["--strict"],
            ["prompts", "a.py", "--help", "$(touch", "RAN)"],
        ),
    ],
)
def test_the_action_checks_all_paths_and_runs_nothing_of_the_checkout(
    checkout: Path, paths: str, strict: list[str], checked: list[str]
) -> None:
    done = run(checkout, paths, *strict)
    assert not (checkout / "RAN").exists(), (checkout / "RAN").read_text()
    assert done.returncode == 0, done.stderr
    arguments = ["check", "--format", "github", "--fail-on", "error", *strict, "--", *checked]
    assert yaml.safe_load(done.stdout) == arguments
    assert sorted(path.stem for path in checkout.iterdir()) == sorted(PLANTED)
