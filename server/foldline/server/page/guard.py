"""Refuses what does not come from the page itself, before anything looks at it.

A page of another origin may make a browser send requests here, and a name that such a page controls
may be made to resolve to this machine (DNS rebinding). So every request must name this very
address as its host, and whoever says where a request comes from must say that it is from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 1 << 14
METHODS = ("GET", "POST")
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """Passes on to `app` what was sent to `authority`, by nobody or by a page from there."""

    def __init__(self, app: ASGIApp, authority: str) -> None:
        self._app = app
        self._authority = authority

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        answer = self._app if refusal is None else PlainTextResponse(refusal[1], refusal[0])
        await answer(scope, receive, send_guarded)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        if headers.getlist("host") != [self._authority]:
            return 421, f"This is {self._authority} and answers to no other name."
        if method not in METHODS:
            return 405, f"{method}: this page knows {' and '.join(METHODS)}."
        origins = headers.getlist("origin")
        if origins and origins != [f"http://{self._authority}"]:
            return 403, "The request comes from another page."
        # Opening an address is free to come from anywhere: what admits is the token in it.
        opening = headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not opening:
            return 403, "The request comes from another page."
        if method == "POST":
            return self._refusal_of_post(headers)
        return None

    def _refusal_of_post(self, headers: Headers) -> tuple[int, str] | None:
        if not headers.getlist("origin"):
            return 403, "The request does not say which page it comes from."
        if headers.get("content-type") != "application/json":
            return 415, "Send JSON."
        length = headers.get("content-length", "")
        if not length.isdecimal():
            return 411, "Say how long the body is."
        if int(length) > MAX_BODY_BYTES:
            return 413, f"The body may have {MAX_BODY_BYTES} bytes."
        return None
