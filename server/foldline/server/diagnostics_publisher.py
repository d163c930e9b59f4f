"""Publishes diagnostics to clients that don't pull them."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.server.features.diagnostic import checked
from foldline.server.preview_diagnostics import problem_diagnostics

if TYPE_CHECKING:
    from foldline.server.preview_diagnostics import Problem
    from foldline.server.server import FoldlineServer

log = logging.getLogger(__name__)

# Requests that come with a change, such as completion, are answered first.
PAUSE_SECONDS = 0.003


class DiagnosticsPublisher:
    """Publishes new diagnostics whenever a document or a preview changes.

    A client that pulls diagnostics gets only those of previews: their files may not be open.
    """

    def __init__(self, ls: FoldlineServer) -> None:
        self._ls = ls
        self._published: dict[str, list[types.Diagnostic]] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def pulled(self) -> bool:
        """True if the client pulls diagnostics."""
        documents = self._ls.client_capabilities.text_document
        return documents is not None and documents.diagnostic is not None

    def schedule(self) -> None:
        """Publish soon; changes that come meanwhile are published at the end."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._publish_all())

    async def _publish_all(self) -> None:
        workspace, problems_of = self._ls.core, self._ls.problems
        documents_seen = problems_seen = -1
        while (documents_seen, problems_seen) != (workspace.version, problems_of.version):
            await asyncio.sleep(PAUSE_SECONDS)
            if self.pulled and documents_seen != workspace.version:
                self._refresh()
            documents_seen, problems_seen = workspace.version, problems_of.version
            problems = problems_of.by_uri(workspace.open_documents())
            documents = () if self.pulled else workspace.open_documents().values()
            for uri in dict.fromkeys((*documents, *problems, *self._published)):
                try:
                    await self._publish(uri, problems.get(uri, ()))
                except Exception:
                    log.exception("cannot check %s", uri)

    async def _publish(self, uri: str, problems: tuple[Problem, ...]) -> None:
        version = self._version_of(uri)
        items: list[types.Diagnostic] = []
        if not self.pulled and self._is_open(uri):
            # The text may have changed in the meantime, and the version is that of the answer.
            version, items = await checked(self._ls, uri)
        if problems:
            items += await problem_diagnostics(self._ls, uri, problems)
            if version is not None and self._version_of(uri) not in (None, version):
                return  # The two may be about different texts; it's looked at again.
        if not problems and not self._is_open(uri):
            items = []  # It was closed in the meantime.
        if items != self._published.get(uri, []):
            self._published[uri] = items
            params = types.PublishDiagnosticsParams(uri, items, version)
            self._ls.text_document_publish_diagnostics(params)
        if not items:
            self._published.pop(uri, None)

    def _version_of(self, uri: str) -> int | None:
        document = self._ls.documents.document(uri)
        return document.version if document is not None else None

    def _is_open(self, uri: str) -> bool:
        return uri in self._ls.core.open_documents().values()

    def publish_again(self) -> None:
        """Publish soon what is known only now; a client that pulls diagnostics asks for them."""
        if self.pulled:
            self._refresh(least=1)
        else:
            self.schedule()

    def _refresh(self, least: int = 2) -> None:
        """Other documents' diagnostics may have changed with one: the client asks for them."""
        workspace = self._ls.client_capabilities.workspace
        refreshed = workspace.diagnostics if workspace is not None else None
        several = len(self._ls.core.open_documents()) >= least
        if several and refreshed is not None and refreshed.refresh_support:
            self._ls.workspace_diagnostic_refresh(None, partial(lambda _: None))
