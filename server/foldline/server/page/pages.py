"""The previews that are served as web pages. Nothing listens before the first is."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from foldline.ide.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldline.ide.previews.previews import Previews
    from foldline.ide.render.render import Location
    from foldline.server.page.app import Page
    from foldline.server.page.listener import Listener


class Pages:
    """The previews that are served.

    `editor` returns what shows a place in the user's editor, or None where there's no such editor.
    """

    def __init__(
        self,
        previews: Previews,
        editor: Callable[[], Callable[[Location], None] | None] = lambda: None,
    ) -> None:
        self._previews = previews
        self._editor = editor
        self._pages: dict[str, Page] = {}
        self._listener: Listener | None = None

    def serve(self, session_id: str) -> str:
        """An address that shows the preview in the first browser that opens it.

        Raises:
            IdeError: What serves pages is not installed.
        """
        try:
            from foldline.server.page.app import Page, Shown, create_app
            from foldline.server.page.listener import Listener
        except ModuleNotFoundError as error:
            raise MissingExtra(
                f"A web page needs {error.name!r}: pip install 'foldline[web]'"
            ) from error
        if self._listener is None:
            shown = Shown(self._previews, self._editor)
            self._listener = Listener(lambda authority: create_app(shown, authority, self._pages))
        for page in self._pages.values():
            if page.session_id == session_id:
                break
        else:
            page = Page(secrets.token_urlsafe(16), session_id)
            self._pages[page.id] = page
        return f"http://{self._listener.authority}/{page.id}/?token={page.admission.issue()}"

    def close(self) -> None:
        """End every page, and stop listening soon."""
        self._forget()
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    async def stop(self) -> None:
        """End every page, and wait until nothing listens any more."""
        self._forget()
        if self._listener is not None:
            await self._listener.stop()
            self._listener = None

    def _forget(self) -> None:
        for page in self._pages.values():
            for feed in page.feeds:
                feed.publish(None)
        self._pages.clear()
