"""The workspace's files: one SmartFileAccess for each folder, shared by every command."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

from foldline.backends.formatting.visible import visible
from foldline.backends.uris import path_of_uri, uri_of_path
from foldline.ide.errors import PathRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from foldline.backends import AsyncSmartFileAccess, SmartFileAccess
    from foldline.backends.lsp import ServerStatus
    from foldline.backends.parsing_pool import PoolParsing

    Progress = Callable[[int, int], None]

log = logging.getLogger(__name__)


class WorkspaceFiles:
    """Which folder a file belongs to, and the files of each folder.

    A document that is open outside every folder has its own directory for a folder. Without any
    folder, the directories of the open documents are the workspace.

    Attributes:
        progress_of: What makes, for a folder, the function that the building of its index tells of
            files done and in all.
    """

    def __init__(self) -> None:
        self.progress_of: Callable[[Path], Progress] | None = None
        self._trusted = False
        self._roots: tuple[Path, ...] = ()
        self._access: dict[Path, SmartFileAccess] = {}
        self._overlays: dict[Path, str] = {}
        self._parsing: PoolParsing | None = None
        self._lock = Lock()

    @property
    def roots(self) -> tuple[Path, ...]:
        return self._roots

    def set_roots(self, uris: Iterable[str]) -> None:
        """Take the workspace folders at `uris`; what isn't a local folder is left out.

        One that isn't there is taken: it may come.
        """
        roots = []
        for uri in uris:
            path = local_path(uri)
            if path is None or (path.exists() and not path.is_dir()):
                shown = visible(uri[:200])
                log.warning("%s is not a folder on this machine: it is left out", shown)
            else:
                roots.append(path)
        self._roots = tuple(roots)

    def set_trusted(self, *, trusted: bool) -> None:
        """Allow or forbid language servers that may run code of the workspace."""
        if trusted != self._trusted:
            self._trusted = trusted
            # They are chosen when a folder's files are first asked for.
            self.close()

    def close(self) -> None:
        """Stop what runs for the folders; they start again when they are next asked for."""
        with self._lock:
            known, self._access = self._access, {}
            parsing, self._parsing = self._parsing, None
        closes = [access.close for access in known.values()]
        if parsing is not None:
            closes.append(parsing.close)
        for close in closes:
            # What has not ended when the process ends, ends with it.
            Thread(target=close, name="foldline-close", daemon=True).start()

    def restart(self) -> list[ServerStatus]:
        """Forget what is known of the folders, and return the language servers that were stopped.

        Everything starts again when it is next asked for.
        """
        with self._lock:
            known, self._access = self._access, {}
        stopped = [status for access in known.values() for status in access.restart_servers()]
        for access in known.values():
            access.close()
        return stopped

    def restart_servers(self, name: str) -> list[ServerStatus]:
        """Restart the language servers called `name`, of all folders, and return them."""
        with self._lock:
            known = list(self._access.values())
        return [status for access in known for status in access.restart_servers(name)]

    async def server_status(self) -> list[ServerStatus]:
        """The language servers of all folders that were asked so far; takes no lock."""
        from foldline.backends import AsyncSmartFileAccess

        known = [AsyncSmartFileAccess(access) for access in list(self._access.values())]
        return [status for access in known for status in await access.server_status()]

    def root_of(self, path: Path) -> Path:
        """The innermost workspace folder that holds `path`, or the directory of an open document.

        Raises:
            IdeError: `path` is outside the workspace, and not open.
        """
        around = [root for root in self._roots if path.is_relative_to(root)]
        if around:
            return max(around, key=lambda root: len(root.parts))
        with self._lock:
            is_open = path in self._overlays
        if not is_open:
            message = f"{visible(str(path))} is outside the workspace: open it in the editor"
            raise PathRefused(message, path=str(path))
        return path.parent

    def access(self, root: Path) -> SmartFileAccess:
        """The files below `root`, open buffers included."""
        from foldline.backends import SmartFileAccess
        from foldline.backends.parsing_pool import PoolParsing

        with self._lock:
            access = self._access.get(root)
            if access is None:
                self._parsing = self._parsing or PoolParsing()
                access = self._access[root] = SmartFileAccess.for_workspace(
                    root,
                    overlays={
                        str(path): text
                        for path, text in self._overlays.items()
                        if path.is_relative_to(root)
                    },
                    language_servers=True,
                    trusted=self._trusted,
                    parsing=self._parsing,
                    progress=None if self.progress_of is None else self.progress_of(root),
                )
            return access

    def asynchronous(self, root: Path) -> AsyncSmartFileAccess:
        """The same for coroutines: neither the event loop nor, while it waits, a thread is held."""
        from foldline.backends import AsyncSmartFileAccess

        return AsyncSmartFileAccess(self.access(root))

    def set_overlay(self, path: Path, text: str) -> None:
        """Let `text`, which an editor holds, stand for the file at `path`."""
        with self._lock:
            self._overlays[path] = text
            holders = self._holders(path)
        for access in holders:
            access.file_backend.set_overlay(str(path), text)

    def remove_overlay(self, path: Path) -> None:
        """Let the disk's text stand for the file at `path` again."""
        with self._lock:
            self._overlays.pop(path, None)
            holders = self._holders(path)
        for access in holders:
            access.file_backend.remove_overlay(str(path))

    def overlays(self) -> dict[str, str]:
        """The texts of all open documents by path."""
        with self._lock:
            return {str(path): text for path, text in self._overlays.items()}

    def _holders(self, path: Path) -> list[SmartFileAccess]:
        return [access for root, access in self._access.items() if path.is_relative_to(root)]


def local_path(uri: str) -> Path | None:
    """The real path of the file at `uri`, or None where that is no file on this machine."""
    try:
        path = path_of_uri(uri)
        # What is relative would be found beside this process.
        if not path or not Path(path).is_absolute():
            return None
        found = Path(path).resolve()
        # Asked once here, so that a name that no file can have fails nowhere else.
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            found.stat()
    except (ValueError, OSError, RuntimeError):
        # It isn't a URI, or no name of a file: NUL, half a character, a loop of links, too long.
        return None
    return found


def path_of(uri: str) -> Path:
    """The real path of the file at `uri`.

    Raises:
        IdeError: It is no file on this machine.
    """
    path = local_path(uri)
    if path is None:
        raise PathRefused(f"{visible(uri)} is not a file on this machine: save it first", uri=uri)
    return path


def uri_of(path: Path) -> str:
    """The `file:` URI of an absolute path."""
    return uri_of_path(path)
