"""Instruction files over the wire: they are prompts that have no code."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from .conftest import Connect, Editor, Visit, connections, served_once

pytestmark = pytest.mark.real

TEXT = "# Rules\nBe brief.\n\n## Data\n<!-- fold: where data lives -->\nIn `data/`.\n"


@served_once
async def example(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """A folder with instruction files that no one trusts."""
    root = tmp_path_factory.mktemp("root")
    for name in ("AGENTS.md", "CLAUDE.md"):
        (root / name).write_text(TEXT, encoding="utf-8")
    async with connections() as connect:
        yield await connect(root)


async def test_an_untrusted_folder_shows_opens_and_reads_its_instructions(editor: Editor) -> None:
    editor.open("AGENTS.md", TEXT)
    state = await editor.command("prompt.preview")
    assert [block["visibility"] for block in state["blocks"]] == ["FULL", "SUMMARY"]
    assert state["blocks"][1]["location"]["range"]["start"] == {"line": 3, "character": 0}
    read = await editor.command("prompt.readSection")
    assert read["text"].endswith("In `data/`.\n")
    opened = await editor.command("prompt.openSections", sessionId=state["sessionId"])
    assert opened["blocks"][-1]["text"].endswith("In `data/`.\n")


async def test_document_symbols_are_the_headings(editor: Editor) -> None:
    uri = editor.open("CLAUDE.md", TEXT)
    found = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
    )
    assert found is not None
    (file,) = found
    assert isinstance(file, types.DocumentSymbol)
    assert file.name == "CLAUDE.md"
    (rules,) = file.children or ()
    assert [(one.name, one.detail) for one in rules.children or ()] == [("1.1. Data", "rules.data")]


async def test_a_heading_says_what_its_section_costs(editor: Editor) -> None:
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


async def test_the_list_of_prompts_has_the_files_of_the_folder(
    visit: Visit, tmp_path: Path
) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "AGENTS.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "README.md").write_text(TEXT, encoding="utf-8")
    editor = visit(tmp_path)
    (listed,) = await editor.command("prompt.list")
    assert (listed["ns"], listed["key"], listed["name"]) == ("pkg", "AGENTS.md", "AGENTS.md")
    assert listed["sections"][0]["children"][0]["visibility"] == "SUMMARY"
    assert await editor.command("prompt.list", uri=listed["uri"]) == [listed]
    costs = await editor.command("prompt.tokens", uri=listed["uri"])
    assert [section["key"] for section in costs["sections"]] == ["rules", "rules.data"]


async def test_lenses_hints_and_folds_are_those_of_sections(editor: Editor) -> None:
    text = f"{TEXT}\n## Tests\nRun them.\n\n"
    document = types.TextDocumentIdentifier(uri := editor.open("AGENTS.md", text))
    lenses = await editor.lenses(uri)
    titles = [(lens.range.start.line, lens.command and lens.command.title) for lens in lenses]
    assert [line for line, _ in titles] == [0, 3]
    preview, opened = (title or "" for _, title in titles)
    assert preview.startswith("Preview · ")
    assert preview.endswith(" tokens · 1 summarized")
    assert opened.startswith("Open · ")
    everything = types.Range(types.Position(0, 0), types.Position(9, 0))
    hints = await editor.client.text_document_inlay_hint_async(
        types.InlayHintParams(document, everything)
    )
    assert [str(hint.label)[:4] for hint in hints or ()] == ["1. ·", "1.1.", "1.2."]
    folds = await editor.client.text_document_folding_range_async(
        types.FoldingRangeParams(document)
    )
    assert [(fold.start_line, fold.end_line) for fold in folds or ()] == [(0, 8), (3, 5), (7, 8)]


async def test_lenses_and_hints_can_be_turned_off(visit: Visit, tmp_path: Path) -> None:
    options = "[tool.foldline]\ncode-lens = false\ninlay-hints = false\n"
    (tmp_path / "pyproject.toml").write_text(options, encoding="utf-8")
    (tmp_path / "AGENTS.md").write_text(TEXT, encoding="utf-8")
    editor = visit(tmp_path)
    uri = editor.open("AGENTS.md", TEXT)
    assert await editor.lenses(uri) == []
    everything = types.Range(types.Position(0, 0), types.Position(9, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
    assert not await editor.client.text_document_inlay_hint_async(params)


async def test_what_is_wrong_is_published_and_pulled(visit: Visit, tmp_path: Path) -> None:
    editor = visit(tmp_path)
    text = "# Rules\n\n## Empty\n"
    (tmp_path / "AGENTS.md").write_text(text, encoding="utf-8")
    uri = editor.open("AGENTS.md", text)
    (found,) = await editor.diagnostics(uri)
    assert (found.code, found.range.start.line) == ("empty-section", 2)
    pulled = await editor.client.text_document_diagnostic_async(
        types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    )
    assert isinstance(pulled, types.RelatedFullDocumentDiagnosticReport)
    assert list(pulled.items) == [found]
    editor.change(uri, "# Rules\nBe brief.\n")
    assert await editor.diagnostics(uri) == []


MARKED = TEXT + "\n## Parts\n" + "- `a.py` holds a part.\n" * 20


async def test_a_section_is_marked_and_unmarked_where_the_cursor_is(
    connect: Connect, tmp_path: Path
) -> None:
    editor = await connect(tmp_path, like="neovim")
    (tmp_path / "AGENTS.md").write_text(MARKED, encoding="utf-8")
    uri = editor.open("AGENTS.md", MARKED)
    (fold,) = await editor.actions(uri, 1)
    assert (fold.title, fold.kind) == ("Fold Rules…", types.CodeActionKind.RefactorRewrite)
    (unfold,) = await editor.actions(uri, 5)
    assert (unfold.title, unfold.kind) == ("Unfold Data", types.CodeActionKind.RefactorRewrite)
    # Only a section that looks like reference is a quick fix.
    (hint,) = await editor.actions(uri, 10)
    assert (hint.title, hint.kind) == ("Fold Parts…", types.CodeActionKind.QuickFix)
    assert await editor.actions(uri, 10, "quickfix") == [hint]
    assert not await editor.actions(uri, 10, "refactor")
    edits = [one.edit.changes[uri][0] for one in (fold, unfold) if one.edit and one.edit.changes]
    assert [edit.new_text for edit in edits] == ["<!-- fold: what it tells -->\n", ""]
    assert edits[0].range.start == edits[0].range.end == types.Position(1, 0)
    assert edits[1].range == types.Range(types.Position(4, 0), types.Position(5, 0))


async def test_an_instruction_file_is_no_module_whatever_its_text(
    connect: Connect, tmp_path: Path
) -> None:
    text = '# Rules\nASK = "Write a letter to {name}, and be brief."\n'
    editor = await connect(tmp_path, like="neovim")
    (tmp_path / "AGENTS.md").write_text(text, encoding="utf-8")
    actions = await editor.actions(editor.open("AGENTS.md", text), 1)
    assert [action.title for action in actions] == ["Fold Rules…"]


async def test_a_client_with_snippets_gets_the_summary_as_a_placeholder(
    connect: Connect, tmp_path: Path
) -> None:
    def prepare(_: Editor, capabilities: types.ClientCapabilities) -> None:
        assert capabilities.workspace is not None
        assert capabilities.workspace.workspace_edit is not None
        capabilities.workspace.workspace_edit.snippet_edit_support = True

    editor = await connect(tmp_path, prepare=prepare)
    (tmp_path / "AGENTS.md").write_text(MARKED, encoding="utf-8")
    uri = editor.open("AGENTS.md", MARKED)
    (fold,) = await editor.actions(uri, 10)
    assert fold.edit is not None
    assert fold.edit.document_changes is not None
    (change,) = fold.edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    (edit,) = change.edits
    assert isinstance(edit, types.SnippetTextEdit)
    assert edit.snippet.value == "<!-- fold: ${1:what it tells} -->\n"


async def test_sections_and_files_are_renamed_with_what_names_them(
    visit: Visit, tmp_path: Path
) -> None:
    editor = visit(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("[data](../AGENTS.md#data)\n", encoding="utf-8")
    (tmp_path / "AGENTS.md").write_text("", encoding="utf-8")
    # The editor's text counts, as far as it isn't saved.
    uri = editor.open("AGENTS.md", "🙂 [here](docs/a.md)\n\n# Data\n")
    place = types.TextDocumentIdentifier(uri), types.Position(2, 3)
    prepared = await editor.client.text_document_prepare_rename_async(
        types.PrepareRenameParams(*place)
    )
    assert isinstance(prepared, types.PrepareRenamePlaceholder)
    assert (prepared.placeholder, prepared.range.start.character) == ("Data", 2)
    edit = await editor.client.text_document_rename_async(types.RenameParams(*place, "Records"))
    assert edit is not None
    assert edit.changes is not None
    texts = {one: [edit.new_text for edit in edits] for one, edits in edit.changes.items()}
    assert texts == {uri: ["Records"], editor.uri("docs/a.md"): ["records"]}
    with pytest.raises(JsonRpcException, match="without marks"):
        await editor.client.text_document_rename_async(types.RenameParams(*place, "x #"))

    async def move(new: str) -> dict[str, list[tuple[int, str]]] | None:
        file = types.FileRename(editor.uri("docs/a.md"), editor.uri(new))
        moving = types.RenameFilesParams([file])
        edit = await editor.client.workspace_will_rename_files_async(moving)
        if edit is None or edit.changes is None:
            return None
        return {
            one: [(edit.range.start.character, edit.new_text) for edit in edits]
            for one, edits in edit.changes.items()
        }

    followed = {uri: [(10, "b.md")], editor.uri("docs/a.md"): [(7, "AGENTS.md")]}
    assert await move("b.md") == followed
    (tmp_path.parent / "elsewhere.md").touch()
    outside = types.FileRename((tmp_path.parent / "elsewhere.md").as_uri(), editor.uri("x.md"))
    moving = types.RenameFilesParams([outside])
    assert await editor.client.workspace_will_rename_files_async(moving) is None
    (tmp_path / "large.md").write_bytes(b"\n" * 5_000_000)
    assert await move("b.md") is None
    (message,) = editor.client.messages
    assert message.message.startswith("What names the moved files stays as it is: large.md")
