"""An answer without anything counts what it isn't about, and says how to look there."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from foldline.agent.cli import main
from foldline.agent.folder_operations import call_operation, failure_text
from foldline.agent.folders import Folders
from foldline.backends import BackendError, SmartFileAccess
from foldline.ide.operations import OPERATIONS

IGNORED = (
    "scripts/w.py by 'scripts/*' of .gitignore (the line '!/scripts/w.py' in .ignore shows it)"
)
HERE = f"not looked at: 1 ignored: {IGNORED}"
OTHERS = "1 notebook (lib/n.ipynb), 1 of no known language (1 .nim)"


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "workspace"
    files = {
        ".gitignore": "scripts/*\n",
        "scripts/w.py": "def example_writer():\n    return 1\n",
        "lib/b.py": "def b():\n    return 2\n",
        "lib/other.nim": "proc other\n",
        "lib/data.py": "\0\1",
        "lib/n.ipynb": "{}\n",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    monkeypatch.chdir(root)
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "cache"))
    return root


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("grep example_writer scripts/", HERE),
        ("grep example_writer", f"{HERE}, 1 binary"),
        ("grep example_writer scripts/*.py", "the line '!/scripts/w.py' in .ignore shows it"),
        ("refs example_writer", HERE),
        ("refs example_writer scripts", HERE),
        ("search example_writer", f"{HERE}, {OTHERS}"),
        ("symbol example_writer", f"{HERE}, {OTHERS}"),
        ("definition example_writer", f"{HERE}, {OTHERS}"),
        ("tree scripts", HERE),
        ("outline scripts/w.py", "ask again with --no-ignore"),
    ],
)
def test_a_verb_says_what_it_left_out(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    verb, *words = line.split()
    assert main([verb, *words]) != 0 or verb == "tree"
    assert said in "".join(capsys.readouterr())
    # And there it is found.
    if verb != "outline":
        (Path(".ignore")).write_text("!/scripts/w.py\n")
    assert main([verb, *words, *(["--no-ignore"] if verb == "outline" else [])]) == 0
    out = capsys.readouterr().out
    assert "example_writer" in out or "w.py" in out
    assert "not looked at" not in out


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("grep_in_files", {"pattern": "example_writer", "glob": "scripts/"}, HERE),
        ("find_references", {"name": "example_writer"}, HERE),
        ("search_for_files", {"query": "example_writer"}, f"{HERE}, {OTHERS}"),
        ("read_symbol", {"name": "example_writer"}, f"{HERE}, {OTHERS}"),
        ("get_tree", {"path": "scripts"}, HERE),
        ("get_file_outline", {"path": "scripts/w.py"}, "'!/scripts/w.py' in .ignore shows it"),
        ("read_lines", {"path": "scripts/w.py", "start": 1, "end": 2}, "'!/scripts/w.py' in"),
    ],
)
def test_a_tool_says_what_it_left_out(
    open_folders: Callable[..., Folders],
    root: Path,
    tool: str,
    arguments: dict[str, object],
    said: str,
) -> None:
    [operation] = [one for one in OPERATIONS if one.tool == tool]
    try:
        answer = asyncio.run(call_operation(operation, open_folders(root), arguments)).text
    except BackendError as error:
        answer = failure_text(operation, error, ())
    assert said in answer


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda access: access.grep("example_writer", "scripts").reason, HERE),
        (lambda access: access.find_references("example_writer", seconds=0).reason, HERE),
        (lambda access: access.search_files("example_writer").reason, HERE),
        (lambda access: access.definitions_of("example_writer", seconds=0).one(), HERE),
        (lambda access: access.get_tree("scripts").reason, HERE),
        (lambda access: access.get_outline("scripts/w.py"), "the line '!/scripts/w.py' in .ignore"),
    ],
)
def test_python_is_told_what_is_left_out(
    root: Path, ask: Callable[[SmartFileAccess], object], said: str
) -> None:
    access = SmartFileAccess.for_workspace(root)
    try:
        answer = str(ask(access))
    except BackendError as error:
        answer = str(error)
    access.close()
    assert said in answer


def test_an_answer_with_anything_says_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    for line in ("grep return", "refs b", "search b", "symbol b"):
        assert main(line.split()) == 0
        assert "not looked at" not in "".join(capsys.readouterr())


def test_a_persons_pattern_is_named_before_a_default_of_ours(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "__pycache__").mkdir()
    (root / "lib" / ".gitignore").write_text("*.c\n")
    (root / "lib" / "[a] .c").write_text("")
    assert main(["grep", "nowhere"]) == 1
    said = "2 ignored, such as __pycache__/ by '__pycache__/' of foldline's defaults"
    assert said not in (out := capsys.readouterr().out)
    assert "3 ignored, such as lib/[a] .c by '*.c' of lib/.gitignore" in out
    assert r"the line '!/\[a] .c' in lib/.ignore shows it" in out
