"""Waiting that holds no thread.

An operation is written once, as a coroutine that awaits `result_of(future)` and nothing else, so
that it needs no event loop. `run` drives it in the calling thread. `run_async` drives it for a
program with an event loop: each step runs in a thread of a pool, and between steps it holds none.
Only such a program loads `asyncio`, which takes longer than all of the rest.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import os
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import CancelledError, Executor, Future
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

from foldline.records import record

P = ParamSpec("P")
Owner = TypeVar("Owner")
Value = TypeVar("Value")


class Threads(Executor):
    """At most `most` daemon threads, started as they are needed.

    The process ends without waiting for them, unlike for those of `ThreadPoolExecutor`: the
    client of their work has left.
    """

    def __init__(self, most: int, name: str) -> None:
        self.most = most
        self.name = name
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Start without threads: a forked child has none of its parent's."""
        # `_idle` counts waiting threads that no work is meant for yet: `submit` takes one, or
        # starts a thread. `_lock` keeps two callers from taking the last place.
        self._lock = threading.Lock()
        self._idle = threading.Semaphore(0)
        self._count = 0
        self.waiting: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()

    def submit(self, fn: Callable[P, Value], /, *args: P.args, **kwargs: P.kwargs) -> Future[Value]:
        future: Future[Value] = Future()
        with self._lock:
            self.waiting.put((future, functools.partial(fn, *args, **kwargs)))
            if not self._idle.acquire(blocking=False) and self._count < self.most:
                self._count += 1
                name = f"{self.name}-{self._count}"
                threading.Thread(target=self._work, name=name, daemon=True).start()
        return future

    def _work(self) -> None:
        while True:
            try:
                future, work = self.waiting.get_nowait()
            except queue.Empty:
                self._idle.release()
                future, work = self.waiting.get()
            if future.set_running_or_notify_cancel():
                _settle(future, work)
            del future, work


# A pool for each kind of work: one kind never queues behind another. All of them share the
# interpreter's lock, so more threads would make nothing faster.
QUICK = Threads(8, "foldline-quick")
"""Reads and parses a file or two."""
LONG = Threads(12, "foldline-long")
"""Reads many files."""
WALKS = Threads(12, "foldline-walk")
"""Lists whole workspaces; others wait for what it finds."""
PROMPTS = Threads(8, "foldline-prompts")
"""Analyses prompts; a project is analysed by one thread at a time."""
STATUS = Threads(2, "foldline-status")
"""Status and shutdown; they never queue behind other work."""


@record
class Waiting(Generic[Value]):
    """A future as an awaitable that needs no event loop; it is cancelled with its awaiter."""

    future: Future[Value]
    seconds: float | None

    def __await__(self) -> Generator[Waiting[Value], None, Value]:
        if not self.future.done() and (self.seconds is None or self.seconds > 0):
            try:
                yield self
            except BaseException:
                self.future.cancel()
                raise
        return self.future.result(0)


def result_of(future: Future[Value], seconds: float | None = None) -> Waiting[Value]:
    """The future's result, to be awaited; raises `TimeoutError` after `seconds`.

    The future goes on after the timeout. It is cancelled with the coroutine that awaits it.
    """
    return Waiting(future, seconds)


def run(query: Coroutine[Any, Any, Value]) -> Value:
    """The answer to `query`; the calling thread waits."""
    try:
        while True:
            waiting: Waiting[Any] = query.send(None)
            with contextlib.suppress(TimeoutError, CancelledError):
                waiting.future.exception(waiting.seconds)
    except StopIteration as end:
        return cast("Value", end.value)
    finally:
        query.close()


async def run_async(query: Coroutine[Any, Any, Value], threads: Executor = QUICK) -> Value:
    """The answer to `query`, worked out by `threads`; while it waits it holds none of them.

    When the awaiting task is cancelled, the query is closed as soon as its step has ended.
    """
    import asyncio

    context = contextvars.copy_context()
    step: Future[_Ended[Value] | Waiting[Any]] | None = None
    try:
        while True:
            step = threads.submit(context.run, _step, query)
            outcome = await asyncio.wrap_future(step)
            if isinstance(outcome, _Ended):
                return outcome.value
            await _settled(outcome.future, outcome.seconds)
    finally:
        if step is None:
            query.close()
        else:
            step.add_done_callback(lambda _: query.close())


async def in_thread(work: Callable[[], Value], threads: Executor = QUICK) -> Value:
    """The result of `work`, which blocks: `asyncio.to_thread` in a pool that no exit waits for."""
    import asyncio

    return await asyncio.wrap_future(threads.submit(contextvars.copy_context().run, work))


def waits(
    method: Callable[Concatenate[Owner, P], Coroutine[Any, Any, Value]],
) -> Callable[Concatenate[Owner, P], Value]:
    """A coroutine method as a blocking one; `coroutine_of` gives the coroutine itself."""

    @functools.wraps(method)
    def ask(self: Owner, /, *args: P.args, **kwargs: P.kwargs) -> Value:
        return run(method(self, *args, **kwargs))

    return ask


def coroutine_of(method: Callable[P, Value]) -> Callable[P, Coroutine[Any, Any, Value]]:
    """The coroutine behind a bound method that `waits` made; any other method as one step."""
    coroutine = getattr(method, "__wrapped__", None)
    if inspect.iscoroutinefunction(coroutine):
        bound = functools.partial(coroutine, getattr(method, "__self__"))  # noqa: B009 - mypy knows none.
        return cast("Callable[P, Coroutine[Any, Any, Value]]", bound)

    async def one_step(*args: P.args, **kwargs: P.kwargs) -> Value:
        return method(*args, **kwargs)

    return one_step


class Shared(Generic[Value]):
    """Work that is done once for all callers at the same time.

    Each caller gets the result of work that began after its call, or after its `since`. `work` gets
    a time, of `time.monotonic`, that its result must not be older than.
    """

    def __init__(self, work: Callable[[float], Value]) -> None:
        # At most one run works (`_running`), and one waits (`_next`) for all callers since that
        # began. `_lock` guards both, and isn't held while the work is done or its result is
        # reported.
        self._work = work
        self._lock = threading.Lock()
        self._began = 0.0
        self._running: Future[Value] | None = None
        self._next: Future[Value] | None = None
        self._next_since = 0.0

    def ask(self, since: float | None = None) -> Future[Value]:
        """The future of the result; all callers share it, and none can cancel it."""
        since = time.monotonic() if since is None else since
        with self._lock:
            if self._running is not None and self._began >= since:
                return self._running
            if self._next is None:
                self._next = Future()
                self._next.set_running_or_notify_cancel()
                self._next_since = since
            self._next_since = max(self._next_since, since)
            future = self._next
            if self._running is None:
                self._start()
            return future

    def _start(self) -> None:
        """Begin the work for the callers so far. The lock is held."""
        future, since = self._next, self._next_since
        self._next = None
        self._running = future
        if future is not None:
            self._began = time.monotonic()
            WALKS.submit(self._run, future, since)

    def _run(self, future: Future[Value], since: float) -> None:
        # Callers may ask again at once: the next turn begins before this one is reported.
        outcome: Future[Value] = Future()
        _settle(outcome, lambda: self._work(since))
        with self._lock:
            self._start()
        _settle(future, outcome.result)


@record
class _Ended(Generic[Value]):
    """The end of a query, with its answer."""

    value: Value


def _step(query: Coroutine[Any, Any, Value]) -> _Ended[Value] | Waiting[Any]:
    """Drive `query` up to the next future that it waits for, or to its end."""
    try:
        return cast("Waiting[Any]", query.send(None))
    except StopIteration as end:
        return _Ended(end.value)


async def _settled(future: Future[Any], seconds: float | None) -> None:
    """Return when `future` is done, or after `seconds`."""
    import asyncio

    loop = asyncio.get_running_loop()
    arrived = loop.create_future()

    def arrive(_: Future[Any]) -> None:
        # The loop may have ended, and with it the waiting task.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(wake)

    def wake() -> None:
        if not arrived.done():
            arrived.set_result(None)

    future.add_done_callback(arrive)
    await asyncio.wait({arrived}, timeout=seconds)


def _settle(future: Future[Value], work: Callable[[], Value]) -> None:
    try:
        result = work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
