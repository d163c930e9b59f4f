"""What plugins' checks say of open documents in their repositories, found in the background."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import LONG, in_thread
from foldline.ide.plugins import REPOSITORY_SECONDS, Plugin, plugins
from foldline.ide.snapshot import Snapshot
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.ide.checks import Diagnostic
    from foldline.server.server import FoldlineServer

log = logging.getLogger(__name__)

QUIET_SECONDS = 0.5
"""How long nothing changes before a repository is read: that would slow down the next key."""


class LateChecks:
    """Diagnostics that take too long to look for after each key.

    No request waits for them: diagnostics are published again once a repository was read.
    """

    def __init__(self, ls: FoldlineServer) -> None:
        self._ls = ls
        self._diagnostics: dict[str, tuple[Sequence[Diagnostic], str]] = {}
        self._read: dict[str, int] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}

    def known(self, snapshot: Snapshot) -> Iterator[Diagnostic]:
        """Yield what is known of a document, where its lines stand now."""
        return followed(*self._diagnostics.get(snapshot.uri, ((), "")), snapshot.text)

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
            # Markdown's shares nothing with other queries: it's valid after this one.
            snapshot = await with_snapshot(self._ls, uri, lambda snapshot: snapshot)
            if snapshot is None:
                return
            ask = partial(plugins().ask, Plugin.check_repository, snapshot, REPOSITORY_SECONDS, inf)
            diagnostics = list(chain.from_iterable(await in_thread(ask, LONG)))
        except Exception:
            log.exception("cannot read the repository of %s", uri)
            return
        finally:
            del self._reading[uri]
        before, _ = self._diagnostics.get(uri, ([], ""))
        self._diagnostics[uri] = diagnostics, snapshot.text
        if before != diagnostics:
            self._ls.diagnostics.publish_again()


def followed(diagnostics: Sequence[Diagnostic], before: str, now: str) -> Iterator[Diagnostic]:
    """Yield the diagnostics of an earlier text whose line is still there, where it stands now."""
    if not diagnostics or before == now:
        yield from diagnostics
        return
    lines, starts = _lines(before), {line: start for start, line in _lines(now)}
    for one in diagnostics:
        start, line = lines[bisect_right(lines, one.place.start, key=itemgetter(0)) - 1]
        if line in starts:
            by = starts[line] - start
            place = one.place._replace(start=one.place.start + by, end=one.place.end + by)
            # Only what they change in that place is where it was.
            fixes = tuple(
                replace(fix, changes=tuple(replace(change, place=place) for change in fix.changes))
                for fix in one.fixes
                if all(change.place == one.place for change in fix.changes)
            )
            yield replace(one, place=place, fixes=fixes, related=())


def _lines(text: str) -> list[tuple[int, tuple[str, int]]]:
    """Return the start of each line, with its text and the number of lines like it above."""
    start, lines, seen = 0, [], Counter[str]()
    for line in text.split("\n"):
        lines.append((start, (line, seen[line])))
        seen[line] += 1
        start += len(line) + 1
    return lines
