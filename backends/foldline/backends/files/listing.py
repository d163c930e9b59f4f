"""The files of a workspace that aren't ignored, folder by folder."""

from __future__ import annotations

import json
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.files.walk import FileStamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Folder(NamedTuple):
    """The entries of a folder, sorted by name.

    `changed_at` is its time from before it was listed, so that what comes later shows as a change.
    `hidden` are the paths that are ignored, and `rules` the names of its ignore files.
    """

    path: str
    changed_at: int
    files: tuple[FileStamp, ...]
    folders: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


class Listing(NamedTuple):
    """All folders by path, each before those in it.

    `above` and `rules` are the versions of the ignore files that were looked for outside the
    workspace, and of those found in it; `problems` has a sentence for each thing left out of them.
    """

    folders: Mapping[str, Folder]
    above: Mapping[str, str]
    rules: Mapping[str, str]
    problems: tuple[str, ...]

    def files(self) -> Iterator[FileStamp]:
        """Every file."""
        return chain.from_iterable(folder.files for folder in self.folders.values())

    def differs(self, other: Listing, most: int) -> bool:
        """Return whether more than `most` folders aren't the very ones of the other listing."""
        others = other.folders
        different = sum(others.get(path) is not folder for path, folder in self.folders.items())
        return different > most or self[1:] != other[1:]

    def below(self, start: str, *, by_level: bool = False) -> Iterator[Folder]:
        """A folder and those below it."""
        return in_order(start, self.folders.__getitem__, by_level=by_level)


def in_order(
    start: str, listed: Callable[[str], Folder], *, by_level: bool = False
) -> Iterator[Folder]:
    """A folder and those below it: by name, or all of a level before those below."""
    waiting = deque([start])
    while waiting:
        folder = listed(waiting.popleft() if by_level else waiting.pop())
        yield folder
        waiting.extend(folder.folders if by_level else reversed(folder.folders))


def encode_listing(listing: Listing) -> str:
    """The listing as JSON."""
    rows = [
        [*folder[:2], [[name_of(file.path), *file[1:5]] for file in folder.files], *folder[3:]]
        for folder in listing.folders.values()
    ]
    return json.dumps([rows, *listing[1:]], separators=(",", ":"))


def decode_listing(text: str) -> Listing | None:
    """The listing of `encode_listing`'s JSON; None for anything else."""
    try:
        rows, above, rules, problems = json.loads(text)
        folders = {}
        for path, changed_at, files, below, hidden, names in rows:
            prefix = f"{path}/" if path else ""
            stamps = tuple(FileStamp(prefix + name, *times) for name, *times in files)
            folders[path] = Folder(
                path, changed_at, stamps, tuple(below), tuple(hidden), tuple(names)
            )
        listing = Listing(folders, dict(above), dict(rules), tuple(problems))
    except (ValueError, TypeError):
        return None
    listed = chain([""], *(folder.folders for folder in folders.values()))
    return listing if all(path in folders for path in listed) else None


def name_of(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]
