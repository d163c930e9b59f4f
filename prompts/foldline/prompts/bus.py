"""The bus that delivers events to those that subscribe to their type."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

# The lock guards the list of subscribers alone. It isn't held while they run: they may publish,
# subscribe and cancel, and a slow one mustn't keep other threads from publishing. So a subscriber
# that another thread cancels may still get an event that is being delivered.

EventT = TypeVar("EventT")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SubscriberFailure:
    """A subscriber that raised, and its exception."""

    event: object
    subscriber: Callable[..., object]
    error: Exception


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The number of subscribers that got an event, and the failures."""

    delivered: int
    failures: tuple[SubscriberFailure, ...] = ()


class EventBus(Protocol):
    """Delivers events to the subscribers of their type."""

    def subscribe(
        self, event_type: type[EventT], subscriber: Callable[[EventT], object], /
    ) -> Subscription:
        """Call `subscriber` with each event of the type or a subclass."""
        ...

    def publish(self, event: object, /) -> PublishResult:
        """Call the subscribers; their exceptions don't reach the publisher."""
        ...


class Subscription:
    """A subscription: call `cancel` to end it, or use it as a context manager."""

    __slots__ = ("_cancel",)

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel

    def cancel(self) -> None:
        """End the subscription; calling it twice is harmless."""
        self._cancel()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()


class InProcessEventBus:
    """A bus that calls subscribers in the publisher's thread, in the order of subscription.

    >>> bus = InProcessEventBus()
    >>> subscription = bus.subscribe(str, print)
    >>> bus.publish("something happened").delivered
    something happened
    1

    A subscriber that raises doesn't keep others from getting the event: its error is logged, passed
    to `on_error`, and included in the result of `publish`. All methods may be called from any
    thread, also by subscribers.
    """

    def __init__(self, *, on_error: Callable[[SubscriberFailure], object] | None = None) -> None:
        self._on_error = on_error
        self._lock = threading.Lock()
        self._subscribers: dict[int, tuple[type, Callable[..., object]]] = {}
        self._next = 0

    def subscribe(
        self, event_type: type[EventT], subscriber: Callable[[EventT], object], /
    ) -> Subscription:
        """Call `subscriber` with each event of the type or a subclass."""
        with self._lock:
            number = self._next
            self._next += 1
            self._subscribers[number] = (event_type, subscriber)
        return Subscription(lambda: self._forget(number))

    def publish(self, event: object, /) -> PublishResult:
        """Call the subscribers of the event's type, and return the failures."""
        with self._lock:
            subscribers = tuple(self._subscribers.values())
        delivered = 0
        failures = []
        for event_type, subscriber in subscribers:
            if not isinstance(event, event_type):
                continue
            try:
                subscriber(event)
                delivered += 1
            except Exception as error:
                # A subscriber's error must not end an evaluation that costs money.
                _log.exception("The subscriber %r failed on %s", subscriber, type(event).__name__)
                failures.append(SubscriberFailure(event, subscriber, error))
        for failure in failures:
            self._report(failure)
        return PublishResult(delivered, tuple(failures))

    def _report(self, failure: SubscriberFailure) -> None:
        if self._on_error is None:
            return
        try:
            self._on_error(failure)
        except Exception:
            _log.exception("`on_error` of the event bus failed")

    def _forget(self, number: int) -> None:
        with self._lock:
            self._subscribers.pop(number, None)
