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

if TYPE_CHECKING:
    from foldline.ide.instructions.fold import Mark
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

SUMMARY = "what it tells"


def mark_action(ls: FoldlineServer, snapshot: LspSnapshot, mark: Mark) -> CodeAction:
    """Return the code action of a mark, with a field for the summary where editors have them."""
    workspace = ls.client_capabilities.workspace
    edits = workspace.workspace_edit if workspace is not None else None
    snippets = bool(edits and edits.snippet_edit_support and edits.document_changes)
    kind = CodeActionKind.QuickFix if mark.suggested else CodeActionKind.RefactorRewrite
    text = mark.text.format(f"${{1:{SUMMARY}}}" if snippets else SUMMARY)
    marked = snapshot.range(mark.place)
    change = WorkspaceEdit(changes={snapshot.uri: [TextEdit(marked, text)]})
    if snippets:
        version = OptionalVersionedTextDocumentIdentifier(snapshot.uri, snapshot.version)
        edit = SnippetTextEdit(marked, StringValue(text))
        change = WorkspaceEdit(document_changes=[TextDocumentEdit(version, [edit])])
    return CodeAction(mark.title, kind, edit=change)
