"""Instruction files over the wire: they are prompts that have no code."""

from pathlib import Path

import pytest
from lsprotocol import types

from .conftest import Connect

pytestmark = pytest.mark.real

TEXT = "# Rules\nBe brief.\n\n## Data\n<!-- fold: where data lives -->\nIn `data/`.\n"


async def test_an_untrusted_folder_shows_opens_and_reads_its_instructions(
    connect: Connect, tmp_path: Path
) -> None:
    editor = await connect(tmp_path)
    (tmp_path / "AGENTS.md").write_text(TEXT, encoding="utf-8")
    editor.open("AGENTS.md", TEXT)
    state = await editor.command("prompt.preview")
    assert [block["visibility"] for block in state["blocks"]] == ["FULL", "SUMMARY"]
    assert state["blocks"][1]["location"]["range"]["start"] == {"line": 3, "character": 0}
    read = await editor.command("prompt.readSection")
    assert read["text"].endswith("In `data/`.\n")
    opened = await editor.command("prompt.openSections", sessionId=state["sessionId"])
    assert opened["blocks"][-1]["text"].endswith("In `data/`.\n")


async def test_document_symbols_are_the_headings(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(tmp_path)
    (tmp_path / "CLAUDE.md").write_text(TEXT, encoding="utf-8")
    uri = editor.open("CLAUDE.md", TEXT)
    found = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
    )
    assert found is not None
    (rules,) = found
    assert isinstance(rules, types.DocumentSymbol)
    assert rules.children is not None
    assert [(one.name, one.detail) for one in rules.children] == [("Data", "rules.data")]


async def test_a_heading_says_what_its_section_costs(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(tmp_path)
    (tmp_path / "CLAUDE.md").write_text(TEXT, encoding="utf-8")
    uri = types.TextDocumentIdentifier(editor.open("CLAUDE.md", TEXT))

    async def hover(line: int) -> types.Hover | None:
        params = types.HoverParams(uri, types.Position(line, 4))
        return await editor.client.text_document_hover_async(params)

    rules, data = await hover(0), await hover(3)
    assert rules is not None
    assert data is not None
    assert isinstance(rules.contents, types.MarkupContent)
    assert isinstance(data.contents, types.MarkupContent)
    assert "1. Rules" in rules.contents.value
    assert "rules" in rules.contents.value
    assert "in all" in rules.contents.value
    assert "if opened" in data.contents.value
    assert "where data lives" in data.contents.value
    assert await hover(1) is None
