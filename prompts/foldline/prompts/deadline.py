"""Deadlines of evaluations."""

from __future__ import annotations

import time

from foldline.prompts.dataclasses import FrozenDataclass


@FrozenDataclass(order=True)
class Deadline:
    """A point on the monotonic clock, independent of changes to the time of day."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the deadline `seconds` from now."""
        return cls(time.monotonic() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds left; 0.0 once it has passed."""
        return max(0.0, self.at - time.monotonic())

    @property
    def expired(self) -> bool:
        """True once it has passed."""
        return self.remaining == 0.0
