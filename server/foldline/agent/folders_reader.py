"""One reader of several folders: paths, also those in errors, begin with a folder's name."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeVar, cast

from foldline.backends import models
from foldline.ide.scoped_context import AccessReader
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from foldline.agent.folders import Folder, Folders

    Results = TypeVar("Results", models.SearchResults, models.SymbolResults)

Model = TypeVar("Model")


@record
class FoldersReader:
    """A `Reader` of the files of several folders."""

    folders: Folders

    async def search(self, query: str) -> models.SearchResults:
        every = [
            with_prefix(await AccessReader(folder.access).search(query), folder)
            for folder in self.folders.folders
        ]
        return _joined(every)

    async def symbols(self, query: str, within: Sequence[str] | None) -> models.SymbolResults:
        every = []
        for folder in self.folders.folders:
            paths = None
            if within is not None:
                places = map(self.folders.locate, within)
                paths = [location.path for location in places if location.folder is folder]
            every.append(
                with_prefix(await AccessReader(folder.access).symbols(query, paths), folder)
            )
        files = (path for part in zip_longest(*(one.files for one in every)) for path in part)
        near = tuple(near for one in every for near in one.near)
        return replace(_joined(every), files=tuple(filter(None, files)), near=near)

    async def outline(self, path: str) -> models.FileOutline:
        return await self._read(path, lambda reader, own: reader.outline(own))

    async def symbol(self, path: str, name: str, budget: int) -> models.SymbolDetail:
        return await self._read(path, lambda reader, own: reader.symbol(own, name, budget))

    async def text(self, path: str, budget: int) -> models.FileText:
        return await self._read(path, lambda reader, own: reader.text(own, budget))

    async def _read(
        self, path: str, read: Callable[[AccessReader, str], Awaitable[Model]]
    ) -> Model:
        location = self.folders.locate(path)
        with location.folder.errors():
            return with_prefix(
                await read(AccessReader(location.folder.access), location.path), location.folder
            )


def _joined(every: Sequence[Results]) -> Results:
    """Return the results of several folders as those of one, best first."""
    hits = sorted((hit for one in every for hit in one.hits), key=lambda hit: -hit.score)
    return replace(
        every[0],
        hits=tuple(hits),
        total=sum(one.total for one in every),
        reason="" if hits else every[0].reason,
        coverage=next(
            (one.coverage for one in every if one.coverage != models.COMPLETE), models.COMPLETE
        ),
    )


def with_prefix(model: Model, folder: Folder) -> Model:
    """Prefix the result's paths and cursors with the folder's name."""
    if not folder.prefix or not is_dataclass(model):
        return model
    changes: dict[str, object] = {}
    for field in fields(model):
        value = getattr(model, field.name)
        if field.name == "path" and not getattr(model, "outside", False):
            changes["path"] = folder.shown(value)
        elif field.name == "cursor":
            changes["cursor"] = folder.shown_cursor(value)
        elif field.name == "files" and isinstance(value, tuple):
            changes["files"] = tuple(folder.shown(path) for path in value)
        elif isinstance(value, tuple) and value and hasattr(value[0], "path"):
            changes[field.name] = tuple(with_prefix(item, folder) for item in value)
        elif is_dataclass(value):
            changes[field.name] = with_prefix(value, folder)
    return cast("Model", replace(model, **changes)) if changes else model  # type: ignore[type-var]
