"""`textDocument/diagnostic`: what is wrong in an instruction file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_DIAGNOSTIC,
    CodeAction,
    CodeActionKind,
    RelatedFullDocumentDiagnosticReport,
    TextEdit,
    WorkspaceEdit,
)

from foldline.server.instructions.snapshot import with_instructions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lsprotocol.types import Diagnostic, DocumentDiagnosticParams

    from foldline.server.instructions.snapshot import InstructionSnapshot
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DIAGNOSTIC


async def handle(
    ls: FoldlineServer, params: DocumentDiagnosticParams
) -> RelatedFullDocumentDiagnosticReport:
    _, found = await instruction_diagnostics(ls, params.text_document.uri)
    return RelatedFullDocumentDiagnosticReport(items=found)


async def instruction_diagnostics(
    ls: FoldlineServer, uri: str
) -> tuple[int | None, list[Diagnostic]]:
    """The version of an instruction file that was checked, and its diagnostics.

    What its history says is among them once it was read.
    """

    def query(snapshot: InstructionSnapshot) -> tuple[int | None, list[Diagnostic]]:
        from foldline.ide.instructions.checks import diagnostics
        from foldline.server.diagnostic_items import lsp_diagnostic

        stale = ls.histories.known(snapshot)
        found = diagnostics(snapshot.file, snapshot.document.path, snapshot.folder, stale)
        return snapshot.document.version, [lsp_diagnostic(one, snapshot) for one in found]

    found = await with_instructions(ls, uri, query)
    ls.histories.read(uri)
    return found


def quick_fixes(
    ls: FoldlineServer, snapshot: InstructionSnapshot, start: int, end: int
) -> Iterator[CodeAction]:
    """Yield what repairs the diagnostics that a selection touches."""
    from foldline.ide.instructions.checks import diagnostics
    from foldline.server.diagnostic_items import lsp_diagnostic

    stale = ls.histories.known(snapshot)
    for found in diagnostics(snapshot.file, snapshot.document.path, snapshot.folder, stale):
        if found.place.start <= end and start <= found.place.end:
            for fix in found.fixes:
                edits = [
                    TextEdit(snapshot.range(one.place.start, one.place.end), one.text)
                    for one in fix.changes
                ]
                yield CodeAction(
                    fix.title,
                    CodeActionKind.QuickFix,
                    diagnostics=[lsp_diagnostic(found, snapshot)],
                    is_preferred=fix.preferred or None,
                    edit=WorkspaceEdit(changes={snapshot.document.uri: edits}),
                )
