from foldline.backends.index.query import Candidates
from foldline.backends.index.workspace import DEFAULT_PATIENCE, WorkspaceIndex

__all__ = [
    "DEFAULT_PATIENCE",
    "Candidates",
    "WorkspaceIndex",
]
__version__: str
