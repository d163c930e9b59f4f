"""The code action that folds or unfolds the section of an instruction file under the cursor.

The summary is a person's. Only a section that looks like reference is offered with the quick fixes,
for which editors show a light bulb; the others are refactorings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.instructions.document import InstructionFile
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

SUMMARY = "what it tells"


def mark_actions(
    ls: FoldlineServer, snapshot: LspSnapshot, file: InstructionFile, at: int
) -> Iterator[CodeAction]:
    """Yield what unmarks the section that is folded here, or marks the innermost one."""
    around = [one for one in file.sections if one.start <= at < one.end or at == one.end == one.own]
    section = next((one for one in around if one.mark), around[-1])
    heading = file.text[section.start : section.body]
    if not heading or not file.text[section.body : section.end].strip():
        return
    workspace = ls.client_capabilities.workspace
    edits = workspace.workspace_edit if workspace is not None else None
    snippets = bool(edits and edits.snippet_edit_support and edits.document_changes)
    kind, title, text = CodeActionKind.RefactorRewrite, f"Unfold {section.title}", ""
    if section.mark is None:
        summary = f"${{1:{SUMMARY}}}" if snippets else SUMMARY
        newline = "\r\n" if heading.endswith("\r\n") else "\n"
        text = f"<!-- fold: {summary} -->{newline}"
        title = f"Fold {section.title}…"
        kind = CodeActionKind.QuickFix if is_reference(file, section) else kind
    marked = snapshot.index.range(*(section.mark or (section.body, section.body)))
    change = WorkspaceEdit(changes={snapshot.uri: [TextEdit(marked, text)]})
    if snippets:
        version = OptionalVersionedTextDocumentIdentifier(snapshot.uri, snapshot.version)
        edit = SnippetTextEdit(marked, StringValue(text))
        change = WorkspaceEdit(document_changes=[TextDocumentEdit(version, [edit])])
    yield CodeAction(title, kind, edit=change)
