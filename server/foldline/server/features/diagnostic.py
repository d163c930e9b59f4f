"""`textDocument/diagnostic`: the diagnostics of a document, pulled by the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline import server
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_DIAGNOSTIC
OPTIONS = types.DiagnosticOptions(
    inter_file_dependencies=True, workspace_diagnostics=False, identifier="foldline"
)


async def handle(
    ls: FoldlineServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport:
    _, items = await checked(ls, params.text_document.uri)
    return types.RelatedFullDocumentDiagnosticReport(items=items)


async def checked(ls: FoldlineServer, uri: str) -> tuple[int | None, list[types.Diagnostic]]:
    """Return the version of a document that was checked, and its diagnostics."""

    def query(snapshot: LspSnapshot) -> tuple[int | None, list[types.Diagnostic]]:
        return snapshot.version, server.diagnostic_items.lsp_diagnostics(ls, snapshot)

    checked_items = await with_snapshot(ls, uri, query, lambda document: (document.version, []))
    if not uri.endswith((".py", ".pyi")):
        ls.late_checks.read(uri)
    return checked_items or (None, [])
