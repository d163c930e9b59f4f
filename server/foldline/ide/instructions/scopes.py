"""For which files a rule holds: the front matter of an instruction file, and its globs."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from itertools import islice
from typing import TYPE_CHECKING

from foldline.backends.files.globs import alternatives

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.ide.instructions.document import InstructionFile

_PAIR = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:[ \t]*(.*)")
_MOST = 500


def header(file: InstructionFile) -> dict[str, tuple[str, ...]]:
    """Return the values of a file's front matter by key: words, and lists in either form of YAML.

    Whatever else YAML has is left out: no client reads more.
    """
    front, found, key = file.markdown.front_matter, dict[str, list[str]](), ""
    for line in file.text[front.start : front.end].splitlines() if front else ():
        if pair := _PAIR.fullmatch(line.rstrip()):
            key, value = pair[1], pair[2].partition(" #")[0].strip()
            items = value[1:-1].split(",") if value[:1] == "[" and value[-1:] == "]" else [value]
            found[key] = [one for item in items if (one := item.strip().strip("\"'"))]
        elif key and line.lstrip().startswith("- "):
            found[key].append(line.lstrip()[2:].strip().strip("\"'"))
    return {name: tuple(values) for name, values in found.items()}


def globs_of(values: Iterable[str]) -> Iterator[str]:
    """Yield each glob of a list, or of a text with commas, braces expanded."""
    for value in values:
        for one in islice(alternatives(f"{{{value},}}"), _MOST):
            if one.strip():
                yield one.strip()


def matches(glob: str, path: str, *, anchored: bool = True) -> bool:
    """Return whether a glob matches a path; from any folder on unless it's `anchored`."""
    parts = glob.removeprefix("./").lstrip("/").split("/")
    if not anchored and not glob.startswith(("/", "**/")):
        parts = ["**", *parts]
    # The parts at which the rest of the path may go on: no glob costs more than its length.
    places = _after_stars({0}, parts)
    for name in path.split("/"):
        places = _after_stars(
            {
                place + (parts[place] != "**")
                for place in places
                if place < len(parts) and (parts[place] == "**" or fnmatchcase(name, parts[place]))
            },
            parts,
        )
    return len(parts) in places


def _after_stars(places: set[int], parts: list[str]) -> set[int]:
    for place in range(len(parts)):
        if place in places and parts[place] == "**":
            places.add(place + 1)
    return places
