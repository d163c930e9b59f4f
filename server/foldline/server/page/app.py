"""The page's routes: its files, its events, and the actions performed in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from starlette import responses
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import Route

from foldline.backends.base.reading import Between
from foldline.backends.base.waiting import in_thread
from foldline.ide.errors import REFUSALS, ArgumentsError
from foldline.ide.operations.operation import Doc, Role
from foldline.ide.previews.previews import Previews
from foldline.ide.prompts.action import Action
from foldline.ide.prompts.actions import ACTIONS, Origin
from foldline.ide.prompts.controls import Controls
from foldline.ide.render.provenance import TextOrigin
from foldline.ide.render.render import Location, Position, Range, SectionText
from foldline.ide.structuring import unstructure, unstructured
from foldline.ide.uris import uri_of
from foldline.records import record
from foldline.server.page.feed import Feed, Update
from foldline.server.page.guard import Guard
from foldline.server.page.markdown import tokens_of, with_markdown
from foldline.server.page.token_store import TokenStore

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


@record
class Shown:
    """The previews behind the pages.

    Attributes:
        editor: Returns a function that shows a location in the user's editor; None where the
            editor can't.
        actions: Further actions that a page can perform.
    """

    previews: Previews
    editor: Callable[[], Callable[[Location], None] | None]
    actions: Sequence[type[Action[Any]]]


@record(kw_only=True)
class Reveal(Action["Location | None"], event=True):
    """The location where a section is declared, which the editor then shows."""

    key: Annotated[str, Doc("the section"), Role.KEY] = ""

    async def on_preview(self, previews: Previews, session_id: str | None) -> Location | None:
        blocks = previews.find(session_id).render.blocks
        return next((block.location for block in blocks if block.key == self.key), None)


@record(kw_only=True)
class Go(Action["Location | None"], event=True):
    """A line that the preview names, of an error or of a value's origin, which is then shown."""

    file: Annotated[str, Doc("the file")] = ""
    line: Annotated[int, Doc("the line, from 1")] = 1

    async def on_preview(self, previews: Previews, session_id: str | None) -> Location | None:
        state = previews.find(session_id).state()
        origins = [field.origin for kind in state.parameters for field in kind.fields]
        named = {(item.get("file"), item.get("line")) for item in origins if item is not None}
        named |= {(block.error.file, block.error.line) for block in state.blocks if block.error}
        named |= {(state.stale.file, state.stale.line)} if state.stale else set()
        if (self.file, self.line) not in {(file, line or 1) for file, line in named if file}:
            return None
        start = Position(self.line - 1, 0)
        return Location(uri_of(Path(self.file)), Range(start, start))


@record(kw_only=True)
class GoToOrigin(Origin, event=True):
    """The places that a character comes from, of which the editor then shows one."""

    place: Annotated[int, Doc("which"), Between(0)] = 0


OWN = (Reveal, Go, GoToOrigin)


def create_app(shown: Shown, authority: str, pages: Mapping[str, Page]) -> Starlette:
    """Return the app that serves `pages` at `authority`; pages may be added later."""

    def with_page(
        answer: Callable[[Shown, Page, Request], Awaitable[responses.Response]],
    ) -> Callable[[Request], Awaitable[responses.Response]]:
        async def endpoint(request: Request) -> responses.Response:
            page = pages.get(request.path_params["page"])
            if page is None:
                return responses.PlainTextResponse("There is no such page.\n", 404)
            if "token" in request.query_params and answer is _show:
                return _admit(page, request)
            if not page.tokens.admits(request.cookies.get(COOKIE)):
                return responses.PlainTextResponse(USED, 403)
            return await answer(shown, page, request)

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


def _admit(page: Page, request: Request) -> responses.Response:
    """Return the page, with a cookie in exchange for its token.

    Without a redirect: after a link from another site, the browser wouldn't send the cookie.
    """
    secret = page.tokens.exchange(request.query_params["token"])
    if secret is None:
        if page.tokens.admits(request.cookies.get(COOKIE)):
            return responses.RedirectResponse(f"/{page.id}/", 303)
        return responses.PlainTextResponse(USED, 403)
    response = responses.FileResponse(FILES / "index.html")
    response.set_cookie(COOKIE, secret, path=f"/{page.id}/", httponly=True, samesite="strict")
    return response


async def _show(_shown: Shown, _page: Page, _request: Request) -> responses.Response:
    return responses.FileResponse(FILES / "index.html")


async def _show_file(_shown: Shown, _page: Page, request: Request) -> responses.Response:
    name = request.path_params["file"]
    if name not in SHOWN_FILES:
        return responses.PlainTextResponse("There is no such file.\n", 404)
    return responses.FileResponse(FILES / name, media_type=SHOWN_FILES[name])


async def _events(shown: Shown, page: Page, _request: Request) -> responses.Response:
    """Stream the preview and its updates as server-sent events."""
    if len(page.feeds) >= MAX_FEEDS:
        return responses.PlainTextResponse("This preview is open in too many windows.\n", 503)
    feed = Feed(shown.previews.find(page.session_id).state())
    unwatch = shown.previews.watch(page.session_id, feed.push)
    page.feeds.add(feed)

    async def events() -> AsyncIterator[str]:
        try:
            while (event := await _next_event(shown, feed)) is not None:
                yield event
            yield "event: over\ndata: {}\n\n"
        finally:
            unwatch()
            page.feeds.discard(feed)

    return responses.StreamingResponse(events(), media_type="text/event-stream")


async def _next_event(shown: Shown, feed: Feed) -> str | None:
    try:
        async with asyncio.timeout(BEAT_SECONDS):
            update = await feed.next()
    except TimeoutError:
        return ": still here\n\n"
    if update is None:
        return None
    reveals = shown.editor() is not None
    return await in_thread(partial(_encode, update, reveals=reveals))


def _encode(update: Update, *, reveals: bool) -> str:
    state = unstructured(update.state)
    state["blocks"] = [with_markdown(block) for block in state["blocks"]]
    return f"data: {json.dumps({**state, 'whole': update.whole, 'reveals': reveals})}\n\n"


async def _perform(shown: Shown, page: Page, request: Request) -> responses.Response:
    """Perform an action. What it changes arrives as an event; the response answers questions."""
    workspace, reason = shown.previews.workspace, "Opened in the browser"
    controls = Controls(workspace, page.session_id, reason, (*ACTIONS, *shown.actions, *OWN))
    try:
        async with asyncio.timeout(BODY_SECONDS):
            action = controls.read(json.loads(await request.body()))
    except TimeoutError:
        return responses.PlainTextResponse("The body did not come in time.\n", 408)
    except ArgumentsError as error:
        return responses.PlainTextResponse(f"{error}\n", 400)
    except (ValueError, RecursionError):
        return responses.PlainTextResponse("The body is not JSON.\n", 400)
    answer = await controls.perform(action)
    location = answer
    if isinstance(action, GoToOrigin) and isinstance(answer, TextOrigin):
        location = next((one.location for one in answer.places[action.place :]), None)
    show = shown.editor()
    if isinstance(location, Location) and show is not None:
        show(location)
    if answer is None or isinstance(answer, Location):
        return responses.Response(status_code=204)
    if isinstance(answer, SectionText):
        return responses.JSONResponse({**unstructured(answer), "markdown": tokens_of(answer.text)})
    return responses.JSONResponse(await in_thread(partial(unstructure, answer)))


async def _refuse(_request: Request, error: Exception) -> responses.Response:
    """Return the core's refusal in its own words."""
    return responses.PlainTextResponse(str(error), 409)
