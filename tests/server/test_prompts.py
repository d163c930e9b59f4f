"""Prompts over the wire: rendered from unsaved text, in symbols and in lenses."""

from pathlib import Path

import pytest
from lsprotocol import types
from tests.ide.test_prompts import PROMPT

from .conftest import Editor, Visit

pytestmark = pytest.mark.real


async def test_render_uses_the_unsaved_text(editor: Editor) -> None:
    uri = editor.open("reviewer_prompt.py")
    text = (editor.root / "reviewer_prompt.py").read_text(encoding="utf-8")
    row = text.splitlines().index('    title="Review Guidance",')
    start = types.Position(row, len('    title="'))
    end = types.Position(row, len('    title="Review Guidance'))
    editor.change(uri, "Zażółć 🦊", types.Range(start, end))
    render = await editor.command("prompt.render")
    assert render["text"].startswith("## 1. Zażółć 🦊\n")
    assert render["version"] == 2


@pytest.mark.parametrize("command", ["prompt.render", "prompt.openSections"])
async def test_nothing_is_executed_before_the_workspace_is_trusted(
    visit: Visit, tmp_path: Path, command: str
) -> None:
    editor = visit(tmp_path)
    proof = tmp_path / "executed"
    editor.open("hello.py", f"open({str(proof)!r}, 'w').close()\n{PROMPT}")
    message, data = await editor.refusal(command)
    assert data["kind"] == "untrusted"
    assert "trusted" in message
    assert [prompt["name"] for prompt in await editor.command("prompt.list")] == ["hello"]
    assert not proof.exists()
    editor.client.protocol.notify("foldline/didChangeTrust", {"trusted": True})
    await editor.command(command if command != "prompt.openSections" else "prompt.render")
    assert proof.exists()


async def test_document_symbols_are_the_section_tree(editor: Editor) -> None:
    uri = editor.open("reviewer_prompt.py")
    symbols = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
    )
    assert symbols is not None
    tree = [symbol for symbol in symbols if isinstance(symbol, types.DocumentSymbol)]
    # What stands in a variable has its own place, and the template shows that it is there.
    assert [symbol.name for symbol in tree] == [
        "Review Guidance",
        "Security Rules",
        "Asynchronous Code",
        "Style",
        "Reference Documentation",
        "Workspace",
        "Planning",
        "Performance",
        "Past incidents",
        "template",
        "reviewer",
    ]
    below = {symbol.name: [child.name for child in symbol.children or ()] for symbol in tree}
    assert below["Reference Documentation"] == ["Security Rules", "Asynchronous Code", "Style"]
    assert below["Workspace"] == ["History"]
    assert below["template"] == [
        "1. Review Guidance",
        "2. Reference Documentation",
        "3. Workspace",
        "4. Review Task",
        "Planning",
        "Performance",
        "Past incidents",
    ]


async def test_each_prompt_has_a_lens_that_previews_it(editor: Editor) -> None:
    uri = editor.open("reviewer_prompt.py")
    commands = [lens.command for lens in await editor.lenses(uri) if lens.command is not None]
    previews = [command for command in commands if command.command == "foldline.preview"]
    assert [argument for command in previews for argument in command.arguments or ()] == [
        {"uri": uri, "name": "template"},
        {"uri": uri, "name": "reviewer"},
    ]


async def test_the_lens_of_a_shared_section_opens_it_in_the_bound_prompt(editor: Editor) -> None:
    uri = editor.open("reviewer_prompt.py")
    commands = [lens.command for lens in await editor.lenses(uri) if lens.command is not None]
    opens = [command for command in commands if command.command == "foldline.openSection"]
    arguments = [argument for command in opens for argument in command.arguments or ()]
    assert "workspace.history" in str(arguments)
    assert all(isinstance(item, dict) and item["name"] == "reviewer" for item in arguments)
