"""What cannot be meant is refused, and says so; it is never an internal error."""

from pathlib import Path

import pytest
from lsprotocol import types
from tests.repositories import git

from foldline.backends.formatting.visible import visible
from foldline.ide.errors import RevisionError
from foldline.ide.render.revisions import Tree
from foldline.ide.uris import local_path
from foldline.server.commands import show

from .conftest import Connect, Editor, Visit

pytestmark = pytest.mark.real

ODD = """
from foldline.prompts import MarkdownSection, PromptTemplate
odd = PromptTemplate(ns="demo", key="odd", sections=[
    MarkdownSection[None](title="Odd", key="odd", template="Odd.")])
"""
BAD_URIS = ("file:///%00", "file://[", "file:m.py", "file:///\ud800", "file:///" + "a" * 5_000)


@pytest.mark.parametrize("uri", BAD_URIS, ids=repr)
def test_a_uri_that_no_file_can_have_is_no_path(uri: str) -> None:
    assert local_path(uri) is None


async def test_commands_refuse_what_cannot_be_meant(editor: Editor) -> None:
    for uri in BAD_URIS:
        _, data = await editor.refusal("code.outline", uri=uri)
        assert data["kind"] == "path"
    for position in ({"line": -1, "character": 0}, {"line": 0, "character": 1 << 40}):
        message, data = await editor.refusal("code.hover", path="README.md", position=position)
        assert data["kind"] == "arguments"
        assert "from 0 to" in message
    for name in ("overrides", "params"):
        for value in ("latest", [1], None):
            message, _ = await editor.refusal("prompt.render", **{name: value})
            assert message == f"{name}: expected an object, got {value!r}"
    _, data = await editor.refusal("code.grep", pattern="\ud800")
    assert data["kind"] == "arguments"


async def test_a_long_uri_is_not_echoed_whole(editor: Editor) -> None:
    for uri in ("untitled:" + "a" * 1_000_000, "file:///" + "b" * 1_000_000):
        message, data = await editor.refusal("code.outline", uri=uri)
        assert data["kind"] == "path"
        assert len(message) + len(str(data)) < 2_000


async def test_a_path_outside_the_workspace_is_shown_on_one_line(
    visit: Visit, tmp_path: Path
) -> None:
    editor = visit(tmp_path)
    for name in ("red\x1b[31m.py", "two\nlines.py"):
        uri = (tmp_path.parent / name).as_uri()
        for command in ("code.outline", "code.tree", "prompt.render"):
            message, data = await editor.refusal(command, uri=uri)
            assert data["kind"] == "path"
            assert visible(name) in message
            assert "outside the workspace" in message
            assert name in data["path"]
    message, _ = await editor.refusal("code.outline", uri="untitled:\x1b[31m")
    assert "\\u001b" in message


async def test_a_module_whose_name_is_not_utf8_is_one_like_others(
    visit: Visit, tmp_path: Path
) -> None:
    try:
        (tmp_path / "odd\udcff.py").write_text(ODD, encoding="utf-8")
    except (OSError, UnicodeError):
        pytest.skip("This file system takes UTF-8 only")
    editor = visit(tmp_path, trusted=True)
    uri = f"{tmp_path.resolve().as_uri()}/odd%FF.py"
    assert [prompt["uri"] for prompt in await editor.command("prompt.list")] == [uri]
    found = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("odd"))
    assert {symbol.location.uri for symbol in found or ()} == {uri}
    assert (await editor.command("code.outline", uri=uri))["text"].startswith("odd\\udcff.py")
    assert "Odd." in (await editor.command("prompt.render", uri=uri))["text"]
    assert local_path(uri) == tmp_path.resolve() / "odd\udcff.py"


def test_a_revision_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "-q")
    git(origin, "config", "uploadpack.allowFilter", "true")
    for text in ("old", "new"):
        (origin / "m.py").write_text(f"{text} = 1\n", encoding="utf-8")
        git(origin, "add", ".")
        git(origin, "commit", "-qm", text)
    git(tmp_path, "clone", "-q", "--filter=blob:none", origin.as_uri(), str(clone))
    file = clone / "m.py"
    assert list(Tree.at(file, "HEAD").texts_of(file).values()) == ["new = 1\n"]
    with pytest.raises(RevisionError, match=r"not in this clone|could not fetch"):
        Tree.at(file, "HEAD~1").texts_of(file)
    for name in ("a\0b", "\ud800"):
        with pytest.raises(RevisionError, match="not the name of a revision"):
            Tree.at(file, name)


async def test_a_cache_that_cannot_be_written_is_named(
    connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file, where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(taken))
    editor = await connect()
    message, data = await editor.refusal("show", what=show.Shown.STATUS.value)
    assert data["kind"] == "path"
    assert "cannot be written" in message


async def test_half_a_character_in_a_prompt_is_shown(visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        "p = PromptTemplate(ns='n', key='k', sections=[\n"
        "    MarkdownSection[None](title='T', key='t', template='half \\ud83d')])\n",
        encoding="utf-8",
    )
    editor = visit(tmp_path, trusted=True)
    state = await editor.command("prompt.preview", uri=editor.open("m.py"))
    assert "half" in state["blocks"][0]["text"]
    tokens = await editor.command("prompt.tokens", uri=editor.uri("m.py"))
    assert tokens["tokens"] > 0
