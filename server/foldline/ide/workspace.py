"""The open workspace: one object for the language server, MCP, the command line and Python."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from foldline import backends, ide
from foldline.backends.base.extras import require_code_packages
from foldline.backends.base.reading import PROJECT_FILES
from foldline.backends.base.waiting import PROMPTS, STATUS, in_thread
from foldline.backends.formatting.visible import visible
from foldline.ide.errors import PathRefused, Untrusted
from foldline.ide.settings import Settings
from foldline.ide.snapshot import OpenDocument
from foldline.ide.uris import file_of, local_path
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from foldline.backends import AsyncSmartFileAccess, SmartFileAccess
    from foldline.backends.lsp import ServerStatus
    from foldline.backends.outlines.parsing_pool import PoolParsing
    from foldline.ide.analysis.model import SourceSpan
    from foldline.ide.analysis.modules import Modules
    from foldline.ide.folder import Folder
    from foldline.ide.previews.previews import Previews
    from foldline.ide.render.render import Location
    from foldline.ide.render.renderer import Renderer
    from foldline.ide.snapshot import Snapshot

    Progress = Callable[[int, int], None] | None

Result = TypeVar("Result")
log = logging.getLogger(__name__)

CLOSE_SECONDS = 10.0
UNTRUSTED = (
    "This workspace is not trusted, so its prompts are not executed. Trust it in your editor, or "
    'start the server with initializationOptions {"trusted": true}'
)


@record
class AccessOptions:
    """Options of the access to files, as `SmartFileAccess.for_workspace` takes them.

    Attributes:
        parse_in_workers: Sources that may take too long or too much are parsed in processes.
        patient: Huge folders are listed to their end, and nothing else is done meanwhile.
    """

    language_servers: bool = False
    parse_in_workers: bool = False
    no_ignore: bool = False
    patient: bool = False


@dataclass(slots=True)
class Focus:
    """The document last opened, edited or queried, and the prompt last shown of each."""

    uri: str | None = None
    prompt_names: dict[str, str] = field(default_factory=dict)

    def document(self, uri: str) -> None:
        """Move to a document."""
        self.uri = uri

    def prompt(self, uri: str, name: str) -> None:
        """Move to a prompt of a document."""
        self.uri = uri
        self.prompt_names[uri] = name

    def forget(self, uri: str) -> None:
        """Leave a document that was closed."""
        self.prompt_names.pop(uri, None)
        if self.uri == uri:
            self.uri = None


class Workspace:
    """Folders, open documents, trust and configuration; a file access and a project per folder.

    A document that is open outside every folder has its own directory for a folder. Without any
    folder, the directories of the open documents are the workspace.

    Attributes:
        settings: What the client set, and whether it trusts the workspace.
        focus: The document and the prompt that the user last dealt with.
        version: Grows with every change that may change what is known without running prompts.
        reach: A folder around the workspace's, up to which modules and options are looked up.
        progress_of: Returns, for a folder, what its index reports its progress to.
        locate: A place in a document's project as the client counts; without it, there's none.
        report: Called with problems of options, which may have been reported before.
    """

    def __init__(
        self, settings: Settings | None = None, access: AccessOptions | None = None
    ) -> None:
        require_code_packages()
        self.settings = settings or Settings()
        self.focus = Focus()
        self.version = 0
        self.reach: Path | None = None
        self.progress_of: Callable[[Path], Progress] = lambda _: None
        self.locate: Callable[[Snapshot, SourceSpan], Location | None] = lambda *_: None
        self.report: Callable[[Sequence[str]], None] = _log_problems
        self._access_options = access or AccessOptions()
        self._subscribers: list[Callable[[], None]] = []
        self._roots: tuple[Path, ...] = ()
        self._access: dict[Path, SmartFileAccess] = {}
        self._folders: dict[Path, Folder] = {}
        self._parsing: PoolParsing | None = None
        self._open: dict[str, OpenDocument] = {}
        self._client_options: object = None
        self._lock = Lock()

    @classmethod
    def at(
        cls,
        *roots: Path | str,
        settings: Settings | None = None,
        access: AccessOptions | None = None,
    ) -> Workspace:
        """A workspace of these folders."""
        workspace = cls(settings, access)
        workspace.set_roots([Path(root).resolve() for root in roots])
        return workspace

    def subscribe(self, subscriber: Callable[[], None]) -> None:
        """Call `subscriber` after every change, on the thread that made it."""
        self._subscribers.append(subscriber)

    @cached_property
    def renderer(self) -> Renderer:
        """Runs prompts in the user's interpreter."""
        return ide.render.Renderer()

    @cached_property
    def previews(self) -> Previews:
        """The open previews."""
        return ide.previews.Previews(self)

    # Folders

    @property
    def roots(self) -> tuple[Path, ...]:
        """The workspace folders, in order."""
        return self._roots

    def set_roots(self, roots: Iterable[Path]) -> None:
        """Set the workspace folders, and let go of those that were closed."""
        before, self._roots = self._roots, tuple(dict.fromkeys(roots))
        if before == self._roots:
            return
        with self._lock:
            kept = {*self._roots, *(Path(file).parent for file in self._open)}
            gone = [access for root, access in self._access.items() if root not in kept]
            self._access = {root: one for root, one in self._access.items() if root in kept}
            folders = [one for root, one in self._folders.items() if root not in kept]
            self._folders = {root: one for root, one in self._folders.items() if root in kept}
        _give_back(folders)
        _close([access.close for access in gone])
        if before:
            self._changed()

    def set_root_uris(self, uris: Iterable[str]) -> None:
        """Set the workspace folders by their URIs; what isn't a local folder is left out.

        One that isn't there is taken: it may come.
        """
        roots = []
        for uri in uris:
            path = local_path(uri)
            if path is None or (os.path.exists(path) and not os.path.isdir(path)):
                log.warning(
                    "%s is not a folder on this machine: it is left out", visible(uri[:200])
                )
            else:
                roots.append(path)
        self.set_roots(roots)

    def root_of(self, path: Path) -> Path:
        """The innermost workspace folder that holds `path`, or the directory of an open document.

        Raises:
            PathRefused: `path` is outside the workspace, and not open.
        """
        around = [root for root in self._roots if path.is_relative_to(root)]
        if around:
            return max(around, key=lambda root: len(root.parts))
        with self._lock:
            is_open = str(path) in self._open
        if not is_open:
            message = f"{visible(str(path))} is outside the workspace: open it in the editor"
            raise PathRefused(message, path=str(path))
        return path.parent

    def folder(self, path: Path) -> Folder:
        """The workspace folder that holds `path`."""
        root = self.root_of(path) if path.is_absolute() else self._nowhere()
        with self._lock:
            folder = self._folders.get(root)
            if folder is None:
                folder = self._folders[root] = ide.folder.Folder(root, self.access, self.reach)
                folder.set_client_options(self._client_options)
            return folder

    def folders(self) -> tuple[Folder, ...]:
        """The workspace folders, in order."""
        return tuple(self.folder(root / "_") for root in self._roots)

    def access(self, root: Path) -> SmartFileAccess:
        """The files below `root`, open documents included."""
        from foldline.backends.search.walks import WALK_SECONDS

        options = self._access_options
        with self._lock:
            access = self._access.get(root)
            if access is None:
                access = self._access[root] = backends.SmartFileAccess.for_workspace(
                    root,
                    overlays=self._overlays(root),
                    language_servers=options.language_servers,
                    trusted=self.settings.trusted,
                    parsing=self._shared_parsing if options.parse_in_workers else None,
                    no_ignore=options.no_ignore,
                    walk_seconds=None if options.patient else WALK_SECONDS,
                    progress=self.progress_of(root),
                )
            return access

    def _shared_parsing(self) -> PoolParsing:
        """The workers of all folders, loaded with the first query that parses."""
        from foldline.backends.outlines.parsing_pool import PoolParsing

        with self._lock:
            if self._parsing is None:
                self._parsing = PoolParsing(patient=self._access_options.patient)
            return self._parsing

    def async_access(self, root: Path) -> AsyncSmartFileAccess:
        """The same for coroutines: a wait holds neither the event loop nor a thread."""
        return backends.AsyncSmartFileAccess(self.access(root))

    # Documents

    def open_document(self, uri: str, text: str, version: int | None = None) -> None:
        """Use a client's text of a document, instead of the file or of an earlier text."""
        file = file_of(uri)
        self.focus.document(uri)
        with self._lock:
            self._open[file] = OpenDocument(uri, text, version)
            holders = self._holders(file)
        for access in holders:
            access.file_backend.set_overlay(file, text)
        self._changed()

    def close_document(self, uri: str) -> None:
        """Let the document's text on disk stand for itself again."""
        file = file_of(uri)
        self.focus.forget(uri)
        with self._lock:
            self._open.pop(file, None)
            holders = self._holders(file)
        for access in holders:
            access.file_backend.remove_overlay(file)
        self._changed()

    def changed_on_disk(self, uris: Iterable[str]) -> None:
        """Read changed files again; only previews use those of other kinds than these."""
        endings = (".py", ".md", ".mdc", *(f"/{name}" for name in PROJECT_FILES))
        read = [uri for uri in uris if uri.endswith(endings)]
        for path in filter(None, map(local_path, read)):
            with self._lock:
                holders = [one for root, one in self._folders.items() if path.is_relative_to(root)]
            for folder in holders:
                folder.modules.changed_on_disk(str(path))
        self._changed(analysis=bool(read))

    def open_documents(self) -> dict[str, str]:
        """The URI of each open document, by file."""
        with self._lock:
            return {file: document.uri for file, document in self._open.items()}

    def document(self, uri: str) -> OpenDocument | None:
        """The document as a client has it open; None where it doesn't."""
        with self._lock:
            return self._open.get(file_of(uri))

    def overlays(self) -> dict[str, str]:
        """The texts of all open documents by path."""
        with self._lock:
            return self._overlays()

    # Trust and configuration

    def set_settings(self, settings: Settings) -> None:
        """Set what the client set at its start."""
        trusted = self.settings.trusted
        self.settings = settings
        if settings.trusted != trusted:
            # Language servers that may run the workspace's code are chosen when files are opened.
            self.close_files()
        if not settings.trusted:
            self._close_renderer()

    def set_trusted(self, *, trusted: bool) -> None:
        """Allow or forbid to run the workspace's code; forbidden, what runs ends."""
        self.set_settings(replace(self.settings, trusted=trusted))
        self._changed(analysis=False)

    def require_trust(self) -> None:
        """Refuse to go on in a workspace that isn't trusted.

        Raises:
            Untrusted: It isn't.
        """
        if not self.settings.trusted:
            raise Untrusted(UNTRUSTED)

    def set_client_options(self, values: object) -> tuple[str, ...]:
        """Let the client's options win over each project's; returns what is wrong in them."""
        _, problems = ide.config.read_options(values)
        with self._lock:
            self._client_options = values
            self.version += 1
            for folder in self._folders.values():
                folder.set_client_options(values)
        return problems

    # Queries

    def with_snapshot(self, uri: str, query: Callable[[Snapshot], Result]) -> Result | None:
        """The result of `query` on a document; None where that can't be read.

        It may take as long as a parse: call it in a thread.
        """
        from foldline.ide.sources.source import SourceDocument

        path = Path(file_of(uri))
        document = SourceDocument(uri, path, self.folder(path).root)
        return ide.resolve.source_kind(self, path)(self, document).with_snapshot(query)

    def without_prompts(self, uri: str) -> OpenDocument | None:
        """The open document, if it is Python that doesn't concern prompts; this loads no analysis.

        None for every document once an analysis is loaded: a snapshot is as fast then.
        """
        file = file_of(uri)
        if not file.endswith((".py", ".pyi")):
            return None
        folder = self.folder(Path(file))
        with folder.modules.lock:
            if folder.is_analyzed:
                return None
            document = self.as_of_now(folder.modules, folder, file)
            if document is None or folder.modules.concerned(file, document.text):
                return None
            return document

    def as_of_now(self, modules: Modules, folder: Folder, file: str) -> OpenDocument | None:
        """Let modules know all documents and the disk as they are; return a file's document."""
        with self._lock:
            documents = {
                other: document
                for other, document in self._open.items()
                if other == file or Path(other).is_relative_to(folder.root)
            }
        for other in modules.open_files:
            if other not in documents:
                modules.close(other)
        for other, document in documents.items():
            modules.open(other, document.text)
        modules.look_at_disk()
        return documents.get(file)

    async def query(self, uri: str, query: Callable[[Snapshot], Result]) -> Result | None:
        """The same in a thread."""
        return await in_thread(partial(self.with_snapshot, uri, query), PROMPTS)

    # Life

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """End everything that runs for the workspace, and wait for it that long.

        A thread of a library that still runs when the interpreter ends may crash it.
        """
        self._close_renderer()
        self.close_files(seconds)

    async def stop(self, seconds: float) -> None:
        """End everything, and wait for it; what takes longer ends with the process."""
        import asyncio

        files = in_thread(partial(self.close_files, seconds), STATUS)
        await asyncio.gather(files, self.stop_renderer())

    async def stop_renderer(self) -> None:
        """End the processes that run prompts, and wait for them."""
        if "renderer" in vars(self):
            await self.renderer.stop()

    def close_files(self, seconds: float = 0) -> None:
        """Stop what runs for the folders, and wait for it as long.

        It starts again when it's next needed.
        """
        with self._lock:
            accesses, self._access = self._access, {}
            parsing, self._parsing = self._parsing, None
        closes = [access.close for access in accesses.values()]
        _close([*closes, parsing.close] if parsing is not None else closes, seconds)

    def restart(self) -> list[ServerStatus]:
        """Forget what is known of the folders, and return the language servers that were stopped.

        Everything starts again when it's next needed.
        """
        with self._lock:
            accesses, self._access = self._access, {}
            folders, self._folders = self._folders, {}
        _give_back(folders.values())
        stopped = [status for access in accesses.values() for status in access.restart_servers()]
        for access in accesses.values():
            access.close()
        return stopped

    def restart_servers(self, name: str) -> list[ServerStatus]:
        """Restart the language servers called `name`, of all folders, and return them."""
        with self._lock:
            accesses = list(self._access.values())
        return [status for access in accesses for status in access.restart_servers(name)]

    async def server_status(self) -> list[ServerStatus]:
        """Return the status of the language servers used so far, of all folders; takes no lock."""
        accesses = [backends.AsyncSmartFileAccess(access) for access in list(self._access.values())]
        return [status for access in accesses for status in await access.server_status()]

    def changed(self) -> None:
        """Have everything that is shown looked at again."""
        self._changed()

    def _close_renderer(self) -> None:
        if "renderer" in vars(self):
            self.renderer.close()

    def _changed(self, *, analysis: bool = True) -> None:
        if analysis:
            with self._lock:
                self.version += 1
        for subscriber in tuple(self._subscribers):
            subscriber()

    def _overlays(self, root: Path | None = None) -> dict[str, str]:
        return {
            file: document.text
            for file, document in self._open.items()
            if Path(file).is_absolute() and (root is None or Path(file).is_relative_to(root))
        }

    def _holders(self, file: str) -> list[SmartFileAccess]:
        path = Path(file)
        return [access for root, access in self._access.items() if path.is_relative_to(root)]

    def _nowhere(self) -> Path:
        """The folder for documents that aren't files: never the working directory."""
        return self._roots[0] if self._roots else Path(os.devnull)


def _give_back(folders: Iterable[Folder]) -> None:
    """Drop the analyses of removed folders, after the queries that still use them."""
    for folder in folders:
        PROMPTS.submit(folder.modules.forget)


def _close(closes: Iterable[Callable[[], None]], seconds: float = 0) -> None:
    end = monotonic() + seconds
    # Daemons: they end with the process.
    threads = [Thread(target=close, name="foldline-close", daemon=True) for close in closes]
    for thread in threads:
        thread.start()
    for thread in threads if seconds else ():
        thread.join(max(end - monotonic(), 0))


def _log_problems(problems: Sequence[str]) -> None:
    for problem in problems:
        log.warning("%s", problem)
