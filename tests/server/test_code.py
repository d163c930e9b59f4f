"""Code over the wire: tree, outline, symbol, lines, file, and what is refused."""

from pathlib import Path

import pytest

from .conftest import Editor, Visit

pytestmark = pytest.mark.real


async def test_tree_lists_the_workspace(editor: Editor) -> None:
    tree = await editor.command("code.tree")
    assert "service.py" in tree["text"]
    assert tree["data"]["files"] == sum(
        not path.name.endswith(".pyc") and path.is_file() for path in editor.root.rglob("*")
    )
    assert tree["coverage"] == "complete"


async def test_a_definition_is_found_by_its_name_after_its_file_was_renamed(editor: Editor) -> None:
    found = await editor.command("code.readSymbol", path="auth/old.py", name="TokenSigner.read")
    assert "(auth/old.py isn't there; auth/tokens.py defines TokenSigner.read)" in found["text"]
    gone = {"path": "auth/old.py", "name": "TokenSigner.gone"}
    message, _ = await editor.refusal("code.readSymbol", **gone)
    assert "no such file" in message


async def test_references_are_confirmed_and_the_status_shows_by_whom(editor: Editor) -> None:
    found = await editor.command("code.findReferences", name="TokenSigner.read", seconds=60)
    assert found["text"].startswith("3 confirmed, ")
    assert (found["backend"], found["coverage"]) == ("ty+ast", "complete")
    tiers = {(reference["path"], reference["tier"]) for reference in found["data"]["references"]}
    assert ("auth/tokens.py", "confirmed") in tiers
    [server] = (await editor.command("status"))["languageServers"]
    assert (server["name"], server["state"], server["restarts"]) == ("ty", "ready", 0)
    assert server["pid"] > 0


async def test_a_read_file_carries_its_outline_and_priority(editor: Editor) -> None:
    file = await editor.command("code.readFile", path="auth/errors.py")
    outline = await editor.command("code.outline", path="auth/errors.py")
    assert file["_summary"].startswith("auth/errors.py (python, 37 lines)")
    assert "14-25 class AccountLocked(AuthError)" in file["_summary"]
    assert file["priority"] == "low"
    assert "_summary" not in outline
    editor.open("notes.txt", "just a line\n" * 40)
    notes = await editor.command("code.readFile", path="notes.txt")
    assert notes["_summary"].startswith("notes.txt (unknown, 40 lines)")


async def test_a_file_and_a_range_of_lines_come_in_pages_within_a_budget(editor: Editor) -> None:
    lines = (editor.root / "auth/service.py").read_text(encoding="utf-8").splitlines()
    for command, asked, wanted in (
        ("code.readFile", {}, lines),
        ("code.readLines", {"start": 5, "end": 60}, lines[4:60]),
    ):
        pages: list[str] = []
        cursor = None
        while not pages or cursor is not None:
            page = await editor.command(
                command, path="auth/service.py", budget=900, cursor=cursor, **asked
            )
            assert 0 < len(page["text"].encode()) <= 900
            data = page["data"]
            assert page["text"] == "\n".join(lines[data["start"] - 1 : data["end"]])
            assert data["line_count"] == len(lines)
            pages.append(page["text"])
            cursor = data["cursor"]
        assert len(pages) > 1
        assert "\n".join(pages) == "\n".join(wanted)


async def test_a_whole_file_keeps_its_own_line_ends(editor: Editor) -> None:
    editor.open("auth/errors.py", "a = 1\r\nb = 2\r\n")
    assert (await editor.command("code.readFile"))["text"] == "a = 1\r\nb = 2\r\n"


async def test_an_open_buffer_wins_over_the_disk(editor: Editor) -> None:
    uri = editor.open("auth/errors.py", "def only_here(): ...\n")
    outline = await editor.command("code.outline", path="auth/errors.py")
    assert [symbol["name"] for symbol in outline["data"]["symbols"]] == ["only_here"]
    editor.close(uri)
    outline = await editor.command("code.outline", path="auth/errors.py")
    assert "AuthError" in [symbol["name"] for symbol in outline["data"]["symbols"]]


async def test_nothing_outside_the_workspace_is_read_unless_it_is_open(
    visit: Visit, tmp_path: Path
) -> None:
    outside = tmp_path / "secret.py"
    outside.write_text("secret = 1", encoding="utf-8")
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "link.py").symlink_to(outside)
    editor = visit(root)
    by_path = (
        ("code.readFile", {"path": f"{one}"}) for one in ("../secret.py", "link.py", outside)
    )
    commands = ("code.readFile", "code.outline", "prompt.list")
    by_uri = ((command, {"uri": outside.as_uri()}) for command in commands)
    for command, asked in (*by_path, *by_uri):
        message, data = await editor.refusal(command, **asked)
        assert data["kind"] == "path"
        assert "outside the workspace" in message
    uri = editor.open("../open.py", "shown = 1\n")
    assert (await editor.command("code.readFile", uri=uri))["text"] == "shown = 1\n"
    _, data = await editor.refusal("code.readFile", uri=uri, path="secret.py")
    assert data["kind"] == "path"


async def test_a_context_for_a_question_needs_no_focus(editor: Editor) -> None:
    question = {"query": "How is a token signed?", "uri": editor.root.as_uri()}
    context = await editor.command("code.scopedContext", **question)
    assert "TokenSigner.sign" in context["text"]
    assert {one["path"] for one in context["data"]["outlines"]} >= {"auth/tokens.py"}
    editor.open("auth/models.py")
    without = await editor.command("code.scopedContext", **question)
    assert without["text"].startswith("auth/tokens.py:")
    focused = await editor.command("code.scopedContext")
    assert focused["text"].startswith("auth/models.py:1-73 of 73 lines\n")


async def test_bad_arguments_name_the_field(editor: Editor) -> None:
    message, data = await editor.refusal("code.tree", pth=".")
    assert (data["kind"], data["fields"]) == ("arguments", ["pth"])
    assert message == "pth: unknown argument; did you mean 'path'?"
    _, data = await editor.refusal("code.readLines", path="auth/errors.py", start="1")
    assert data["fields"] == ["start"]
    _, data = await editor.refusal("prompt.openSections", section_keys="reference-docs")
    assert data["fields"] == ["section_keys"]
