"""Measure `foldline mcp --http` behind the reference deployment, beside standard input and output.

    uv run python -m tests.benchmarks.measure_http --minutes 30

First one client asks the same over stdio, over HTTP, and through haproxy, in turns. Then many
clients ask through haproxy for as long as is given, with pauses as agents have them. After a third
of that time one replica is killed, and later started again. Prints the latencies, what was asked
again and what was lost, and the memory of the replicas; exits with 1 if something was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import shutil
import statistics
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from foldline.backends.lsp.lifecycle import tree_memory

from ..agent.mcp_process import connect
from ..plugins.remote.balanced import NAME, Balanced, balanced
from ..plugins.remote.replicas import call, result
from .measurement import Measurement

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ROOT = Path(__file__).parents[2] / "server" / "foldline"
ROUNDS = 300
WARM = 20
PAUSE = (3.0, 9.0)
AGAIN_SECONDS = 1.0
PARTS = 12
SAMPLE_SECONDS = 5.0
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get_tree", {}),
    ("get_file_outline", {"path": "ide/workspace.py"}),
    ("read_symbol", {"path": "ide/workspace.py", "name": "Workspace.set_roots"}),
    ("read_lines", {"path": "ide/workspace.py", "start": 1, "end": 40}),
    ("grep_in_files", {"pattern": "def set_roots"}),
    ("search_for_files", {"query": "workspace roots"}),
    ("find_references", {"name": "set_roots"}),
)


@dataclass
class Run:
    """What many clients saw, and the memory that it took, in MB by seconds."""

    seconds: list[float] = field(default_factory=list)
    by_tool: dict[str, list[float]] = field(default_factory=dict)
    again: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    memory: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--clients", type=int, default=200)
    options = parser.parse_args()
    haproxy = shutil.which("haproxy") or "/usr/sbin/haproxy"
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    with (
        tempfile.TemporaryDirectory() as folder,
        balanced(
            haproxy, Path(folder), "--root", str(ROOT), users=("somebody", *names(options.clients))
        ) as deployed,
    ):
        for measurement in await compare(deployed):
            anchor = Measurement(work="", values=measurement.anchor_values or measurement.values)
            ratio = measurement.p95 / anchor.p95
            print(
                f"{measurement.work}: median {measurement.median:.1f} ms, "
                f"p95 {measurement.p95:.1f} ms, {ratio:.2f} x stdio's p95",
                flush=True,
            )
        run = await load(deployed, names(options.clients), 60 * options.minutes)
    report(run, options.clients, options.minutes)
    print("".join(line for line in deployed.log if line.startswith("Server ")))
    return 1 if run.lost else 0


async def compare(deployed: Balanced) -> list[Measurement]:
    """The same question by each way, in turns."""
    direct = deployed.replicas["a"].url
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(connect("--root", str(ROOT)))
        here = await stack.enter_async_context(httpx2.AsyncClient(timeout=60))
        through = await stack.enter_async_context(deployed.client())
        headers = {"Host": NAME, "X-Foldline-User": "somebody"}
        ways: dict[str, Callable[[str, dict[str, Any]], Awaitable[object]]] = {
            "stdio": client.call_tool,
            "HTTP": lambda tool, given: call(here, direct, tool, headers, **given),
            "HTTP, TLS and haproxy": lambda tool, given: call(through, deployed.url, tool, **given),
        }
        values: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(WARM + ROUNDS):
            # References wait for an engine: they would measure that.
            tool, given = QUESTIONS[number % (len(QUESTIONS) - 1)]
            for name, ask in ways.items():
                began = time.perf_counter()
                await ask(tool, given)
                if number >= WARM:
                    values[name].append(1000 * (time.perf_counter() - began))
    anchor = tuple(values.pop("stdio"))
    return [
        Measurement(work="stdio", values=anchor),
        *(
            Measurement(work=name, values=tuple(found), anchor="stdio", anchor_values=anchor)
            for name, found in values.items()
        ),
    ]


def names(clients: int) -> tuple[str, ...]:
    """The names of clients: each has its own share."""
    return tuple(f"user{number}" for number in range(clients))


async def load(
    deployed: Balanced, users: tuple[str, ...], seconds: float, *, kills: bool = True
) -> Run:
    """Let a client of each user ask for some time, in which a replica dies and comes again."""
    run, until = Run(), time.monotonic() + seconds
    async with asyncio.TaskGroup() as tasks:
        for user in users:
            tasks.create_task(_client(deployed, run, until, user))
        watching = tasks.create_task(_watch(deployed, run))
        if kills:
            await asyncio.sleep(seconds / 3)
            first = deployed.replicas["a"]
            print(f"killed a replica after {seconds / 3:.0f} s", flush=True)
            first.process.kill()
            await asyncio.sleep(min(10, seconds / 10))
            await asyncio.to_thread(deployed.start, "a", first.port)
            print("started it again", flush=True)
        await asyncio.sleep(max(0.0, until - time.monotonic()))
        watching.cancel()
    return run


async def _client(deployed: Balanced, run: Run, until: float, user: str) -> None:
    chance = random.Random(user)
    async with deployed.client(user) as client:
        await asyncio.sleep(chance.uniform(0, PAUSE[1]))
        while time.monotonic() < until:
            tool, given = chance.choice(QUESTIONS)
            began = time.perf_counter()
            for seen in (run.again, run.lost):
                try:
                    result(await call(client, deployed.url, tool, **given))
                    break
                except (httpx2.TransportError, AssertionError) as error:
                    seen[f"{type(error).__name__}: {str(error)[:80]}"] += 1
                    await asyncio.sleep(AGAIN_SECONDS)
            run.seconds.append(time.perf_counter() - began)
            run.by_tool.setdefault(tool, []).append(run.seconds[-1])
            await asyncio.sleep(chance.uniform(*PAUSE))


async def _watch(deployed: Balanced, run: Run) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(SAMPLE_SECONDS)
        for name, replica in deployed.replicas.items():
            memory = tree_memory(replica.process.pid) / 1e6
            if not memory:  # It was killed.
                continue
            key = f"{name} ({replica.process.pid})"
            run.memory.setdefault(key, []).append((time.monotonic() - began, memory))


def report(run: Run, clients: int, minutes: float) -> None:
    found = Measurement(work="load", values=tuple(1000 * one for one in run.seconds))
    print(
        f"{clients} clients, {minutes:g} minutes: {len(run.seconds)} requests, "
        f"median {found.median:.0f} ms, p95 {found.p95:.0f} ms; "
        f"{run.again.total()} asked again, {run.lost.total()} lost"
    )
    for seen in (run.again, run.lost):
        for why, count in seen.most_common(5):
            print(f"  {count} x {why}")
    for name, samples in run.memory.items():
        values = [value for _, value in samples]
        part = max(1, len(values) // PARTS)
        means = [statistics.fmean(values[at : at + part]) for at in range(0, len(values), part)]
        print(
            f"  memory of {name} and its children over {samples[-1][0] - samples[0][0]:.0f} s, MB: "
            f"{', '.join(f'{mean:.1f}' for mean in means)}"
        )


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
