"""The page's routes: its files, its events, and the actions performed in it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol.types import Position, Range, ShowDocumentParams
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import (
    FileResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from foldline.backends.waiting import in_thread
from foldline.ide.errors import REFUSALS, ArgumentsError
from foldline.ide.structuring import structure
from foldline.server.commands import prompt_set_params
from foldline.server.page.feed import Feed
from foldline.server.page.guard import Guard
from foldline.server.page.markdown import with_markdown
from foldline.server.page.token_store import TokenStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from starlette.requests import Request

    from foldline.ide.previews.session import Preview
    from foldline.server.server import FoldlineServer

FILES = Path(__file__).parent / "files"
SHOWN_FILES = {"page.js": "text/javascript", "page.css": "text/css", "icon.svg": "image/svg+xml"}
COOKIE = "foldline"
BODY_SECONDS = 5.0
BEAT_SECONDS = 10.0
MAX_FEEDS = 16
USED = (
    "This link was opened before, or is incomplete. It works once, in one browser: open the page "
    "again from the editor to get a new one.\n"
)


@dataclass(slots=True)
class Page:
    """One preview served as a page.

    Attributes:
        id: The first part of its path. The cookie is for that path only: browsers never send it to
            other servers on this machine, which to them are the same site.
    """

    id: str
    session_id: str
    tokens: TokenStore = field(default_factory=TokenStore)
    feeds: set[Feed] = field(default_factory=set)


class ActionKind(StrEnum):
    OPEN = "open"
    CLOSE = "close"
    UNDO = "undo"
    RESET = "reset"
    REVEAL = "reveal"
    SET = "set"


@dataclass(frozen=True, slots=True)
class Action:
    """A user's action in the page; `key` names a section or a parameter set."""

    action: ActionKind
    key: str = ""


def create_app(ls: FoldlineServer, authority: str, pages: Mapping[str, Page]) -> Starlette:
    """Return the app that serves `pages` at `authority`; pages may be added later."""

    def with_page(
        answer: Callable[[FoldlineServer, Page, Request], Awaitable[Response]],
    ) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            page = pages.get(request.path_params["page"])
            if page is None:
                return PlainTextResponse("There is no such page.\n", 404)
            if "token" in request.query_params and answer is _show:
                return _admit(page, request)
            if not page.tokens.admits(request.cookies.get(COOKIE)):
                return PlainTextResponse(USED, 403)
            return await answer(ls, page, request)

        return endpoint

    return Starlette(
        routes=[
            Route("/{page}/", with_page(_show), methods=["GET"]),
            Route("/{page}/events", with_page(_events), methods=["GET"]),
            Route("/{page}/actions", with_page(_perform), methods=["POST"]),
            Route("/{page}/{file}", with_page(_show_file), methods=["GET"]),
        ],
        middleware=[Middleware(Guard, authority=authority)],
        exception_handlers=dict.fromkeys(REFUSALS, _refuse),
    )


def _admit(page: Page, request: Request) -> Response:
    """Return the page, with a cookie in exchange for its token.

    Without a redirect: after a link from another site, the browser wouldn't send the cookie.
    """
    secret = page.tokens.exchange(request.query_params["token"])
    if secret is None:
        if page.tokens.admits(request.cookies.get(COOKIE)):
            return RedirectResponse(f"/{page.id}/", 303)
        return PlainTextResponse(USED, 403)
    response = FileResponse(FILES / "index.html")
    response.set_cookie(COOKIE, secret, path=f"/{page.id}/", httponly=True, samesite="strict")
    return response


async def _show(_ls: FoldlineServer, _page: Page, _request: Request) -> Response:
    return FileResponse(FILES / "index.html")


async def _show_file(_ls: FoldlineServer, _page: Page, request: Request) -> Response:
    name = request.path_params["file"]
    if name not in SHOWN_FILES:
        return PlainTextResponse("There is no such file.\n", 404)
    return FileResponse(FILES / name, media_type=SHOWN_FILES[name])


async def _events(ls: FoldlineServer, page: Page, _request: Request) -> Response:
    """Stream the preview and its updates as server-sent events."""
    if len(page.feeds) >= MAX_FEEDS:
        return PlainTextResponse("This preview is open in too many windows.\n", 503)
    preview = ls.previews.find(page.session_id)
    feed = Feed(preview.state())
    unwatch = ls.previews.watch(page.session_id, feed.push)
    page.feeds.add(feed)

    async def events() -> AsyncIterator[str]:
        try:
            while (event := await _next_event(ls, preview, feed)) is not None:
                yield event
            yield "event: over\ndata: {}\n\n"
        finally:
            unwatch()
            page.feeds.discard(feed)

    return StreamingResponse(events(), media_type="text/event-stream")


async def _next_event(ls: FoldlineServer, preview: Preview, feed: Feed) -> str | None:
    try:
        async with asyncio.timeout(BEAT_SECONDS):
            update = await feed.next()
    except TimeoutError:
        return ": still here\n\n"
    if update is None:
        return None
    about = {"reveals": _shows_documents(ls), "steps": len(preview.steps)}
    return await in_thread(partial(_encode, {**update, **about}))


def _encode(update: Mapping[str, Any]) -> str:
    data = {**update, "blocks": [with_markdown(block) for block in update["blocks"]]}
    return f"data: {json.dumps(data)}\n\n"


async def _perform(ls: FoldlineServer, page: Page, request: Request) -> Response:
    """Perform an action. Its result arrives as an event; the response only reports refusals."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            action = structure(json.loads(await request.body()), Action)
    except TimeoutError:
        return PlainTextResponse("The body did not come in time.\n", 408)
    except ArgumentsError as error:
        return PlainTextResponse(f"{error}\n", 400)
    except (ValueError, RecursionError):
        return PlainTextResponse("The body is not JSON.\n", 400)
    previews, session_id, keys = ls.previews, page.session_id, (action.key,)
    match action.action:
        case ActionKind.OPEN:
            await previews.open_sections(ls, session_id, keys, "Opened in the browser")
        case ActionKind.CLOSE:
            await previews.close_sections(ls, session_id, keys)
        case ActionKind.UNDO:
            await previews.undo(ls, session_id)
        case ActionKind.RESET:
            await previews.reset(ls, session_id)
        case ActionKind.SET:
            chosen = prompt_set_params.Arguments(parameter_set=action.key, sessionId=session_id)
            await prompt_set_params.handle(ls, chosen)
        case ActionKind.REVEAL:
            _reveal(ls, previews.state(session_id), action.key)
    return Response(status_code=204)


async def _refuse(_request: Request, error: Exception) -> Response:
    """Return the core's refusal in its own words."""
    return PlainTextResponse(str(error), 409)


def _reveal(ls: FoldlineServer, state: Mapping[str, Any], key: str) -> None:
    """Make the editor show where a section is declared."""
    places = [block["location"] for block in state["blocks"] if block["key"] == key]
    if places and places[0] is not None and _shows_documents(ls):
        start = Position(**places[0]["range"]["start"])
        ls.window_show_document(
            ShowDocumentParams(places[0]["uri"], take_focus=True, selection=Range(start, start))
        )


def _shows_documents(ls: FoldlineServer) -> bool:
    window = ls.client_capabilities.window
    shows = window.show_document if window is not None else None
    return shows is not None and shows.support
