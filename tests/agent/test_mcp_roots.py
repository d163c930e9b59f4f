"""Which folders may be read: those of the command line, the client's, or the working folder."""

from pathlib import Path

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from foldline.agent.mcp.stdio import Options

from ..repositories import git
from .mcp_process import EXAMPLE, call, connect_here

MODERN = "2026-07-28"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    folder = tmp_path / "with space"
    folder.mkdir()
    (folder / "only_here.py").write_text("here = 1\n")
    return folder


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_the_clients_roots_are_read_and_not_the_working_folder(
    other: Path, mode: str
) -> None:
    async with connect_here(Options(), mode=mode, roots=lambda: [other]) as client:
        tree, is_error = await call(client, "get_tree")
        assert not is_error
        assert "only_here.py" in tree
        assert "auth/" not in tree
        text, is_error = await call(client, "read_file", path=str(EXAMPLE / "README.md"))
        assert is_error
        assert "outside the workspace" in text


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_the_option_wins_over_the_clients_roots(other: Path, mode: str) -> None:
    asked: list[Path] = []

    def roots() -> list[Path]:
        asked.append(EXAMPLE)
        return asked

    async with connect_here(Options(roots=(other,)), mode=mode, roots=roots) as client:
        tree, _ = await call(client, "get_tree")
        assert "only_here.py" in tree
        assert not asked


async def test_the_roots_are_asked_for_once_and_again_after_a_change(other: Path) -> None:
    asked: list[Path] = []
    current = EXAMPLE

    def roots() -> list[Path]:
        asked.append(current)
        return [current]

    async with connect_here(Options(), roots=roots) as client:
        for _ in range(2):
            tree, _ = await call(client, "get_tree")
            assert "auth/" in tree
        assert (await client.list_prompts()).prompts
        assert asked == [EXAMPLE]
        current = other
        await client.session.send_notification(types.RootsListChangedNotification())
        tree, _ = await call(client, "get_tree")
        assert "only_here.py" in tree
        assert not (await client.list_prompts()).prompts
        assert asked == [EXAMPLE, other]


async def test_several_roots_are_told_apart_by_their_names(other: Path) -> None:
    async with connect_here(Options(), roots=lambda: [EXAMPLE, other]) as client:
        tree, _ = await call(client, "get_tree")
        assert "code_reviewer/ " in tree
        assert "with space/ 1 file" in tree
        text, is_error = await call(client, "read_file", path="with space/only_here.py")
        assert text == "with space/only_here.py:1 of 1 lines\nhere = 1"
        assert not is_error


@pytest.mark.parametrize("text", ["with space/only_here.py", "with space/", "with space"])
async def test_any_text_may_begin_with_the_name_of_a_root(other: Path, text: str) -> None:
    fitting = {
        "path": "with space/only_here.py",
        "pattern": "here",
        "name": "here",
        "query": "here",
    }
    async with connect_here(Options(), roots=lambda: [EXAMPLE, other]) as client:
        for tool in (await client.list_tools()).tools:
            needed = {one: fitting.get(one, "x") for one in tool.input_schema.get("required", ())}
            for field in tool.input_schema["properties"]:
                answer, _ = await call(client, tool.name, **{**needed, field: text})
                assert "failed inside" not in answer
        found, is_error = await call(client, "search_for_files", query=text)
        assert not is_error
        assert ("with space/only_here.py" in found) == text.endswith("py")


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_a_root_that_is_gone_says_what_to_do(other: Path, mode: str) -> None:
    async with connect_here(Options(), mode=mode, roots=lambda: [other / "gone"]) as client:
        text, is_error = await call(client, "get_tree")
        assert is_error
        assert "foldline mcp --root DIR" in text
        assert "gone: no such file or folder" in text


async def test_no_roots_at_all_say_what_to_do() -> None:
    async with connect_here(Options(), roots=list) as client:
        text, is_error = await call(client, "get_tree")
        assert is_error
        assert "There is no folder to read" in text
        with pytest.raises(MCPError, match="There is no folder to read"):
            await client.list_prompts()


async def test_a_client_that_fails_to_tell_its_roots_is_asked_again(other: Path) -> None:
    answers = [False, True]

    def roots() -> list[Path]:
        if not answers.pop(0):
            raise MCPError(types.INTERNAL_ERROR, "not now")
        return [other]

    async with connect_here(Options(), roots=roots) as client:
        text, is_error = await call(client, "get_tree")
        assert is_error
        assert "did not tell its roots (not now)" in text
        tree, _ = await call(client, "get_tree")
        assert "only_here.py" in tree


async def test_without_roots_the_working_folder_is_read(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(other)
    async with connect_here(Options()) as client:
        tree, _ = await call(client, "get_tree")
        assert "only_here.py" in tree


async def test_a_working_folder_that_is_gone_says_what_to_do(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = other / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    async with connect_here(Options()) as client:
        text, is_error = await call(client, "get_tree")
        assert is_error
        assert "is gone: start it with `foldline mcp --root DIR`" in text


@pytest.mark.parametrize("folder", [Path(EXAMPLE.anchor), Path.home()])
async def test_a_working_folder_that_is_no_workspace_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    async with connect_here(Options()) as client:
        text, is_error = await call(client, "get_tree")
        assert is_error
        assert "which isn't a workspace: start it with `foldline mcp --root DIR`" in text


@pytest.mark.real
@pytest.mark.parametrize("count", [2, 3])
async def test_a_question_to_many_worktrees_is_answered_from_the_first(
    tmp_path: Path, count: int
) -> None:
    main = tmp_path / "main"
    main.mkdir()
    (main / "shop.py").write_text("def pay():\n    return 1\n")
    git(main, "init", "-q")
    git(main, "add", "-A")
    git(main, "commit", "-qm", "one")
    roots = [main, *(tmp_path / f"w{number}" for number in range(1, count))]
    for root in roots[1:]:
        git(main, "worktree", "add", "-q", str(root))
    (roots[-1] / "shop.py").write_text("def pay():\n    return 1\n\ndef refund():\n    return 2\n")
    async with connect_here(Options(), roots=lambda: roots) as client:
        text, _ = await call(client, "find_references", name="pay", seconds=0)
        assert "main/shop.py" in text
        assert ("w1/shop.py" in text) == (count == 2)
        others = "(not asked: w1/, w2/: worktrees or clones of the same repository"
        assert (others in text) == (count == 3)
        text, _ = await call(client, "find_references", name="refund", seconds=0)
        assert f"{roots[-1].name}/shop.py" in text
        text, _ = await call(
            client, "find_references", name="pay", scope=f"{roots[-1].name}/", seconds=0
        )
        assert f"{roots[-1].name}/shop.py" in text
        assert "not asked" not in text
