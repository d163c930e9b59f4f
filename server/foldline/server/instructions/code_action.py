"""`textDocument/codeAction`: repairs, and folds or unfolds the section under the cursor.

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
from foldline.server.instructions.diagnostic import quick_fixes
from foldline.server.instructions.snapshot import with_instructions

if TYPE_CHECKING:
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
        start, end = map(snapshot.index.offset, (params.range.start, params.range.end))
        found = [*quick_fixes(ls, snapshot, start, end)]
        found += filter(None, [_action(snapshot, start, snippets=snippets)])
        return [
            one
            for one in found
            if only is None or any(covers(asked, one.kind or "") for asked in only)
        ]

    return await with_instructions(ls, params.text_document.uri, query)


def _action(snapshot: InstructionSnapshot, at: int, *, snippets: bool) -> CodeAction | None:
    """Return what unmarks the section that is folded here, or marks the innermost one."""
    file, document = snapshot.file, snapshot.document
    around = [one for one in file.sections if one.start <= at < one.end or at == one.end == one.own]
    section = next((one for one in around if one.mark), around[-1])
    heading = file.text[section.start : section.body]
    if not heading or not file.text[section.body : section.end].strip():
        return None
    kind, title, text = CodeActionKind.RefactorRewrite, f"Unfold {section.title}", ""
    if section.mark is None:
        summary = f"${{1:{SUMMARY}}}" if snippets else SUMMARY
        newline = "\r\n" if heading.endswith("\r\n") else "\n"
        text = f"<!-- fold: {summary} -->{newline}"
        title = f"Fold {section.title}…"
        kind = CodeActionKind.QuickFix if is_reference(file, section) else kind
    place = snapshot.range(*(section.mark or (section.body, section.body)))
    change = WorkspaceEdit(changes={document.uri: [TextEdit(place, text)]})
    if snippets:
        version = OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        edit = SnippetTextEdit(place, StringValue(text))
        change = WorkspaceEdit(document_changes=[TextDocumentEdit(version, [edit])])
    return CodeAction(title, kind, edit=change)
