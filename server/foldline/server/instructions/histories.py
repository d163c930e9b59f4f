"""Histories and other clients' readings of open instruction files, found in the background."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import LONG, in_thread
from foldline.ide.instructions.checks import Around
from foldline.plugins.instructions.mentions import mentions
from foldline.plugins.instructions.stale import line_of
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.ide.instructions.document import InstructionFile
    from foldline.plugins.instructions.mentions import Mention
    from foldline.server.server import FoldlineServer

log = logging.getLogger(__name__)

QUIET_SECONDS = 0.5
"""How long nothing changes before a repository is read: that would slow down the next key."""


class Histories:
    """Findings about instruction files in their repositories.

    Diagnostics don't wait for it: they are published again once a repository was read.
    """

    def __init__(self, ls: FoldlineServer) -> None:
        self._ls = ls
        self._found: dict[str, tuple[str, Around]] = {}
        self._read: dict[str, int] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}

    def known(self, uri: str, file: InstructionFile) -> Around:
        """Return what is known of a document, its stale mentions where they stand now."""
        before, around = self._found.get(uri, ("", Around()))
        if file.text == before or not around.stale:
            return around
        stale = {_key(before, one.mention): one for one in around.stale}
        now = ((one, stale.get(_key(file.text, one))) for one in mentions(file.markdown))
        return around._replace(stale=[was._replace(mention=one) for one, was in now if was])

    def read(self, uri: str) -> None:
        """Read the repository of a document, unless nothing changed since that was done."""
        if uri not in self._reading and self._read.get(uri) != self._ls.core.version:
            self._reading[uri] = asyncio.get_running_loop().create_task(self._look(uri))

    async def _look(self, uri: str) -> None:
        try:
            version = None
            while version != self._ls.core.version:
                version = self._ls.core.version
                await asyncio.sleep(QUIET_SECONDS)
            self._read[uri] = version
            answer = await with_snapshot(self._ls, uri, lambda one: (one.source, one.text))
            if answer is None:
                return
            source, text = answer
            around = await in_thread(source.look_around, LONG)
        except Exception:
            log.exception("cannot read the repository of %s", uri)
            return
        finally:
            del self._reading[uri]
        if around is None:
            return
        _, before = self._found.get(uri, ("", Around()))
        self._found[uri] = (text, around)
        if before != around:
            self._ls.diagnostics.publish_again()


def _key(text: str, mention: Mention) -> tuple[str, str]:
    return mention.name, line_of(text, mention)
