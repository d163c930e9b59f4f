"""Others' code, run in a thread of its own: it's waited for within a deadline, and then left alone.

A plugin that failed is left out for good, by whichever thread notices: what else waits for it goes
on at once. The thread that waits may hold the lock of a project, and lends it. Why the code failed
is said in its own thread, as the message of an error is its code, too.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TextIO, TypeVar, cast

from foldline.backends.errors import cut
from foldline.ide.entry_points import Entry
from foldline.records import record

if TYPE_CHECKING:
    from foldline.ide.analysis.lent_lock import LentLock

Value = TypeVar("Value")
_THREAD = "foldline-plugin"


@record
class Answer(Generic[Value]):
    """An answer, which may be None."""

    value: Value


class Guarded:
    """Asks plugins, each on its own.

    Attributes:
        left_out: Why a plugin is, as a sentence.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.left_out: dict[Entry, str] = {}
        self._gone: dict[Entry, Future[None]] = {entry: Future() for entry in entries}
        self._listeners: set[Callable[[str], None]] = set()
        self._lock = threading.Lock()

    @property
    def problems(self) -> list[str]:
        """Why plugins are left out, a sentence each."""
        return list(self.left_out.values())

    def leave_out(self, entry: Entry, reason: str) -> None:
        """Use nothing of a plugin from now on, and say why, once."""
        with self._lock:
            if entry in self.left_out:
                return
            problem = self.left_out[entry] = f"{entry.shown} is left out: {reason}"
            listeners = list(self._listeners)
        self._gone[entry].set_result(None)
        for listener in listeners:
            listener(problem)

    def subscribe(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call `listener` with each problem, from any thread; returns the unsubscribe function."""
        with self._lock:
            self._listeners.add(listener)
            problems = self.problems
        for problem in problems:
            listener(problem)
        return lambda: self._listeners.discard(listener)

    def guarded(
        self,
        entry: Entry,
        work: Callable[[], Value],
        seconds: float,
        lock: LentLock | None = None,
    ) -> Answer[Value] | None:
        """Return the answer of a plugin, whose thread may go through the lock; None if it failed.

        Ours are waited for in this thread, and raise.
        """
        gone = self._gone[entry]
        if entry.ours or gone.done():
            return Answer(work()) if entry.ours else None
        future: Future[Answer[Value] | str] = Future()
        waited: tuple[Future[Any], ...] = (future, gone)
        name = f"{_THREAD}-{entry.name}"
        thread = threading.Thread(target=partial(_settle, future, work), name=name, daemon=True)
        if sys.stdout is not None and not isinstance(sys.stdout, _Stdout):
            sys.stdout = cast("TextIO", _Stdout(sys.stdout))
        with nullcontext() if lock is None else lock.lent_to(thread):
            thread.start()
            wait(waited, seconds, FIRST_COMPLETED)
        answer = future.result() if future.done() else f"it took more than {seconds:g} seconds"
        if isinstance(answer, Answer):
            return answer
        self.leave_out(entry, answer)
        return None


class _Stdout:
    """Standard output; what a plugin prints, also once it's left alone, goes to standard error."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        of_plugin = threading.current_thread().name.startswith(_THREAD)
        return getattr(sys.stderr if of_plugin else self._stream, name)


def _settle(future: Future[Answer[Value] | str], work: Callable[[], Value]) -> None:
    try:
        future.set_result(Answer(work()))
    except BaseException as error:
        kind = type(error).__name__
        try:
            reason = f"{kind}: {error}"
        except BaseException:
            reason = kind
        future.set_result(cut(reason.partition("\n")[0]))
