"""Changes of source as the client applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TextEdit, WorkspaceEdit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldline.ide.checks.diagnostic import Change
    from foldline.server.snapshots import LspSnapshot


def workspace_edit(snapshot: LspSnapshot, changes: Iterable[Change]) -> WorkspaceEdit:
    """The changes by document."""
    edits: dict[str, list[TextEdit]] = {}
    for change in changes:
        location = snapshot.location(change.place)
        if location is not None:
            edits.setdefault(location.uri, []).append(TextEdit(location.range, change.text))
    return WorkspaceEdit(changes=edits)
