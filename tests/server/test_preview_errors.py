"""Each failure of a preview is a diagnostic where it came from."""

from pathlib import Path

import pytest
from lsprotocol import types
from tests.ide.test_preview_errors import BROKEN, HELPER, PROMPT

from .conftest import Connect, Editor

pytestmark = pytest.mark.real


async def opened(connect: Connect, root: Path, like: str = "visual-studio-code") -> Editor:
    (root / "helper.py").write_text(HELPER, encoding="utf-8")
    (root / "both.py").write_text(PROMPT, encoding="utf-8")
    return await connect(root, trusted=True, like=like)


@pytest.mark.parametrize("like", ["neovim", "emacs"])
async def test_the_deepest_line_of_the_users_is_a_diagnostic_even_in_a_file_that_nobody_opened(
    connect: Connect, tmp_path: Path, like: str
) -> None:
    editor = await opened(connect, tmp_path, like)
    (tmp_path / "helper.py").write_text(BROKEN, encoding="utf-8")
    uri = editor.open("both.py")
    await editor.command("prompt.preview", uri=uri)
    (found,) = await editor.diagnostics(editor.uri("helper.py"))
    assert (found.source, found.code) == ("foldline preview", "AttributeError")
    assert found.range == types.Range(types.Position(2, 4), types.Position(2, 28))
    assert "no attribute 'nmae'" in found.message
    (tmp_path / "helper.py").write_text(HELPER, encoding="utf-8")
    editor.saved("helper.py")
    assert await editor.diagnostics(editor.uri("helper.py")) == []


@pytest.mark.parametrize("before", ["", "\n        "])
async def test_a_mistake_that_checks_find_is_no_second_problem(
    connect: Connect, tmp_path: Path, before: str
) -> None:
    editor = await opened(connect, tmp_path, "emacs")
    unknown = PROMPT.replace('template="Three."', f'{before}template="${{nmae}}"')
    uri = editor.open("both.py", unknown)
    assert [found.code for found in await editor.diagnostics(uri)] == ["unknown-placeholder"]
    preview = await editor.command("prompt.preview", uri=uri)
    assert preview["stale"]["line"] == 12
    editor.change(uri, unknown.replace("${nmae}", "Three.") + "\nraise ValueError\n")
    codes: list[object] = []
    while codes != ["exception"]:
        codes = [found.code for found in await editor.diagnostics(uri)]
        assert len(codes) < 2
    editor.change(uri, PROMPT)
    while await editor.diagnostics(uri):
        pass


async def test_a_failure_without_a_line_of_the_users_is_shown_at_the_section(
    connect: Connect, tmp_path: Path
) -> None:
    editor = await opened(connect, tmp_path)
    # Refused by the library while it renders: no line of the user's is on the way.
    text = PROMPT.replace('template="Three."', 'template="Three.", visibility=lambda _: "FULL"')
    uri = editor.open("both.py", text)
    preview = await editor.command("prompt.preview", uri=uri)
    assert preview["blocks"][2]["error"]["line"] is None
    (found,) = await editor.diagnostics(uri)
    assert found.range.start == types.Position(11, 0)
    assert "`visibility` answered 'FULL'" in found.message


async def test_what_a_closed_preview_found_is_cleared(connect: Connect, tmp_path: Path) -> None:
    editor = await opened(connect, tmp_path)
    uri = editor.open("both.py", PROMPT + "\nraise ValueError('not yet')\n")
    preview = await editor.command("prompt.preview", uri=uri, name="both")
    (found,) = await editor.diagnostics(uri)
    assert found.message == "ValueError: not yet"
    await editor.command("prompt.closePreview", sessionId=preview["sessionId"])
    assert await editor.diagnostics(uri) == []
