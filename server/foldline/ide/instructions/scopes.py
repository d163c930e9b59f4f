"""For which files a rule holds: the globs of its front matter."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import islice
from typing import TYPE_CHECKING

from foldline.backends.files.globs import alternatives

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MOST = 500


def globs_of(values: Iterable[str]) -> Iterator[str]:
    """Yield each glob of the items of a field, lists and braces expanded."""
    for value in values:
        listed = value[1:-1] if value[:1] == "[" and value[-1:] == "]" else value
        for one in islice(alternatives(f"{{{listed},}}"), _MOST):
            if glob := one.strip().strip("\"'"):
                yield glob


def matches(glob: str, path: str, *, anchored: bool = True) -> bool:
    """Return whether a glob matches a path; from any folder on unless it's `anchored`."""
    parts = glob.removeprefix("./").lstrip("/").split("/")
    if not anchored and not glob.startswith(("/", "**/")):
        parts = ["**", *parts]
    # The parts at which the rest of the path may go on: no glob costs more than its length.
    places, names = {0}, path.split("/")
    for at in range(len(names) + 1):
        for place, part in enumerate(parts):
            if place in places and part == "**":
                places.add(place + 1)
        if at < len(names):
            places = {
                place + (part != "**")
                for place, part in enumerate(parts)
                if place in places and (part == "**" or fnmatchcase(names[at], part))
            }
    return len(parts) in places
