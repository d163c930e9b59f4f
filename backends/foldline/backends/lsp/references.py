"""The uses of a name that servers confirm; all its definitions are asked about at the same time.

`begin`, `prefetch` and `confirm` run where the caller does; what they start runs on the loop of the
servers. `confirm` has a deadline: requests that are late become a part of the coverage.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from foldline.backends import errors
from foldline.backends.base.path_kinds import is_test_path
from foldline.backends.base.waiting import result_of
from foldline.backends.engine import Confirmation, EngineQuery
from foldline.backends.jedi.engine import SEARCH_SECONDS, JediEngine, JediLocations
from foldline.backends.lsp.configuration import hiding_settings
from foldline.backends.lsp.locations import LocationCollector
from foldline.backends.lsp.pool import REFERENCES, Answered, Query, ServerPool
from foldline.backends.lsp.requests import ServerRequests, coverage_of
from foldline.backends.lsp.servers import Answer, language_id
from foldline.backends.models import COMPLETE, Reference
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from foldline.backends.files.base import FileBackend
    from foldline.backends.lsp.documents import Snapshot
    from foldline.backends.lsp.session import ServerSession
    from foldline.backends.outlines.locations import Location, Position

# More definitions of one name are not asked for: names like `get` have hundreds.
MAX_TARGETS = 24
_MOST_FAILURES = 2
# `confirm` ends by itself at its deadline; this is for a loop that is busy.
_SPARE_SECONDS = 5.0
# One server reads the languages of a family together.
_FAMILIES = {
    "c": "cpp",
    "javascript": "script",
    "javascriptreact": "script",
    "typescript": "script",
    "typescriptreact": "script",
}


class ServerReferences(ServerRequests):
    """References from servers, and from jedi for Python where none of them answers."""

    def warm_up(self, since: float | None = None) -> None:
        """Start the server for most of the files."""
        since = time.monotonic() if since is None else since

        async def prepare() -> None:
            await self._pool.prepare(Answer.REFERENCES, since)

        self.start(prepare())

    def begin(self, name: str, scope: str | None, since: float) -> ServerQuery:
        """List the files, and start the server for most of them; returns at once."""
        del name, scope
        if self._closed:
            raise errors.LSPUnavailableError("the language servers have been closed")
        snapshot = self._loop.start(self._pool.prepare(Answer.REFERENCES, since))
        return ServerQuery(self, self._files, self._pool, self._jedi, snapshot)


@record
class JediAnswered:
    """The answer of jedi, and why no server gave one."""

    locations: JediLocations
    why: str


@record
class ServerQuery(EngineQuery):
    """One query to the servers, as of the snapshot that was begun for it."""

    servers: ServerRequests
    files: FileBackend
    pool: ServerPool
    jedi: JediEngine | None
    snapshot: Future[Snapshot]

    needs_targets = True

    def prefetch(self, targets: Sequence[Position]) -> None:
        """Begin to ask a server about these; returns at once, and failures are for `confirm`."""
        for target in targets[:MAX_TARGETS]:
            query = Query(Answer.REFERENCES, REFERENCES, target)
            self.servers.start(self.pool.prefetch(query, self.snapshot))

    async def seen(self, seconds: float) -> object:
        """The versions of all files: one object until one of them changes."""
        try:
            return await result_of(self.snapshot, max(seconds, 0))
        except (TimeoutError, CancelledError):
            return None

    async def confirm(
        self, targets: Sequence[Position], candidates: Sequence[str], seconds: float
    ) -> Confirmation:
        """The uses of all targets together; the failures of servers become the coverage."""
        queries = [_query(target, candidates) for target in targets[:MAX_TARGETS]]
        elsewhere, skipped = self.pool.in_other_projects(queries)
        asked = [*queries, *elsewhere]
        outcomes = await self.servers.wait(self._ask_all(asked, seconds), seconds + _SPARE_SECONDS)
        remarks = []
        if len(targets) > len(queries):
            remarks.append(f"asked about {len(queries)} of {len(targets)} definitions")
        if skipped:
            remarks.append(f"{skipped} more projects with that name were not asked")
        return _Outcomes(outcomes).confirmation(self.files, remarks)

    async def _ask_all(
        self, queries: Sequence[Query], seconds: float
    ) -> list[Answered | JediAnswered | errors.LSPError]:
        """The outcome of each request at the deadline; runs on the background loop."""
        snapshot = asyncio.ensure_future(asyncio.wrap_future(self.snapshot))
        tasks = [asyncio.create_task(self._ask(query, snapshot, seconds)) for query in queries]
        for task in tasks:
            # The caller may have left: the next query asks again.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        if tasks:
            await asyncio.wait(tasks, timeout=max(seconds, 0))
        return [self._outcome(task, queries[0].target.path, seconds) for task in tasks]

    async def _ask(
        self, query: Query, begun: asyncio.Future[Snapshot], seconds: float
    ) -> Answered | JediAnswered:
        """The answer of a server, or else of jedi."""
        snapshot = await asyncio.shield(begun)
        try:
            return await self.pool.ask(query, snapshot, patience=seconds)
        except errors.LSPError as error:
            # A server that is late has all the work that the machine can do.
            is_up = isinstance(error, errors.LSPElsewhereError | errors.LSPTimeoutError)
            if query.project or is_up or language_id(query.target.path) != "python":
                raise
            return await self._ask_jedi(query, snapshot, error)

    async def _ask_jedi(
        self, query: Query, snapshot: Snapshot, failure: errors.LSPError
    ) -> JediAnswered:
        if self.jedi is None:
            raise failure
        path = query.target.path
        candidates = [name for name in query.candidates if name.endswith((".py", ".pyi"))]
        if path not in candidates:
            candidates.append(path)
        try:
            answered = await self.jedi.references(query.target, candidates, snapshot)
        except errors.LSPError as error:
            raise errors.LSPUnavailableError(f"{failure}; {error}") from error
        return JediAnswered(answered, str(failure))

    def _outcome(
        self, task: asyncio.Task[Answered | JediAnswered], path: str, seconds: float
    ) -> Answered | JediAnswered | errors.LSPError:
        if not task.done():
            return self._late(path, seconds)
        if task.cancelled():
            return errors.LSPUnavailableError("the language servers have been closed")
        try:
            return task.result()
        except errors.LSPError as error:
            return error

    def _late(self, path: str, seconds: float) -> errors.LSPError:
        session = self.pool.session_for(path, Answer.REFERENCES)
        engine = session.spec.name if session else "the language server"
        state = session.state.value if session else "starting"
        doing = f"is {state}" if state in {"starting", "indexing"} else "goes on"
        return errors.LSPTimeoutError(
            f"timed out after {seconds:.3g} s; {engine} {doing}, ask again"
        )


class _Outcomes:
    """The outcomes of one query's requests: answers, answers of jedi, and failures."""

    def __init__(self, outcomes: Sequence[Answered | JediAnswered | errors.LSPError]) -> None:
        self._answers = [outcome for outcome in outcomes if isinstance(outcome, Answered)]
        self._jedi = [outcome for outcome in outcomes if isinstance(outcome, JediAnswered)]
        self._failures = [outcome for outcome in outcomes if isinstance(outcome, errors.LSPError)]

    def confirmation(self, files: FileBackend, remarks: Sequence[str]) -> Confirmation:
        """All uses once; `remarks` and what failed make the coverage."""
        failures: dict[str, str] = {}
        for failure in self._failures:
            # A server tells its first failure in full, and others more shortly.
            failures[failure.server] = max(failures.get(failure.server, ""), str(failure), key=len)
        gaps = [*failures.values()][:_MOST_FAILURES]
        gaps += [*self._gaps_of_jedi(), *remarks]
        if not self._answers and not self._jedi:
            return Confirmation(coverage=_partial(gaps))
        coverages = dict.fromkeys(map(coverage_of, self._answers))
        gaps += [part.removeprefix("partial: ") for part in coverages if part != COMPLETE]
        collector = LocationCollector(files)
        for answer in self._answers:
            collector.add(answer)
        for answer_of_jedi in self._jedi:
            collector.add_all(answer_of_jedi.locations.locations)
        return Confirmation(
            tuple(map(reference_at, collector.found)),
            self._engines(),
            _partial(gaps),
            tuple(self._notes()),
            collector.outside,
        )

    def _engines(self) -> str:
        names = [answer.session.spec.name for answer in self._answers]
        return "+".join(dict.fromkeys([*names, *("jedi" for _ in self._jedi)]))

    def _notes(self) -> list[str]:
        reasons = dict.fromkeys(answer.why for answer in self._jedi)
        notes = [f"jedi answered: {why}" for why in reasons]
        sessions: dict[ServerSession, None] = dict.fromkeys(
            answer.session for answer in self._answers
        )
        return notes + [
            f"{session.spec.name} may not see every file: {setting}"
            for session in sessions
            for setting in hiding_settings(session.spec, session.root)
        ]

    def _gaps_of_jedi(self) -> list[str]:
        gaps = []
        if any(answer.locations.cut for answer in self._jedi):
            gaps.append(f"jedi looked at some files only, for {SEARCH_SECONDS:.0f} s")
        for missing in dict.fromkeys(answer.locations.missing for answer in self._jedi):
            if missing:
                names = ", ".join(missing)
                gaps.append(f"jedi may leave files out: the installed version has no {names}")
        return gaps


def reference_at(location: Location) -> Reference:
    """The confirmed use at a location."""
    return Reference(
        location.path,
        location.line,
        location.context,
        test=is_test_path(location.path),
        column=location.column,
        column_end=location.column_end,
        tier="confirmed",
    )


def _query(target: Position, candidates: Sequence[str]) -> Query:
    family = _family(target.path)
    related = tuple(path for path in candidates if _family(path) == family)
    return Query(Answer.REFERENCES, REFERENCES, target, related)


def _family(path: str) -> str:
    """The languages that one server reads together with that of the file."""
    language = language_id(path)
    return _FAMILIES.get(language, language)


def _partial(gaps: Sequence[str]) -> str:
    return f"partial: {'; '.join(gaps)}" if gaps else COMPLETE
