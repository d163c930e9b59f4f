"""Measure what others notice of a greedy client, of leavers and of slow ones, behind haproxy.

    uv run python -m tests.benchmarks.measure_crowd --rounds 10

In turns, for half a minute each, some clients ask through haproxy with pauses as agents have them,
and do the same among a crowd: another name has 150 searches of all files in flight at any time, a
third sends 100 that it leaves after half a second, every ten seconds, and 60 connections send a
head a byte a second. In the second round a replica is killed each time, and later started again.
Prints the latencies alone and among the crowd, as the clients saw them and as haproxy did, and
exits with 1 if a request of the first clients was lost, or if 95 % of theirs took up to more than
twice as long.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import re
import shutil
import tempfile
from collections import Counter
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from ..plugins.remote.balanced import NAME, Balanced, Certificates, balanced
from ..plugins.remote.replicas import call
from .measure_http import ROOT, Run, load, names
from .measurement import Measurement

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

GREEDY, LEAVERS, SLOW = 150, 100, 60
LEAVE_SECONDS, PAUSE_SECONDS = 0.5, 10.0
WARM_SECONDS = SLICE_SECONDS = 30.0
TIMES = re.compile(r" \d+/(\d+)/\d+/(\d+)/\d+ 200 .*\{user\d+\}")
SEARCH = {"pattern": "def (set|get)_[a-z]+"}
RATIO = 2.0


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--clients", type=int, default=40)
    options = parser.parse_args()
    haproxy, users = shutil.which("haproxy") or "/usr/sbin/haproxy", names(options.clients)
    alone, among, seen = Half(), Half(), Counter[str]()
    with (
        tempfile.TemporaryDirectory() as folder,
        balanced(
            haproxy,
            Path(folder),
            *("--root", str(ROOT)),
            users=(*users, "greedy", "leaver", "slow"),
        ) as deployed,
    ):
        # Indexes and language servers, which the first questions start.
        await load(deployed, users, WARM_SECONDS, kills=False)
        for number in range(options.rounds):
            for half in (alone, among):
                since = len(deployed.log)
                with crowd(deployed, seen) if half is among else nullcontext():
                    run = await load(deployed, users, SLICE_SECONDS, kills=number == 1)
                half.add(run, deployed.log[since:])
    print("the crowd:", ", ".join(f"{count} x {what}" for what, count in sorted(seen.items())))
    for tool, values in sorted(alone.by_tool.items()):
        print(f"{tool}: p95 {p95(values):.0f} ms alone, {p95(among.by_tool[tool]):.0f} ms among")
    for name, half in (("alone", alone), ("among", among)):
        print(
            f"{name}: {len(half.seconds)} requests, {half.again} asked again, {half.lost} lost; "
            f"p95 {p95(half.seconds):.0f} ms; by haproxy's log p95 {p95(half.queued):.0f} ms in "
            f"its queue and {p95(half.answered):.0f} ms in a replica"
        )
    ratio = p95(among.seconds) / p95(alone.seconds)
    print(f"{ratio:.2f} x")
    return 1 if among.lost or ratio > RATIO else 0


@dataclass
class Half:
    """The requests of the first clients in one half of the rounds, in seconds."""

    again: int = 0
    lost: int = 0
    seconds: list[float] = field(default_factory=list)
    queued: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    by_tool: dict[str, list[float]] = field(default_factory=dict)

    def add(self, run: Run, log: list[str]) -> None:
        """Add a turn, and haproxy's log of it."""
        self.again += run.again.total()
        self.lost += run.lost.total()
        self.seconds += run.seconds
        for tool, values in run.by_tool.items():
            self.by_tool.setdefault(tool, []).extend(values)
        for queued, answered in TIMES.findall("".join(log)):
            self.queued.append(int(queued) / 1000)
            self.answered.append(int(answered) / 1000)


def p95(seconds: list[float]) -> float:
    """In milliseconds."""
    return Measurement(work="", values=tuple(1000 * one for one in seconds)).p95


@contextmanager
def crowd(deployed: Balanced, seen: Counter[str]) -> Iterator[None]:
    """Have a process of its own send the requests of all others meanwhile."""
    context = multiprocessing.get_context("spawn")
    outcomes, ends = context.Queue(), context.Event()
    arguments = (deployed.certificates, deployed.url, outcomes, ends)
    process = context.Process(target=be_crowd, args=arguments)
    process.start()
    try:
        yield
        ends.set()
        seen.update(outcomes.get(timeout=60))
    finally:
        process.kill()
        process.join()


def be_crowd(certificates: Certificates, url: str, outcomes: Any, ends: Any) -> None:
    """Send requests until it ends, and hand back how each ended."""
    seen: Counter[str] = Counter()

    async def run() -> None:
        deployed = Balanced(certificates, ExitStack(), url=url)
        gathered = asyncio.create_task(gather_crowd(deployed, seen))
        await asyncio.to_thread(ends.wait)
        gathered.cancel()
        with suppress(asyncio.CancelledError):
            await gathered

    asyncio.run(run())
    outcomes.put(seen)


async def gather_crowd(deployed: Balanced, seen: Counter[str]) -> None:
    """Send the requests of all others until this is cancelled."""

    async def again(one: Callable[[], Coroutine[None, None, str]], who: str) -> None:
        while True:
            try:
                outcome = await one()
            except (httpx2.TransportError, OSError) as error:
                outcome = type(error).__name__
            seen[f"{who}: {outcome}"] += 1
            if outcome != "200":
                await asyncio.sleep(1)

    async with deployed.client("greedy") as greedy, deployed.client("leaver") as leaver:

        async def search() -> str:
            return str((await call(greedy, deployed.url, "grep_in_files", **SEARCH)).status_code)

        async def leave() -> str:
            asked = [
                asyncio.create_task(call(leaver, deployed.url, "grep_in_files", **SEARCH))
                for _ in range(LEAVERS)
            ]
            await asyncio.sleep(LEAVE_SECONDS)
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
            await asyncio.sleep(PAUSE_SECONDS)
            return f"{LEAVERS} left"

        async def drip() -> str:
            url = httpx2.URL(deployed.url)
            assert url.port is not None
            context = deployed.certificates.context("slow")
            reader, writer = await asyncio.open_connection(url.host, url.port, ssl=context)
            try:
                for letter in f"POST /mcp HTTP/1.1\r\nHost: {NAME}\r\n".encode() * 100:
                    writer.write(bytes([letter]))
                    await writer.drain()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(1):
                            return (await reader.readline()).decode()[9:12] or "closed"
                return "never refused"
            finally:
                writer.close()

        async with asyncio.TaskGroup() as tasks:
            for _ in range(GREEDY):
                tasks.create_task(again(search, "greedy"))
            tasks.create_task(again(leave, "leaver"))
            for _ in range(SLOW):
                tasks.create_task(again(drip, "slow"))


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
