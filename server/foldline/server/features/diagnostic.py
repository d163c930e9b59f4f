"""`textDocument/diagnostic`: the diagnostics of a document, pulled by the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_DIAGNOSTIC,
    DiagnosticOptions,
    RelatedFullDocumentDiagnosticReport,
)

from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import Diagnostic, DocumentDiagnosticParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DIAGNOSTIC
OPTIONS = DiagnosticOptions(
    inter_file_dependencies=True, workspace_diagnostics=False, identifier="foldline"
)


async def handle(
    ls: FoldlineServer, params: DocumentDiagnosticParams
) -> RelatedFullDocumentDiagnosticReport:
    def question(asked: Asked) -> list[Diagnostic]:
        from foldline.server.diagnostic_items import lsp_diagnostics

        return lsp_diagnostics(asked)

    found = await ask(ls, params.text_document.uri, question)
    return RelatedFullDocumentDiagnosticReport(items=found or [])
