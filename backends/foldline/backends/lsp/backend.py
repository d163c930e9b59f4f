"""Language servers as an analysis backend: asked from any thread, answered within a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from foldline.backends.errors import (
    LSPError,
    LSPTimeoutError,
    LSPUnavailableError,
    SymbolNotFoundError,
)
from foldline.backends.files.source import count_lines, split_lines
from foldline.backends.jedi.engine import SEARCH_SECONDS, JediEngine, JediPlaces
from foldline.backends.languages import language_of
from foldline.backends.lsp import results
from foldline.backends.lsp.configuration import hiding_settings
from foldline.backends.lsp.discovery import ServerCatalog
from foldline.backends.lsp.limits import Limits
from foldline.backends.lsp.loop import background_loop
from foldline.backends.lsp.memory import tree_memory
from foldline.backends.lsp.outline import symbols_from
from foldline.backends.lsp.places import Places
from foldline.backends.lsp.pool import Answered, Question, ServerPool
from foldline.backends.lsp.servers import Answer, language_id
from foldline.backends.models import COMPLETE, FileOutline, Reference, SymbolDetail
from foldline.backends.references import is_test_path
from foldline.backends.semantics import (
    Call,
    Calls,
    CodeDiagnostic,
    Confirmation,
    Diagnostics,
    Hover,
    Locations,
    Target,
)
from foldline.backends.symbols import locate

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Sequence
    from concurrent.futures import Future

    from foldline.backends.files.base import BaseFileBackend
    from foldline.backends.lsp.discovery import FoundServer
    from foldline.backends.lsp.documents import Snapshot
    from foldline.backends.lsp.servers import ServerSpec
    from foldline.backends.lsp.status import ServerStatus

    Value = TypeVar("Value")

DEFAULT_SECONDS = 5.0
# More definitions of one name are not asked for: names like `get` have hundreds.
MAX_TARGETS = 24
# A server that only pushes diagnostics gets this long to push those of a file.
_PUSH_SECONDS = 2.0
# Some push an empty list as soon as a file is open, and what they found once they have checked it.
_SETTLE_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class JediAnswered:
    """What jedi said, and why no server did."""

    places: JediPlaces
    why: str


class LSPBackend:
    """The language servers of one workspace, and jedi for Python where none of them answers.

    Nothing is started before something is asked. `trusted` allows servers that may run code of the
    workspace, and the commands that its configuration gives.

    Every question takes a deadline. When it passes, the caller gets an `LSPTimeoutError`, the
    server goes on, and its answer is there for the next time.
    """

    name = "lsp"

    def __init__(
        self,
        files: BaseFileBackend,
        *,
        trusted: bool = False,
        seconds: float = DEFAULT_SECONDS,
        limits: Limits | None = None,
        servers: Iterable[ServerSpec] | None = None,
        jedi: bool = True,
    ) -> None:
        self._files = files
        self._seconds = seconds
        self._catalog = ServerCatalog(files.root, trusted=trusted, servers=servers)
        self._pool = ServerPool(files, self._catalog, limits or Limits())
        self._jedi = JediEngine(files, limits or Limits()) if jedi else None
        self._loop = background_loop()
        self._loop.at_exit(self._close_all)
        self._closed = False
        # What `begin` has begun, for the question of the same thread that follows.
        self._begun = threading.local()

    # FileAnalysisBackend

    def get_outline(self, file_path: str, *, source: str | None = None) -> FileOutline:
        """The file's symbols as the server tells them; it knows neither imports nor decorators."""
        path = self._own_text(file_path, source)
        answered = self._ask(
            Question(Answer.SYMBOLS, "textDocument/documentSymbol", Target(path, 0, 0)),
            self._seconds,
        )
        loaded = self._files.load(path)
        lines = split_lines(loaded.text)
        symbols = symbols_from(results.read_symbols(answered.result), lines)
        return FileOutline(
            path,
            language_id(path) or language_of(path, loaded.data[:128]),
            (),
            symbols,
            count_lines(loaded.parse_data),
            reason="" if symbols else "the language server names no symbols",
            backend=answered.session.spec.name,
            coverage=_coverage(answered),
        )

    def read_symbol(
        self, file_path: str, symbol_name: str, *, source: str | None = None
    ) -> SymbolDetail | None:
        """One symbol of the server's outline with its source."""
        outline = self.get_outline(file_path, source=source)
        symbol, qualified_name, enclosing = locate(outline.path, outline.symbols, symbol_name)
        lines = split_lines(self._files.load(outline.path).text)
        body = "\n".join(lines[symbol.line - 1 : symbol.line_end])
        return SymbolDetail(
            symbol.name,
            symbol.kind,
            symbol.line,
            symbol.line_end,
            symbol.signature,
            symbol.children,
            name_line=symbol.name_line,
            body=body,
            parent=enclosing[-1].name if enclosing else None,
            char_count=len(body),
            path=outline.path,
            qualified_name=qualified_name,
            body_line=symbol.line,
            backend=outline.backend,
            coverage=outline.coverage,
        )

    def find_references(
        self, symbol_name: str, scope: str | None = None, *, source: str | None = None
    ) -> Sequence[Reference]:
        """The uses of what the file `scope` defines as `symbol_name`, all of them confirmed."""
        del source
        if scope is None:
            raise LSPUnavailableError("a server is asked about a place: name the defining file")
        outline = self.get_outline(scope)
        symbol = locate(outline.path, outline.symbols, symbol_name).symbol
        lines = split_lines(self._files.load(outline.path).text)
        column = lines[symbol.name_line - 1].find(symbol.name)
        if column < 0:
            raise SymbolNotFoundError(outline.path, symbol_name)
        target = Target(outline.path, symbol.name_line, column + 1)
        found = self.confirm([target], [], seconds=self._seconds)
        if found.coverage != COMPLETE and not found.locations:
            raise LSPTimeoutError(found.coverage, found.engine)
        return [
            Reference(
                each.path,
                each.line,
                each.context,
                test=is_test_path(each.path),
                column=each.column,
                column_end=each.column_end,
                tier="confirmed",
            )
            for each in found.locations
        ]

    # SemanticEngine

    def begin(self, since: float) -> None:
        """Look at the files, and start the server that most of them are for; returns at once."""
        if not self._closed:
            self._begun.snapshot = self._loop.start(self._pool.prepare(Answer.REFERENCES, since))

    def prefetch(self, targets: Sequence[Target]) -> None:
        """Begin to ask a server about these; returns at once, and failures are for `confirm`."""
        begun: Future[Snapshot] | None = getattr(self._begun, "snapshot", None)
        if begun is not None and not self._closed:
            for target in targets[:MAX_TARGETS]:
                question = Question(Answer.REFERENCES, "textDocument/references", target)
                self._loop.start(self._pool.prefetch(question, begun))

    def seen(self, *, seconds: float) -> object:
        """The versions of all files that `begin` found: one object until one of them changes."""
        begun: Future[Snapshot] | None = getattr(self._begun, "snapshot", None)
        if begun is None:
            return None
        try:
            return begun.result(max(seconds, 0))
        except (TimeoutError, CancelledError):
            return None

    def confirm(
        self, targets: Sequence[Target], candidates: Sequence[str], *, seconds: float
    ) -> Confirmation:
        """The uses of all targets together; what a server fails of becomes the coverage."""
        begun: Future[Snapshot] | None = getattr(self._begun, "snapshot", None)
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
        outcomes = self._ask_all([*questions, *more], seconds, begun)
        answered = [each for each in outcomes if isinstance(each, Answered)]
        by_jedi = [each for each in outcomes if isinstance(each, JediAnswered)]
        failures = [each for each in outcomes if isinstance(each, LSPError)]
        places = Places(self._files)
        for each in answered:
            places.add(each)
        for found in by_jedi:
            places.add_all(found.places.places)
        remarks = [*dict.fromkeys(map(str, failures))][:2]
        if any(found.places.cut for found in by_jedi):
            remarks.append(f"jedi looked at some files only, for {SEARCH_SECONDS:.0f} s")
        if len(targets) > len(asked):
            remarks.append(f"asked about {len(asked)} of {len(targets)} definitions")
        if left_out:
            remarks.append(f"{left_out} more projects with that name were not asked")
        if not answered and not by_jedi and remarks:
            return Confirmation(coverage="partial: " + "; ".join(remarks))
        notes = [f"jedi answered: {why}" for why in dict.fromkeys(each.why for each in by_jedi)]
        notes += [
            f"{session.spec.name} may not see every file: {setting} is set"
            for session in dict.fromkeys(each.session for each in answered)
            for setting in hiding_settings(session.spec, session.root)
        ]
        partial = dict.fromkeys(map(_coverage, answered))
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

    # Navigator

    def goto_definition(self, target: Target, *, seconds: float | None = None) -> Locations:
        """Where the symbol at `target` is defined, also outside the workspace."""
        return self._locations(Answer.DEFINITION, "textDocument/definition", target, seconds)

    def find_implementations(self, target: Target, *, seconds: float | None = None) -> Locations:
        """What implements or overrides the symbol at `target`."""
        return self._locations(
            Answer.IMPLEMENTATIONS, "textDocument/implementation", target, seconds
        )

    def hover(self, target: Target, *, seconds: float | None = None) -> Hover:
        """The type and documentation of the symbol at `target`."""
        answered = self._ask(Question(Answer.HOVER, "textDocument/hover", target), seconds)
        text = results.read_hover(answered.result)
        reason = "" if text else "the language server says nothing of this place"
        return Hover(text, answered.session.spec.name, _coverage(answered), reason)

    def diagnostics(self, path: str, *, seconds: float | None = None) -> Diagnostics:
        """The problems of one file."""
        path = self._files.resolve(path)
        answered, items = self._wait(self._diagnostics(path), seconds)
        lines = split_lines(self._files.load(path).text)
        found = tuple(
            CodeDiagnostic(
                path,
                raw.line + 1,
                Places.column(lines, raw.line, raw.start, answered.running.encoding),
                raw.severity,
                raw.message,
                raw.code,
                raw.source,
            )
            for raw in results.read_diagnostics(items)
        )
        coverage = _coverage(answered)
        if items is None:
            coverage = f"partial: {answered.session.spec.name} has not said anything yet"
        reason = "" if found or items is None else "the language server sees no problem"
        return Diagnostics(path, found, answered.session.spec.name, coverage, reason)

    def call_hierarchy(self, target: Target, *, seconds: float | None = None) -> Calls:
        """Who calls the function at `target`, and whom it calls."""
        answered, incoming, outgoing = self._wait(self._calls(target), seconds)
        found = [
            tuple(filter(None, (self._call(each, end) for each in items)))
            for items, end in ((incoming, "from"), (outgoing, "to"))
        ]
        reason = "" if found[0] or found[1] else "no calls are known of this place"
        engine = answered.session.spec.name
        return Calls(found[0], found[1], engine, _coverage(answered), reason)

    # Life

    def status(self) -> tuple[ServerStatus, ...]:
        """Every server that was ever asked, with its state."""

        async def read() -> tuple[ServerStatus, ...]:
            return tuple(self._pool.status())

        found = self._loop.start(read()).result(DEFAULT_SECONDS)
        return tuple(
            each if each.pid is None else replace(each, memory=tree_memory(each.pid))
            for each in found
        )

    def report(self) -> list[FoundServer]:
        """Every server that foldline knows: where it was found, and why it is chosen or not."""
        return self._catalog.report()

    @property
    def configuration_problems(self) -> tuple[str, ...]:
        """What in `[tool.foldline.lsp]` was not understood."""
        return self._catalog.choice.problems

    def restart(self, name: str | None = None) -> tuple[ServerStatus, ...]:
        """Stop all servers, or those called `name`, and return what they were.

        Each is looked up and started afresh when it is next asked.
        """
        self._catalog.look_again()
        return self._loop.start(self._pool.restart(name)).result(30)

    def close(self) -> None:
        """Stop all servers for good. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self._loop.forget(self._close_all)
        self._loop.start(self._close_all()).result(30)

    # Helpers

    async def _close_all(self) -> None:
        closing = [self._pool.close()]
        if self._jedi is not None:
            closing.append(self._jedi.close())
        await asyncio.gather(*closing, return_exceptions=True)

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

    def _own_text(self, file_path: str, source: str | None) -> str:
        path = self._files.resolve(file_path)
        if source is not None and source != self._files.load(path).text:
            raise LSPUnavailableError("servers are asked about files and open buffers only")
        return path

    def _locations(
        self, answer: Answer, method: str, target: Target, seconds: float | None
    ) -> Locations:
        answered = self._ask(Question(answer, method, target), seconds)
        places = Places(self._files, keep_outside=True)
        places.add(answered)
        reason = "" if places.found else "the language server knows none"
        engine = answered.session.spec.name
        return Locations(tuple(places.found), engine, _coverage(answered), reason)

    def _ask(self, question: Question, seconds: float | None) -> Answered:
        return self._wait(self._pool.ask(question), seconds)

    def _ask_all(
        self, questions: list[Question], seconds: float, begun: Future[Snapshot] | None
    ) -> list[Answered | JediAnswered | LSPError]:
        """What came of each question when the time was up."""

        async def gather() -> list[Answered | JediAnswered | LSPError]:
            snapshot = asyncio.ensure_future(
                self._pool.snapshot(time.monotonic())
                if begun is None
                else asyncio.wrap_future(begun)
            )
            tasks = [asyncio.create_task(self._confirm_one(each, snapshot)) for each in questions]
            if tasks:
                await asyncio.wait(tasks, timeout=max(seconds, 0))
            outcomes: list[Answered | JediAnswered | LSPError] = []
            for task in tasks:
                if not task.done():
                    outcomes.append(self._late(questions[0].target.path, seconds))
                    task.add_done_callback(lambda done: done.cancelled() or done.exception())
                elif task.cancelled():
                    outcomes.append(LSPUnavailableError("the language servers have been closed"))
                elif (error := task.exception()) is None:
                    outcomes.append(task.result())
                elif isinstance(error, LSPError):
                    outcomes.append(error)
                else:
                    raise error
            return outcomes

        return self._wait(gather(), None if not questions else seconds + 5.0)

    def _late(self, path: str, seconds: float) -> LSPError:
        session = self._pool.session_for(path, Answer.REFERENCES)
        engine = session.spec.name if session else "the language server"
        state = session.state.value if session else "starting"
        doing = f"is {state}" if state in {"starting", "indexing"} else "goes on"
        return LSPTimeoutError(f"timed out after {seconds:.3g} s; {engine} {doing}, ask again")

    def _wait(self, work: Coroutine[object, object, Value], seconds: float | None) -> Value:
        if self._closed:
            work.close()
            raise LSPUnavailableError("the language servers have been closed")
        limit = self._seconds if seconds is None else seconds
        started = time.monotonic()
        future = self._loop.start(work)
        try:
            return future.result(max(limit, 0))
        except CancelledError:
            raise LSPUnavailableError("the language servers have been closed") from None
        except TimeoutError as error:
            if isinstance(error, LSPError):
                raise
            passed = time.monotonic() - started
            raise LSPTimeoutError(f"timed out after {passed:.3g} s; ask again") from None

    async def _diagnostics(self, path: str) -> tuple[Answered, object]:
        target = Target(path, 0, 0)
        # Symbols are asked for only to have the document open in a server that is up.
        answered = await self._pool.ask(
            Question(Answer.DIAGNOSTICS, "textDocument/documentSymbol", target)
        )
        running = answered.running
        if running.capabilities.get("diagnosticProvider"):
            pulled = await self._pool.ask(
                Question(Answer.DIAGNOSTICS, "textDocument/diagnostic", target)
            )
            result = pulled.result
            return pulled, result.get("items") if isinstance(result, dict) else None
        uri = running.documents.uri(path)
        try:
            async with asyncio.timeout(_PUSH_SECONDS):
                while uri not in running.diagnostics or uri in running.documents.unread:
                    await running.diagnosed.wait()
        except TimeoutError:
            return answered, None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE_SECONDS):
                while not running.diagnostics[uri]:
                    await running.diagnosed.wait()
        return answered, running.diagnostics[uri]

    async def _calls(self, target: Target) -> tuple[Answered, list[object], list[object]]:
        answered = await self._pool.ask(
            Question(Answer.CALLS, "textDocument/prepareCallHierarchy", target)
        )
        items = answered.result if isinstance(answered.result, list) else []
        found: dict[str, list[object]] = {"incoming": [], "outgoing": []}
        for item in items[:4]:
            for way, calls in found.items():
                more = await answered.session.request(
                    answered.running, f"callHierarchy/{way}Calls", {"item": item}
                )
                calls.extend(more if isinstance(more, list) else [])
        return answered, found["incoming"], found["outgoing"]

    def _call(self, item: object, end: str) -> Call | None:
        read = results.read_call(item.get(end)) if isinstance(item, dict) else None
        if read is None or not isinstance(item, dict):
            return None
        name, place = read
        path, outside = Places(self._files).path_of(place.uri)
        lines = results.read_lines_of(item.get("fromRanges"))
        return Call(name, path, place.line + 1, lines, outside) if path else None


def _coverage(answered: Answered) -> str:
    name = answered.session.spec.name
    if answered.overdue:
        return f"partial: {name} never said that it has read the whole project"
    if answered.unopened:
        return f"partial: {name} was not shown {answered.unopened} files that hold the name"
    return COMPLETE


def _same_family(path: str, other: str) -> bool:
    """Whether the two files are of languages that one server reads together."""
    family = {"c": "cpp", "javascript": "script", "javascriptreact": "script",
              "typescript": "script", "typescriptreact": "script"}  # fmt: skip
    ours, theirs = language_id(path), language_id(other)
    return family.get(ours, ours) == family.get(theirs, theirs)
