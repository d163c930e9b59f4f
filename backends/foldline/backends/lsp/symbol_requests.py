"""Requests for the symbols of documents to one running server, on the background loop."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from foldline.backends.errors import LSPError
from foldline.backends.lsp.lifecycle import Pause
from foldline.records import record

if TYPE_CHECKING:
    from foldline.backends.lsp.initialized_server import InitializedServer
    from foldline.backends.lsp.session import ServerSession

_MOST_ANSWERS = 64


@record
class Answered:
    """The result of a request, as it came, about a text."""

    result: Any
    text: str
    engine: str


@record
class _Request:
    """A request about a text, whose answer is late after `until`."""

    text: str
    task: asyncio.Task[Any]
    until: float

    @property
    def is_late(self) -> bool:
        return not self.task.done() and time.monotonic() >= self.until


class SymbolRequests:
    """The latest answers of one server, by path and text, and the pause after a late one."""

    def __init__(self) -> None:
        # Least recently used first.
        self._answers: OrderedDict[str, _Request] = OrderedDict()
        self._pause = Pause()

    async def ask(
        self,
        session: ServerSession,
        running: InitializedServer,
        path: str,
        text: str,
        until: float,
    ) -> Answered | None:
        """The server's answer about the text; None where it is late, was late, or fails.

        A late answer is there the next time.
        """
        # The caller of a late one may be back before its deadline has passed here.
        if any(request.is_late for request in self._answers.values()):
            self._pause.begin()
        request = self._answers.get(path)
        if request is None or request.text != text or _failed(request.task):
            if self._pause.is_on or not running.capabilities.get("documentSymbolProvider"):
                return None
            running.documents.show(path, text)
            params = {"textDocument": {"uri": running.documents.uri(path)}}
            answer = session.request(running, "textDocument/documentSymbol", params)
            request = self._answers[path] = _Request(text, asyncio.create_task(answer), until)
            # Retrieve the exception, or asyncio logs it once all callers have left.
            request.task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._answers.move_to_end(path)
            if len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)
        task = request.task
        if not task.done():
            if self._pause.is_on:
                return None
            await asyncio.wait({task}, timeout=max(until - time.monotonic(), 0))
            if not task.done() or _failed(task):
                self._pause.begin()
                return None
            self._pause.forget()
        return None if _failed(task) else Answered(task.result(), text, session.spec.name)


def _failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or isinstance(task.exception(), LSPError))
