"""A lock that its holder lends to the thread of a plugin, and waits for that thread.

A query holds the lock of its project, and plugins are asked in threads of their own so that one
that hangs can be left alone: what a plugin reads of the project would wait for the query.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

SECONDS = 5.0
"""How long a lender waits for what a plugin is in the middle of: it may hang there, too."""


class LentLock:
    """A reentrant lock, for `with`; the thread that it's lent to goes through."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._borrower: threading.Thread | None = None
        # A lock for each thread that has ever borrowed this one, which it holds while it is inside.
        self._inside: WeakKeyDictionary[threading.Thread, threading.RLock] = WeakKeyDictionary()

    def __enter__(self) -> None:
        if self._is_borrowed():
            inside = self._inside[threading.current_thread()]
            inside.acquire()
            if self._is_borrowed():
                return
            inside.release()  # The loan ended meanwhile.
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        inside = self._inside and self._inside.get(threading.current_thread())
        # It may have entered as a borrower, and leave after the loan has ended.
        (inside if inside and _is_owned(inside) else self._lock).release()

    @contextmanager
    def lent_to(self, thread: threading.Thread) -> Iterator[None]:
        """Let a thread through that hasn't started yet, while this one waits; if it has the lock.

        A thread that waits without the lock keeps nobody from it.
        """
        if not (self._is_borrowed() or _is_owned(self._lock)):
            yield
            return
        inside = self._inside[thread] = threading.RLock()
        lender, self._borrower = self._borrower, thread
        try:
            yield
        finally:
            # The next query would be beside it.
            has_left = inside.acquire(timeout=SECONDS)
            self._borrower = lender
            if has_left:
                inside.release()

    def _is_borrowed(self) -> bool:
        return self._borrower is not None and threading.current_thread() is self._borrower


def _is_owned(lock: threading.RLock) -> bool:
    """Return True if this thread has the lock; conditions ask the same of theirs."""
    return bool(lock._is_owned())  # type: ignore[attr-defined]  # noqa: SLF001
