"""An index of the words in files, outside the repository; its answers are never stale."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "artefact": (),
        "query": ("Candidates",),
        "sharing": (),
        "workspace": ("DEFAULT_PATIENCE", "Watcher", "WorkspaceIndex"),
    },
)
