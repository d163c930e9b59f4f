"""The servers of one workspace and their answers, on the background loop."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import re
import time
from collections import OrderedDict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from foldline.backends import errors
from foldline.backends.base.units import to_units
from foldline.backends.base.waiting import WALKS, Shared, in_thread
from foldline.backends.engine import ASKS_SEVERAL_FOLDERS
from foldline.backends.files.source import split_lines
from foldline.backends.lsp.discovery import root_for
from foldline.backends.lsp.locations import holds
from foldline.backends.lsp.results import problem_of
from foldline.backends.lsp.servers import Answer, ReadyWhen, language_id
from foldline.backends.lsp.session import ServerSession
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from foldline.backends.files.base import FileBackend
    from foldline.backends.files.listing import FileVersions
    from foldline.backends.lsp.discovery import ServerCatalog
    from foldline.backends.lsp.documents import Snapshot
    from foldline.backends.lsp.initialized_server import InitializedServer
    from foldline.backends.lsp.lifecycle import Limits, ServerStatus
    from foldline.backends.lsp.servers import ServerSpec
    from foldline.backends.lsp.symbol_requests import Answered as AnsweredSymbols
    from foldline.backends.outlines.locations import Position

REFERENCES = "textDocument/references"
MAX_SERVERS = 6
# Folders that the process has servers of one kind up for.
MAX_FOLDERS = 2
_POOLS: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakSet[ServerPool]] = WeakKeyDictionary()
# A time before every look.
_LAST_KNOWN = -1.0
# How long the first look waits for a server that starts.
_EARLY_SECONDS = 0.1
# Projects beside the one that defines a name whose servers are asked for its uses, too.
MAX_OTHER_PROJECTS = 3
_MAX_ANSWERS = 512
# Files of a folder that are looked into for how they import each other.
_MOST_LOOKED_INTO = 20


@record
class Query:
    """One request about a position in a file; a `target` at line 0 is the whole file.

    The server of that file's project is asked, or that of `project`, a file of another one.
    """

    answer: Answer
    method: str
    target: Position
    candidates: tuple[str, ...] = ()
    project: str = ""

    @property
    def project_file(self) -> str:
        """A file of the project whose server is asked."""
        return self.project or self.target.path


@record
class Answered:
    """A server's answer.

    `overdue` marks a server that never reported that it has read the whole project; `unopened`
    counts the files that may hold an answer and weren't opened in it.
    """

    result: Any
    session: ServerSession
    running: InitializedServer
    snapshot: Snapshot
    overdue: bool
    unopened: int = 0


# A pool runs on the background loop and needs no locks: between two awaits nothing else runs there.
# Other threads may read `has_servers`; `_look` runs in a thread of its own and changes nothing
# here. Callers that ask the same of one generation share a task in `_answers`, and await it
# shielded: one that gives up doesn't cancel it for the others. A session leaves `_sessions` before
# it is closed, so that a query that comes meanwhile starts a new one.
class ServerPool:
    """One server for each (server, root) that was ever asked, at most `MAX_SERVERS` of them.

    All pools of a process keep servers of one kind up for at most `MAX_FOLDERS` folders, those that
    were asked last.
    """

    def __init__(self, files: FileBackend, catalog: ServerCatalog, limits: Limits) -> None:
        self._files = files
        self._catalog = catalog
        self._limits = limits
        # Least recently used first.
        self._sessions: OrderedDict[tuple[str, Path], ServerSession] = OrderedDict()
        # Restarts of the sessions that `restart` has dropped.
        self._restarts: dict[tuple[str, Path], int] = {}
        self._answers: OrderedDict[tuple[object, ...], asyncio.Task[Any]] = OrderedDict()
        self._snapshot: Snapshot = {}
        self._looks = Shared(self._look)
        # The top folders that are looked into, by whether they are part of one project.
        self._are_parts: dict[str, bool] = {}
        self._early: asyncio.Task[InitializedServer] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False

    async def ask(
        self, query: Query, snapshot: Snapshot | None = None, *, patience: float = math.inf
    ) -> Answered:
        """The answer of the best server that starts, as of `snapshot` or of now.

        A server that owes answers for longer than `patience` seconds isn't waited for. Where one
        has been up, no other kind is started beside it, however late or wrong it is.

        Raises:
            LSPError: The failure of the last of them; `LSPUnavailableError` where there is none.
        """
        if snapshot is None:
            snapshot = await self.snapshot(time.monotonic())
        path = query.project_file
        candidates = self._catalog.candidates(language_id(path), query.answer)
        problem: errors.LSPError = errors.LSPUnavailableError(self._catalog.why_none(path))
        for spec, command in candidates:
            session = self._session(spec, command, path)
            try:
                session.check()
                answered = await self._ask_twice(session, query, snapshot, patience)
            except errors.LSPError as error:
                problem = session.briefly(error)
                if session.generation:
                    break
            else:
                session.has_failed = False
                return answered
        raise problem

    async def prepare(self, answer: Answer, since: float) -> Snapshot:
        """The versions of all files; the server for most of them starts in the background.

        It starts at once where an index has kept them: it begins with these, and is notified of
        what has changed since.
        """
        kept = self._kept
        if kept is not None and not self._sessions and any(kept.last_paths()):
            last_snapshot = asyncio.create_task(self._last_known(kept))
            self._early = self._begin_server(answer, kept.last_paths(), last_snapshot)
        if self._early is not None:
            # A look meanwhile would slow down the start.
            await asyncio.wait([self._early], timeout=_EARLY_SECONDS)
        begun = asyncio.ensure_future(self.snapshot(since))
        snapshot = await begun
        self._begin_server(answer, snapshot, begun)
        return snapshot

    async def _last_known(self, kept: FileVersions) -> Snapshot:
        last_snapshot = self._with_buffers(
            await in_thread(partial(kept.on_disk, _LAST_KNOWN), WALKS)
        )
        self._snapshot = self._snapshot or last_snapshot
        return self._snapshot

    def _begin_server(
        self, answer: Answer, paths: Iterable[str], begun: asyncio.Future[Snapshot]
    ) -> asyncio.Task[InitializedServer] | None:
        """Start the server for most of the files, unless there is one."""
        if self._sessions or self._closed:
            return None
        by_language: dict[str, list[str]] = {}
        for path in paths:
            if language := language_id(path):
                by_language.setdefault(language, []).append(path)
        for of_language in sorted(by_language.values(), key=len, reverse=True)[:1]:
            for spec, command in self._catalog.candidates(language_id(of_language[0]), answer)[:1]:
                try:
                    session = self._session(spec, command, of_language[0])
                except errors.LSPElsewhereError:
                    return None  # The query itself may stop another folder's, or says so.
                starting = asyncio.create_task(session.begin(begun, self._files.text_of))
                # The next request reports a failure: starts are shared.
                starting.add_done_callback(lambda done: done.cancelled() or done.exception())
                return starting
        return None

    async def prefetch(self, query: Query, begun: Future[Snapshot]) -> None:
        """Ask the first server now, so that its answer is there when `ask` is called.

        It is asked before it is known whether files have changed: if they have, the answer belongs
        to an earlier generation and is dropped.
        """
        path = query.target.path
        for spec, command in self._catalog.candidates(language_id(path), query.answer)[:1]:
            # With files to open first, it would be another query.
            if spec.opens_candidates or self._closed:
                return
            with contextlib.suppress(errors.LSPError):
                session = self._session(spec, command, path)
                if session.is_usable:
                    running = await session.begin(asyncio.wrap_future(begun), self._files.text_of)
                    await self._answer(session, running, query, math.inf)

    def in_other_projects(self, queries: Sequence[Query]) -> tuple[list[Query], int]:
        """The queries again, for other projects with candidates, and how many are left out.

        A project is a folder with a server of its own, which alone knows how imports are resolved
        there. Those with most candidates are asked.
        """
        more: list[Query] = []
        left_out = 0
        roots: dict[tuple[str, str], Path] = {}

        def root_of(spec: ServerSpec, path: str) -> Path:
            key = spec.name, path.rpartition("/")[0]
            if key not in roots:
                roots[key] = self._root(spec, path)
            return roots[key]

        for query in queries:
            path = query.target.path
            for spec, _ in self._catalog.candidates(language_id(path), query.answer)[:1]:
                projects: dict[Path, list[str]] = {}
                for candidate in filter(spec.understands, query.candidates):
                    projects.setdefault(root_of(spec, candidate), []).append(candidate)
                projects.pop(root_of(spec, path), None)
                by_size = sorted(projects.values(), key=len, reverse=True)
                more += [replace(query, project=paths[0]) for paths in by_size[:MAX_OTHER_PROJECTS]]
                left_out = max(left_out, len(by_size) - MAX_OTHER_PROJECTS)
        return more, left_out

    def session_for(self, path: str, answer: Answer) -> ServerSession | None:
        """The session that is asked first about `path`, if it exists already."""
        for spec, _ in self._catalog.candidates(language_id(path), answer)[:1]:
            return self._sessions.get((spec.name, self._root(spec, path)))
        return None

    @property
    def has_servers(self) -> bool:
        """Return whether a server was ever asked; any thread may ask."""
        return bool(self._sessions)

    async def symbols(self, path: str, until: float) -> AnsweredSymbols | None:
        """The symbols of a file from a server that is up and ready; no other is started.

        None where they don't come `until` a time of `time.monotonic`.
        """
        for session in reversed(self._sessions.values()):
            spec, running = session.spec, session.running
            if (
                running is None
                or not running.ready.is_ready
                or not spec.understands(path)
                or Answer.SYMBOLS not in spec.answers
                or self._root(spec, path) != session.root
            ):
                continue
            text = self._files.text_of(path)
            if text is None:
                return None
            return await running.symbols.ask(session, running, path, text, until)
        return None

    async def snapshot(self, since: float) -> Snapshot:
        """The versions of all files as of `since` or later: one object until one changes."""
        snapshot = await asyncio.wrap_future(self._looks.ask(since))
        if snapshot is not self._snapshot and snapshot != self._snapshot:
            self._snapshot = snapshot
        return self._snapshot

    def status(self) -> list[ServerStatus]:
        """The status of every server that was ever asked."""
        return [session.status() for session in self._sessions.values()]

    async def close(self) -> None:
        """Stop all servers; none is started again."""
        self._closed = True
        for task in self._answers.values():
            task.cancel()
        self._answers.clear()
        await asyncio.gather(
            *(session.close() for session in self._sessions.values()),
            *self._closing,
            return_exceptions=True,
        )

    async def restart(self, name: str | None = None) -> tuple[ServerStatus, ...]:
        """Stop all servers, or those called `name`; each starts afresh when it is next asked."""
        keys = [key for key in self._sessions if name in {None, key[0]}]
        sessions = [self._sessions.pop(key) for key in keys]
        stopped = tuple(session.status() for session in sessions)
        for key, was in zip(keys, stopped, strict=True):
            self._restarts[key] = was.restarts + 1
        self._answers = OrderedDict(
            (key, task) for key, task in self._answers.items() if key[0] not in sessions
        )
        await asyncio.gather(*(session.close() for session in sessions), return_exceptions=True)
        return stopped

    # Asking

    async def _ask_twice(
        self, session: ServerSession, query: Query, snapshot: Snapshot, patience: float
    ) -> Answered:
        """The answer of the server, or of a fresh one if it died, maybe of another request."""
        try:
            return await self._ask_session(session, query, snapshot, patience)
        except errors.LSPDiedError:
            if not session.is_usable:
                raise
        return await self._ask_session(session, query, snapshot, patience)

    async def _ask_session(
        self, session: ServerSession, query: Query, snapshot: Snapshot, patience: float
    ) -> Answered:
        with session.in_use():
            running = await session.up(snapshot, self._files.text_of)
            if not session.is_trusted:
                raise errors.LSPAnswerError("its answers can't be right", session.spec.name)
            result = await self._answer(session, running, query, patience)
        unopened = 0
        if session.spec.opens_candidates and not any(
            os.path.isfile(session.root / name) for name in session.spec.project_files
        ):
            unopened = max(len(query.candidates) - MAX_CANDIDATES, 0)
        answered = Answered(result, session, running, snapshot, running.ready.overdue, unopened)
        session.judge(problem_of(query.method, result) or self._missing(query, answered))
        return answered

    def _missing(self, query: Query, answered: Answered) -> str:
        """The reason why uses can't be all: the definition is one of them."""
        if query.method != REFERENCES or query.project:
            return ""
        where = f"{query.target.path}:{query.target.line}"
        is_named = holds(self._files, answered, query.target)
        return "" if is_named else f"its uses of {where} leave out {where} itself"

    async def _answer(
        self, session: ServerSession, running: InitializedServer, query: Query, patience: float
    ) -> Any:
        """The result of the same request in this generation, or a new one."""
        # Where the files that are opened decide what is found, they are part of the query.
        shown = query.candidates if session.spec.opens_candidates else ()
        key = (session, session.generation, query.method, query.target, shown)
        task = self._answers.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.create_task(
                Exchange(session, running, query, self._files.text_of).result()
            )
            self._answers[key] = task
            # Retrieve the exception, or asyncio logs it once all callers have left.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._answers.move_to_end(key)
        while len(self._answers) > _MAX_ANSWERS and next(iter(self._answers.values())).done():
            self._answers.popitem(last=False)
        silence = running.connection.silence
        if silence > patience and not task.done():
            raise errors.LSPTimeoutError(f"has not answered for {silence:.0f} s", session.spec.name)
        return await asyncio.shield(task)

    def _session(self, spec: ServerSpec, command: tuple[str, ...], path: str) -> ServerSession:
        root = self._root(spec, path)
        key = (spec.name, root)
        session = self._sessions.get(key)
        if session is None:
            if self._closed:
                raise errors.LSPUnavailableError("the language servers have been closed")
            while len(self._sessions) >= MAX_SERVERS:
                _, oldest = self._sessions.popitem(last=False)
                closing = asyncio.create_task(oldest.close())
                self._closing.add(closing)
                closing.add_done_callback(self._closing.discard)
            restarts = self._restarts.get(key, 0)
            session = ServerSession(
                spec, command, self._files.root, root, self._limits, restarts=restarts
            )
            self._sessions[key] = session
        self._sessions.move_to_end(key)
        if not session.is_up:
            self._make_room(spec)
        return session

    def _root(self, spec: ServerSpec, path: str) -> Path:
        """The folder whose server knows the imports of a file."""
        workspace = self._files.root
        root = root_for(spec, workspace, path)
        if root == workspace or "python" not in spec.languages:
            return root
        top = path.partition("/")[0]
        if top not in self._are_parts:
            paths = self._snapshot or (self._kept and self._kept.last_paths()) or ()
            below = [one for one in paths if one.startswith(f"{top}/") and one.endswith(".py")]
            if not below:
                return root
            self._are_parts[top] = self._imports_itself(top, below)
        return workspace if self._are_parts[top] else root

    def _imports_itself(self, top: str, paths: Sequence[str]) -> bool:
        """Return whether half of a folder's files import it by its path from the workspace."""
        imports = re.compile(rf"^ *(?:from|import) +({re.escape(top)}\.\w+)", re.M)

        def does(path: str) -> bool:
            names = {*imports.findall(self._files.text_of(path) or "")}
            places = [self._files.root / name.replace(".", "/") for name in names]
            return any(os.path.exists(place) or os.path.exists(f"{place}.py") for place in places)

        some = paths[:: len(paths) // _MOST_LOOKED_INTO + 1]
        return 2 * sum(map(does, some)) >= len(some)

    def sessions_up(self, spec: ServerSpec) -> list[ServerSession]:
        """The servers of this kind that have a process."""
        every = self._sessions.values()
        return [session for session in every if session.is_up and session.spec.name == spec.name]

    def _make_room(self, spec: ServerSpec) -> None:
        """Stop this kind of server in the folder that was asked longest ago, if too many run.

        Raises:
            LSPElsewhereError: All of them are being asked, or a question is for several folders.
        """
        pools = _POOLS.setdefault(asyncio.get_running_loop(), WeakSet())
        pools.add(self)
        up = [*filter(None, (pool.sessions_up(spec) for pool in pools - {self}))]
        if len(up) < MAX_FOLDERS:
            return
        idle = [sessions for sessions in up if all(session.is_idle for session in sessions)]
        if ASKS_SEVERAL_FOLDERS.get() or not idle:
            raise errors.LSPElsewhereError(
                f"runs for {len(up)} other folders; ask about this folder alone", spec.name
            )
        for session in min(idle, key=lambda some: max(session.used for session in some)):
            session.rest()

    # Files

    @property
    def _kept(self) -> FileVersions | None:
        """The list of files that is kept, if one is."""
        return None if self._files.no_ignore else self._files.versions

    def _look(self, since: float) -> Snapshot:
        if self._kept is None:
            return {stamp.path: stamp for stamp in self._files.walk()}
        return self._with_buffers(self._kept.on_disk(since))

    def _with_buffers(self, disk: Snapshot) -> Snapshot:
        """The versions of files; open buffers win over the disk."""
        files = self._files
        stamps = filter(None, map(files.stamp, files.overlay_paths()))
        overlays = {stamp.path: stamp for stamp in stamps}
        return {**disk, **overlays} if overlays else disk


# This many files are opened in a server that knows open files alone.
MAX_CANDIDATES = 30
# Between two answers of a server that is asked until they agree.
_STABLE_SECONDS = 0.3
_STABLE_ROUNDS = 100
# A server that begins to work while it answers is asked again, this often at most.
_ROUNDS_OF_WORK = 3


@record
class Exchange:
    """A query to a running server, and its result."""

    session: ServerSession
    running: InitializedServer
    query: Query
    read: Callable[[str], str | None]

    async def result(self) -> Any:
        """The server's result, as it came.

        Raises:
            LSPError: The server failed, or the file can't be read any more.
        """
        path = self.query.target.path
        text = self.read(path)
        if text is None:
            raise errors.LSPUnavailableError(
                f"{path} cannot be read any more", self.session.spec.name
            )
        shown = self._show_candidates()
        self.running.documents.show(path, text)
        uri = self.running.documents.uri(path)
        params = self._params(uri, text)
        result = await self._complete(params, {*shown, uri})
        if self.session.spec.readiness.when is ReadyWhen.STABLE:
            return await self._stable(params, result)
        return result

    def _show_candidates(self) -> list[str]:
        """Open the candidates in a server that knows open files alone; returns their URIs."""
        spec, documents = self.session.spec, self.running.documents
        if not spec.opens_candidates:
            return []
        uris = []
        for path in filter(spec.understands, self.query.candidates[:MAX_CANDIDATES]):
            text = self.read(path)
            if text is not None:
                documents.show(path, text)
                uris.append(documents.uri(path))
        return uris

    async def _complete(self, params: dict[str, object], uris: set[str]) -> Any:
        """The result once the server has read the project, and began no work meanwhile."""
        ready = self.running.ready
        for _ in range(_ROUNDS_OF_WORK):
            await ready.wait()
            if self.session.spec.diagnoses_what_it_read:
                await self.session.read(self.running, uris)
            works = ready.works
            result = await self._request(params)
            if ready.works == works:
                break
        return result

    async def _stable(self, params: dict[str, object], result: Any) -> Any:
        """The first result that comes twice."""
        for _ in range(_STABLE_ROUNDS):
            await asyncio.sleep(_STABLE_SECONDS)
            again = await self._request(params)
            if again == result:
                break
            result = again
        return result

    async def _request(self, params: dict[str, object]) -> Any:
        return await self.session.request(self.running, self.query.method, params)

    def _params(self, uri: str, text: str) -> dict[str, object]:
        target = self.query.target
        params: dict[str, object] = {"textDocument": {"uri": uri}}
        if target.line:
            lines = split_lines(text)
            line = lines[target.line - 1] if target.line <= len(lines) else ""
            column = to_units(line, target.column - 1, self.running.encoding)
            params["position"] = {"line": target.line - 1, "character": column}
        if self.query.method == REFERENCES:
            # Servers disagree on what false leaves out.
            params["context"] = {"includeDeclaration": True}
        return params
