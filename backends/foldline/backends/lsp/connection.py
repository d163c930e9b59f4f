"""A connection to one running server: requests with deadlines, and answers to its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections import deque
from copy import copy
from typing import TYPE_CHECKING, Any

from foldline.backends.errors import (
    LSPDiedError,
    LSPError,
    LSPProtocolError,
    LSPResponseError,
    LSPTimeoutError,
)
from foldline.backends.lsp.protocol import JsonRpcClient, read_message

if TYPE_CHECKING:
    from foldline.backends.lsp.process import ServerProcess

# As most languages put it: `error: …`, `Error: …`, `ModuleNotFoundError: …`, but no `io::error::…`.
_ERROR = re.compile(r"(?:error|exception)(?:\[\w+\])?:(?!:)", re.IGNORECASE)

log = logging.getLogger(__name__)

# The server asks to retry: the content changed, or something else had precedence.
_RETRIED = frozenset({-32801, -32802})
_RETRY_SECONDS = 0.05
_LATENCIES = 64
_LAST_WORDS_SECONDS = 2.0
_SHUTDOWN_SECONDS = 2.0


# `failure` is None while the server lives, and is set once, by the reading task or by `close`: that
# fails all pending requests, and later ones when they are made. The first reason is kept, since
# what fails afterwards, such as a write to a closed pipe, says less.
class Connection(JsonRpcClient):
    """Speaks to one running server, which may be dead at any time.

    Attributes:
        received: The number of messages so far: while it grows, the server is alive.
        latencies: How many seconds each of the last answered requests took.
    """

    def __init__(self, name: str, process: ServerProcess) -> None:
        super().__init__(name, process.writer)
        self.process = process
        self.received = 0
        self.latencies: deque[float] = deque(maxlen=_LATENCIES)
        # The reason why the server is gone.
        self.failure: LSPError | None = None
        self._ended = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    async def ended(self) -> None:
        """Return when the server has ended, by whatever cause; `failure` says which."""
        await self._ended.wait()

    async def request(self, method: str, params: object, *, seconds: float) -> Any:
        """The server's answer to `method`.

        Raises:
            LSPTimeoutError: It took longer than `seconds`; the server was told to stop.
            LSPDiedError: The server ended meanwhile, or had before.
            LSPResponseError: The server refused.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                while True:
                    try:
                        return await self._request_once(method, params)
                    except LSPResponseError as error:
                        if error.code not in _RETRIED:
                            raise LSPResponseError(
                                f"{method} refused: {error}", self.name, error.code
                            ) from None
                    await asyncio.sleep(_RETRY_SECONDS)
        except LSPError:
            raise
        except TimeoutError:
            raise LSPTimeoutError(
                f"{method} was not answered within {seconds:.3g} s", self.name
            ) from None

    async def close(self, grace: float = _SHUTDOWN_SECONDS, reason: str = "") -> None:
        """End the server: `shutdown`, `exit`, end of input, grace, terminate, kill.

        Without any `grace`, it is terminated and killed.
        """
        if self.failure is None and grace:
            with contextlib.suppress(LSPError):
                await self.request("shutdown", None, seconds=grace)
            self.notify("exit", None)
        self._fail(LSPDiedError(reason or "the server was stopped", self.name))
        await self.process.stop(grace)
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def _request_once(self, method: str, params: object) -> Any:
        if self.failure is not None:
            raise copy(self.failure)
        started = time.perf_counter()
        try:
            number, future = self.send(method, params)
        except OSError as error:
            # Its input closes before its output: the exit code comes in a moment, and says more.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_WORDS_SECONDS):
                    await self._ended.wait()
            if self.failure is not None:
                raise copy(self.failure) from error
            raise LSPDiedError(f"{method} cannot be sent: {error}", self.name) from error
        try:
            answer = await future
        except asyncio.CancelledError:
            if self.drop(number):
                self.notify("$/cancelRequest", {"id": number})
            raise
        self.latencies.append(time.perf_counter() - started)
        return answer

    async def _read(self) -> None:
        try:
            while (message := await read_message(self.process.reader)) is not None:
                self.received += 1
                self.receive(message)
        except LSPProtocolError as error:
            self._fail(LSPProtocolError(str(error), self.name))
            return
        except OSError as error:
            log.debug("%s: reading failed: %s", self.name, error)
        # The exit code comes a moment after the end of the output.
        await self.process.wait(1.0)
        code, tail = self.process.exit_code, self.process.stderr_tail
        how = "closed its output" if code is None else _how_it_ended(code)
        last = f"; it last wrote: {_last_words(tail)}" if tail else ""
        self._fail(LSPDiedError(f"the server {how}{last}", self.name, code, tail))

    def _fail(self, error: LSPError) -> None:
        if self.failure is None:
            self.failure = error
        self.fail_all(self.failure)
        self._ended.set()


def _last_words(tail: str) -> str:
    """The most telling line: a server may write a traceback below its error."""
    lines = tail.splitlines()
    errors = [line for line in lines if _ERROR.search(line)]
    return (errors or lines)[-1].strip()


def _how_it_ended(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
