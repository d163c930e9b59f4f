"""Decides which HTTP requests come in, before anything reads them."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
from collections import Counter

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foldline.agent.mcp.lines import Line, Refusal, parse
from foldline.plugins.remote.health import ALIVE, READY, Health
from foldline.plugins.remote.measures import IDENTITY, UNANSWERED, HttpMeasures
from foldline.plugins.remote.transport import HOST, PATH, HttpOptions

log = logging.getLogger(__name__)

BODY_SECONDS = 10.0
MAX_BODY_BYTES = 1 << 18
MOST_DRAINED = 1 << 23
DRAIN_SECONDS = 1.0
LONGEST_IDENTITY = 256
UNREAD = (408, 413)
"""Statuses after which the rest of a body isn't waited for."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Gate:
    """Middleware that passes on requests of allowed clients, up to a number at a time.

    An identity may have as many requests as places are free: one alone up to half of them, two a
    third each. A request whose client leaves is cancelled.
    """

    def __init__(
        self, app: ASGIApp, options: HttpOptions, health: Health, measures: HttpMeasures
    ) -> None:
        self._app = app
        self._options = options
        self._health = health
        self._measures = measures
        self._running: Counter[str | None] = Counter()
        self._hosts = frozenset(options.allowed_hosts or LOOPBACK)
        self._origins = frozenset(options.allowed_origins)
        if not options.allowed_hosts:
            # A page can only have this origin by being served here, and none is.
            self._origins |= {f"http://{host}:{options.port}" for host in LOOPBACK}

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
                if refusal.status_code in UNREAD and "expect" not in Headers(scope=scope):
                    await _drain(receive)
                await refusal(scope, receive, send_on)
                return
            try:
                await self._answer(scope, receive, send_on)
            except asyncio.CancelledError:
                # The server ends now; the balancer asks another one.
                if measured.status == UNANSWERED:
                    ended = PlainTextResponse("This server ends.\n", 503, {"Retry-After": "1"})
                    await ended(scope, receive, send_on)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers, held = Headers(scope=scope), 0
        host = HOST.fullmatch(headers.get("host", "").lower())
        if host is None or self._hosts.isdisjoint(host.group(0, 1)):
            message = "Not a host of this server: `--allowed-host` names them.\n"
            return PlainTextResponse(message, 421)
        if not self._origins.issuperset(headers.getlist("origin")):
            return PlainTextResponse("Not a page that may ask.\n", 403)
        if self._options.identity_header is not None:
            identity = self._identity(scope, headers.getlist(self._options.identity_header))
            if identity is None:
                # Clients don't know this scheme: the proxy's own answer names theirs.
                challenge = {"WWW-Authenticate": 'Proxy-Identity realm="foldline"'}
                return PlainTextResponse(
                    "The proxy before this server didn't say who asks.\n", 401, challenge
                )
            scope.setdefault("state", {})[IDENTITY] = identity
            held = self._running[identity]
        if scope["path"] == PATH and scope["method"] != "POST":
            # No session, so no stream of one to get and no end of one.
            return PlainTextResponse("Send POST.\n", 405, {"Allow": "POST"})
        if int(headers.get("content-length", 0)) > MAX_BODY_BYTES:
            return PlainTextResponse("The body is too long.\n", 413)
        if self._options.max_requests - self._running.total() <= held:
            return PlainTextResponse("Too many requests at a time.\n", 503, {"Retry-After": "1"})
        return None

    def _identity(self, scope: Scope, values: list[str]) -> str | None:
        """Return who asks, if a trusted proxy says it exactly once in plain characters."""
        client = scope.get("client")
        if client is None or not self._is_proxy(client[0]):
            return None
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
        identity = scope.get("state", {}).get(IDENTITY)
        answered = anyio.Event()
        messages: list[Message] = []

        async def receive_on() -> Message:
            return messages.pop() if messages else await receive()

        def done() -> None:
            if not answered.is_set():
                answered.set()
                self._running -= Counter([identity])

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                # Before a balancer can send the next request for it.
                done()
            await send(message)

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            # A disconnect is told after each answer, too, when the SDK may have work left.
            if not answered.is_set():
                tasks.cancel_scope.cancel()

        self._running[identity] += 1
        try:
            body = await _body(receive)
            if isinstance(body, Response):
                await body(scope, receive, send_on)
            elif body is not None:
                messages.append({"type": "http.request", "body": bytes(body)})
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(watch)
                    await self._app(scope, receive_on, send_on)
                    tasks.cancel_scope.cancel()
        finally:
            done()


async def _body(receive: Receive) -> bytearray | Response | None:
    """Return the whole body of a request, or its refusal; None if the client leaves before."""
    body = bytearray()
    with anyio.move_on_after(BODY_SECONDS):
        while len(body) <= MAX_BODY_BYTES:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if not message.get("more_body", False):
                # The SDK takes requests with ids of wrong types for notifications.
                if not isinstance(refused := parse(Line(bytes(body))), Refusal):
                    return body
                answer = json.dumps(refused.answers()[0])
                return Response(answer, 400, media_type="application/json")
        await _drain(receive)
        return PlainTextResponse("The body is too long.\n", 413)
    return PlainTextResponse("The body did not come in time.\n", 408)


async def _drain(receive: Receive) -> None:
    """Drop the rest of a body, as far as is bearable: clients read no answer while they send."""
    left = MOST_DRAINED
    with anyio.move_on_after(DRAIN_SECONDS):
        while left > 0:
            message = await receive()
            left -= len(message.get("body", b""))
            if not message.get("more_body", False):
                return
