"""Bounded waiting for calls that may hang: until the deadline, or until the caller cancels."""

from __future__ import annotations

import contextvars
import functools
import queue
import threading
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

from foldline.prompts.errors import EvaluationFailure, EvaluationTimeoutError, PromptEvaluationError

if TYPE_CHECKING:
    from foldline.prompts.deadline import Deadline

# A bounded call has two threads and one queue. The worker puts what it emits, and last its result
# or its exception; only the caller reads. The caller leaves with a result, or at a bound: then it
# cancels the scope, and whatever the worker still puts is read by nobody. The thread is a daemon,
# so that one that never looks at its scope doesn't keep the program from ending.

T = TypeVar("T")
P = ParamSpec("P")

POLL = 0.02
"""Seconds between polls of a cancellation, which may be any object with `is_set`."""

THREAD_NAME = "foldline-bounded"


class Cancellation(Protocol):
    """A flag by which the caller cancels, such as a `threading.Event`."""

    def is_set(self) -> bool:
        """Return True once the caller cancels."""
        ...


class CallCancelled(Exception):  # noqa: N818 - A cancellation isn't an error.
    """Raised inside a call once its caller has stopped waiting."""


class CancelScope:
    """The link between a call and the caller that waits for it."""

    def __init__(self) -> None:
        self.messages: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        """Each emitted item, then the result or the exception: its kind and the object."""
        self._lock = threading.Lock()
        self._cancelled = False
        self._callbacks: list[Callable[[], object]] = []

    def check(self) -> None:
        """Return if the caller still waits.

        Raises:
            CallCancelled: It doesn't.
        """
        if self._cancelled:
            raise CallCancelled

    def emit(self, item: object) -> None:
        """Pass `item` to the caller, which receives it in its own thread.

        Raises:
            CallCancelled: The caller has stopped waiting.
        """
        self.check()
        self.messages.put(("emitted", item))

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Call `callback` once the caller stops waiting; at once if it has stopped."""
        with self._lock:
            if not self._cancelled:
                self._callbacks.append(callback)
                return
        callback()

    def cancel(self) -> None:
        """Mark the call as cancelled, and run the callbacks."""
        # Under the lock, so that a callback that is registered meanwhile runs once: here, or there.
        with self._lock:
            self._cancelled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


def check_bounds(
    what: str,
    deadline: Deadline | None,
    cancellation: Cancellation | None,
    *,
    provider: str | None = None,
) -> None:
    """Return if neither the deadline has passed nor the caller has cancelled.

    Raises:
        EvaluationTimeoutError: The deadline has passed.
        PromptEvaluationError: The caller has cancelled.
    """
    if cancellation is not None and cancellation.is_set():
        raise PromptEvaluationError(
            f"The evaluation was cancelled during {what}.",
            kind=EvaluationFailure.CANCELLED,
            provider=provider,
        )
    if deadline is not None and deadline.expired:
        raise EvaluationTimeoutError(f"The deadline passed during {what}.", provider=provider)


def bounded(
    call: Callable[[CancelScope], T],
    *,
    what: str,
    deadline: Deadline | None,
    cancellation: Cancellation | None,
    provider: str | None = None,
    receive: Callable[[object], object] | None = None,
) -> T:
    """Return the result of `call`, waiting no longer than the bounds allow.

    The call runs in its own thread with a copy of the context. When a bound is reached, its scope
    is cancelled, and it ends at its next `check` or `emit`: Python can't end a thread otherwise.

    Args:
        call: The function to run; it gets the scope.
        what: The activity, for messages.
        deadline: When to stop waiting.
        cancellation: Polled every few milliseconds.
        provider: The provider, for errors.
        receive: Called in the caller's thread with each item that the call emits.

    Raises:
        EvaluationTimeoutError: The deadline passed.
        PromptEvaluationError: The caller cancelled.
    """
    check_bounds(what, deadline, cancellation, provider=provider)
    scope = CancelScope()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            scope.messages.put(("returned", context.run(call, scope)))
        except BaseException as error:
            scope.messages.put(("raised", error))

    threading.Thread(target=work, name=THREAD_NAME, daemon=True).start()
    try:
        while True:
            try:
                kind, item = scope.messages.get(timeout=_patience(deadline, cancellation))
            except queue.Empty:
                check_bounds(what, deadline, cancellation, provider=provider)
                continue
            if kind == "raised":
                raise item
            if kind == "returned":
                return cast("T", item)
            check_bounds(what, deadline, cancellation, provider=provider)
            if receive is not None:
                receive(item)
    finally:
        scope.cancel()


def _patience(deadline: Deadline | None, cancellation: Cancellation | None) -> float | None:
    remaining = None if deadline is None else min(deadline.remaining, threading.TIMEOUT_MAX)
    if cancellation is None:
        return remaining
    return POLL if remaining is None else min(POLL, remaining)


def in_thread(call: Callable[P, T]) -> Callable[P, Coroutine[None, None, T]]:
    """Return a call that has a `cancellation` as a coroutine: cancelling its task sets it."""

    @functools.wraps(call)
    async def awaited(*args: P.args, **keywords: P.kwargs) -> T:
        import asyncio  # Slow to import, and most programs don't need it.

        stop, cancellation = threading.Event(), cast("Cancellation", keywords.get("cancellation"))
        keywords["cancellation"] = SimpleNamespace(
            is_set=lambda: stop.is_set() or (cancellation is not None and cancellation.is_set())
        )
        try:
            return await asyncio.to_thread(call, *args, **keywords)  # noqa: TID251 - The user's.
        finally:
            stop.set()

    return awaited
