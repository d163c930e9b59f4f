"""What an editor gets from a real server while a prompt is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from .conftest import connections, served_once

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from .conftest import Editor

pytestmark = pytest.mark.real

TEXT = """\
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate
from shared import Shared

@dataclass
class P:
    name: str = "x"

T = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[P](title="One", key="one", template="🎉 ${name}"),
    MarkdownSection[Shared](title="Two", key="two", template="${topic}"),
])
"""
SHARED = "from dataclasses import dataclass\n@dataclass\nclass Shared:\n    topic: str = 'x'\n"


@served_once
async def example(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    async with connections() as connect:
        yield await connect(tmp_path_factory.mktemp("root"))


@pytest.fixture
def typed(editor: Editor) -> Editor:
    """A folder of two files that no one trusts, and its server; other files are removed."""
    for file in editor.root.iterdir():
        file.unlink()
    for name, text in (("prompt.py", TEXT), ("shared.py", SHARED)):
        (editor.root / name).write_text(text, encoding="utf-8")
    editor.saved("prompt.py", "shared.py")
    return editor


@pytest.fixture
def root(typed: Editor) -> Path:
    return typed.root


def position(text: str, needle: str, shift: int = 0) -> types.Position:
    """Where a needle stands, in UTF-16 code units."""
    offset = text.index(needle) + shift
    line = text.count("\n", 0, offset)
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    return types.Position(line, len(before.encode("utf-16-le")) // 2)


async def diagnostics_of(editor: Editor, uri: str) -> list[types.Diagnostic]:
    answer = await editor.client.text_document_diagnostic_async(
        types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    )
    assert isinstance(answer, types.RelatedFullDocumentDiagnosticReport)
    return list(answer.items)


async def test_a_mistake_is_found_where_it_is_typed_and_goes_away(typed: Editor) -> None:
    uri = typed.open("prompt.py")
    assert await diagnostics_of(typed, uri) == []
    wrong = TEXT.replace("${name}", "${nmae}")
    typed.change(uri, wrong)
    (found,) = await diagnostics_of(typed, uri)
    assert found.code == "unknown-placeholder"
    assert found.range.start == position(wrong, "${nmae}")
    assert found.code_description is not None
    assert found.code_description.href.endswith("/unknown-placeholder.md")
    typed.change(uri, TEXT, version=3)
    assert await diagnostics_of(typed, uri) == []


async def test_a_change_of_another_open_file_counts(typed: Editor) -> None:
    uri = typed.open("prompt.py")
    other = typed.open("shared.py")
    assert await diagnostics_of(typed, uri) == []
    typed.change(other, SHARED.replace("topic", "subject"))
    (found,) = await diagnostics_of(typed, uri)
    assert "`topic` isn't a field of `Shared`" in found.message
    typed.close(other)
    assert await diagnostics_of(typed, uri) == []


async def test_a_quick_fix_mends_a_placeholder(typed: Editor) -> None:
    wrong = TEXT.replace("${name}", "${nmae}")
    uri = typed.open("prompt.py", wrong)
    place = position(wrong, "${nmae}")
    actions = await typed.client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            types.Range(place, place),
            types.CodeActionContext([], only=[types.CodeActionKind.QuickFix]),
        )
    )
    assert actions is not None
    fixes = {action.title: action for action in actions}
    fix = fixes["Change to `name`"]
    assert isinstance(fix, types.CodeAction)
    assert fix.is_preferred
    assert fix.edit is not None
    assert fix.edit.changes is not None
    (edit,) = fix.edit.changes[uri]
    assert edit.new_text == "name"
    assert edit.range.start == position(wrong, "nmae")


async def test_hover_completion_definition_and_rename_agree_on_positions(typed: Editor) -> None:
    uri = typed.open("prompt.py")
    document = types.TextDocumentIdentifier(uri)
    place = position(TEXT, "${name}", 3)
    client = typed.client
    hover = await client.text_document_hover_async(types.HoverParams(document, place))
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert "P.name: str" in hover.contents.value
    assert hover.range is not None
    assert hover.range.start == position(TEXT, "${name}")
    completed = await client.text_document_completion_async(types.CompletionParams(document, place))
    assert isinstance(completed, types.CompletionList)
    assert [item.label for item in completed.items] == ["name"]
    defined = await client.text_document_definition_async(types.DefinitionParams(document, place))
    assert isinstance(defined, (list, tuple))
    (location,) = defined
    assert isinstance(location, types.Location)
    assert location.range.start == position(TEXT, "name: str")
    renamed = await client.text_document_rename_async(types.RenameParams(document, place, "who"))
    assert renamed is not None
    assert renamed.changes is not None
    starts = sorted((edit.range.start for edit in renamed.changes[uri]), key=lambda at: at.line)
    assert starts == [position(TEXT, "name: str"), position(TEXT, "name}")]


async def test_rename_is_refused_where_no_field_is_named(typed: Editor) -> None:
    uri = typed.open("prompt.py")
    document = types.TextDocumentIdentifier(uri)
    prepared = await typed.client.text_document_prepare_rename_async(
        types.PrepareRenameParams(document, position(TEXT, "PromptTemplate("))
    )
    assert prepared is None


async def test_what_a_renamed_key_may_mean_elsewhere_is_told(typed: Editor, root: Path) -> None:
    (root / "other.py").write_text("from prompt import T\nprint(T.render, 'two')\n")
    uri = typed.open("prompt.py")
    where = types.TextDocumentIdentifier(uri), position(TEXT, '"two"', 1)
    await typed.client.text_document_rename_async(types.RenameParams(*where, "three"))
    told = [message.message for message in typed.client.messages]
    assert told == ["Not renamed, as these may mean something else: other.py:2"]


async def test_symbols_lenses_and_hints_follow_the_sections(typed: Editor) -> None:
    uri = typed.open("prompt.py")
    document = types.TextDocumentIdentifier(uri)
    client = typed.client
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    assert symbols is not None
    (prompt,) = symbols
    assert isinstance(prompt, types.DocumentSymbol)
    assert [child.name for child in prompt.children or ()] == ["1. One", "2. Two"]
    lenses = await typed.lenses(uri)
    assert [lens.command.title.split(" · ")[0] for lens in lenses if lens.command] == ["Preview"]
    everywhere = types.Range(types.Position(0, 0), types.Position(99, 0))
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(document, everywhere))
    assert hints is not None
    assert len(hints) == 2
    assert hints[0].position == position(TEXT, '}"),', 4)


async def test_the_symbols_of_files_that_nobody_has_open_are_found(typed: Editor) -> None:
    found = await typed.client.workspace_symbol_async(types.WorkspaceSymbolParams("two"))
    assert found is not None
    assert [symbol.name for symbol in found] == ["2. Two"]


async def test_a_section_that_a_variable_holds_is_found_once_where_it_stands(
    typed: Editor, root: Path
) -> None:
    (root / "held.py").write_text(
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        'HELD = MarkdownSection[None](title="🎉 Held", key="held", template="t")\n'
        'X = PromptTemplate(ns="n", key="k", sections=[HELD])\n'
    )
    found = await typed.client.workspace_symbol_async(types.WorkspaceSymbolParams("held"))
    assert found is not None
    (symbol,) = found
    assert symbol.name == "🎉 Held"
    assert isinstance(symbol.location, types.Location)
    assert symbol.location.range.start == types.Position(1, 50)


async def test_a_file_changed_on_disk_is_read_anew(typed: Editor, root: Path) -> None:
    uri = typed.open("prompt.py")
    assert await diagnostics_of(typed, uri) == []
    (root / "shared.py").write_text(SHARED.replace("topic", "subject"))
    typed.saved("shared.py")
    assert len(await diagnostics_of(typed, uri)) == 1


async def test_a_client_that_tells_nothing_of_the_disk_gets_what_is_there(
    typed: Editor, root: Path
) -> None:
    uri = typed.open("prompt.py")
    assert await diagnostics_of(typed, uri) == []
    (root / "shared.py").write_text(SHARED.replace("topic", "subject_of_it"))
    (found,) = await diagnostics_of(typed, uri)
    assert "`topic` isn't a field of `Shared`" in found.message


async def test_sections_of_other_files_are_listed_and_lead_there(typed: Editor, root: Path) -> None:
    """What commands and code actions know is what hovers and diagnostics know."""
    (root / "parts.py").write_text(
        "from foldline.prompts import MarkdownSection, SectionVisibility\n"
        'PART = MarkdownSection[None](title="Part", key="part", template="All of it.", '
        'summary="It.", visibility=SectionVisibility.SUMMARY)\n'
    )
    text = TEXT.replace("import Shared", "import Shared\nfrom parts import PART")
    text = text.replace("sections=[", "sections=[PART, ")
    uri = typed.open("prompt.py", text)
    (listed,) = await typed.command("prompt.list", uri=uri)
    assert [section["key"] for section in listed["sections"]] == ["part", "one", "two"]
    assert listed["sections"][0]["range"]["start"]["line"] == position(text, "PART, ").line
    place = position(text, "PART, ")
    actions = await typed.client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            types.Range(place, place),
            types.CodeActionContext([]),
        )
    )
    assert "Open section 1 Part of T" in [action.title for action in actions or ()]


async def test_a_prompt_is_rendered_by_its_source_in_a_folder_that_nobody_trusted(
    typed: Editor,
) -> None:
    uri = typed.open("prompt.py")
    shown = await typed.command("prompt.render", uri=uri, fidelity="static")
    assert shown["fidelity"] == "static"
    assert shown["text"] == "## 1. One\n\n🎉 x\n\n## 2. Two\n\nx"
    assert [block["key"] for block in shown["blocks"]] == ["one", "two"]
    kinds = [segment["kind"] for segment in shown["blocks"][0]["segments"]]
    assert kinds == ["heading", "separator", "literal", "default", "separator"]
    counted = await typed.command("prompt.tokens", uri=uri, name="T")
    assert counted["tokens"] == sum(section["tokens"] for section in counted["sections"])
    _, data = await typed.refusal("prompt.render", uri=uri, fidelity="guessed")
    assert data["fields"] == ["fidelity"]


async def test_a_rename_reaches_files_that_nobody_has_open(typed: Editor, root: Path) -> None:
    other = "from foldline.prompts import MarkdownSection\nfrom shared import Shared\n"
    other += 'S = MarkdownSection[Shared](title="S", key="s", template="On ${topic}.")\n'
    (root / "other.py").write_text(other)
    uri = typed.open("prompt.py")
    renamed = await typed.client.text_document_rename_async(
        types.RenameParams(
            types.TextDocumentIdentifier(uri), position(TEXT, "${topic}", 3), "subject"
        )
    )
    assert renamed is not None
    assert renamed.changes is not None
    assert {uri.rpartition("/")[2]: len(edits) for uri, edits in renamed.changes.items()} == {
        "prompt.py": 1,
        "shared.py": 1,
        "other.py": 1,
    }


@pytest.mark.parametrize("data", [None, "x", {"uri": "file:///w/prompt.py"}, {"uri": 1, "name": 2}])
async def test_a_lens_that_is_not_ours_is_refused(typed: Editor, data: Any) -> None:
    place = types.Range(types.Position(0, 0), types.Position(0, 0))
    with pytest.raises(JsonRpcException):
        await typed.client.code_lens_resolve_async(types.CodeLens(place, data=data))


async def test_a_lens_is_resolved_after_its_prompt_has_gone(typed: Editor) -> None:
    uri = typed.open("prompt.py")
    found = await typed.client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(uri))
    )
    assert found is not None
    typed.change(uri, "")
    [lens] = [await typed.client.code_lens_resolve_async(lens) for lens in found]
    assert lens.command is not None
    assert lens.command.title == "Preview"
