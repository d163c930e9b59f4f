from foldline.backends.index import artefact as artefact
from foldline.backends.index import sharing as sharing
from foldline.backends.index.query import Candidates
from foldline.backends.index.workspace import DEFAULT_PATIENCE, Watcher, WorkspaceIndex

__all__ = [
    "DEFAULT_PATIENCE",
    "Candidates",
    "Watcher",
    "WorkspaceIndex",
]
__version__: str
