"""Answers about names, kept until files change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.models import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.backends.engine import EngineQuery
    from foldline.backends.models import Reference, References

_MOST_ANSWERS = 128


class ReferencesCache:
    """Complete answers about names, kept until a file changes. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: object = None
        self._answers: OrderedDict[tuple[str, str | None], References] = OrderedDict()

    async def get(
        self, query: EngineQuery, name: str, scope: str | None, seconds: float
    ) -> References | None:
        """The answer that is still valid, if any; it waits for the files only if there is one."""
        with self._lock:
            answer = self._answers.get((name, scope))
            before = self._seen
        if answer is None or await query.seen(seconds) is not before:
            return None
        return answer

    async def keep(self, query: EngineQuery, found: References, name: str) -> None:
        """Keep an answer, unless a later one may be more complete."""
        seen = await query.seen(0)
        if seen is None or found.coverage != COMPLETE or not found.confirmed:
            return
        with self._lock:
            if seen is not self._seen:
                self._seen = seen
                self._answers.clear()
            self._answers[name, found.scope] = found
            while len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)


# Limit over all names together, about 20 MB.
_MOST_USES = 50_000


class FileUses(NamedTuple):
    """The uses of a name in a file with this content."""

    digest: bytes
    uses: tuple[Reference, ...]


class UsesCache:
    """The uses of the names asked last: the next page of an answer parses only what changed.

    Safe for several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: OrderedDict[str, Mapping[str, FileUses]] = OrderedDict()

    def get(self, name: str) -> Mapping[str, FileUses]:
        """The known uses of the name, by path."""
        with self._lock:
            return self._names.get(name, {})

    def keep(self, name: str, files: Mapping[str, FileUses]) -> None:
        """Keep what was found in some files, in place of what was known of them."""
        if _size(files) > _MOST_USES:
            return
        with self._lock:
            self._names[name] = {**self._names.pop(name, {}), **files}
            size = sum(map(_size, self._names.values()))
            while size > _MOST_USES:
                size -= _size(self._names.popitem(last=False)[1])


def _size(files: Mapping[str, FileUses]) -> int:
    """The number of uses; a file without any takes room as well."""
    return sum(1 + len(file.uses) for file in files.values())
