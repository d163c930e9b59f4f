from foldline.backends.index.workspace import DEFAULT_PATIENCE, Candidates, WorkspaceIndex

__all__ = [
    "DEFAULT_PATIENCE",
    "Candidates",
    "WorkspaceIndex",
]
__version__: str
