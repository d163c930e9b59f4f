"""Bounded waiting for calls that may hang: until the deadline, or until the caller cancels."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from foldline.prompts.errors import EvaluationFailure, EvaluationTimeoutError, PromptEvaluationError

if TYPE_CHECKING:
    from foldline.prompts.deadline import Deadline

# A bounded call has two threads and one queue. The worker puts what it emits, and last its result
# or its exception; only the caller reads. The caller leaves with a result, or at a bound: then it
# cancels the scope, and whatever the worker still puts is read by nobody. The thread is a daemon,
# so that one that never looks at its scope doesn't keep the program from ending. An asynchronous
# evaluation has one more thread, which makes these calls; its cancellation wakes them.

T = TypeVar("T")

POLL = 0.02
"""Seconds between polls of a cancellation, which may be any object with `is_set`."""

THREAD_NAME = "foldline-bounded"
EVALUATION_THREAD_NAME = "foldline-evaluation"


class Cancellation(Protocol):
    """A flag by which the caller cancels, such as a `threading.Event`."""

    def is_set(self) -> bool:
        """Return True once the caller cancels."""
        ...


class CallCancelled(BaseException):
    """Raised inside a call once its caller has stopped waiting.

    It isn't an `Exception`, after which an SDK would wait and send its request again.
    """


class CancelScope:
    """The link between a call and the caller that waits for it.

    It's also a `Cancellation`, of calls further down, which needn't be polled if `other` is None.
    """

    def __init__(self, other: Cancellation | None = None) -> None:
        self.other = other
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

    def is_set(self) -> bool:
        """Return True once the call or `other` is cancelled."""
        return self._cancelled or (self.other is not None and self.other.is_set())

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
    is cancelled, and it ends at its next `check` or `emit`, or by what it registered `on_cancel`:
    Python can't end a thread otherwise.

    Args:
        call: The function to run; it gets the scope.
        what: The activity, for messages.
        deadline: When to stop waiting.
        cancellation: Polled every few milliseconds, unless it is a scope.
        provider: The provider, for errors.
        receive: Called in the caller's thread with each item that the call emits.

    Raises:
        EvaluationTimeoutError: The deadline passed.
        PromptEvaluationError: The caller cancelled.
    """
    check_bounds(what, deadline, cancellation, provider=provider)
    scope = CancelScope()
    polled = cancellation
    if isinstance(cancellation, CancelScope):
        polled = cancellation.other
        cancellation.on_cancel(lambda: scope.messages.put(("woken", None)))
    start(THREAD_NAME, lambda: call(scope), lambda kind, item: scope.messages.put((kind, item)))
    kind = "started"
    try:
        while True:
            patience = threading.TIMEOUT_MAX if polled is None else POLL
            if deadline is not None:
                patience = min(patience, deadline.remaining)
            try:
                kind, item = scope.messages.get(timeout=patience)
            except queue.Empty:
                kind, item = "woken", None
            if kind == "raised":
                raise item
            if kind == "returned":
                return cast("T", item)
            check_bounds(what, deadline, cancellation, provider=provider)
            if kind == "emitted" and receive is not None:
                receive(item)
    finally:
        if kind not in ("raised", "returned"):
            scope.cancel()


def start(name: str, call: Callable[[], T], done: Callable[[str, Any], object]) -> None:
    """Call in a new thread with a copy of the context; `done` gets the result or the exception."""
    context = contextvars.copy_context()

    def work() -> None:
        try:
            ended: tuple[str, Any] = "returned", context.run(call)
        except BaseException as error:
            ended = "raised", error
        done(*ended)

    threading.Thread(target=work, name=name, daemon=True).start()
