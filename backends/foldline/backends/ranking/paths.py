"""Paths as a field of a ranking: their parts as terms, and which of them say little."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from foldline.backends.index.terms import terms_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence, Set

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


@lru_cache(maxsize=_MOST_KEPT)
def is_minor(path: str) -> bool:
    """Return whether a path is that of a test, of documentation, of vendored or generated code."""
    return _MINOR.search(path) is not None


@lru_cache(maxsize=_MOST_KEPT)
def stem_of(path: str) -> str:
    """The last part without its ending; the folder's for a file that stands for its folder."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    return folder.rpartition("/")[2] if stem in _FOLDERS_OWN and folder else stem


class PathField:
    """The terms of a question in the paths of a workspace.

    Each folder and each name of a file is taken apart once, however many files have it.
    """

    def __init__(self, paths: Sequence[str], wanted: Collection[str]) -> None:
        folders: dict[str, tuple[tuple[str, ...], int]] = {}
        names: dict[str, tuple[tuple[str, ...], int]] = {}
        self.lengths: list[int] = []
        # A file is there once for each time that it has the term.
        self.postings: dict[str, list[int]] = defaultdict(list)
        for number, path in enumerate(paths):
            folder, _, name = path.rpartition("/")
            if (in_folder := folders.get(folder)) is None:
                in_folder = folders[folder] = _counted(folder, wanted)
            if (in_name := names.get(name)) is None:
                in_name = names[name] = _counted(_named(name), wanted)
            self.lengths.append(in_folder[1] + in_name[1])
            for term in in_folder[0] + in_name[0]:
                self.postings[term].append(number)

    @property
    def found(self) -> Set[str]:
        """The terms that some path has."""
        return self.postings.keys()


def path_terms(paths: Iterable[str]) -> set[str]:
    """All terms of the paths."""
    return {term for path in paths for part in path.split("/") for term in _path_terms(part)}


def _named(name: str) -> str:
    stem = name.rpartition(".")[0] or name
    return "" if stem in _FOLDERS_OWN else stem


def _counted(text: str, wanted: Collection[str]) -> tuple[tuple[str, ...], int]:
    """The wanted terms of a part of paths, and how many terms it has."""
    terms = _path_terms(text)
    return tuple([term for term in terms if term in wanted]), len(terms)


@lru_cache(maxsize=_MOST_KEPT)
def _path_terms(text: str) -> tuple[str, ...]:
    return tuple(
        term for word in _WORD.findall(text) for term in terms_of(word) or (word.casefold(),)
    )


class Places:
    """Finds the files that a question names by path, or by a dotted name."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        for number, path in enumerate(paths):
            self._by_stem[stem_of(path)].append(number)

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
            candidates = [
                (number, _parts(self._paths[number]))
                for number in self._by_stem.get(place[end - 1], ())
            ]
            for start in range(end if candidates else 0):
                if end - start == 1 and len(place) > 1:
                    break
                part = place[start:end]
                found = [number for number, parts in candidates if parts[-len(part) :] == part]
                if found:
                    return found
        return []


def _parts(path: str) -> tuple[str, ...]:
    *folders, name = path.split("/")
    stem = name.partition(".")[0] or name
    return tuple(folders) if stem in _FOLDERS_OWN and folders else (*folders, stem)
