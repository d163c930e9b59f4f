"""Mentions in instruction files and in the texts of prompts, as LSP has them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.waiting import LONG, in_thread
from foldline.ide.uris import local_path
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import Position, Range

    from foldline.ide.folder import Folder
    from foldline.plugins.instructions.mentions import Mention
    from foldline.plugins.instructions.targets import Target
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot


class Named(NamedTuple):
    """A mention with its range in the document, and the one thing that it means."""

    folder: Folder
    range: Range
    target: Target


async def named_in(ls: FoldlineServer, uri: str, at: Position | None = None) -> list[Named]:
    """Return what the Markdown of a document names, or what it names at a position.

    Names that mean nothing, or several things, are left out. A document that isn't a file has none:
    names lead to files near it.
    """
    if local_path(uri) is None:
        return []

    def query(snapshot: LspSnapshot) -> tuple[Folder, str, list[tuple[Range, Mention]]]:
        named = snapshot.source.mentions(snapshot)
        mentions = [(snapshot.range(span), one) for one, span in named]
        return snapshot.folder, snapshot.analysis.file, mentions

    answer = await with_snapshot(ls, uri, query)
    if answer is None:
        return []
    folder, file, mentions = answer
    wanted = [one for one in mentions if at is None or one[0].start <= at <= one[0].end]

    def resolve() -> list[Named]:
        from foldline.plugins.instructions.targets import Targets

        path = Path(file).relative_to(folder.root).as_posix()
        targets = Targets(folder.access, path)
        meant = ((shown, targets.of(one)) for shown, one in wanted)
        return [Named(folder, shown, to) for shown, to in meant if to is not None]

    return await in_thread(resolve, LONG) if wanted else []
