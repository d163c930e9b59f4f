"""Requests for the symbols of documents to one running server, on the background loop."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from foldline.backends.errors import LSPError
from foldline.backends.lsp.backoff import Pause

if TYPE_CHECKING:
    from foldline.backends.lsp.initialized_server import InitializedServer
    from foldline.backends.lsp.session import ServerSession

_MOST_ANSWERS = 64


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of a request, as it came, about a text."""

    result: Any
    text: str
    engine: str


class SymbolRequests:
    """The latest answers of one server, by path and text, and the pause after a late one."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        # Least recently used first.
        self._answers: OrderedDict[str, tuple[str, asyncio.Task[Any]]] = OrderedDict()
        self._pause = Pause()

    async def ask(
        self, session: ServerSession, running: InitializedServer, path: str, text: str
    ) -> Answered | None:
        """The server's answer about the text; None where it is late, was late, or fails.

        A late answer is there the next time.
        """
        before, task = self._answers.get(path, (None, None))
        if task is None or before != text or _failed(task):
            if self._pause.is_on or not running.capabilities.get("documentSymbolProvider"):
                return None
            task = self._start(session, running, path, text)
        if not task.done():
            if self._pause.is_on:
                return None
            await asyncio.wait({task}, timeout=self._seconds)
            if not task.done() or _failed(task):
                self._pause.begin()
                return None
            self._pause.forget()
        return None if _failed(task) else Answered(task.result(), text, session.spec.name)

    def _start(
        self, session: ServerSession, running: InitializedServer, path: str, text: str
    ) -> asyncio.Task[Any]:
        running.documents.show(path, text)
        params = {"textDocument": {"uri": running.documents.uri(path)}}
        task = asyncio.create_task(session.request(running, "textDocument/documentSymbol", params))
        # When no caller is left, a failure is not an error of ours.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._answers[path] = (text, task)
        self._answers.move_to_end(path)
        if len(self._answers) > _MOST_ANSWERS:
            self._answers.popitem(last=False)
        return task


def _failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or isinstance(task.exception(), LSPError))
