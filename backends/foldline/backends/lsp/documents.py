"""Which documents a server has open, and how it hears of changes."""

from __future__ import annotations

from collections import OrderedDict
from enum import IntEnum
from typing import TYPE_CHECKING, TypedDict

from foldline.backends.lsp.lifecycle import Change
from foldline.backends.lsp.servers import language_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from foldline.backends.files.walk import FileStamp
    from foldline.backends.lsp.servers import ServerSpec

    Notify = Callable[[str, object], None]
    Snapshot = Mapping[str, FileStamp]


class FileChange(IntEnum):
    """LSP's numbers for how a file changed."""

    CREATED = 1
    CHANGED = 2
    DELETED = 3


class FileEvent(TypedDict):
    """One change of a file, as `workspace/didChangeWatchedFiles` sends it."""

    uri: str
    type: FileChange


class OpenDocuments:
    """The documents open in one server: every editor buffer, and the files last asked about.

    A file that is only asked about is closed again when `limit` others were; what a server holds
    open it never gives back.

    Attributes:
        unread: The URIs of texts that the server got and has published no diagnostics for since.
    """

    def __init__(self, root: Path, notify: Notify, limit: int) -> None:
        self._root = root
        self._notify = notify
        self._limit = limit
        # Path to version and text, the longest unused first.
        self._open: OrderedDict[str, tuple[int, str]] = OrderedDict()
        self._pinned: set[str] = set()
        self.unread: set[str] = set()

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._open)

    def is_open(self, path: str) -> bool:
        return path in self._open

    def show(self, path: str, text: str, *, pinned: bool = False) -> None:
        """Let the server know the document with this text; `pinned` ones stay open."""
        if pinned:
            self._pinned.add(path)
        known = self._open.get(path)
        if known is None:
            self._open[path] = (1, text)
            self.unread.add(self.uri(path))
            self._notify(
                "textDocument/didOpen",
                {
                    "textDocument": {
                        "uri": self.uri(path),
                        "languageId": language_id(path),
                        "version": 1,
                        "text": text,
                    }
                },
            )
            self._shrink()
            return
        self._open.move_to_end(path)
        version, before = known
        if before == text:
            return
        self._open[path] = (version + 1, text)
        self.unread.add(self.uri(path))
        self._notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.uri(path), "version": version + 1},
                "contentChanges": [{"text": text}],
            },
        )

    def hide(self, path: str) -> None:
        """Close the document: the disk speaks for it again."""
        self._pinned.discard(path)
        self.unread.discard(self.uri(path))
        if self._open.pop(path, None) is not None:
            self._notify("textDocument/didClose", {"textDocument": {"uri": self.uri(path)}})

    def uri(self, path: str) -> str:
        """The `file:` URI of a path relative to the workspace."""
        return (self._root / path).as_uri()

    def _shrink(self) -> None:
        loose = [path for path in self._open if path not in self._pinned]
        for path in loose[: max(len(loose) - self._limit, 0)]:
            self.hide(path)


class Follower:
    """Tells one server what has changed since it was last told."""

    def __init__(self, spec: ServerSpec, documents: OpenDocuments, notify: Notify) -> None:
        self._spec = spec
        self._documents = documents
        self._notify = notify
        self._told: Snapshot = {}

    def begin(self, snapshot: Snapshot, read: Callable[[str], str | None]) -> None:
        """Take what the server finds on disk when it starts; open the editor's buffers."""
        self._told = snapshot
        for path, stamp in snapshot.items():
            if stamp.overlay and self._spec.understands(path):
                self._show(path, read, pinned=True)

    def follow(self, snapshot: Snapshot, read: Callable[[str], str | None]) -> Change:
        """Tell the server what differs from what it knows."""
        before = self._told
        if snapshot is before:
            return Change.NONE
        self._told = snapshot
        changed = [
            path
            for path, _ in snapshot.items() ^ before.items()
            if self._spec.understands(path) or path.rpartition("/")[2] in self._config_files
        ]
        events = [
            event
            for path in dict.fromkeys(changed)
            if (event := self._take(path, before.get(path), snapshot.get(path), read)) is not None
        ]
        if events:
            self._notify("workspace/didChangeWatchedFiles", {"changes": events})
        if not changed:
            return Change.NONE
        contents = all(event["type"] == FileChange.CHANGED for event in events)
        return Change.CONTENTS if contents else Change.FILES

    @property
    def _config_files(self) -> Iterable[str]:
        return {*self._spec.root_markers, *(hiding.file for hiding in self._spec.hiding)}

    def _take(
        self,
        path: str,
        before: FileStamp | None,
        after: FileStamp | None,
        read: Callable[[str], str | None],
    ) -> FileEvent | None:
        if after is not None and after.overlay:
            self._show(path, read, pinned=True)
            return None
        if before is not None and before.overlay:
            self._documents.hide(path)
        uri = self._documents.uri(path)
        if after is None:
            self._documents.hide(path)
            return FileEvent(uri=uri, type=FileChange.DELETED)
        if self._documents.is_open(path):
            self._show(path, read)
        # Whether the server knows a file that was open before, only the server knows.
        if before is None or before.overlay:
            if self._spec.opens_new_files and not self._documents.is_open(path):
                self._show(path, read)
                self._documents.hide(path)
            return FileEvent(uri=uri, type=FileChange.CREATED)
        if self._spec.opens_changed_files:
            self._show(path, read)
        return FileEvent(uri=uri, type=FileChange.CHANGED)

    def _show(self, path: str, read: Callable[[str], str | None], *, pinned: bool = False) -> None:
        text = read(path) if self._spec.understands(path) else None
        if text is None:
            self._documents.hide(path)
        else:
            self._documents.show(path, text, pinned=pinned)
