"""The documents that a server has open, and its notifications of changes."""

from __future__ import annotations

from collections import OrderedDict
from enum import IntEnum
from typing import TYPE_CHECKING, TypedDict

from foldline.backends.lsp.lifecycle import Change
from foldline.backends.lsp.servers import language_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from foldline.backends.files.listing import FileStamp
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

    Of files that aren't open in an editor, the last `limit` stay open: a server frees the memory of
    a document only when it is closed.

    Attributes:
        unread: The URIs of texts for which the server has not published diagnostics yet.
    """

    def __init__(self, root: Path, notify: Notify, limit: int) -> None:
        self._root = root
        self._notify = notify
        self._limit = limit
        # Path to version and text, least recently used first.
        self._open: OrderedDict[str, tuple[int, str]] = OrderedDict()
        self._pinned: set[str] = set()
        self.unread: set[str] = set()

    @property
    def count(self) -> int:
        """The number of open documents."""
        return len(self._open)

    def is_open(self, path: str) -> bool:
        return path in self._open

    def show(self, path: str, text: str, *, pinned: bool = False) -> None:
        """Open the document in the server, or update its text; `pinned` ones stay open."""
        if pinned:
            self._pinned.add(path)
        document = self._open.get(path)
        if document is None:
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
        version, before = document
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
        """Close the document: the server reads the disk again."""
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
    """Notifies one server of the changes since its last notification."""

    def __init__(self, spec: ServerSpec, documents: OpenDocuments, notify: Notify) -> None:
        self._spec = spec
        self._documents = documents
        self._notify = notify
        self._snapshot: Snapshot = {}

    def begin(self, snapshot: Snapshot, read: Callable[[str], str | None]) -> None:
        """Start from the files on disk at `snapshot`, and open the editor's buffers."""
        self._snapshot = snapshot
        for path, stamp in snapshot.items():
            if stamp.overlay and self._spec.understands(path):
                self._show(path, read, pinned=True)

    def follow(self, snapshot: Snapshot, read: Callable[[str], str | None]) -> Change:
        """Notify the server of what differs from its last snapshot."""
        before = self._snapshot
        if snapshot is before:
            return Change.NONE
        self._snapshot = snapshot
        changed = [
            path
            for path, _ in snapshot.items() ^ before.items()
            if self._spec.understands(path) or path.rpartition("/")[2] in self._config_files
        ]
        events = [
            event
            for path in dict.fromkeys(changed)
            if (event := self._event(path, before.get(path), snapshot.get(path), read)) is not None
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

    def _event(
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
        # Only the server knows whether it noticed a file that was open in the editor.
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
