"""An index of the words in files, outside the repository; its answers are never stale."""

from foldline.backends.index.workspace import DEFAULT_PATIENCE, Candidates, WorkspaceIndex

__all__ = ["DEFAULT_PATIENCE", "Candidates", "WorkspaceIndex"]
