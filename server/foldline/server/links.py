"""Texts of a document that mean something elsewhere, and what each of them means."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types

from foldline.backends.base.waiting import LONG, in_thread
from foldline.ide.plugins import Link, Plugin, Target, plugins
from foldline.ide.uris import local_path, uri_of
from foldline.server.convert import LineIndex
from foldline.server.snapshots import LspSnapshot, with_snapshot

if TYPE_CHECKING:
    from foldline.ide.folder import Folder
    from foldline.server.server import FoldlineServer


class ResolvedLink(NamedTuple):
    """A text by its range in the document, and the one thing that it means."""

    folder: Folder
    range: types.Range
    target: Target


async def links_in(
    ls: FoldlineServer, uri: str, at: types.Position | None = None
) -> list[ResolvedLink]:
    """Return the links of a document, or those at a position.

    What means nothing, or several things, is left out. A document that isn't a file has none: links
    lead to files near it.
    """
    if local_path(uri) is None:
        return []

    def query(snapshot: LspSnapshot) -> tuple[Folder, list[tuple[types.Range, Link]]]:
        answers = plugins().ask(Plugin.links, snapshot)
        links = [(snapshot.range(link.place), link) for link in chain.from_iterable(answers)]
        wanted = [one for one in links if at is None or one[0].start <= at <= one[0].end]
        return snapshot.folder, wanted

    answer = await with_snapshot(ls, uri, query)
    if answer is None or not answer[1]:
        return []
    folder, links = answer

    def resolve() -> list[ResolvedLink]:
        return [ResolvedLink(folder, shown, to) for shown, link in links if (to := link.resolve())]

    # Not in the query: this may read many files.
    return await in_thread(resolve, LONG)


def location(ls: FoldlineServer, folder: Folder, path: str, line: int) -> types.Location | None:
    """Return a line of a file of a folder, 0 for its start; None for what can't be read."""
    files = folder.access.file_backend
    if not path or (text := files.text_of(path)) is None:
        return None
    index = LineIndex.of(text, ls.documents.position_codec.encoding)
    return types.Location(uri_of(files.root / path), index.line(max(line - 1, 0)))
