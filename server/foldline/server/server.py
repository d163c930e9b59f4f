"""The server of one client: its documents, its files and what it allows."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

from foldline.ide.plugins import plugins
from foldline.ide.structuring import unstructure
from foldline.ide.workspace import AccessOptions, Workspace
from foldline.server.client_configuration import report
from foldline.server.diagnostics_publisher import DiagnosticsPublisher
from foldline.server.late_checks import LateChecks
from foldline.server.page.pages import Pages
from foldline.server.preview_diagnostics import Problems, problems_in
from foldline.server.protocol import FoldlineProtocol, message_converter
from foldline.server.snapshots import locate
from foldline.server.virtual_documents import VirtualDocuments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from pygls.server import ServerErrors

    from foldline.ide.previews.state import PreviewState
    from foldline.ide.prompts.action import Action
    from foldline.ide.render import render
    from foldline.server.documents import Documents

log = logging.getLogger(__name__)

DID_UPDATE = "foldline/preview/didUpdate"


class FoldlineServer(LanguageServer):
    """State shared by the features and commands of one client.

    Attributes:
        core: The folders, open documents, trust and configuration.
        previews: The open previews.
        pages: Those of them that are web pages too.
        virtual: Prompts that the client shows as documents.
        reported: Faults in the options that were shown to the user.
        problems: The failures that the open previews show.
        diagnostics: Publishes them, and what is wrong with prompts.
        late_checks: What the repositories of open documents say of them.
    """

    protocol: FoldlineProtocol

    def __init__(self, version: str, actions: Sequence[type[Action[Any]]]) -> None:
        super().__init__(
            "foldline", version, protocol_cls=FoldlineProtocol, converter_factory=message_converter
        )
        self.settings_problems: tuple[str, ...] = ()
        self.core = Workspace(access=AccessOptions(language_servers=True, parse_in_workers=True))
        self.core.locate = lambda snapshot, place: locate(
            snapshot, place, self.documents.position_codec.encoding
        )
        self.core.report = partial(report, self)
        self.previews = self.core.previews
        self.previews.on_update = self._preview_updated
        self.pages = Pages(self.previews, self._editor, actions)
        self.virtual = VirtualDocuments()
        self.reported: set[str] = set()
        self.problems = Problems()
        self.diagnostics = DiagnosticsPublisher(self)
        self.late_checks = LateChecks(self)
        self._analyzed = self.core.version
        self.core.subscribe(self._workspace_changed)
        self._unsubscribe: Callable[[], None] = lambda: None

    @property
    def documents(self) -> Documents:
        return self.protocol.get_documents()

    def open_document(self, uri: str) -> None:
        """Let the editor's text of the document at `uri` stand for the disk's, everywhere."""
        document = self.documents.document(uri)
        if document is not None:
            self.core.open_document(uri, document.source, document.version)

    def watch_plugins(self) -> None:
        """Show the user which plugins are left out, now and from now on."""
        loop = asyncio.get_running_loop()

        def show(problem: str) -> None:
            # The client may have left.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(report, self, [problem])

        self._unsubscribe = plugins().subscribe(show)

    def close(self) -> None:
        """End everything that goes on for this client. May be called twice."""
        self._unsubscribe()
        self.pages.close()
        self.virtual.close()
        self.previews.close_all()
        self.core.close(seconds=0)

    async def stop(self) -> None:
        """End everything, and wait until no process runs prompts any more."""
        self.close()
        await self.core.stop_renderer()

    def _workspace_changed(self) -> None:
        if self._analyzed != self.core.version:
            self._analyzed = self.core.version
            self.diagnostics.schedule()
        self.virtual.changed(self)

    def _editor(self) -> Callable[[render.Location], None] | None:
        """Return what shows a place in the editor, where it can."""
        window = self.client_capabilities.window
        shows = window.show_document if window is not None else None
        return self._show if shows is not None and shows.support else None

    def _show(self, place: render.Location) -> None:
        start = types.Position(place.range.start.line, place.range.start.character)
        selection = types.Range(start, start)
        self.window_show_document(
            types.ShowDocumentParams(place.uri, take_focus=True, selection=selection)
        )

    def _preview_updated(self, state: PreviewState | None) -> None:
        if state is not None:
            self.protocol.notify(DID_UPDATE, unstructure(state))
        problems = (
            problem
            for preview in self.previews.all
            for problem in problems_in(preview.stale, preview.render.blocks)
        )
        if self.problems.set(problems):
            self.diagnostics.schedule()

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """Log what no request waits for, rather than open a message box for it."""
        if source is not FeatureRequestError:
            log.error("%s: %s", source.__name__, error)
