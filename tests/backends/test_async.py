"""The asynchronous way in, and parsing in other processes."""

import asyncio
import os
import re
import selectors
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from foldline.backends import AsyncSmartFileAccess, SmartFileAccess
from foldline.backends.models import Reference
from foldline.backends.outlines import outlines, parsing_workers
from foldline.backends.outlines.parsing import Parsed, Refused
from foldline.backends.outlines.parsing_pool import PoolParsing

LARGE = "def function(): ...\n" * 20_000


async def test_every_method_answers_as_the_synchronous_one(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class A:\n    def f(self): ...\n\nA()\n")
    sync = SmartFileAccess.for_workspace(tmp_path)
    async with AsyncSmartFileAccess.for_workspace(tmp_path) as access:
        assert await access.get_tree() == sync.get_tree()
        assert await access.get_outline("a.py") == sync.get_outline("a.py")
        assert await access.read_symbol("a.py", "A.f") == sync.read_symbol("a.py", "A.f")
        assert await access.find_references("A") == sync.find_references("A")
        assert await access.read_lines("a.py", 1, 2) == sync.read_lines("a.py", 1, 2)
        assert await access.read_file("a.py") == sync.read_file("a.py")
        assert await access.read_text("a.py") == sync.read_text("a.py")
        assert await access.search_files("A") == sync.search_files("A")
        assert await access.grep("class") == sync.grep("class")
        place = await access.find_position("a.py", "A")
        assert place == sync.find_position("a.py", "A")
        asked = (place.path, place.line, place.column)
        assert await access.goto_definition(*asked) == sync.goto_definition(*asked)
        assert await access.hover(*asked) == sync.hover(*asked)
    sync.close()


def test_a_block_closes_its_access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[SmartFileAccess] = []
    monkeypatch.setattr(SmartFileAccess, "close", lambda one: closed.insert(0, one))
    with SmartFileAccess.for_workspace(tmp_path) as access:
        assert not closed
    assert closed == [access]


async def test_a_large_file_is_parsed_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "large.py").write_text(LARGE)

    def refuse(*_: object) -> None:
        raise AssertionError("it was parsed here")

    monkeypatch.setattr(outlines, "parse", refuse)
    async with AsyncSmartFileAccess.for_workspace(tmp_path, workers=1) as access:
        asking = asyncio.create_task(access.get_outline("large.py"))
        turns = 0
        while not asking.done():
            turns += 1
            await asyncio.sleep(0)
        assert len(await asking) == 20_000
        assert turns > 100


def test_a_worker_that_dies_costs_no_answer() -> None:
    pool = PoolParsing(workers=1)
    source = Parsed("a.py", "python", LARGE.encode())
    try:
        assert len(pool.outline(source).symbols) == 20_000
        assert pool._pool is not None
        for process in pool._pool._processes.values():
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
        assert len(pool.outline(source).symbols) == 20_000
        assert len(list(pool.references([source], "function"))) == 20_000
    finally:
        pool.close()


PARENT = """
import sys
import threading
from foldline.backends.outlines.parsing import Parsed
from foldline.backends.outlines.parsing_pool import PoolParsing

if __name__ == "__main__":
    pool = PoolParsing(1)
    pool.outline(Parsed("a.py", "python", b"def function(): ...\\n" * 10_000))
    print(*pool._pool._processes, flush=True)
    sys.stdin.read()
"""


@pytest.mark.real
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="processes are looked at by signals")
def test_a_worker_ends_with_its_parent(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
        # The worker holds its end of our pipe until it ends.
        selector = selectors.DefaultSelector()
        selector.register(parent.stdout, selectors.EVENT_READ)
        ended = selector.select(10)
        if not ended:
            os.kill(worker, signal.SIGKILL)
    assert ended


def hang(*_: object, **__: object) -> None:
    """Hold the interpreter's lock for far longer than a task may take, as one step of C does."""
    re.match(r"(a|aa)+$", "a" * 60 + "b")


def in_worker(name: str) -> None:
    """Let the functions of the workers' module that parse hang in a worker."""
    for function in (name, "find_guarded"):
        setattr(parsing_workers, function, hang)
    parsing_workers._MOST_SECONDS = 0.5


@pytest.mark.real
@pytest.mark.parametrize("ask", ["outline", "references"])
def test_a_task_that_takes_too_long_ends_with_its_worker(
    monkeypatch: pytest.MonkeyPatch, ask: str
) -> None:
    name = "outline_source" if ask == "outline" else "references_in_source"
    monkeypatch.setattr(parsing_workers, "_prepare", partial(in_worker, name))
    pool = PoolParsing(workers=1)
    source = Parsed("a.py", "python", LARGE.encode())
    try:
        if ask == "outline":
            assert "took too long" in pool.outline(source).reason
        else:
            [refused] = pool.references([source], "function")
            assert isinstance(refused, Refused)
            assert "took too long" in refused.reason
    finally:
        pool.close()


def test_references_in_batches_are_those_of_one_process() -> None:
    pool = PoolParsing(workers=2)
    sources = [Parsed(f"m{n}.py", "python", LARGE.encode()) for n in range(3)]
    try:
        found = [
            (use.path, use.line)
            for use in pool.references(sources, "function")
            if isinstance(use, Reference)
        ]
    finally:
        pool.close()
    assert len(found) == 60_000
    assert found == sorted(found)


def test_a_closed_pool_has_no_thread_that_the_end_of_the_process_would_interrupt() -> None:
    before = {*threading.enumerate()}
    pool = PoolParsing(workers=1)
    assert len(pool.outline(Parsed("large.py", "python", LARGE.encode())).symbols) == 20_000
    pool.close()
    assert {*threading.enumerate()} - before == set()
