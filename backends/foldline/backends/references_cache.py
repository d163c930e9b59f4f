"""Answers about names that hold as long as no file changes."""

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
    """Complete answers about names, for as long as no file changes. Serves several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: object = None
        self._answers: OrderedDict[tuple[str, str | None], References] = OrderedDict()

    async def get(
        self, query: EngineQuery, name: str, scope: str | None, seconds: float
    ) -> References | None:
        """The answer that still holds, if there is one; only then it waits for what was seen."""
        with self._lock:
            found = self._answers.get((name, scope))
            before = self._seen
        if found is None or await query.seen(seconds) is not before:
            return None
        return found

    async def keep(self, query: EngineQuery, found: References, name: str) -> None:
        """Keep an answer, unless it may get better by itself."""
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
