"""How long a preview waits after a change for the next one."""

from __future__ import annotations

SHORTEST_SECONDS = 0.02
LONGEST_SECONDS = 0.4


class Debounce:
    """Waits about as long as the last renders took.

    What renders quickly is shown as it is typed. What renders slowly waits for a pause in the
    typing: every keystroke before that would start a render only to kill it.
    """

    def __init__(self) -> None:
        self._seconds = LONGEST_SECONDS / 4

    @property
    def seconds(self) -> float:
        """How long to wait."""
        return min(max(self._seconds, SHORTEST_SECONDS), LONGEST_SECONDS)

    def took(self, seconds: float) -> None:
        """Take into account how long a render took that was not ended before."""
        self._seconds = (self._seconds + seconds) / 2
