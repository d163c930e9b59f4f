"""Paths as a field of a ranking: their parts as terms, and which of them say little."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import chain

from foldline.backends.index.terms import terms_of

_WORD = re.compile(r"\w+")
# Files that stand for their folder.
_FOLDERS_OWN = frozenset({"__init__", "index", "mod"})
# Paths that questions take apart again and again.
_MOST_KEPT = 1 << 16
_MINOR = re.compile(
    r"(?:^|/)(?:tests|__tests__|specs?|testdata|fixtures|e2e|docs?|examples?|samples?|tutorials"
    r"|gallery|benchmarks?|vendor|_?vendored|_vendor|third[_-]party|externals?|extern|node_modules"
    r"|site-packages|dist|generated|__generated__)/"
    r"|(?:^|/)(?:test_[^/]*|conftest)\.py$|[._-](?:tests?|spec|min|generated|pb|pb2|gen)\.[^/.]+$"
    r"|_pb2(?:_grpc)?\.pyi?$|\.(?:md|rst|txt|po|lock|map|d\.ts)$",
    re.IGNORECASE,
)


def is_minor(path: str) -> bool:
    """Return whether a path is that of a test, of documentation, of vendored or generated code."""
    return _MINOR.search(path) is not None


def stem_of(path: str) -> str:
    """The last part without its ending; the folder's for a file that stands for its folder."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    return folder.rpartition("/")[2] if stem in _FOLDERS_OWN and folder else stem


class PathFacts:
    """Facts about the paths of a workspace, whatever is asked: made once for many questions.

    Folders and names are taken apart once, however many paths have them.

    Attributes:
        lengths: The number of terms of each path.
    """

    def __init__(self, paths: tuple[str, ...]) -> None:
        self._paths = paths
        self.lengths, self.minor = [0] * len(paths), [False] * len(paths)
        # The numbers of the paths by folder, which ends with a slash, and by name.
        self._parts: defaultdict[str, list[int]] = defaultdict(list)
        for number, path in enumerate(paths):
            cut = path.rfind("/") + 1
            self._parts[path[:cut]].append(number)
            self._parts[path[cut:]].append(number)
        self._with_term: defaultdict[str, list[list[int]]] = defaultdict(list)
        for part, numbers in self._parts.items():
            terms = terms_of_path(part if part.endswith("/") else _named(part))
            is_minor_part = is_minor(part)
            for number in numbers:
                self.lengths[number] += len(terms)
                self.minor[number] |= is_minor_part
            for term in terms:
                self._with_term[term].append(numbers)

    def with_term(self, term: str) -> Iterator[int]:
        """The numbers of the paths with a term, once for each time they have it."""
        return chain.from_iterable(self._with_term.get(term, ()))

    @cached_property
    def _with_stem(self) -> dict[str, list[int]]:
        by_stem: defaultdict[str, list[int]] = defaultdict(list)
        for part, numbers in self._parts.items():
            stem = stem_of(part)
            for number in numbers if stem else ():
                by_stem[stem_of(self._paths[number]) if stem in _FOLDERS_OWN else stem].append(
                    number
                )
        return by_stem

    @cached_property
    def _with_name(self) -> dict[str, list[list[int]]]:
        by_name: defaultdict[str, list[list[int]]] = defaultdict(list)
        for part, numbers in self._parts.items():
            for name in {*part.casefold().split("/")[:-1]} if part.endswith("/") else ():
                by_name[name].append(numbers)
        for stem, numbers in self._with_stem.items():
            by_name[stem.casefold()].append(numbers)
        return by_name

    def with_part(self, name: str) -> set[int]:
        """The paths with a folder, or a file without its ending, of this casefolded name."""
        return {*chain.from_iterable(self._with_name.get(name, ()))}

    def find(self, place: tuple[str, ...], *, whole: bool) -> list[int]:
        """The files that a place such as `db.models.query.QuerySet`, in parts, names.

        These are the files whose paths end with the longest beginning of the place, or, since it
        may begin above the workspace, with the end of that. A single part names none, unless it is
        the `whole` place.
        """
        # `fields/__init__.py` is `fields`.
        if place[-1] in _FOLDERS_OWN and len(place) > 1:
            place = place[:-1]
        for end in (len(place),) if whole else range(len(place), 1, -1):
            shared = {
                number: _shared(_module(self._paths[number]), place[:end])
                for number in self._with_stem.get(place[end - 1], ())
            }
            most = max(shared.values(), default=0)
            if most > 1 or most == len(place):
                return sorted(number for number in shared if shared[number] == most)
        return []


def _shared(module: str, place: tuple[str, ...]) -> int:
    """Count the last parts of a module's path that are those of a place."""
    pairs = zip(reversed(module.split("/")), reversed(place), strict=False)
    return next((count for count, (part, other) in enumerate(pairs) if part != other), len(place))


@lru_cache(maxsize=2)
def facts_of(paths: tuple[str, ...]) -> PathFacts:
    """The facts of these paths, kept for the next question."""
    return PathFacts(paths)


def _named(name: str) -> str:
    stem = name.rpartition(".")[0] or name
    return "" if stem in _FOLDERS_OWN else stem


@lru_cache(maxsize=_MOST_KEPT)
def terms_of_path(text: str) -> tuple[str, ...]:
    """The terms of a part of a path."""
    return tuple(
        term for word in _WORD.findall(text) for term in terms_of(word) or (word.casefold(),)
    )


def _module(path: str) -> str:
    """The path without the file's ending, or without the file that stands for its folder."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    if stem not in _FOLDERS_OWN or not folder:
        folder = f"{folder}/{stem}" if folder else stem
    return f"/{folder}"
