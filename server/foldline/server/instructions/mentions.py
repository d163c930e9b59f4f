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
            mentioned = mentions(snapshot.instructions.markdown)
            every = [(snapshot.index.range(one.start, one.end), one) for one in mentioned]
        else:
            named = mentions_of(snapshot.analysis)
            every = [(snapshot.range(span), one) for one, span in named]
        return snapshot.folder, snapshot.analysis.file, every

    named = await with_snapshot(ls, uri, query)
    if named is None:
        return []
    folder, file, every = named
    chosen = [one for one in every if at is None or one[0].start <= at <= one[0].end]

    def resolve() -> list[Named]:
        from foldline.ide.instructions.targets import Targets

        path = Path(file).relative_to(folder.root).as_posix()
        targets = Targets(folder.access, path)
        every = ((lsp_range, one, targets.of(one)) for lsp_range, one in chosen)
        return [Named(folder, lsp_range, one, to) for lsp_range, one, to in every if to is not None]

    return await in_thread(resolve, LONG) if chosen else []


async def links(ls: FoldlineServer, uri: str) -> list[DocumentLink]:
    """Return a link for each mention that means one file, or one line of it."""
    items = []
    for folder, shown, _, to in await named_in(ls, uri):
        file = folder.root / to.path
        if to.path and not file.is_dir():
            items.append(DocumentLink(shown, uri_of(file) + f"#L{to.line}" * (to.line > 0)))
    return items


async def definition(ls: FoldlineServer, params: DefinitionParams) -> Location | None:
    """Return where that is defined which the mention at a position means."""
    named = await named_in(ls, params.text_document.uri, params.position)
    if not named or not named[0].target.path:
        return None
    folder, _, _, to = named[0]

    def locate() -> Location | None:
        if folder.access.file_backend.is_folder(to.path):
            return None
        text = folder.access.file_backend.load(to.path).text
        index = LineIndex.of(text, ls.documents.position_codec.encoding)
        return Location(uri_of(folder.root / to.path), index.line(max(to.line - 1, 0)))

    return await in_thread(locate)


async def hover(ls: FoldlineServer, params: HoverParams) -> Hover | None:
    """Return what the mention at a position means."""
    named = await named_in(ls, params.text_document.uri, params.position)
    return Hover(hover_markup(ls, named[0].target.about), named[0].range) if named else None
