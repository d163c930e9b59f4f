"""Waiting for something that may hang: never longer than the deadline, or than the caller wants."""

from __future__ import annotations

import contextvars
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from foldline.prompts.errors import (
    EvaluationFailure,
    EvaluationTimeoutError,
    PromptEvaluationError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldline.prompts.deadline import Deadline

__all__ = ["Abandoned", "Cancellation", "Lifeline", "bounded", "check_bounds"]

T = TypeVar("T")

POLL = 0.02
"""Seconds between two looks at a cancellation, which may be any object with `is_set`."""

THREAD_NAME = "foldline-bounded"


class Cancellation(Protocol):
    """Tells that the caller has lost interest; a `threading.Event` is one."""

    def is_set(self) -> bool:
        """Whether to stop."""
        ...


class Abandoned(Exception):  # noqa: N818 - nobody waits any more, which is no error
    """Raised in a call that nobody waits for any more."""


class Lifeline:
    """What ties a call to whoever waits for it."""

    def __init__(self) -> None:
        self.messages: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._cut = False
        self._callbacks: list[Callable[[], object]] = []

    @property
    def is_cut(self) -> bool:
        """Whether nobody waits any more."""
        return self._cut

    def check(self) -> None:
        """Go on only if somebody still waits.

        Raises:
            Abandoned: Nobody does.
        """
        if self._cut:
            raise Abandoned

    def emit(self, item: object) -> None:
        """Hand something to the waiting side, which receives it in its own thread.

        Raises:
            Abandoned: Nobody waits any more.
        """
        self.check()
        self.messages.put(_Item(item))

    def on_cut(self, callback: Callable[[], object]) -> None:
        """Have `callback` called, by the thread that gives up, once nobody waits any more."""
        with self._lock:
            if not self._cut:
                self._callbacks.append(callback)
                return
        callback()

    def cut(self) -> None:
        """Nobody waits any more."""
        with self._lock:
            self._cut = True
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
    """Go on only before the deadline and while it is wanted.

    Raises:
        EvaluationTimeoutError: The deadline has passed.
        PromptEvaluationError: It was called off.
    """
    if cancellation is not None and cancellation.is_set():
        raise PromptEvaluationError(
            f"The evaluation was called off during {what}.",
            kind=EvaluationFailure.CANCELLED,
            provider=provider,
        )
    if deadline is not None and deadline.expired:
        raise EvaluationTimeoutError(f"The deadline passed during {what}.", provider=provider)


def bounded(
    call: Callable[[Lifeline], T],
    *,
    what: str,
    deadline: Deadline | None,
    cancellation: Cancellation | None,
    provider: str | None = None,
    receive: Callable[[object], object] | None = None,
) -> T:
    """What `call` returns, waited for no longer than the bounds allow.

    The call runs in a thread of its own with a copy of the context. When a bound is reached it is
    left behind: its lifeline is cut, and it ends at its next `check` or `emit`. Python cannot end
    it otherwise.

    Args:
        call: What to do; it is given the lifeline.
        what: What is being waited for, for messages.
        deadline: When to give up.
        cancellation: Looked at every few milliseconds.
        provider: Who is being waited for, for errors.
        receive: Called in the caller's thread with each item that the call emits.

    Raises:
        EvaluationTimeoutError: The deadline passed.
        PromptEvaluationError: It was called off.
    """
    check_bounds(what, deadline, cancellation, provider=provider)
    lifeline = Lifeline()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            outcome: object = _Outcome(value=context.run(call, lifeline))
        except BaseException as error:
            outcome = _Outcome(error=error)
        lifeline.messages.put(outcome)

    threading.Thread(target=work, name=THREAD_NAME, daemon=True).start()
    try:
        while True:
            try:
                message = lifeline.messages.get(timeout=_patience(deadline, cancellation))
            except queue.Empty:
                check_bounds(what, deadline, cancellation, provider=provider)
                continue
            if isinstance(message, _Outcome):
                if message.error is not None:
                    raise message.error
                return cast("T", message.value)
            check_bounds(what, deadline, cancellation, provider=provider)
            if receive is not None:
                receive(cast("_Item[object]", message).value)
    finally:
        lifeline.cut()


@dataclass(frozen=True, slots=True)
class _Item(Generic[T]):
    value: T


@dataclass(frozen=True, slots=True)
class _Outcome:
    value: object = None
    error: BaseException | None = None


def _patience(deadline: Deadline | None, cancellation: Cancellation | None) -> float | None:
    remaining = None if deadline is None else min(deadline.remaining, threading.TIMEOUT_MAX)
    if cancellation is None:
        return remaining
    return POLL if remaining is None else min(POLL, remaining)
