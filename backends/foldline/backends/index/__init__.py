"""Which files hold a word: an index outside the repository, that is never answered stale."""

from foldline.backends.index.workspace import DEFAULT_PATIENCE, Candidates, WorkspaceIndex

__all__ = ["DEFAULT_PATIENCE", "Candidates", "WorkspaceIndex"]
