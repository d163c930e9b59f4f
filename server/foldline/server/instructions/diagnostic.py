"""`textDocument/diagnostic`: what is wrong in an instruction file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_DIAGNOSTIC, RelatedFullDocumentDiagnosticReport

from foldline.server.instructions.snapshot import with_instructions

if TYPE_CHECKING:
    from lsprotocol.types import Diagnostic, DocumentDiagnosticParams

    from foldline.server.instructions.snapshot import InstructionSnapshot
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DIAGNOSTIC


async def handle(
    ls: FoldlineServer, params: DocumentDiagnosticParams
) -> RelatedFullDocumentDiagnosticReport:
    _, found = await with_instructions(ls, params.text_document.uri, instruction_diagnostics)
    return RelatedFullDocumentDiagnosticReport(items=found)


def instruction_diagnostics(
    snapshot: InstructionSnapshot,
) -> tuple[int | None, list[Diagnostic]]:
    """The version of an instruction file that was checked, and its diagnostics."""
    from foldline.ide.instructions.checks import diagnostics
    from foldline.server.diagnostic_items import lsp_diagnostic

    found = diagnostics(snapshot.file, snapshot.document.path, snapshot.folder)
    return snapshot.document.version, [lsp_diagnostic(one, snapshot) for one in found]
