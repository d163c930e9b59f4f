"""Deadlines that pass at an event, however busy the machine is."""

import threading
from dataclasses import field

from foldline.prompts import Deadline
from foldline.prompts.dataclasses import FrozenDataclass


@FrozenDataclass()
class PassesAt(Deadline):
    """A deadline whose clock is `event`: an hour is left until it is set, and nothing then.

    What waits must poll, as it does while a cancellation is given.
    """

    at: float = field(default=0.0, init=False)
    event: threading.Event

    @property
    def remaining(self) -> float:
        return 0.0 if self.event.is_set() else 3600.0
