"""Refuses requests of other origins before anything else reads them.

A page of another origin can make a browser send requests here, and can make a host name that it
controls resolve to this machine (DNS rebinding). So every request must have exactly this address as
its host, and its `Origin` and `Sec-Fetch-Site` headers, if present, must name this origin.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
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
    """Middleware that passes on requests to `authority` from no page or from one served there."""

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
            return 421, f"This is {self._authority}, and it answers to no other name."
        if method not in METHODS:
            return 405, f"{method}: this page knows {' and '.join(METHODS)}."
        origins = headers.getlist("origin")
        if origins and origins != [f"http://{self._authority}"]:
            return 403, "The request comes from another page."
        # A link may be followed from anywhere: its token is what admits.
        opening = headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not opening:
            return 403, "The request comes from another page."
        if method == "POST":
            return self._refusal_of_post(headers)
        return None

    def _refusal_of_post(self, headers: Headers) -> tuple[int, str] | None:
        if not headers.getlist("origin"):
            return 403, "The request has no Origin header."
        if headers.get("content-type") != "application/json":
            return 415, "Send JSON."
        length = headers.get("content-length", "")
        if not length.isdecimal():
            return 411, "The request has no Content-Length header."
        if int(length) > MAX_BODY_BYTES:
            return 413, f"The body is larger than {MAX_BODY_BYTES} bytes."
        return None
