"""Servers' answers about one position or one file: definitions, hovers, diagnostics, calls."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

from foldline.backends.errors import LSPAnswerError
from foldline.backends.files.source import split_lines
from foldline.backends.lsp import results
from foldline.backends.lsp.locations import LocationCollector
from foldline.backends.lsp.pool import Answered, Query
from foldline.backends.lsp.requests import ServerRequests, coverage_of
from foldline.backends.lsp.servers import Answer
from foldline.backends.outlines.locations import (
    Call,
    Calls,
    Diagnostics,
    Hover,
    Locations,
    Position,
)

# A server that only pushes diagnostics gets this long to push those of a file.
_PUSH_SECONDS = 2.0
# Some push an empty list for a newly opened file, and the real one once they have checked it.
_SETTLE_SECONDS = 1.5


class ServerNavigation(ServerRequests):
    """Queries about one position or file; each takes a deadline and may raise `LSPError`."""

    async def goto_definition(self, target: Position, *, seconds: float | None = None) -> Locations:
        """The definitions of the symbol at `target`, also outside the workspace."""
        return await self._locations(Answer.DEFINITION, "textDocument/definition", target, seconds)

    async def find_implementations(
        self, target: Position, *, seconds: float | None = None
    ) -> Locations:
        """The implementations and overrides of the symbol at `target`."""
        return await self._locations(
            Answer.IMPLEMENTATIONS, "textDocument/implementation", target, seconds
        )

    async def hover(self, target: Position, *, seconds: float | None = None) -> Hover:
        """The type and documentation of the symbol at `target`."""
        answered = await self._ask(Query(Answer.HOVER, "textDocument/hover", target), seconds)
        text = results.read_hover(answered.result)
        reason = "" if text else "the language server says nothing of this position"
        return Hover(text, answered.session.spec.name, coverage_of(answered), reason)

    async def diagnostics(self, path: str, *, seconds: float | None = None) -> Diagnostics:
        """The problems of one file."""
        path = self._files.resolve(path)
        answered, items = await self.wait(self._diagnostics(path), seconds)
        lines = split_lines(self._files.load(path).text)
        encoding = answered.running.encoding
        diagnostics = tuple(
            replace(one, column=LocationCollector.column(lines, one.line - 1, one.column, encoding))
            for one in results.read_diagnostics(path, items)
        )
        coverage = coverage_of(answered)
        if items is None:
            coverage = f"partial: {answered.session.spec.name} has not said anything yet"
        reason = "" if diagnostics or items is None else "the language server sees no problem"
        return Diagnostics(path, diagnostics, answered.session.spec.name, coverage, reason)

    async def call_hierarchy(self, target: Position, *, seconds: float | None = None) -> Calls:
        """Callers and callees of the function at `target`."""
        answered, incoming, outgoing = await self.wait(self._calls(target), seconds)
        calls = [
            tuple(filter(None, (self._call(item, end) for item in items)))
            for items, end in ((incoming, "from"), (outgoing, "to"))
        ]
        reason = "" if calls[0] or calls[1] else "no calls are known of this position"
        engine = answered.session.spec.name
        return Calls(calls[0], calls[1], engine, coverage_of(answered), reason)

    async def _locations(
        self, answer: Answer, method: str, target: Position, seconds: float | None
    ) -> Locations:
        answered = await self._ask(Query(answer, method, target), seconds)
        locations = LocationCollector(self._files, keep_outside=True)
        locations.add(answered)
        if not locations.found and answered.result:
            raise LSPAnswerError("its places are in no file", answered.session.spec.name)
        reason = "" if locations.found else "the language server knows none"
        engine = answered.session.spec.name
        return Locations(tuple(locations.found), engine, coverage_of(answered), reason)

    async def _diagnostics(self, path: str) -> tuple[Answered, object]:
        target = Position(path, 0, 0)
        # The request for symbols is there to open the document in a running server.
        answered = await self._pool.ask(
            Query(Answer.DIAGNOSTICS, "textDocument/documentSymbol", target)
        )
        running = answered.running
        if running.capabilities.get("diagnosticProvider"):
            pulled = await self._pool.ask(
                Query(Answer.DIAGNOSTICS, "textDocument/diagnostic", target)
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

    async def _calls(self, target: Position) -> tuple[Answered, list[object], list[object]]:
        answered = await self._pool.ask(
            Query(Answer.CALLS, "textDocument/prepareCallHierarchy", target)
        )
        items = answered.result if isinstance(answered.result, list) else []
        # Some give all overloads of a function.
        read = [(item, results.read_call(item)) for item in items]
        here = [item for item, call in read if call and call[1].line + 1 == target.line]
        by_direction: dict[str, list[object]] = {"incoming": [], "outgoing": []}
        for item in (here or items)[:4]:
            for way, calls in by_direction.items():
                more = await answered.session.request(
                    answered.running, f"callHierarchy/{way}Calls", {"item": item}
                )
                calls.extend(more if isinstance(more, list) else [])
        return answered, by_direction["incoming"], by_direction["outgoing"]

    def _call(self, item: object, end: str) -> Call | None:
        read = results.read_call(item.get(end)) if isinstance(item, dict) else None
        if read is None or not isinstance(item, dict):
            return None
        name, location = read
        path, outside = LocationCollector(self._files).path_of(location.uri)
        lines = results.read_lines_of(item.get("fromRanges"))
        return Call(name, path, location.line + 1, lines, outside) if path else None
