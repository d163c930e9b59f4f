"""`textDocument/codeAction`: marks the section under the cursor as folded, or takes its mark away.

The summary is a person's. Only a section that looks like reference is offered with the quick fixes,
for which editors show a light bulb; the others are refactorings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_CODE_ACTION,
    CodeAction,
    CodeActionKind,
    OptionalVersionedTextDocumentIdentifier,
    SnippetTextEdit,
    StringValue,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from foldline.ide.instructions.fold import is_reference
from foldline.server.features.code_action import covers
from foldline.server.instructions.snapshot import with_instructions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lsprotocol.types import CodeActionParams

    from foldline.server.instructions.snapshot import InstructionSnapshot
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_CODE_ACTION
SUMMARY = "what it tells"


async def handle(ls: FoldlineServer, params: CodeActionParams) -> list[CodeAction]:
    workspace = ls.client_capabilities.workspace
    edits = workspace.workspace_edit if workspace is not None else None
    snippets = bool(edits and edits.snippet_edit_support and edits.document_changes)
    only = params.context.only

    def query(snapshot: InstructionSnapshot) -> list[CodeAction]:
        at = snapshot.index.offset(params.range.start)
        return [
            action
            for action in _actions(snapshot, at, snippets=snippets)
            if only is None or any(covers(asked, action.kind or "") for asked in only)
        ]

    return await with_instructions(ls, params.text_document.uri, query)


def _actions(snapshot: InstructionSnapshot, at: int, *, snippets: bool) -> Iterator[CodeAction]:
    """Yield what unmarks the section that is folded here, or marks the innermost one."""
    file = snapshot.file
    around = [one for one in file.sections if one.start <= at < one.end or at == one.end == one.own]
    for section in around:
        if section.mark is not None:
            taken = TextEdit(snapshot.range(*section.mark), "")
            yield _action(snapshot, f"Unfold {section.title}", taken)
            return
    section = around[-1]
    heading = file.text[section.start : section.body]
    if not heading or not file.text[section.body : section.end].strip():
        return
    newline = "\r\n" if heading.endswith("\r\n") else "\n"
    place = snapshot.range(section.body, section.body)
    mark = f"<!-- fold: {SUMMARY} -->{newline}"
    edit: TextEdit | SnippetTextEdit = TextEdit(place, mark)
    if snippets:
        snippet = StringValue(mark.replace(SUMMARY, f"${{1:{SUMMARY}}}"))
        edit = SnippetTextEdit(place, snippet)
    reference = is_reference(file, section)
    yield _action(snapshot, f"Fold {section.title}…", edit, is_hint=reference)


def _action(
    snapshot: InstructionSnapshot,
    title: str,
    edit: TextEdit | SnippetTextEdit,
    *,
    is_hint: bool = False,
) -> CodeAction:
    document = snapshot.document
    if isinstance(edit, TextEdit):
        change = WorkspaceEdit(changes={document.uri: [edit]})
    else:
        version = OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        change = WorkspaceEdit(document_changes=[TextDocumentEdit(version, [edit])])
    kind = CodeActionKind.QuickFix if is_hint else CodeActionKind.RefactorRewrite
    return CodeAction(title, kind, edit=change)
