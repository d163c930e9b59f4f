"""Decides which HTTP requests come in, before anything reads them."""

from __future__ import annotations

import ipaddress
import logging
from typing import TYPE_CHECKING

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from foldline.agent.mcp.http.health import ALIVE, READY

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from foldline.agent.mcp.http.health import Health
    from foldline.agent.mcp.http.measures import HttpMeasures
    from foldline.agent.mcp.http.options import HttpOptions

log = logging.getLogger(__name__)

PATH = "/mcp"
BODY_SECONDS = 10.0
LONGEST_IDENTITY = 256
UNREAD = (408, 413)
"""Statuses after which the rest of a body isn't waited for."""
IDENTITY = "identity"
"""The key of who asks in a request's state; absent where no proxy says it."""


class Gate:
    """Middleware that passes on requests of allowed clients, up to a number at a time.

    A request whose client leaves is cancelled.
    """

    def __init__(
        self, app: ASGIApp, options: HttpOptions, health: Health, measures: HttpMeasures
    ) -> None:
        self._app = app
        self._options = options
        self._health = health
        self._measures = measures
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in (ALIVE, READY):
            await self._app(scope, receive, send)
            return
        with self._measures.measure(scope) as measured:

            async def send_on(message: Message) -> None:
                if message["type"] == "http.response.start":
                    measured.status = message["status"]
                    if self._health.draining or measured.status in UNREAD:
                        MutableHeaders(scope=message)["Connection"] = "close"
                await send(message)

            refusal = self._refusal(scope)
            if refusal is not None:
                log.info("Refused with status %d: %r", refusal.status_code, scope["path"])
                await refusal(scope, receive, send_on)
                return
            await self._answer(scope, receive, send_on)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        if self._options.identity_header is not None:
            identity = self._identity(scope, self._options.identity_header)
            if identity is None:
                # Clients don't know this scheme: the proxy's own answer names theirs.
                challenge = {"WWW-Authenticate": 'Proxy-Identity realm="foldline"'}
                return PlainTextResponse(
                    "The proxy before this server didn't say who asks.\n", 401, challenge
                )
            scope.setdefault("state", {})[IDENTITY] = identity
        if scope["path"] == PATH and scope["method"] != "POST":
            # No session, so no stream of one to get and no end of one.
            return PlainTextResponse("Send POST.\n", 405, {"Allow": "POST"})
        if self._running >= self._options.max_requests:
            return PlainTextResponse("Too many requests at a time.\n", 503, {"Retry-After": "1"})
        return None

    def _identity(self, scope: Scope, header: str) -> str | None:
        """Return who asks, if a trusted proxy says it exactly once in plain characters."""
        client = scope.get("client")
        if client is None or not self._is_proxy(client[0]):
            return None
        values = Headers(scope=scope).getlist(header)
        if len(values) != 1 or not 0 < len(values[0]) <= LONGEST_IDENTITY:
            return None
        return values[0] if values[0].isascii() and values[0].isprintable() else None

    def _is_proxy(self, address: str) -> bool:
        peer = ipaddress.ip_address(address)
        # A socket for both versions tells an IPv4 peer so.
        if isinstance(peer, ipaddress.IPv6Address) and peer.ipv4_mapped is not None:
            peer = peer.ipv4_mapped
        return any(peer in network for network in self._options.trusted_proxies)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        whole, answered = anyio.Event(), anyio.Event()

        async def receive_on() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect" and not whole.is_set():
                # The rest of the body never comes: the app would log that as an error of its own.
                tasks.cancel_scope.cancel()
                await anyio.sleep_forever()
            if not message.get("more_body", False):
                whole.set()
            return message

        def done() -> None:
            if not answered.is_set():
                answered.set()
                self._running -= 1

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                # Before a balancer can send the next request for it.
                done()
            await send(message)

        async def watch() -> None:
            with anyio.move_on_after(BODY_SECONDS):
                await whole.wait()
            if not whole.is_set():
                late = PlainTextResponse("The body did not come in time.\n", 408)
                await late(scope, receive, send)
            else:
                while (await receive())["type"] != "http.disconnect":
                    pass
                if answered.is_set():
                    # A disconnect is told after each answer, when the SDK may have work left.
                    return
            tasks.cancel_scope.cancel()

        self._running += 1
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch)
                await self._app(scope, receive_on, send_on)
                tasks.cancel_scope.cancel()
        finally:
            done()
