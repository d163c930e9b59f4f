"""Which uses of a name servers confirm: all its definitions are asked about at the same time."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.errors import LSPError, LSPTimeoutError, LSPUnavailableError
from foldline.backends.jedi.engine import SEARCH_SECONDS, JediPlaces
from foldline.backends.locations import Confirmation, Position
from foldline.backends.lsp.configuration import hiding_settings
from foldline.backends.lsp.locations import LocationCollector
from foldline.backends.lsp.pool import Answered, Question
from foldline.backends.lsp.requests import ServerRequests, coverage_of
from foldline.backends.lsp.servers import Answer, language_id
from foldline.backends.models import COMPLETE
from foldline.backends.waiting import result_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from foldline.backends.lsp.documents import Snapshot

# More definitions of one name are not asked for: names like `get` have hundreds.
MAX_TARGETS = 24


@dataclass(frozen=True, slots=True)
class JediAnswered:
    """What jedi said, and why no server did."""

    places: JediPlaces
    why: str


class ServerReferences(ServerRequests):
    """A `SemanticEngine`: servers, and jedi for Python where none of them answers."""

    def begin(self, since: float) -> ServerQuery:
        """Look at the files, and start the server that most of them are for; returns at once."""
        if self._closed:
            raise LSPUnavailableError("the language servers have been closed")
        return ServerQuery(self, self._loop.start(self._pool.prepare(Answer.REFERENCES, since)))

    def prefetch(self, targets: Sequence[Position], begun: Future[Snapshot]) -> None:
        """Begin to ask a server about these; failures are for `confirm`."""
        if not self._closed:
            for target in targets[:MAX_TARGETS]:
                question = Question(Answer.REFERENCES, "textDocument/references", target)
                self._loop.start(self._pool.prefetch(question, begun))

    async def confirm(
        self,
        targets: Sequence[Position],
        candidates: Sequence[str],
        seconds: float,
        begun: Future[Snapshot],
    ) -> Confirmation:
        """The uses of all targets together; what a server fails of becomes the coverage."""
        asked = list(targets[:MAX_TARGETS])
        questions = [
            Question(
                Answer.REFERENCES,
                "textDocument/references",
                target,
                tuple(each for each in candidates if _same_family(each, target.path)),
            )
            for target in asked
        ]
        more, left_out = self._pool.in_other_projects(questions)
        outcomes = await self._ask_all([*questions, *more], seconds, begun)
        answered = [each for each in outcomes if isinstance(each, Answered)]
        by_jedi = [each for each in outcomes if isinstance(each, JediAnswered)]
        failures = [each for each in outcomes if isinstance(each, LSPError)]
        places = LocationCollector(self._files)
        for each in answered:
            places.add(each)
        for found in by_jedi:
            places.add_all(found.places.places)
        remarks = [*dict.fromkeys(map(str, failures))][:2]
        if any(found.places.cut for found in by_jedi):
            remarks.append(f"jedi looked at some files only, for {SEARCH_SECONDS:.0f} s")
        for missing in dict.fromkeys(found.places.missing for found in by_jedi):
            if missing:
                names = ", ".join(missing)
                remarks.append(f"jedi may leave files out: the installed version has no {names}")
        if len(targets) > len(asked):
            remarks.append(f"asked about {len(asked)} of {len(targets)} definitions")
        if left_out:
            remarks.append(f"{left_out} more projects with that name were not asked")
        if not answered and not by_jedi and remarks:
            return Confirmation(coverage="partial: " + "; ".join(remarks))
        notes = [f"jedi answered: {why}" for why in dict.fromkeys(each.why for each in by_jedi)]
        notes += [
            f"{session.spec.name} may not see every file: {setting}"
            for session in dict.fromkeys(each.session for each in answered)
            for setting in hiding_settings(session.spec, session.root)
        ]
        partial = dict.fromkeys(map(coverage_of, answered))
        remarks.extend(each.removeprefix("partial: ") for each in partial if each != COMPLETE)
        engines = [each.session.spec.name for each in answered]
        engines += ["jedi" for _ in by_jedi]
        return Confirmation(
            tuple(places.found),
            "+".join(dict.fromkeys(engines)),
            "partial: " + "; ".join(remarks) if remarks else COMPLETE,
            tuple(notes),
            places.outside,
        )

    async def _confirm_one(
        self, question: Question, begun: asyncio.Future[Snapshot]
    ) -> Answered | JediAnswered:
        snapshot = await asyncio.shield(begun)
        try:
            return await self._pool.ask(question, snapshot)
        except LSPError as error:
            path = question.target.path
            if self._jedi is None or question.project or language_id(path) != "python":
                raise
            candidates = [each for each in question.candidates if each.endswith((".py", ".pyi"))]
            if path not in candidates:
                candidates.append(path)
            try:
                found = await self._jedi.references(question.target, candidates, snapshot)
            except LSPError as second:
                raise LSPUnavailableError(f"{error}; {second}") from second
            return JediAnswered(found, str(error))

    async def _ask_all(
        self, questions: list[Question], seconds: float, begun: Future[Snapshot]
    ) -> list[Answered | JediAnswered | LSPError]:
        """What came of each question when the time was up."""

        async def gather() -> list[Answered | JediAnswered | LSPError]:
            snapshot = asyncio.ensure_future(asyncio.wrap_future(begun))
            tasks = [asyncio.create_task(self._confirm_one(each, snapshot)) for each in questions]
            for task in tasks:
                # Nobody waits for it any more: the next question asks again.
                task.add_done_callback(lambda done: done.cancelled() or done.exception())
            if tasks:
                await asyncio.wait(tasks, timeout=max(seconds, 0))
            outcomes: list[Answered | JediAnswered | LSPError] = []
            for task in tasks:
                if not task.done():
                    outcomes.append(self._late(questions[0].target.path, seconds))
                elif task.cancelled():
                    outcomes.append(LSPUnavailableError("the language servers have been closed"))
                elif (error := task.exception()) is None:
                    outcomes.append(task.result())
                elif isinstance(error, LSPError):
                    outcomes.append(error)
                else:
                    raise error
            return outcomes

        return await self._wait(gather(), None if not questions else seconds + 5.0)

    def _late(self, path: str, seconds: float) -> LSPError:
        session = self._pool.session_for(path, Answer.REFERENCES)
        engine = session.spec.name if session else "the language server"
        state = session.state.value if session else "starting"
        doing = f"is {state}" if state in {"starting", "indexing"} else "goes on"
        return LSPTimeoutError(f"timed out after {seconds:.3g} s; {engine} {doing}, ask again")


@dataclass(frozen=True, slots=True)
class ServerQuery:
    """A `ReferencesQuery`: what was begun for it, whichever threads its parts run on."""

    servers: ServerReferences
    begun: Future[Snapshot]

    def prefetch(self, targets: Sequence[Position]) -> None:
        """Begin to ask a server about these; returns at once, and failures are for `confirm`."""
        self.servers.prefetch(targets, self.begun)

    async def seen(self, seconds: float) -> object:
        """The versions of all files: one object until one of them changes."""
        try:
            return await result_of(self.begun, max(seconds, 0))
        except (TimeoutError, CancelledError):
            return None

    async def confirm(
        self, targets: Sequence[Position], candidates: Sequence[str], seconds: float
    ) -> Confirmation:
        """The uses of all targets together; what a server fails of becomes the coverage."""
        return await self.servers.confirm(targets, candidates, seconds, self.begun)


def _same_family(path: str, other: str) -> bool:
    """Whether the two files are of languages that one server reads together."""
    family = {"c": "cpp", "javascript": "script", "javascriptreact": "script",
              "typescript": "script", "typescriptreact": "script"}  # fmt: skip
    ours, theirs = language_id(path), language_id(other)
    return family.get(ours, ours) == family.get(theirs, theirs)
