"""What Markdown names, in instruction files and in the texts of prompts, as LSP has it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol.types import DocumentLink, Hover, Location

from foldline.backends.base.waiting import LONG, in_thread
from foldline.ide.instructions.mentions import mentions, mentions_of
from foldline.ide.uris import local_path, uri_of
from foldline.server.convert import LineIndex
from foldline.server.markup import hover_markup
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import DefinitionParams, HoverParams, Position, Range

    from foldline.ide.folder import Folder
    from foldline.ide.instructions.mentions import Mention
    from foldline.ide.instructions.targets import Target
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot


class Named(NamedTuple):
    """A mention with its range in the document, and the one thing that it means."""

    folder: Folder
    range: Range
    mention: Mention
    target: Target


async def named_in(ls: FoldlineServer, uri: str, at: Position | None = None) -> list[Named]:
    """Return what the Markdown of a document names, or what it names at a position.

    Names that mean nothing, or several things, are left out. A document that isn't a file has none:
    names lead to files near it.
    """
    if local_path(uri) is None:
        return []

    def query(snapshot: LspSnapshot) -> tuple[Folder, str, list[tuple[Range, Mention]]]:
        if snapshot.instructions is not None:
            found = mentions(snapshot.instructions.markdown)
            every = [(snapshot.index.range(one.start, one.end), one) for one in found]
        else:
            named = mentions_of(snapshot.analysis)
            every = [(snapshot.range(place), one) for one, place in named]
        return snapshot.folder, snapshot.analysis.file, every

    found = await with_snapshot(ls, uri, query)
    if found is None:
        return []
    folder, file, every = found
    chosen = [one for one in every if at is None or one[0].start <= at <= one[0].end]

    def resolve() -> list[Named]:
        from foldline.ide.instructions.targets import Targets

        path = Path(file).relative_to(folder.root).as_posix()
        targets = Targets(folder.access, path)
        every = ((place, one, targets.of(one)) for place, one in chosen)
        return [Named(folder, place, one, to) for place, one, to in every if to is not None]

    return await in_thread(resolve, LONG) if chosen else []


async def links(ls: FoldlineServer, uri: str) -> list[DocumentLink]:
    """Return a link for each mention that means one file, or one line of it."""
    found = []
    for folder, place, _, to in await named_in(ls, uri):
        file = folder.root / to.path
        if to.path and not file.is_dir():
            found.append(DocumentLink(place, uri_of(file) + f"#L{to.line}" * (to.line > 0)))
    return found


async def definition(ls: FoldlineServer, params: DefinitionParams) -> Location | None:
    """Return where that is defined which the mention at a position means."""
    found = await named_in(ls, params.text_document.uri, params.position)
    if not found or not found[0].target.path:
        return None
    folder, _, _, to = found[0]

    def locate() -> Location | None:
        if folder.access.file_backend.is_folder(to.path):
            return None
        text = folder.access.file_backend.load(to.path).text
        index = LineIndex.of(text, ls.documents.position_codec.encoding)
        return Location(uri_of(folder.root / to.path), index.line(max(to.line - 1, 0)))

    return await in_thread(locate)


async def hover(ls: FoldlineServer, params: HoverParams) -> Hover | None:
    """Return what the mention at a position means."""
    found = await named_in(ls, params.text_document.uri, params.position)
    return Hover(hover_markup(ls, found[0].target.about), found[0].range) if found else None
