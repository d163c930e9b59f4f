"""One request to one server: shown the documents it needs, asked until the answer is complete."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from foldline.backends.errors import LSPUnavailableError
from foldline.backends.files.source import split_lines
from foldline.backends.lsp.locations import to_units
from foldline.backends.lsp.servers import ReadyWhen

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldline.backends.lsp.initialized_server import InitializedServer
    from foldline.backends.lsp.pool import Question
    from foldline.backends.lsp.session import ServerSession

# This many files are opened in a server that knows open files alone.
MAX_CANDIDATES = 30
# Between two answers of a server that is asked until they agree.
_STABLE_SECONDS = 0.3
_STABLE_ROUNDS = 100
# A server that begins to work while it answers is asked again, this often at most.
_ROUNDS_OF_WORK = 3


class Exchange:
    """A question to a running server, and its result."""

    def __init__(
        self,
        session: ServerSession,
        running: InitializedServer,
        question: Question,
        read: Callable[[str], str | None],
    ) -> None:
        self._session = session
        self._running = running
        self._question = question
        self._read = read

    async def result(self) -> Any:
        """The server's result, as it came.

        Raises:
            LSPError: The server failed, or the file can't be read any more.
        """
        path = self._question.target.path
        text = self._read(path)
        if text is None:
            raise LSPUnavailableError(f"{path} cannot be read any more", self._session.spec.name)
        shown = self._show_candidates()
        self._running.documents.show(path, text)
        uri = self._running.documents.uri(path)
        params = self._params(uri, text)
        result = await self._complete(params, {*shown, uri})
        if self._session.spec.readiness.when is ReadyWhen.STABLE:
            return await self._stable(params, result)
        return result

    def _show_candidates(self) -> list[str]:
        """Open the candidates in a server that knows open files alone; returns their URIs."""
        spec, documents = self._session.spec, self._running.documents
        if not spec.opens_candidates:
            return []
        uris = []
        for path in filter(spec.understands, self._question.candidates[:MAX_CANDIDATES]):
            text = self._read(path)
            if text is not None:
                documents.show(path, text)
                uris.append(documents.uri(path))
        return uris

    async def _complete(self, params: dict[str, object], uris: set[str]) -> Any:
        """The result once the server has read the project, and began no work meanwhile."""
        ready = self._running.ready
        for _ in range(_ROUNDS_OF_WORK):
            await ready.wait()
            if self._session.spec.diagnoses_what_it_read:
                await self._session.read(self._running, uris)
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
        return await self._session.request(self._running, self._question.method, params)

    def _params(self, uri: str, text: str) -> dict[str, object]:
        target = self._question.target
        params: dict[str, object] = {"textDocument": {"uri": uri}}
        if target.line:
            lines = split_lines(text)
            line = lines[target.line - 1] if target.line <= len(lines) else ""
            column = to_units(line, target.column - 1, self._running.encoding)
            params["position"] = {"line": target.line - 1, "character": column}
        if self._question.method == "textDocument/references":
            # Servers disagree on what false leaves out.
            params["context"] = {"includeDeclaration": True}
        return params
