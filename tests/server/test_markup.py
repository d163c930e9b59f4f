"""Texts and symbols come in the forms that the client says it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from foldline.server.markup import _markup

if TYPE_CHECKING:
    from .conftest import Connect, Editor

pytestmark = pytest.mark.real

PROMPT = "reviewer_prompt.py"


def plain(editor: Editor, capabilities: types.ClientCapabilities) -> None:
    """A client that shows plain text, and a flat list of symbols."""
    del editor
    document = capabilities.text_document
    assert document is not None
    document.hover = types.HoverClientCapabilities(content_format=[types.MarkupKind.PlainText])
    document.completion = types.CompletionClientCapabilities()
    document.document_symbol = types.DocumentSymbolClientCapabilities()


def place(editor: Editor, text: str, inside: int) -> tuple[types.TextDocumentIdentifier, int, int]:
    lines = (editor.root / PROMPT).read_text(encoding="utf-8").splitlines()
    line = next(number for number, found in enumerate(lines) if text in found)
    document = types.TextDocumentIdentifier(editor.uri(PROMPT))
    return document, line, lines[line].index(text) + inside


async def hovered(editor: Editor) -> types.MarkupContent:
    editor.open(PROMPT)
    document, line, column = place(editor, 'key="reference-docs"', 6)
    found = await editor.client.text_document_hover_async(
        types.HoverParams(document, types.Position(line, column))
    )
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents


async def test_a_hover_is_plain_for_a_client_that_shows_no_markdown(connect: Connect) -> None:
    markdown = await hovered(await connect())
    text = await hovered(await connect(prepare=plain))
    assert markdown.kind is types.MarkupKind.Markdown
    assert text.kind is types.MarkupKind.PlainText
    assert markdown.value.startswith("**Reference Documentation** `reference-docs`")
    assert text.value.startswith("Reference Documentation reference-docs")
    assert "`" not in text.value


async def test_symbols_are_flat_for_a_client_without_a_hierarchy(connect: Connect) -> None:
    editor = await connect(prepare=plain)
    editor.open(PROMPT)
    document = types.TextDocumentIdentifier(editor.uri(PROMPT))
    found = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(document)
    )
    assert found
    symbols = [symbol for symbol in found if isinstance(symbol, types.SymbolInformation)]
    assert len(symbols) == len(found)
    containers = {symbol.name: symbol.container_name for symbol in symbols}
    around = {container for container in containers.values() if container}
    assert around
    assert around <= containers.keys()
    assert {symbol.location.uri for symbol in symbols} == {document.uri}


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("```python\nA.b: int = 2 * 3 * 4\n```\n\n*Required*", "A.b: int = 2 * 3 * 4\n\nRequired"),
        ("**Title** `key` · parameters `P`", "Title key · parameters P"),
        ("`a`\n\n---\n\n`b`", "a\n\n\n\nb"),
        ("2 ** 3 and a_b_c", "2 ** 3 and a_b_c"),
    ],
)
def test_plain_text_lacks_the_marks_alone(markdown: str, text: str) -> None:
    assert _markup(markdown, ()).value == text
    kinds = [types.MarkupKind.PlainText, types.MarkupKind.Markdown]
    assert _markup(markdown, kinds).value == markdown
