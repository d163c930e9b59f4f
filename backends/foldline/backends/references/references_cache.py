"""Answers about names, kept until a file changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from foldline.backends.models import COMPLETE

if TYPE_CHECKING:
    from foldline.backends.engine import EngineQuery
    from foldline.backends.models import References

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
            found = self._answers.get((name, scope))
            before = self._seen
        if found is None or await query.seen(seconds) is not before:
            return None
        return found

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
