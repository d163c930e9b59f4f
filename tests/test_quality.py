"""Style, types and layers, checked by the command that runs the tests."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .editors.node import find, install, run
from .rows import slow

pytestmark = pytest.mark.real

ROOT = Path(__file__).parent.parent
EXTENSION = ROOT / "editors" / "vscode"
STYLUA = ROOT / "tests" / "editors" / "lua"

CHECKS = {
    "style": ["ruff", "check"],
    "format": ["ruff", "format", "--check"],
    "types": ["mypy"],
    "layers": ["lint-imports", "--no-cache"],
}


@pytest.mark.parametrize("check", CHECKS)
def test_the_sources_pass(check: str) -> None:
    tool, *arguments = CHECKS[check]
    result = subprocess.run(
        [str(Path(sys.executable).parent / tool), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"


@pytest.mark.timeout(900)  # The first run installs the linters.
@pytest.mark.parametrize("check", ["format:check", *slow("lint")])
def test_the_typescript_and_javascript_pass(check: str) -> None:
    install(EXTENSION)
    run(find("npm"), "run", "--silent", check, cwd=EXTENSION)


def test_the_lua_passes(program: Callable[..., str]) -> None:
    run(program("luacheck"), "--quiet", ".", cwd=ROOT)


def test_the_lua_is_formatted() -> None:
    install(STYLUA)
    run(find("npm"), "run", "--silent", "format:check", cwd=STYLUA)
