"""The tools as functions of the folders: paths, budgets, arguments, schemas."""

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import mcp_types as types
import pytest

from foldline.agent.folder_operations import call_operation
from foldline.agent.folders import Folders, NoFolderError
from foldline.agent.folders import open_folders as folders_of
from foldline.agent.mcp.calls import ONCE, Tools, shortened
from foldline.agent.tools import code_tools
from foldline.backends.errors import (
    AmbiguousSymbolError,
    BackendError,
    InvalidArgumentError,
    MissingPathError,
    NoMatchError,
    OutsideWorkspaceError,
    PathError,
    SymbolError,
)
from foldline.backends.formatting.budget import OUTLINE_BUDGET, REFERENCES_BUDGET, SYMBOL_BUDGET
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations import OPERATIONS, code_find_references
from foldline.ide.operations.reading import taken
from foldline.ide.workspace import AccessOptions, Workspace
from foldline.prompts import ToolContext

TOOLS_LIST_BYTES = 4_600
TOOLS = Tools()

Open = Callable[..., Folders]

CODE = '''"""Adds."""


def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


class Adder:
    def again(self) -> int:
        return add(1, 2)
'''


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "app"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "sums.py").write_text(CODE, encoding="utf-8")
    (root / "notes.txt").write_text("".join(f"line {n}\n" for n in range(1, 2001)))
    (tmp_path / "secret.txt").write_text("secret")
    return root


def ask(folders: Folders, name: str, arguments: Mapping[str, object]) -> str:
    return asyncio.run(call_operation(TOOLS.find(name), folders, arguments)).text


def test_the_schemas_of_all_tools_are_small() -> None:
    wire = [
        tool.model_dump(by_alias=True, exclude_none=True, exclude={"annotations"})
        for tool in TOOLS.listed
    ]
    # As models see them: annotations are for clients.
    assert len(json.dumps(wire, separators=(",", ":")).encode()) < TOOLS_LIST_BYTES
    assert "title" not in json.dumps(wire)


@pytest.mark.parametrize("tool", TOOLS.listed, ids=lambda tool: tool.name)
def test_every_required_argument_is_asked_for_by_name(tool: types.Tool) -> None:
    if required := tool.input_schema["required"]:
        with pytest.raises(ArgumentsError) as caught:
            ask(Folders(()), tool.name, {})
        assert str(caught.value) == "; ".join(f"{name}: is required" for name in required)


def test_a_glob_that_only_one_of_several_folders_has_is_answered_from_that_one(
    open_folders: Open, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.go").write_text("func add() {}\n")
    folders = open_folders(workspace, other)
    found = ask(folders, "grep_in_files", {"pattern": "add", "glob": "*.{go,rs}"})
    assert found.splitlines() == ["1 line in 1 file", "other/a.go", "  1: func add() {}"]
    with pytest.raises(NoMatchError, match="matches no file"):
        ask(folders, "grep_in_files", {"pattern": "add", "glob": "*.rs"})


def test_answers_name_paths_relative_to_the_only_folder(
    open_folders: Open, workspace: Path
) -> None:
    folders = open_folders(workspace)
    assert "pkg/ 1 file" in ask(folders, "get_tree", {})
    assert "pkg/sums.py (python, 11 lines)" in ask(
        folders, "get_file_outline", {"path": "pkg/sums.py"}
    )
    assert "pkg/sums.py:4-6 add" in ask(
        folders, "read_symbol", {"path": str(workspace / "pkg/sums.py"), "name": "add"}
    )
    lines = ask(folders, "read_lines", {"path": "pkg/sums.py", "start": 9, "end": 9})
    assert lines == "pkg/sums.py:9 of 11 lines\nclass Adder:"
    assert "11 call in Adder.again" in ask(folders, "find_references", {"name": "add"})
    callers = ask(folders, "find_references", {"name": "add", "relation": "calls"})
    assert callers.splitlines()[1] == "called by:"
    whole = ask(folders, "read_file", {"path": "pkg/sums.py"})
    assert whole == f"pkg/sums.py:1-11 of 11 lines\n{CODE.rstrip()}"


def test_an_outline_may_be_asked_for_by_the_name_of_a_class(
    open_folders: Open, workspace: Path
) -> None:
    folders = open_folders(workspace)
    by_name = ask(folders, "get_file_outline", {"path": "Adder"})
    asked = {"path": "pkg/sums.py", "query": "Adder"}
    assert by_name == ask(folders, "get_file_outline", asked)
    assert "again(self" in by_name
    assert "def add" not in by_name
    for missing in ("Subtractor", "pkg/sum.py"):
        with pytest.raises(MissingPathError):
            ask(folders, "get_file_outline", {"path": missing})
    (workspace / "more.py").write_text("class Adder:\n    def other(self): ...\n")
    both = ask(folders, "get_file_outline", {"path": "Adder"}).splitlines()
    assert {"more.py", "  2 def other(self)", "pkg/sums.py  # Adds."} < set(both)
    long = "".join(f"    def other_{n}(self, number: int): ...\n" for n in range(400))
    (workspace / "more.py").write_text(f"class Adder:\n{long}")
    with pytest.raises(AmbiguousSymbolError, match=r"more\.py:1 Adder"):
        ask(folders, "get_file_outline", {"path": "Adder"})


@pytest.mark.parametrize(
    ("tool", "given", "meant", "note"),
    [
        (
            "read_lines",
            {"file": "a", "lines": "9-20"},
            {"path": "a", "start": 9, "end": 20},
            "file",
        ),
        ("read_lines", {"path": "a", "start": 20, "end": "9"}, {"start": 9, "end": 20}, ""),
        ("read_lines", {"path": "a:9-20"}, {"path": "a", "start": 9, "end": 20}, ""),
        ("read_lines", {"path": "a", "start": "0", "budget": 9}, {"budget": 100}, "budget 9 taken"),
        ("grep_in_files", {"query": "x", "path": "a"}, {"pattern": "x", "glob": "a"}, "as glob"),
        ("search_for_files", {"query": "x", "budget": 10**9}, {"budget": 100_000}, "as 100000"),
        ("find_references", {"name": "x", "relation": "callers"}, {"relation": "calls"}, ""),
        # It may mean two things, or the right one is there, too.
        ("find_references", {"name": "x", "path": "a"}, {"path": "a"}, ""),
        ("read_symbol", {"name": "x", "symbol": "y"}, {"name": "x", "symbol": "y"}, ""),
        ("read_lines", {"path": "a", "lines": 10}, {"path": "a", "lines": 10}, ""),
    ],
)
def test_an_argument_that_can_only_mean_one_thing_is_taken(
    tool: str, given: dict[str, object], meant: dict[str, object], note: str
) -> None:
    values, notes = taken(TOOLS.find(tool).arguments, given)
    assert meant.items() <= values.items()
    assert note in notes
    assert bool(note) == bool(notes)


def test_an_answer_says_what_was_taken_and_a_scope_limits_any_relation(
    open_folders: Open, workspace: Path
) -> None:
    (workspace / "more.py").write_text("from pkg.sums import add\n\ndef other():\n    add(1, 2)\n")
    folders = open_folders(workspace)
    lines = ask(folders, "read_lines", {"file": "pkg/sums.py", "lines": "9-10"})
    assert lines.splitlines()[-2:] == [
        "    def again(self) -> int:", "(file taken as path; lines taken as start)"
    ]  # fmt: skip
    asked = {"name": "add", "relation": "callers"}
    assert "other" in ask(folders, "find_references", asked)
    within = ask(folders, "find_references", {**asked, "scope": "pkg"})
    assert "Adder.again" in within
    assert "other" not in within


def test_asked_for_tests_uses_have_the_titles_and_lines_of_those(
    open_folders: Open, workspace: Path
) -> None:
    (workspace / "tests").mkdir()
    (workspace / "tests" / "test_sums.py").write_text(
        "from pkg.sums import add\n\ndef helper():\n    add(0, 0)\n\n"
        "@slow\ndef test_add():\n    assert add(1, 2) == add(2, 1)\n"
        "    def inner():\n        add(3, 3)\n"
        "class Sums:\n    zero = add(0, 0)\n"
    )
    (workspace / "sums.test.ts").write_text(
        "describe('sums', () => {\n  it('adds', () => {\n    add(1, 2)\n  })\n})\n"
    )
    (workspace / "lib.rs").write_text(
        "fn run() { add(1, 2); }\n#[tokio::test]\nasync fn adds() {\n    add(1, 2);\n}\n"
    )
    found = ask(open_folders(workspace), "find_references", {"name": "add", "relation": "tests"})
    assert found.splitlines() == [
        "7 by name in 3 files",
        "tests/test_sums.py: 3 helper (4); 7 test_add (8, 10); elsewhere (12)",
        "possible, 2 in other languages or minified:",
        "lib.rs: 3 adds (4)",
        "sums.test.ts: 2 adds (3)",
        "(4 more in no test)",
    ]


def test_definitions_are_found_by_a_pattern(
    open_folders: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "errors.py").write_text(
        "class ReadError(Exception):\n    pass\n\n\nclass WriteError(ReadError):\n    pass\n"
        "\n\ndef helper():\n    pass\n"
    )
    (workspace / "shapes.ts").write_text("export class ShapeError {}\nnew ReadErrors()\n")
    folders = open_folders(workspace)
    asked = {"name": "*Error", "relation": "definition"}
    assert ask(folders, "find_references", asked).splitlines() == [
        "definitions named '*Error', of 2 files with such a word",
        "3 by name in 2 files",
        "errors.py: 1 ReadError; 5 WriteError",
        "shapes.ts: 1 ShapeError",
    ]
    within = ask(folders, "find_references", {**asked, "scope": "*.ts"})
    assert within.splitlines()[1:] == ["1 by name in 1 file", "shapes.ts: 1 ShapeError"]
    monkeypatch.setattr(code_find_references, "_MOST_FILES", 1)
    some = ask(folders, "find_references", asked)
    assert "of 1 file with such a word; 1 more not looked at: give a scope" in some
    none = ask(folders, "find_references", {**asked, "name": "Zz*"})
    assert none.splitlines() == [
        "definitions named 'Zz*', of 0 files with such a word",
        "0 references in 0 files",
    ]


def test_what_is_the_same_for_each_answer_is_told_once_a_session(
    open_folders: Open, workspace: Path
) -> None:
    (workspace / "use.py").write_text("from pkg.sums import add\n" + "add(1, 2)\n" * 40)
    folders = open_folders(workspace)
    tools = Tools(once=True)

    def answers(tool: str, **arguments: object) -> list[str]:
        called = tools.call(tools.find(tool), folders, arguments)
        return asyncio.run(called).content[0].text.split("\n")  # type: ignore[union-attr]

    first, second = (answers("find_references", name="add") for _ in range(2))
    assert first[-1].endswith("shows the code)")
    assert second == first[:-1]
    trust = {"a": "(partial: rust-analyzer needs trust)", "b": "(brief; budget 99 shows all)"}
    told: set[str] = set()
    for after in (trust, {"a": "(partial)", "b": "(brief)"}):
        assert {key: _told(told, f"x\n{text}") for key, text in trust.items()} == {
            key: f"x\n{text}" for key, text in after.items()
        }
    assert _told(told, "2 by name in 1 file\n(partial: rust-analyzer needs trust)").count("\n") == 0
    kept = "x\n(partial: indexing; rust-analyzer needs trust)"
    assert [_told(told, kept) for _ in range(2)] == [kept, kept]


def _told(told: set[str], text: str) -> str:
    return ONCE.sub(partial(shortened, told), text)


@pytest.mark.real
def test_a_symbol_that_is_imported_is_shown_from_where_it_is_defined(workspace: Path) -> None:
    (workspace / "main.py").write_text("from pkg.sums import Adder as Sum\n", encoding="utf-8")
    opened = Workspace(access=AccessOptions(language_servers=True))
    try:
        folders = folders_of(opened, [workspace])
        shown = ask(folders, "read_symbol", {"path": "main.py", "name": "Sum.again"})
    finally:
        opened.close()
    assert shown.splitlines()[:2] == [
        "pkg/sums.py:10-11 Adder.again",
        "(defined in pkg/sums.py, shown from there)",
    ]


def test_paths_begin_with_a_folders_name_where_there_are_several(
    open_folders: Open, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "deep" / "app"
    other.mkdir(parents=True)
    (other / "more.py").write_text("def more(): ...\n")
    folders = open_folders(workspace, other)
    tree = ask(folders, "get_tree", {})
    assert "app/ 2 files" in tree
    assert "app-2/ 1 file" in tree
    for path in ("app-2/more.py", "./app-2/more.py", str(other / "more.py"), "app-2\\more.py"):
        assert ask(folders, "get_file_outline", {"path": path}).startswith("app-2/more.py (python")
    assert "app/pkg/sums.py\n" in ask(folders, "find_references", {"name": "add", "scope": "app"})
    assert ask(folders, "get_tree", {"path": "app/pkg"}).startswith("app/pkg/ 1 file")


def test_a_path_of_no_folder_names_the_folders(
    open_folders: Open, workspace: Path, tmp_path: Path
) -> None:
    folders = open_folders(workspace, tmp_path)
    with pytest.raises(PathError, match="begin the path with one of app/, "):
        ask(folders, "read_file", {"path": "pkg/sums.py"})
    with pytest.raises(InvalidArgumentError, match="leave it out to start anew"):
        ask(folders, "get_tree", {"cursor": "tree@3"})


def test_errors_name_paths_as_the_agent_writes_them(
    open_folders: Open, workspace: Path, tmp_path: Path
) -> None:
    folders = open_folders(workspace, tmp_path)
    with pytest.raises(PathError, match=r"^app/pkg/sum\.py: .* 'app/pkg/sums\.py'") as missing:
        ask(folders, "get_file_outline", {"path": "app/pkg/sum.py"})
    assert missing.value.path == "app/pkg/sum.py"
    with pytest.raises(SymbolError, match=r"^app/pkg/sums\.py has no symbol 'ad'; .*'add'"):
        ask(folders, "read_symbol", {"path": "app/pkg/sums.py", "name": "ad"})
    with pytest.raises(PathError, match=r"^app: "):
        ask(folders, "read_file", {"path": "app"})


def test_a_context_is_made_from_all_folders(
    open_folders: Open, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "lib"
    other.mkdir()
    (other / "zebra.py").write_text("def zebra(): ...\n")
    folders = open_folders(workspace, other)
    name = "generate_scoped_context"
    context = ask(folders, name, {"query": "zebra", "paths": ["app/pkg/sums.py"]})
    assert "app/pkg/sums.py:1-11 of 11 lines" in context
    assert "lib/zebra.py:1 zebra" in context
    context = ask(folders, name, {"paths": ["lib/zebra.py", "app/gone.py"]})
    assert "lib/zebra.py:1 of 1 lines" in context
    assert "(app/gone.py: no such file or folder" in context


def test_questions_without_a_path_are_for_every_folder(
    open_folders: Open, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "lib"
    other.mkdir()
    (other / "use.py").write_text("from pkg.sums import add\nadd(3, 4)\n")
    folders = open_folders(workspace, other)
    for name, arguments in (
        ("find_references", {"name": "add"}),
        ("search_for_files", {"query": "sums use"}),
        ("grep_in_files", {"pattern": r"add\("}),
    ):
        text = ask(folders, name, arguments)
        assert "app/pkg/sums.py" in text
        assert "lib/use.py" in text
    only = ask(folders, "grep_in_files", {"pattern": "add", "glob": "lib/*.py"})
    assert "lib/use.py" in only
    assert "app/" not in only


def test_a_cursor_goes_on_in_the_folder_that_its_answer_was_from(
    open_folders: Open, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "lib"
    other.mkdir()
    (other / "notes.txt").write_text("".join(f"note {n}\n" for n in range(200)))
    folders = open_folders(workspace, other)
    for question in (
        {"pattern": "^note"},
        {"pattern": "^note", "glob": "lib/**"},
    ):
        seen: list[str] = []
        arguments: dict[str, object] = {**question, "budget": 800}
        while True:
            text = ask(folders, "grep_in_files", arguments)
            seen += re.findall(r": (note \d+)", text)
            cursor = re.search(r"cursor (lib/\S+)", text)
            if cursor is None:
                break
            arguments["cursor"] = cursor[1]
        assert seen == [f"note {n}" for n in range(200)]
    with pytest.raises(InvalidArgumentError, match="leave it out to start anew"):
        ask(folders, "grep_in_files", {"pattern": "^note", "cursor": "grep@1"})
    with pytest.raises(ArgumentsError, match="from another folder"):
        ask(folders, "grep_in_files", {"pattern": "x", "glob": "app/*", "cursor": "lib/grep@1"})


def test_searches_say_where(open_folders: Open, workspace: Path) -> None:
    folders = open_folders(workspace)
    found = ask(folders, "search_for_files", {"query": "adder"})
    assert "pkg/sums.py: Adder 9-11, Adder.again 10-11" in found
    assert "no path and no symbol" in ask(folders, "search_for_files", {"query": "zebra"})
    lines = ask(folders, "grep_in_files", {"pattern": "RETURN", "ignore_case": True, "context": 1})
    assert "  6: " in lines
    assert "  5- " in lines
    with pytest.raises(InvalidArgumentError, match="pattern"):
        ask(folders, "grep_in_files", {"pattern": "(zz"})


def test_a_line_longer_than_every_budget_is_cut_and_can_be_read_on(
    open_folders: Open, workspace: Path
) -> None:
    (workspace / "data.py").write_text(f"TABLE = {'7' * 50_000!r}\n")
    folders = open_folders(workspace)
    text = ask(folders, "read_symbol", {"path": "data.py", "name": "TABLE"})
    assert len(text.encode()) <= SYMBOL_BUDGET
    said = re.search(r"columns 1-(\d+) of 50010: ask with cursor (symbol@0:\S+) for the rest", text)
    assert said is not None
    rest = ask(folders, "read_symbol", {"path": "data.py", "name": "TABLE", "cursor": said[2]})
    assert len(rest.encode()) <= SYMBOL_BUDGET
    assert f"columns {int(said[1]) + 1}-" in rest
    line = ask(folders, "read_lines", {"path": "data.py", "start": 1, "end": 1})
    assert len(line.encode()) < 8_200
    assert re.search(r"ask with cursor text@1:\d+\.\w{9} for the rest of the line$", line)


ECONOMICAL: dict[str, tuple[dict[str, object], int, str]] = {
    "get_file_outline": ({"path": "many.py"}, OUTLINE_BUDGET, "def function_0("),
    "read_symbol": ({"path": "large.py", "name": "Large"}, SYMBOL_BUDGET, "        self.x = 1"),
    "find_references": ({"name": "Large", "seconds": 0}, REFERENCES_BUDGET, "return Large()"),
}


@pytest.mark.parametrize("tool", ECONOMICAL)
def test_details_have_a_part_of_the_default_budget_and_fill_one_that_is_asked_for(
    open_folders: Open, workspace: Path, tool: str
) -> None:
    write_large(workspace)
    folders = open_folders(workspace)
    arguments, budget, detail = ECONOMICAL[tool]
    assert detail not in ask(folders, tool, arguments)
    assert detail in ask(folders, tool, {**arguments, "budget": int(budget)})


def write_large(root: Path) -> None:
    """An outline, a symbol and references over what their details may have by default."""
    (root / "many.py").write_text("".join(f"def function_{n}(x: int): ...\n" for n in range(200)))
    body = "        self.x = 1\n" * 200
    (root / "large.py").write_text(f"class Large:\n    def one(self):\n{body}")
    (root / "uses.py").write_text("".join(f"def f{n}(): return Large()\n" for n in range(40)))


def test_bytes_that_are_no_text_are_told(open_folders: Open, workspace: Path) -> None:
    (workspace / "latin.txt").write_bytes(b"caf\xe9\n")
    text = ask(open_folders(workspace), "read_file", {"path": "latin.txt"})
    assert text.splitlines() == [
        "latin.txt:1 of 1 lines",
        "(bytes that are not utf-8 are shown as \N{REPLACEMENT CHARACTER})",
        "caf\N{REPLACEMENT CHARACTER}",
    ]


def test_no_path_leads_out_of_several_folders(
    open_folders: Open, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "link.txt").symlink_to(tmp_path / "secret.txt")
    folders = open_folders(workspace, other)
    for path in (
        str(tmp_path / "secret.txt"),
        "app/../secret.txt",
        "app/../../secret.txt",
        "other/link.txt",
        str(other / "link.txt"),
        f"{workspace}/../secret.txt",
        "/etc/passwd",
    ):
        with pytest.raises(OutsideWorkspaceError):
            ask(folders, "read_file", {"path": path})


def test_long_answers_go_on_at_their_cursor(open_folders: Open, workspace: Path) -> None:
    folders = open_folders(workspace)
    text = ask(folders, "read_file", {"path": "notes.txt", "budget": 1000})
    assert len(text.encode()) <= 1000
    assert text.startswith("notes.txt:1-")
    cursor = re.search(r"ask with cursor (\S+) for the next lines$", text)
    assert cursor is not None
    arguments = {"path": "notes.txt", "budget": 1000, "cursor": cursor[1]}
    following = ask(folders, "read_file", arguments)
    last = int(text.partition("-")[2].partition(" ")[0])
    assert following.splitlines()[1] == f"line {last + 1}"
    text = ask(folders, "read_lines", {"path": "notes.txt", "start": 10, "end": 1999})
    assert text.startswith("notes.txt:10-")
    assert "ask with cursor" in text


def test_a_range_beyond_the_file_and_an_empty_file_say_so(
    open_folders: Open, workspace: Path
) -> None:
    (workspace / "empty.txt").touch()
    folders = open_folders(workspace)
    empty = ask(folders, "read_file", {"path": "empty.txt"})
    assert empty == "(empty.txt is empty)"
    beyond = ask(folders, "read_lines", {"path": "notes.txt", "start": 5000, "end": 5001})
    assert beyond == "(notes.txt has 2000 lines, and nothing from line 5000 on)"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        (
            "read_file",
            {"filing": "a"},
            "filing: unknown argument; there are path, budget, cursor; path: ",
        ),
        (
            "read_file",
            {"path": "a", "cursr": "b"},
            "cursr: unknown argument; did you mean 'cursor'",
        ),
        (
            "read_lines",
            {"path": "a", "start": "x", "end": 2},
            "start: expected a whole number, got 'x'",
        ),
        ("get_tree", {"depth": [1]}, "depth: expected a whole number, got [1]"),
    ],
)
def test_wrong_arguments_say_what_fits(
    open_folders: Open, workspace: Path, name: str, arguments: dict[str, object], said: str
) -> None:
    with pytest.raises(ArgumentsError) as caught:
        ask(open_folders(workspace), name, arguments)
    assert str(caught.value).startswith(said)


def test_arguments_that_models_fill_with_nothing_are_left_out(
    open_folders: Open, workspace: Path
) -> None:
    folders = open_folders(workspace)
    empty = {"path": "", "depth": None, "budget": None, "cursor": ""}
    assert ask(folders, "get_tree", empty) == ask(folders, "get_tree", {})


async def test_an_ignored_file_is_not_shown_and_the_answer_says_which_pattern(
    open_folders: Open,
    workspace: Path,
) -> None:
    (workspace / ".gitignore").write_text("*.log\n")
    (workspace / "a.log").write_text("x")
    result = await TOOLS.call(TOOLS.find("read_file"), open_folders(workspace), {"path": "a.log"})
    assert result.is_error
    assert "ignored by the pattern '*.log'" in str(result.content)
    # There is no such argument.
    assert "no_ignore" not in str(result.content)


def test_advice_names_no_tool_that_is_not_offered(workspace: Path) -> None:
    opened = Workspace.at(workspace)
    operations = [one for one in OPERATIONS if one.tool in ("get_tree", "read_file")]
    messages = []
    for offered in (operations, operations[1:]):
        tool = code_tools(opened, offered)[-1]
        result = tool.handler(tool.decode({"path": "zzzz"}), context=ToolContext())
        messages.append(result.message)
    opened.close()
    gone = "zzzz: no such file or folder"
    assert messages == [f"{gone}; list what exists with get_tree", gone]


async def test_a_name_that_is_no_text_does_not_break_the_answer(
    open_folders: Open, workspace: Path
) -> None:
    (Path(os.fsdecode(os.fsencode(workspace) + b"/\xff.py"))).write_text("x = 1\n")
    result = await TOOLS.call(TOOLS.find("get_tree"), open_folders(workspace), {})
    assert not result.is_error
    assert r"\\udcff.py" in result.model_dump_json()


async def test_a_tool_that_fails_answers_all_the_same(
    open_folders: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = open_folders(workspace)

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(folders.folders[0].access, "get_tree", fail)
    result = await TOOLS.call(TOOLS.find("get_tree"), folders, {})
    assert result.is_error
    assert "ZeroDivisionError: oh" in result.model_dump_json()


def test_without_a_readable_folder_the_error_says_how_to_name_one(
    open_folders: Open, tmp_path: Path
) -> None:
    with pytest.raises(NoFolderError, match=r"--root DIR`; .*gone: no such file or folder"):
        open_folders(tmp_path / "gone")
    with pytest.raises(NoFolderError, match="--root DIR"):
        open_folders()


def test_the_backends_refuse_in_one_family_of_errors(open_folders: Open, workspace: Path) -> None:
    for path in ("pkg/sum.py", "pkg", "\0", "..", "C:\\Windows\\win.ini", "notes.txt/x", "~"):
        with pytest.raises(BackendError):
            ask(open_folders(workspace), "read_file", {"path": path})


def test_a_question_is_answered_by_symbols_and_outlines(
    open_folders: Open, workspace: Path
) -> None:
    folders = open_folders(workspace)
    text = ask(folders, "generate_scoped_context", {"query": "How does add work?"})
    assert text.startswith("pkg/sums.py:4-6 add\ndef add(")
    assert "pkg/sums.py (python, 11 lines)" in text
    both = {"query": "How does add work?", "paths": ["notes.txt"], "budget": 1000}
    text = ask(folders, "generate_scoped_context", both)
    assert text.startswith("notes.txt:1-")
    assert "for the next lines" in text
    assert "def add(" in text
    assert len(text.encode()) <= 1000
    nothing = ask(folders, "generate_scoped_context", {"query": "zebra"})
    assert nothing == "(no path and no symbol has any of: zebra)"
    assert len(ask(folders, "generate_scoped_context", {"query": "zebra" * 10_000})) < 500
    with pytest.raises(ArgumentsError, match="query: give a question, or `paths` of files"):
        ask(folders, "generate_scoped_context", {})
    with pytest.raises(InvalidArgumentError, match="holds no word"):
        ask(folders, "generate_scoped_context", {"query": "??"})


def test_a_question_within_files_is_answered_from_these_alone(
    open_folders: Open, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "lib"
    other.mkdir()
    (other / "more.py").write_text("def add_more(): ...\n")
    folders = open_folders(workspace, other)
    arguments = {"query": "add", "within": ["lib/more.py"]}
    text = ask(folders, "generate_scoped_context", arguments)
    assert text.startswith("lib/more.py:1 add_more")
    assert "sums.py" not in text
    alone = open_folders(other)
    text = ask(alone, "generate_scoped_context", {"query": "add", "within": ["gone.py"]})
    assert "gone.py: no such file" in text


def test_a_question_is_for_every_folder(
    open_folders: Open, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "lib"
    other.mkdir()
    (other / "more.py").write_text("def add_more(): ...\n" * 200)
    folders = open_folders(workspace, other)
    for budget in (801, 1_500, 12_000):
        arguments = {"query": "add", "budget": budget}
        text = ask(folders, "generate_scoped_context", arguments)
        assert "app/pkg/sums.py:4-6 add" in text
        assert "lib/more.py" in text
        assert len(text.encode()) <= budget
    named = ask(folders, "generate_scoped_context", {"paths": ["lib/more.py"], "budget": 500})
    assert named.startswith("lib/more.py:1-")


@pytest.mark.parametrize("budget", [100, 200, 2_000, 8_000])
def test_the_budget_of_a_context_is_that_of_all_its_files(
    open_folders: Open, workspace: Path, budget: int
) -> None:
    for number in range(4):
        (workspace / f"notes_{number}.txt").write_text("line\n" * 2_000)
    paths = [f"notes_{number}.txt" for number in range(4)]
    arguments = {"paths": paths, "supporting": ["pkg/sums.py", "gone.py"], "budget": budget}
    text = ask(open_folders(workspace), "generate_scoped_context", arguments)
    assert len(text.encode()) <= budget
    if budget >= 2_000:
        assert "gone.py: no such file" in text
        assert all(f"{path}:1-" in text for path in paths)
    else:
        assert "no room for " in text


def test_a_page_is_no_larger_than_clients_keep(tmp_path: Path, open_folders: Open) -> None:
    (tmp_path / "big.txt").write_text("".join(f"line {n}\n" for n in range(20_000)))
    folders = open_folders(tmp_path)
    for name, arguments in (
        ("read_file", {"path": "big.txt", "budget": 60_000}),
        ("read_lines", {"path": "big.txt", "budget": 60_000}),
        ("grep_in_files", {"pattern": "line", "budget": 60_000}),
    ):
        result = asyncio.run(TOOLS.call(TOOLS.find(name), folders, arguments))
        (block,) = result.content
        assert isinstance(block, types.TextContent)
        text = block.text
        assert 9_000 < len(text.encode()) <= 10_000
        # What is shown of how much, and how to go on, whichever end a client cuts off.
        first, *_, last = text.splitlines()
        assert "of 20000 lines" in first or " shown" in first
        assert "cursor " in last
