"""LSP diagnostics of a document's prompts, and the code actions that repair them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide import checks
from foldline.ide.checks.codes import Severity
from foldline.ide.checks.diagnostic import as_wanted
from foldline.ide.checks.silencing import silenced_here

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

SOURCE = "foldline"
PAGES = Path(checks.__file__).parent / "pages"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
    Severity.HINT: types.DiagnosticSeverity.Hint,
}


def found_in(ls: FoldlineServer, snapshot: LspSnapshot) -> Sequence[checks.Diagnostic]:
    """The diagnostics of a document; what its repository says is among them once it was read."""
    every = (*snapshot.source.diagnostics(snapshot), *ls.late_checks.known(snapshot))
    return as_wanted(every, snapshot.options.severity)


def lsp_diagnostics(ls: FoldlineServer, snapshot: LspSnapshot) -> list[types.Diagnostic]:
    return [lsp_diagnostic(item, snapshot) for item in found_in(ls, snapshot)]


def lsp_diagnostic(found: checks.Diagnostic, snapshot: LspSnapshot) -> types.Diagnostic:
    related: list[types.DiagnosticRelatedInformation] = []
    for item in found.related:
        location = snapshot.location(item.place)
        if location is not None:
            related.append(types.DiagnosticRelatedInformation(location, item.message))
    page = PAGES / f"{found.code}.md" if found.code in set(checks.Code) else None
    return types.Diagnostic(
        range=snapshot.index.range(found.place.start, found.place.end),
        message=found.message,
        severity=_SEVERITIES[found.severity],
        code=str(found.code),
        code_description=None if page is None else types.CodeDescription(page.as_uri()),
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if found.unnecessary else None,
        related_information=related or None,
    )


def quick_fixes(
    ls: FoldlineServer, snapshot: LspSnapshot, start: int, end: int
) -> Iterator[types.CodeAction]:
    """The repairs of the diagnostics that a selection touches."""
    for item in found_in(ls, snapshot):
        if not (item.place.start <= end and start <= item.place.end):
            continue
        silence = silenced_here(snapshot.analysis, item)
        for fix in (*item.fixes, *((silence,) if silence is not None else ())):
            yield types.CodeAction(
                title=fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[lsp_diagnostic(item, snapshot)],
                is_preferred=fix.preferred or None,
                edit=snapshot.edit(fix.changes),
            )
