"""What Markdown names, in instruction files and in the texts of prompts, as LSP has it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol.types import DocumentLink, Hover, Location

from foldline.backends.base.waiting import LONG, in_thread
from foldline.ide.instructions.mentions import SEPARATOR, Kind, mentions, mentions_of
from foldline.ide.uris import local_path, uri_of
from foldline.server.convert import LineIndex
from foldline.server.markup import hover_markup
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lsprotocol.types import (
        DefinitionParams,
        HoverParams,
        Position,
        PrepareRenameParams,
        Range,
        ReferenceParams,
        RenameParams,
    )

    from foldline.ide.folder import Folder
    from foldline.ide.instructions.mentions import Mention
    from foldline.ide.instructions.targets import Target
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

    AtPosition = (
        DefinitionParams | HoverParams | ReferenceParams | PrepareRenameParams | RenameParams
    )


async def mentions_in(ls: FoldlineServer, uri: str) -> list[tuple[Range, Mention]]:
    """Return what the Markdown of a document names, with the ranges of the names."""

    def query(snapshot: LspSnapshot) -> list[tuple[Range, Mention]]:
        if snapshot.instructions is not None:
            found = mentions(snapshot.instructions.markdown)
            return [(snapshot.index.range(one.start, one.end), one) for one in found]
        return [(snapshot.range(place), one) for one, place in mentions_of(snapshot.analysis)]

    return await with_snapshot(ls, uri, query) or []


async def mention_at(ls: FoldlineServer, params: AtPosition) -> tuple[Range, Mention] | None:
    """Return the mention at a position, with its range."""

    def key(position: Position) -> tuple[int, int]:
        return position.line, position.character

    at = key(params.position)
    found = await mentions_in(ls, params.text_document.uri)
    around = (one for one in found if key(one[0].start) <= at <= key(one[0].end))
    return next(around, None)


async def targets_of(
    ls: FoldlineServer, uri: str, found: Sequence[Mention]
) -> tuple[Folder, list[Target | None]]:
    """Return what each of some mentions of a document means; None for nothing, or for several."""
    path = local_path(uri)
    assert path is not None
    folder = ls.core.folder(path)

    def resolve() -> list[Target | None]:
        from foldline.ide.instructions.targets import Targets

        targets = Targets(folder.access, path.relative_to(folder.root).as_posix())
        return [targets.of(mention) for mention in found]

    return folder, await in_thread(resolve, LONG) if found else []


async def links(ls: FoldlineServer, uri: str) -> list[DocumentLink]:
    """Return a link for each mention that means one file, or one line of it."""
    every = await mentions_in(ls, uri)
    folder, targets = await targets_of(ls, uri, [mention for _, mention in every])
    return [
        DocumentLink(place, target=uri_of(folder.root / to.path) + f"#L{to.line}" * (to.line > 0))
        for (place, _), to in zip(every, targets, strict=True)
        if to is not None and to.path and not (folder.root / to.path).is_dir()
    ]


async def definition(ls: FoldlineServer, params: DefinitionParams) -> Location | None:
    """Return where that is defined which the mention at a position means."""
    found = await mention_at(ls, params)
    if found is None:
        return None
    folder, (target,) = await targets_of(ls, params.text_document.uri, [found[1]])
    if target is None or not target.path:
        return None
    return await in_thread(partial(_location, ls, folder, target.path, target.line))


async def hover(ls: FoldlineServer, params: HoverParams) -> Hover | None:
    """Return what the mention at a position means."""
    found = await mention_at(ls, params)
    if found is None:
        return None
    _, (target,) = await targets_of(ls, params.text_document.uri, [found[1]])
    return None if target is None else Hover(hover_markup(ls, target.about), found[0])


async def uses(ls: FoldlineServer, params: ReferenceParams) -> list[Location] | None:
    """Return the uses of the definition that the mention at a position means."""
    from foldline.backends import AsyncSmartFileAccess

    found = await mention_at(ls, params)
    if found is None or found[1].kind != Kind.SYMBOL:
        return None
    folder, (target,) = await targets_of(ls, params.text_document.uri, [found[1]])
    if target is None or not target.line:
        return None
    word = SEPARATOR.sub(".", found[1].name).rpartition(".")[2]
    access = AsyncSmartFileAccess(folder.access)
    references = await access.find_references(f"{target.path}:{target.line}:{word}")

    def locate() -> list[Location]:
        texts: dict[str, LineIndex] = {}
        places = []
        for use in references:
            if use.tier == "another":
                continue
            if use.path not in texts:
                text = folder.access.file_backend.load(use.path).text
                texts[use.path] = LineIndex.of(text, ls.documents.position_codec.encoding)
            index = texts[use.path]
            start = index.starts[min(use.line, len(index.starts)) - 1]
            place = index.range(start + use.column - 1, start + use.column_end - 1)
            places.append(Location(uri_of(folder.root / use.path), place))
        return places

    return await in_thread(locate, LONG)


def _location(ls: FoldlineServer, folder: Folder, path: str, line: int) -> Location | None:
    """Return a line of a file, 0 for its beginning; None for a folder."""
    if folder.access.file_backend.is_folder(path):
        return None
    text = folder.access.file_backend.load(path).text
    place = LineIndex.of(text, ls.documents.position_codec.encoding).line(max(line - 1, 0))
    return Location(uri_of(folder.root / path), place)
