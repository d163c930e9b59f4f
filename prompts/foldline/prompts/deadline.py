"""A point in time by which something has to be done."""

from __future__ import annotations

import time

from foldline.prompts.dataclasses import FrozenDataclass

__all__ = ["Deadline"]


@FrozenDataclass(order=True)
class Deadline:
    """A point on the monotonic clock: it neither jumps nor depends on the time of day."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """The deadline that many seconds from now."""
        return cls(time.monotonic() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds that are left, 0.0 if there are none."""
        return max(0.0, self.at - time.monotonic())

    @property
    def expired(self) -> bool:
        """Whether no time is left."""
        return self.remaining == 0.0
