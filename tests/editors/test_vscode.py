"""The packed VS Code extension: its parts alone, and in a real VS Code with the real server.

What is installed from npm stays in `node_modules`, so only the first run is slow. Screenshots of
what a person sees are saved to `tests/editors/screenshots`.
"""

import json
import os
import re
import runpy
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from foldline.ide.config import PromptOptions
from foldline.ide.instructions.files import PATTERNS

from ..rows import slow
from .node import VSCODE as TESTS
from .node import code_server, find, install, run

ROOT = Path(__file__).parent.parent.parent
EXTENSION = ROOT / "editors" / "vscode"
LUA = Path(__file__).parent / "lua"

MAKE_TOOLS = "run editors/vscode/make_tools.py"
_FIELDS = fields(PromptOptions)

# Installing everything takes half a minute on a slow day, a session in the editor as long.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def environment(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the tests run in; the extension is checked, packed and installed by then."""
    python = Path(sys.executable)
    data, extensions = (tmp_path_factory.mktemp(name) for name in ("data", "extensions"))
    environment = {
        **os.environ,
        "CHROMIUM": chromium,
        "CHOSEN_PYTHON": str(python),
        "EXTENSIONS": str(extensions),
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": sys.prefix,
    }
    install(EXTENSION)
    run(find("npm"), "run", "--silent", "package", cwd=EXTENSION)
    code_server(data, extensions, "--install-extension", str(EXTENSION / "foldline.vsix"))
    # Else a window knows no other extension than those that were installed.
    (extensions / "extensions.json").unlink()
    return environment


@pytest.mark.real
@pytest.mark.parametrize(
    "part",
    [
        "launch",
        "grammar",
        *slow("page", "workbench", "untrusted", "controls", "shell", "adopting"),
    ],
)
def test_the_extension_passes(part: str, environment: dict[str, str]) -> None:
    run(
        find("node"),
        "--test-reporter=spec",
        f"{part}.test.mjs",
        cwd=TESTS,
        env=environment,
    )


@pytest.mark.parametrize("folder", [EXTENSION, TESTS, LUA], ids=["extension", "tests", "lua"])
def test_the_lock_file_names_no_place_to_fetch_from(folder: Path) -> None:
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
    assert all("integrity" in package for name, package in lock["packages"].items() if name)


def test_the_settings_are_the_options_of_the_server() -> None:
    """The client sends what somebody set, so that the project decides the rest."""
    manifest = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    settings = manifest["contributes"]["configuration"]["properties"]
    ours = ("foldline.server.", "foldline.preview.", "foldline.code.", "foldline.interpreter")
    options = {
        name.removeprefix("foldline."): setting
        for name, setting in settings.items()
        if not name.startswith(ours)
    }
    defaults = {_camel(field.name): getattr(PromptOptions(), field.name) for field in _FIELDS}
    # A budget of 0 is none.
    assert {name: setting["default"] for name, setting in options.items()} == {
        **defaults,
        "instructions": [],
        "clients": [],
        "tokenBudget": 0,
    }
    assert list(options) == list(defaults)
    assert all(isinstance(setting["type"], str) for setting in settings.values())


@pytest.mark.parametrize(
    "file", ["vscode/src/instructionFiles.ts", "neovim/lua/foldline/instructions.lua"]
)
def test_editors_ask_about_the_instruction_files_that_the_server_knows(file: str) -> None:
    text = (EXTENSION.parent / file).read_text(encoding="utf-8")
    (listed,) = re.findall(r"PATTERNS = [\[{]\n(.*?)\n[\]}]", text, re.DOTALL)
    assert tuple(re.findall(r"'(.*?)'", listed)) == PATTERNS


def test_the_tools_of_agents_are_the_operations() -> None:
    made = runpy.run_path(str(EXTENSION / "make_tools.py"))
    assert made["MANIFEST"].read_text(encoding="utf-8") == made["manifest"](), MAKE_TOOLS
    assert made["COMMANDS"].read_text(encoding="utf-8") == made["commands"](), MAKE_TOOLS


def test_the_types_of_messages_are_those_of_the_server() -> None:
    made = runpy.run_path(str(EXTENSION / "make_messages.py"))
    written = made["MESSAGES"].read_text(encoding="utf-8")
    assert written == made["messages"](), "run editors/vscode/make_messages.py"


def test_the_guide_names_every_command_and_setting() -> None:
    contributes = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))[
        "contributes"
    ]
    guide = (EXTENSION / "README.md").read_text(encoding="utf-8")
    hidden = {"Refresh", "More References"}
    titles = {command["title"] for command in contributes["commands"]} - hidden
    assert [title for title in sorted(titles) if title not in guide] == []
    settings = contributes["configuration"]["properties"]
    assert [name for name in settings if f"| `{name}` |" not in guide] == []


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.title() for other in others)
