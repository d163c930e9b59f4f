"""What git's history says of the names in open instruction files, read in the background."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import LONG, in_thread
from foldline.ide.instructions.checks import stale_in
from foldline.ide.instructions.mentions import mentions
from foldline.ide.instructions.stale import line_of
from foldline.ide.uris import path_of
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.ide.instructions.mentions import Mention
    from foldline.ide.instructions.stale import StaleMention
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

log = logging.getLogger(__name__)

QUIET_SECONDS = 0.5
"""How long nothing changes before a history is read: that work would slow down the next key."""


class Histories:
    """The stale mentions of instruction files, as far as they are known.

    Diagnostics don't wait for them: they are published again once a history was read.
    """

    def __init__(self, ls: FoldlineServer) -> None:
        self._ls = ls
        self._found: dict[str, dict[tuple[str, str], StaleMention]] = {}
        self._read: dict[str, int] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}

    def known(self, snapshot: LspSnapshot) -> list[StaleMention]:
        """Return the stale mentions that are known of a document, where they stand now."""
        file, found = snapshot.instructions, self._found.get(snapshot.uri)
        if not found or file is None:
            return []
        every = ((one, found.get(_key(file.text, one))) for one in mentions(file.markdown))
        return [stale._replace(mention=one) for one, stale in every if stale is not None]

    def read(self, uri: str) -> None:
        """Read the history of a document, unless nothing changed since that was done."""
        if uri not in self._reading and self._read.get(uri) != self._ls.core.version:
            self._reading[uri] = asyncio.get_running_loop().create_task(self._look(uri))

    async def _look(self, uri: str) -> None:
        try:
            version = None
            while version != self._ls.core.version:
                version = self._ls.core.version
                await asyncio.sleep(QUIET_SECONDS)
            self._read[uri] = version
            found = await with_snapshot(self._ls, uri, lambda one: (one.instructions, one.folder))
            file, folder = found or (None, None)
            if file is None or folder is None:
                return
            every = await in_thread(partial(stale_in, file, path_of(uri), folder), LONG)
        except Exception:
            log.exception("cannot read the history of %s", uri)
            return
        finally:
            del self._reading[uri]
        before = self._found.get(uri, {})
        self._found[uri] = {_key(file.text, one.mention): one for one in every}
        if before != self._found[uri]:
            self._ls.diagnostics.publish_again()


def _key(text: str, mention: Mention) -> tuple[str, str]:
    return mention.name, line_of(text, mention)
