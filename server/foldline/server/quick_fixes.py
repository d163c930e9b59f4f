"""Repairs of what is wrong with a prompt, as code actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CodeAction, CodeActionKind

from foldline.ide.checks.silencing import silenced_here
from foldline.server.diagnostic_items import found_in, lsp_diagnostic
from foldline.server.edits import workspace_edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.server.snapshots import LspSnapshot


def quick_fixes(snapshot: LspSnapshot, start: int, end: int) -> Iterator[CodeAction]:
    """The repairs of the diagnostics that a selection touches."""
    for found in found_in(snapshot):
        if not (found.place.start <= end and start <= found.place.end):
            continue
        silence = silenced_here(snapshot.analysis, found)
        for fix in (*found.fixes, *((silence,) if silence is not None else ())):
            yield CodeAction(
                title=fix.title,
                kind=CodeActionKind.QuickFix,
                diagnostics=[lsp_diagnostic(found, snapshot)],
                is_preferred=fix.preferred or None,
                edit=workspace_edit(snapshot, fix.changes),
            )
