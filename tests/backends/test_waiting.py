"""Waiting holds no thread, walks are shared and end in time, and everything can be given up."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import pytest

from foldline.backends import AsyncSmartFileAccess, LocalFileBackend, SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.base.languages import TEXT
from foldline.backends.base.waiting import (
    Shared,
    Threads,
    coroutine_of,
    result_of,
    run,
    run_async,
    waits,
)
from foldline.backends.files import local
from foldline.backends.files.memory import MemoryFileBackend
from foldline.backends.index import WorkspaceIndex, builder, query
from foldline.backends.search import grep, walks
from foldline.backends.search.walks import Walks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from foldline.backends.files.base import Entry

PATIENCE = 60.0
MANY = 200


class Service:
    """Answers twice the number that its future brings."""

    def __init__(self, future: Future[int], seconds: float | None = None) -> None:
        self.future = future
        self.seconds = seconds
        self.ended = threading.Event()

    @waits
    async def double(self, more: int = 0) -> int:
        """Twice the number, and `more`."""
        try:
            return 2 * await result_of(self.future, self.seconds) + more
        finally:
            self.ended.set()


def test_a_thread_waits_for_the_answer() -> None:
    future: Future[int] = Future()
    service = Service(future)
    threading.Timer(0.01, future.set_result, [4]).start()
    assert service.double(more=1) == 9
    assert service.double() == 8


def test_a_failure_and_a_deadline_are_raised_where_the_question_waits() -> None:
    failed: Future[int] = Future()
    failed.set_exception(KeyError("no"))
    with pytest.raises(KeyError):
        Service(failed).double()
    late: Future[int] = Future()
    for seconds in (0.01, 0.0, -1.0):
        with pytest.raises(TimeoutError):
            Service(late, seconds).double()
    # What is late may still come.
    assert not late.cancelled()


async def test_waiting_questions_hold_no_thread() -> None:
    threads = Threads(2, "test")
    future: Future[int] = Future()
    services = [Service(future) for _ in range(MANY)]
    before = threading.active_count()
    waiting = [
        asyncio.create_task(run_async(coroutine_of(service.double)(), threads))
        for service in services
    ]
    # Both threads are free, in the middle of all that.
    assert await asyncio.wrap_future(threads.submit(lambda: "free")) == "free"
    assert threading.active_count() <= before + 2
    assert not any(task.done() for task in waiting)
    future.set_result(3)
    assert await asyncio.gather(*waiting) == [6] * MANY


async def test_a_deadline_holds_in_an_event_loop_too() -> None:
    with pytest.raises(TimeoutError):
        await run_async(coroutine_of(Service(Future(), 0.01).double)())


async def test_a_question_that_is_given_up_is_closed_and_its_future_cancelled() -> None:
    future: Future[int] = Future()
    service = Service(future)
    task = asyncio.create_task(run_async(coroutine_of(service.double)()))
    while not future._done_callbacks:  # type: ignore[attr-defined]
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert service.ended.wait(PATIENCE)
    assert future.cancelled()


async def test_a_question_that_is_given_up_in_a_step_is_closed_after_it() -> None:
    begun, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    async def question() -> None:
        try:
            begun.set()
            assert go_on.wait(PATIENCE)
            await result_of(Future[None]())
        finally:
            closed.set()

    task = asyncio.create_task(run_async(question()))
    while not begun.is_set():
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not closed.is_set()
    go_on.set()
    assert closed.wait(PATIENCE)


async def test_an_overridden_method_is_one_step() -> None:
    class Plain(Service):
        def double(self, more: int = 0) -> int:
            return more

    assert await run_async(coroutine_of(Plain(Future()).double)(more=5)) == 5


@pytest.mark.real
def test_the_process_ends_while_a_thread_works() -> None:
    program = (
        "import threading\n"
        "from foldline.backends.base.waiting import Threads\n"
        "begun = threading.Event()\n"
        "Threads(1, 'test').submit(lambda: (begun.set(), threading.Event().wait()))\n"
        "begun.wait()\n"
    )
    subprocess.run([sys.executable, "-c", program], timeout=PATIENCE, check=True)


def test_ten_who_ask_at_the_same_time_share_what_began_after_they_asked() -> None:
    turns: list[threading.Event] = []
    begun = threading.Semaphore(0)

    def work(_: float) -> int:
        turn = threading.Event()
        turns.append(turn)
        begun.release()
        assert turn.wait(PATIENCE)
        return len(turns)

    shared = Shared(work)
    first = shared.ask()
    assert begun.acquire(timeout=PATIENCE)
    others = [shared.ask() for _ in range(10)]
    assert not any(other.cancel() for other in (first, *others))
    turns[0].set()
    assert begun.acquire(timeout=PATIENCE)
    turns[1].set()
    assert first.result(PATIENCE) == 1
    assert {other.result(PATIENCE) for other in others} == {2}


def test_a_failure_is_that_of_all_who_share_it_and_of_nobody_after() -> None:
    outcomes: Iterator[Callable[[], int]] = iter((lambda: 1 // 0, lambda: 7))
    shared = Shared(lambda _: next(outcomes)())
    with pytest.raises(ZeroDivisionError):
        shared.ask().result(PATIENCE)
    assert shared.ask().result(PATIENCE) == 7


class Counting(LocalFileBackend):
    """Counts how often its root is listed, and lists it when it may."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.listed = 0
        self.may_list = threading.Event()

    def _list(
        self, folder: str, goes_on: Callable[[], bool] = lambda: True, kind: int = TEXT
    ) -> list[Entry]:
        if not folder:
            self.listed += 1
            assert self.may_list.wait(PATIENCE)
        return super()._list(folder, goes_on, kind)


async def test_ten_concurrent_questions_share_a_walk(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    files = Counting(tmp_path)
    access = AsyncSmartFileAccess(SmartFileAccess(files, ASTFileAnalysisBackend(files)))
    asked = [asyncio.create_task(access.grep("a")) for _ in range(10)]
    while not files.listed:
        await asyncio.sleep(0)
    # The others have asked while the first walk goes on, or join the next one.
    assert "a = 1" in await access.read_file("a.py")
    files.may_list.set()
    assert {found.total for found in await asyncio.gather(*asked)} == {1}
    assert files.listed <= 3


def test_a_walk_that_takes_too_long_gives_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second", "third"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "code.py").write_text("word = 1\n")
        (tmp_path / name / "deep" / "more.py").write_text("word = 1\n")
    ticks = iter(range(1_000))
    monkeypatch.setattr(walks, "monotonic", lambda: float(next(ticks)))
    files = LocalFileBackend(tmp_path)
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files), walk_seconds=4.5)
    tree = access.get_tree()
    assert [entry.name for entry in tree.entries] == ["first", "second", "third"]
    assert tree.files == 3
    assert tree.coverage.startswith("partial: 3 files were listed in 4.5 s")
    assert tree.coverage.endswith("name a folder below")
    for coverage in (access.grep("word").coverage, access.search_files("word").coverage):
        assert coverage.startswith("partial: ")
    unlimited = SmartFileAccess(files, ASTFileAnalysisBackend(files), walk_seconds=None)
    assert (unlimited.get_tree().files, unlimited.get_tree().coverage) == (6, "complete")
    assert unlimited.grep("word").total == 6


def test_a_flat_folder_is_listed_in_slices_and_given_up_between_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(70):
        (tmp_path / f"m{number:02}.py").write_text("word = 1\n")
    monkeypatch.setattr(local, "LIST_STEP", 10)
    asked: list[int] = []
    files = LocalFileBackend(tmp_path)
    whole = list(files.walk_folder(".", check=lambda: asked.append(1)))
    assert (len(whole), len(asked)) == (70, 8)  # Once for the folder, and for each slice of it.

    class UpError(Exception):
        pass

    def give_up() -> None:
        asked.append(1)
        if len(asked) > 3:
            raise UpError

    asked.clear()
    found: list[str] = []
    files = LocalFileBackend(tmp_path)
    with pytest.raises(UpError):
        found.extend(stamp.path for stamp in files.walk_folder(".", check=give_up))
    assert len(asked) == 4
    stopped = files._list("", iter([True, False]).__next__)
    assert len(stopped) == 19
    assert stopped == sorted(stopped)


def test_a_search_that_takes_too_long_gives_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    files = MemoryFileBackend({f"m{number}.py": "word = 1\n" for number in range(9)})
    ticks = iter(range(1_000))
    monkeypatch.setattr(grep, "monotonic", lambda: float(next(ticks)))
    found = run(grep.grep_files(files, Walks(files, None), None, "word", seconds=4.5))
    assert 0 < found.total < 9
    searched = f"{found.total} of 9 files were searched in 4.5 s"
    assert found.coverage == f"partial: {searched}; name a folder or a glob"


def test_what_the_kernel_shows_of_itself_is_not_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path.resolve()
    for name in ("proc", "my proc", "src"):
        (root / name).mkdir()
        (root / name / "a.txt").write_text("text\n")
    mounts = root / "mountinfo"
    mounts.write_text(
        f"22 1 0:21 / {root}/proc rw - proc proc rw\n"
        f"23 1 0:22 / {root}/my\\040proc rw,nosuid shared:5 - sysfs sysfs rw\n"
        f"24 1 8:1 / {root}/src rw - ext4 /dev/sda1 rw\n"
        "a line that is none\n"
    )
    monkeypatch.setattr(local, "_MOUNTS", mounts)
    local._special_folders.cache_clear()
    access = SmartFileAccess.for_workspace(root)
    assert [entry.name for entry in access.get_tree().entries] == ["src", "mountinfo"]
    # Who names it means it.
    assert access.get_tree("proc").files == 1
    local._special_folders.cache_clear()
    access.close()


async def test_what_needs_no_index_is_answered_while_many_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "_WORDS_PATIENCE", PATIENCE)
    (tmp_path / "a.py").write_text("word = 1\n")
    reached, go_on = threading.Event(), threading.Event()

    def progress(done: int, total: int) -> None:
        reached.set()
        assert go_on.wait(PATIENCE)

    sync = SmartFileAccess.for_workspace(tmp_path, patience=PATIENCE)
    access = AsyncSmartFileAccess(sync)
    sync.start_indexing(progress)
    assert reached.wait(PATIENCE)
    waiting = [asyncio.create_task(access.find_references("word")) for _ in range(MANY)]
    assert (await access.get_tree()).files == 1
    assert (await access.grep("word")).total == 1
    assert len(await access.get_outline("a.py")) == 1
    assert not any(task.done() for task in waiting)
    go_on.set()
    assert {found.total for found in await asyncio.gather(*waiting)} == {1}
    await access.close()


def test_an_index_is_closed_while_its_building_is_about_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, closing, original = threading.Event(), threading.Event(), threading.Thread

    class Slow(threading.Thread):
        """A thread between its making and its start."""

        def start(self) -> None:
            made.set()
            # `close` gets as far as it can.
            closing.wait(0.2)
            super().start()

    index = WorkspaceIndex(LocalFileBackend(tmp_path), tmp_path / "index.sqlite")
    monkeypatch.setattr(threading, "Thread", Slow)
    failures: list[BaseException] = []

    def close() -> None:
        assert made.wait(PATIENCE)
        try:
            index.close()
        except BaseException as error:
            failures.append(error)
        finally:
            closing.set()

    closer = original(target=close)
    closer.start()
    index.start()
    closer.join(PATIENCE)
    assert failures == []
    assert index.wait(PATIENCE)


def test_an_index_is_closed_while_a_file_system_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Counting(tmp_path)
    index = WorkspaceIndex(files, tmp_path / "index.sqlite")
    monkeypatch.setattr(builder, "_CLOSE_SECONDS", 0.01)
    index.start()
    while not files.listed and not index.wait(0):
        pass
    index.close()
    files.may_list.set()
    assert index.wait(PATIENCE)
    assert not index._freshness.is_open


def test_closing_ends_a_walk_for_the_index_between_two_folders(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    files = Counting(tmp_path)
    listed: list[str] = []
    original = files._list

    def listing(
        folder: str, goes_on: Callable[[], bool] = lambda: True, kind: int = TEXT
    ) -> list[Entry]:
        listed.append(folder)
        return original(folder, goes_on, kind)

    files._list = listing  # type: ignore[method-assign]
    index: Any = WorkspaceIndex(files, tmp_path / "index.sqlite")
    index.start()
    while not files.listed and not index.wait(0):
        pass
    index.cancel()
    files.may_list.set()
    assert index.wait(PATIENCE)
    assert listed == [""]
    index.close()
