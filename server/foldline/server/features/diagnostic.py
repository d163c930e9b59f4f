"""`textDocument/diagnostic`: the diagnostics of a document, pulled by the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_DIAGNOSTIC,
    DiagnosticOptions,
    RelatedFullDocumentDiagnosticReport,
)

from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import Diagnostic, DocumentDiagnosticParams

    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_DIAGNOSTIC
OPTIONS = DiagnosticOptions(
    inter_file_dependencies=True, workspace_diagnostics=False, identifier="foldline"
)


async def handle(
    ls: FoldlineServer, params: DocumentDiagnosticParams
) -> RelatedFullDocumentDiagnosticReport:
    def query(snapshot: LspSnapshot) -> list[Diagnostic]:
        from foldline.server.diagnostic_items import lsp_diagnostics

        return lsp_diagnostics(snapshot)

    found = await with_snapshot(ls, params.text_document.uri, query)
    return RelatedFullDocumentDiagnosticReport(items=found or [])
