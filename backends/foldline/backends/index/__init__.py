"""An index of the words in files, outside the repository; its answers are never stale."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.backends.index.workspace import DEFAULT_PATIENCE, Candidates, WorkspaceIndex

__all__ = ["DEFAULT_PATIENCE", "Candidates", "WorkspaceIndex"]

_LATER = {"workspace": ("DEFAULT_PATIENCE", "Candidates", "WorkspaceIndex")}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from foldline.backends.references.exports import load

        return load(__name__, _LATER, name)
