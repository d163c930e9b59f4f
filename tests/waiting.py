"""What another process does is waited for, within a bound that only a failure reaches."""

import asyncio
import time
from collections.abc import Callable

SECONDS = 60.0


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)
