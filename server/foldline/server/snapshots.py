"""Documents at one moment, with locations as the client counts them."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lsprotocol import types

from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.ide.render import render
from foldline.ide.snapshot import OpenDocument, Snapshot
from foldline.ide.uris import uri_of_file
from foldline.records import record
from foldline.server.convert import LineIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from foldline.ide.analysis.model import SourceSpan, Span
    from foldline.ide.checks.diagnostic import Change
    from foldline.ide.folder import Folder
    from foldline.ide.workspace import Workspace
    from foldline.server.server import FoldlineServer

    Result = TypeVar("Result")
    Encoding = types.PositionEncodingKind | str | None

# More would only keep old texts of a document that is being edited.
_index = lru_cache(maxsize=8)(LineIndex.of)


@record
class LspSnapshot(Snapshot):
    """A snapshot whose places are LSP's.

    Attributes:
        encoding: How the client counts.
        index: The lines of the text.
    """

    encoding: Encoding
    index: LineIndex

    @classmethod
    def wrap(cls, snapshot: Snapshot, encoding: Encoding) -> LspSnapshot:
        """The same document at the same moment."""
        same = {one.name: getattr(snapshot, one.name) for one in fields(Snapshot)}
        return cls(**same, encoding=encoding, index=_index(snapshot.text, encoding))

    def offset(self, position: types.Position) -> int:
        return self.index.offset(position)

    def range(self, span: Span | SourceSpan) -> types.Range:
        return self.index.range(span.start, span.end)

    def locations(self, places: Iterable[SourceSpan]) -> list[types.Location]:
        """Places in files of the project, without those in files that can't be read."""
        return [*filter(None, map(self.location, places))]

    def location(self, place: SourceSpan) -> types.Location | None:
        """A place in any file of the project; None where that file can't be read."""
        if place.file == self.analysis.file:
            return types.Location(self.uri, self.range(place))
        text = self.project.text(place.file)
        if text is None:
            return None
        index = _index(text, self.encoding)
        return types.Location(uri_of_file(place.file), index.range(place.start, place.end))

    def edit(self, changes: Iterable[Change]) -> types.WorkspaceEdit:
        """Changes of source, by document."""
        edits = dict[str, list[types.TextEdit]]()
        for one in changes:
            if (found := self.location(one.place)) is not None:
                edits.setdefault(found.uri, []).append(types.TextEdit(found.range, one.text))
        return types.WorkspaceEdit(changes=edits)


def locate(snapshot: Snapshot, place: SourceSpan, encoding: Encoding) -> render.Location | None:
    """A place in any file of the project, as renders have it."""
    location = LspSnapshot.wrap(snapshot, encoding).location(place)
    if location is None:
        return None
    ends = (location.range.start, location.range.end)
    start, end = (render.Position(one.line, one.character) for one in ends)
    return render.Location(location.uri, render.Range(start, end))


def edit_in(ls: FoldlineServer, folder: Folder, changes: Iterable[Change]) -> types.WorkspaceEdit:
    """Changes of a folder's Markdown files, those of a file together, by document."""
    edits, opened = dict[str, list[types.TextEdit]](), ls.core.open_documents()
    for file, of_file in groupby(changes, lambda one: one.place.file):
        text = folder.access.file_backend.load(Path(file).relative_to(folder.root).as_posix()).text
        index = LineIndex.of(text, ls.documents.position_codec.encoding)
        made = [types.TextEdit(index.range(*one.place[1:]), one.text) for one in of_file]
        edits.setdefault(opened.get(file) or uri_of_file(file), []).extend(made)
    return types.WorkspaceEdit(changes=edits)


async def with_snapshot(
    ls: FoldlineServer,
    uri: str,
    query: Callable[[LspSnapshot], Result],
    without_prompts: Callable[[OpenDocument], Result] | None = None,
) -> Result | None:
    """The result of `query` on a document, in a thread; None where it can't be read.

    Where `without_prompts` gives the same result for a document that doesn't concern prompts, the
    first answers in most files needn't wait until the analysis of prompts is loaded.
    """
    encoding = ls.documents.position_codec.encoding

    def ask() -> Result | None:
        if without_prompts is not None:
            document = ls.core.without_prompts(uri)
            if document is not None:
                return without_prompts(document)
        return query_snapshot(ls.core, uri, encoding, query)

    return await in_thread(ask, PROMPTS)


def query_snapshot(
    workspace: Workspace, uri: str, encoding: Encoding, query: Callable[[LspSnapshot], Result]
) -> Result | None:
    """Like `with_snapshot`, in this thread."""
    return workspace.with_snapshot(uri, lambda found: query(LspSnapshot.wrap(found, encoding)))
