"""Lets a preview keep up with typing.

A change doesn't end the render that is running: its blocks are shown, then the newest text is
rendered. A change ends only a render that takes far longer than those before it, because it may
never end. Renders of a preview follow one another, and `RenderTicket` decides which of them may be
shown, so no older text replaces a newer one.
"""

from __future__ import annotations

# Prompts that render this quickly are rendered for each key.
QUICK = 0.25
# Completions, which editors request with a change, come first; diagnostics come after.
SHORTEST_REST = 0.001
LONGEST_REST = 0.4
SHORTEST_PATIENCE = 0.25
# A render that never ends must not hold up the text that fixes it.
LONGEST_DOUBT = 1.0


class Pace:
    """The times of one preview, in seconds, from those that its last renders took."""

    def __init__(self) -> None:
        self._usual = SHORTEST_PATIENCE

    @property
    def rest(self) -> float:
        """The time between two renders: slow prompts leave room for other work."""
        return min(max((self._usual - QUICK) / 8, SHORTEST_REST), LONGEST_REST)

    @property
    def patience(self) -> float:
        """The longest that a render may take, from its start, once the text has changed."""
        return max(2 * self._usual, SHORTEST_PATIENCE)

    def finished(self, seconds: float) -> None:
        """Take a finished render into account."""
        self._usual = (self._usual + seconds) / 2

    def ended(self, seconds: float) -> None:
        """Take into account a render that a change ended.

        The next may take twice as long: otherwise a prompt that has become slow wouldn't be shown
        while its author types. There is a limit, because the prompt may never end.
        """
        self._usual = max(self._usual, min(seconds, LONGEST_DOUBT))
