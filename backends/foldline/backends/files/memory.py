"""Files held in memory: for tests, and for buffers that were never saved."""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from foldline.backends.base.languages import TEXT
from foldline.backends.errors import FileTooLargeError, MissingPathError
from foldline.backends.files.base import DEFAULT_SIZE_LIMIT, Entry, FileBackend
from foldline.backends.files.ignore import IgnoreRules
from foldline.backends.files.listing import FileStamp

_DEFAULT_ROOT = Path("/memory")


class MemoryFileBackend(FileBackend):
    """The files of a mapping from relative paths to their content; nothing touches the disk."""

    def __init__(
        self,
        files: Mapping[str, str | bytes] | None = None,
        *,
        root: Path = _DEFAULT_ROOT,
        size_limit: int = DEFAULT_SIZE_LIMIT,
        no_ignore: bool = False,
    ) -> None:
        super().__init__(root, size_limit=size_limit, no_ignore=no_ignore)
        self._content: dict[str, tuple[int, bytes]] = {}
        self._versions = 0
        self._writing = threading.Lock()
        for path, text in (files or {}).items():
            self.write(path, text)

    def write(self, path: str, content: str | bytes) -> None:
        """Let the file have this content from now on."""
        key = self._locate(path)
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        with self._writing:
            self._versions += 1
            self._content[key] = (self._versions, data)

    def delete(self, path: str) -> None:
        """Forget the file."""
        with self._writing:
            self._content.pop(self._locate(path), None)

    def _real(self, path: str) -> str | None:
        text = path
        root = self.root.as_posix()
        if text == root or text.startswith(f"{root}/"):
            text = text[len(root) :].lstrip("/") or "."
        normal = posixpath.normpath(text or ".")
        return None if normal.startswith(("/", "../")) or normal == ".." else normal

    def _kind(self, path: str) -> str | None:
        if path in self._content:
            return "file"
        if path == "." or any(key.startswith(f"{path}/") for key in list(self._content)):
            return "folder"
        return None

    def _stat(self, path: str) -> FileStamp | None:
        content = self._content.get(path)
        return None if content is None else FileStamp(path, len(content[1]), content[0])

    def _read_bytes(self, path: str, limit: int) -> bytes:
        content = self._content.get(path)
        if content is None:
            raise MissingPathError(path, self._near(path))
        if len(content[1]) > limit:
            raise FileTooLargeError(path, len(content[1]), limit)
        return content[1]

    def _read_chunks(self, path: str) -> Iterator[bytes]:
        content = self._content.get(path)
        if content is not None:
            yield content[1]

    def _list(
        self, folder: str, goes_on: Callable[[], bool] = lambda: True, kind: int = TEXT
    ) -> list[Entry]:
        del goes_on, kind
        prefix = "" if folder in {"", "."} else f"{folder}/"
        entries: dict[str, Entry] = {}
        for path, (version, data) in list(self._content.items()):
            if path.startswith(prefix):
                name, slash, _ = path[len(prefix) :].partition("/")
                stamp = None if slash else FileStamp(path, len(data), version)
                entries[name] = Entry(name, stamp)
        return sorted(entries.values())

    def rules(self) -> IgnoreRules:
        return IgnoreRules(self.root, self._read_rules)

    def _read_rules(self, file: Path, _root: Path | None) -> tuple[str, str] | None:
        content = None
        if file.is_relative_to(self.root):
            content = self._content.get(file.relative_to(self.root).as_posix())
        return None if content is None else (str(content[0]), content[1].decode("utf-8", "replace"))
