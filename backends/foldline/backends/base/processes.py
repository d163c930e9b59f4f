"""Starts processes in an event loop, such that giving up a start leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

Started = TypeVar("Started")


async def started(
    start: Coroutine[Any, Any, Started],
    stop: Callable[[Started], Awaitable[object]],
    refusals: type[Exception],
) -> Started:
    """Return the process that `start` starts.

    Cancelled meanwhile, it lets the start come to its end, and stops what was started: a process
    that is half started has no owner yet, and asyncio waits for ever for its pipes if something
    else holds them open.

    Args:
        start: Starts the process.
        stop: Stops it.
        refusals: What `start` raises if the system refuses.
    """
    starting = asyncio.create_task(start)
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(refusals):
            await stop(await starting)
        raise
