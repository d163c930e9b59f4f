"""Names in instruction files and prompts over the wire: links, definitions, hovers."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from lsprotocol import types
from tests.repositories import git

from ...server.conftest import Editor, Visit, connections, served_once

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]

CODE = 'class Cart:\n    """What a customer wants."""\n\n    def total(self): ...\n'
TEXT = "# Rules\n\nThe 🛒 is `Cart.total()` in `cart.py`, see `lib/`; `gone()`.\n"
PROMPT = (
    "from foldline.prompts import MarkdownSection, PromptTemplate\n\n"
    "PROMPT = PromptTemplate(name='p', sections=[\n"
    "    MarkdownSection(title='Data', key='data', template='See `Cart.total`.'),\n])\n"
)


@served_once
async def example(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    root = tmp_path_factory.mktemp("root")
    (root / "lib").mkdir()
    for name, text in (
        *(("lib/cart.py", CODE), ("AGENTS.md", TEXT), ("p.py", PROMPT)),
        *(("Makefile", "test tests:\nlint:\n"), ("package.json", '{"scripts": {"build": "x"}}')),
    ):
        (root / name).write_text(text, encoding="utf-8")
    async with connections() as connect:
        yield await connect(root)


def at(text: str, word: str, uri: str) -> dict[str, object]:
    before = text[: text.index(word)]
    column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
    return {
        "text_document": types.TextDocumentIdentifier(uri),
        "position": types.Position(before.count("\n"), column),
    }


async def test_names_in_instructions_are_links(editor: Editor) -> None:
    uri = editor.open("AGENTS.md")
    document = types.TextDocumentIdentifier(uri)
    found = await editor.client.text_document_document_link_async(
        types.DocumentLinkParams(document)
    )
    cart = editor.uri("lib/cart.py")
    line = TEXT.split("\n")[2]
    assert found is not None
    shown = [
        line.encode("utf-16-le")[2 * one.range.start.character : 2 * one.range.end.character]
        for one in found
    ]
    assert [one.decode("utf-16-le") for one in shown] == ["Cart.total", "cart.py"]
    assert [one.target for one in found] == [f"{cart}#L4", cart]


async def test_a_name_has_the_uses_of_what_it_names(editor: Editor) -> None:
    uri, context = editor.open("AGENTS.md"), types.ReferenceContext(include_declaration=True)
    places = at(TEXT, "Cart.total", uri), at(TEXT, "cart.py", uri)
    uses = [
        await editor.client.text_document_references_async(
            types.ReferenceParams(**place, context=context)  # type: ignore[arg-type]
        )
        for place in places
    ]
    assert not uses[1]
    assert [(one.uri, one.range.start.line) for one in uses[0] or ()] == [
        (editor.uri("lib/cart.py"), 3),
    ]


async def test_a_name_leads_to_its_definition(editor: Editor) -> None:
    uri = editor.open("AGENTS.md")
    client = editor.client
    params = types.DefinitionParams(**at(TEXT, "Cart.total", uri))  # type: ignore[arg-type]
    found = await client.text_document_definition_async(params)
    assert isinstance(found, types.Location)
    assert found.uri == editor.uri("lib/cart.py")
    assert found.range.start == types.Position(3, 4)
    params = types.DefinitionParams(**at(TEXT, "gone()", uri))  # type: ignore[arg-type]
    assert await client.text_document_definition_async(params) is None


async def test_a_hover_says_what_a_name_means(editor: Editor) -> None:
    uri = editor.open("AGENTS.md")
    for word, said in (("Cart", "def total(self)"), ("cart.py", "bytes"), ("lib/", "1 file")):
        params = types.HoverParams(**at(TEXT, word, uri))  # type: ignore[arg-type]
        hover = await editor.client.text_document_hover_async(params)
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert said in hover.contents.value


async def test_a_template_names_things_as_instructions_do(editor: Editor) -> None:
    uri = editor.open("p.py")
    document = types.TextDocumentIdentifier(uri)
    links = await editor.client.text_document_document_link_async(
        types.DocumentLinkParams(document)
    )
    assert [one.target for one in links or []] == [f"{editor.uri('lib/cart.py')}#L4"]
    params = types.DefinitionParams(**at(PROMPT, "Cart.total", uri))  # type: ignore[arg-type]
    found = await editor.client.text_document_definition_async(params)
    assert isinstance(found, types.Location)
    hover = await editor.client.text_document_hover_async(
        types.HoverParams(**at(PROMPT, "Cart.total", uri))  # type: ignore[arg-type]
    )
    assert hover is not None


async def test_diagnostics_come_again_with_what_the_history_says(
    visit: Visit, tmp_path: Path
) -> None:
    text = "Call `open_cart()`.\n"
    git(tmp_path, "init", "-q")
    (tmp_path / "AGENTS.md").write_text(text, encoding="utf-8")
    (tmp_path / "cart.py").write_text("def open_cart(): ...\n", encoding="utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "start")
    (tmp_path / "cart.py").write_text("def close_it(): ...\n", encoding="utf-8")
    git(tmp_path, "commit", "-q", "-a", "-m", "another way")
    editor = visit(tmp_path)
    uri = editor.open("AGENTS.md", text)
    (stale,) = await editor.diagnostics(uri)
    assert stale.code == "stale-reference"
    assert "another way" in stale.message
    assert stale.range.start == types.Position(0, 6)
    # A rename that isn't committed.
    git(tmp_path, "checkout", "-q", "HEAD~", "--", "cart.py")
    git(tmp_path, "commit", "-q", "-m", "back")
    (tmp_path / "cart.py").write_text("def begin(): ...\n", encoding="utf-8")
    editor.saved("cart.py")
    found = await editor.diagnostics(uri)
    while not any("did you mean `begin`?" in one.message for one in found):
        found = await editor.diagnostics(uri)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("See `li", ["lib/"]),
        ("See `lib/", ["lib/cart.py"]),
        ("See @lib/c", ["lib/cart.py"]),
        ("See `Ca", ["Cart"]),
        ("See [it](li", ["lib/"]),
        ("Run `make te", ["test", "tests"]),
        ("Run `npm run ", ["build"]),
        ("Run make te", None),
        ("See li", None),
        ("See `a` li", None),
    ],
)
async def test_names_are_completed(editor: Editor, line: str, expected: list[str] | None) -> None:
    uri = editor.open("AGENTS.md", f"# Rules\n\n{line}")
    asked = types.CompletionParams(types.TextDocumentIdentifier(uri), types.Position(2, len(line)))
    found = await editor.client.text_document_completion_async(asked)
    if expected is None:
        assert found is None
        return
    # Names of code are completed once they are indexed, which no completion waits for.
    async with asyncio.timeout(60):
        while found is None:
            found = await editor.client.text_document_completion_async(asked)
    assert isinstance(found, types.CompletionList)
    assert [one.label for one in found.items] == expected
    edit = found.items[0].text_edit
    assert isinstance(edit, types.TextEdit)
    assert edit.range.start.character == len(line.rstrip("abcdefghijklmnopqrstuvwxyzC/"))
