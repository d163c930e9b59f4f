"""A lock that its holder lends to the thread of a plugin, and waits for that thread.

A query holds the lock of its project, and plugins are asked in threads of their own so that one
that hangs can be left alone: what a plugin reads of the project would wait for the query.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class LentLock:
    """A reentrant lock, for `with`; the thread that it's lent to goes through."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._borrower: threading.Thread | None = None

    def __enter__(self) -> None:
        if not self._is_borrowed():
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        if not self._is_borrowed():
            self._lock.release()

    @contextmanager
    def lent_to(self, thread: threading.Thread) -> Iterator[None]:
        """Let a thread through that hasn't started yet, while this one waits; if it has the lock.

        A thread that waits without the lock keeps nobody from it.
        """
        # Conditions ask the same of their lock.
        if not (self._is_borrowed() or self._lock._is_owned()):  # type: ignore[attr-defined]  # noqa: SLF001
            yield
            return
        lender, self._borrower = self._borrower, thread
        try:
            yield
        finally:
            self._borrower = lender

    def _is_borrowed(self) -> bool:
        return self._borrower is not None and threading.current_thread() is self._borrower
