"""Previews served as web pages; nothing listens before the first one."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from foldline.backends.base.extras import needs
from foldline.ide.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from foldline.ide.previews.previews import Previews
    from foldline.ide.prompts.action import Action
    from foldline.ide.render.render import Location
    from foldline.server.page.app import Page
    from foldline.server.page.listener import Listener


class Pages:
    """The previews that are served.

    `editor` returns what shows a place in the user's editor, or None where there's no such editor;
    `actions` are those that a page can perform besides all that there are.
    """

    def __init__(
        self,
        previews: Previews,
        editor: Callable[[], Callable[[Location], None] | None] = lambda: None,
        actions: Sequence[type[Action[Any]]] = (),
    ) -> None:
        self._previews = previews
        self._editor = editor
        self._actions = actions
        self._pages: dict[str, Page] = {}
        self._listener: Listener | None = None

    def serve(self, session_id: str) -> str:
        """Return a one-time link to the preview's page.

        Raises:
            IdeError: The packages of the web server aren't installed.
        """
        try:
            from foldline.server.page.app import Page, Shown, create_app
            from foldline.server.page.listener import Listener
        except ModuleNotFoundError as error:
            raise MissingExtra(needs("A web page", error.name or "starlette")) from error
        if self._listener is None:
            shown = Shown(self._previews, self._editor, self._actions)
            self._listener = Listener(lambda authority: create_app(shown, authority, self._pages))
        for page in self._pages.values():
            if page.session_id == session_id:
                break
        else:
            page = Page(secrets.token_urlsafe(16), session_id)
            self._pages[page.id] = page
        return f"http://{self._listener.authority}/{page.id}/?token={page.tokens.issue()}"

    def close(self) -> None:
        """Close every page, and stop listening soon."""
        self._forget()
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    async def stop(self) -> None:
        """Close every page, and wait until the server has stopped."""
        self._forget()
        if self._listener is not None:
            await self._listener.stop()
            self._listener = None

    def _forget(self) -> None:
        for page in self._pages.values():
            for feed in page.feeds:
                feed.push(None)
        self._pages.clear()
