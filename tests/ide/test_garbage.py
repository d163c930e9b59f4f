"""Full collections stay short: what outlived a long one is looked at no more until it is gone."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from foldline.ide.analysis.project import Project
from foldline.ide.checks import diagnostics
from foldline.ide.garbage import LONG_SECONDS, YOUNG_OBJECTS, Pauses, keep_collections_short

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROMPT = (
    "P{n} = PromptTemplate(ns='a', key='k{n}', sections=["
    "MarkdownSection(title='S', key='s', template='Text {n}.')])\n"
)
# Prints the number of heaps from which many threads have allocated at once.
HEAPS = """
import ctypes, sys, threading
from foldline.ide.garbage import loading
with loading():
    pass
together = threading.Barrier(20)
def allocate():
    together.wait()
    kept = [bytes(60_000) for _ in range(50)]
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(20)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""
MODULE = "from foldline.prompts import *\n" + "".join(PROMPT.format(n=n) for n in range(50))


class Clock:
    """A clock on which each collection takes as long as the test says."""

    def __init__(self) -> None:
        self.takes = 0.0
        self._now = 0.0

    def __call__(self) -> float:
        self._now += self.takes
        return self._now


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    gc.collect()
    before = gc.get_freeze_count()
    pauses = Pauses(clock)
    gc.callbacks.append(pauses)
    try:
        yield clock
    finally:
        gc.callbacks.remove(pauses)
        if not before:
            gc.unfreeze()


class Circle:
    """Refers to itself, so that only the collector gives it back."""

    alive = 0

    def __init__(self) -> None:
        self.itself = self
        Circle.alive += 1

    def __del__(self) -> None:
        Circle.alive -= 1


def test_what_outlives_a_long_collection_is_not_looked_at_again(clock: Clock) -> None:
    before = gc.get_freeze_count()
    clock.takes = LONG_SECONDS / 2
    gc.collect()
    assert gc.get_freeze_count() == before
    clock.takes = LONG_SECONDS * 2
    gc.collect(1)
    assert gc.get_freeze_count() == before
    gc.collect()
    assert gc.get_freeze_count() > before


def test_what_became_garbage_is_found_once_most_of_the_rest_is_gone(clock: Clock) -> None:
    large = [[number] for number in range(len(gc.get_objects()) * 3)]
    circle = Circle()
    clock.takes = LONG_SECONDS * 2
    gc.collect()
    clock.takes = 0.0
    del circle
    gc.collect()
    assert Circle.alive == 1
    del large
    gc.collect()
    assert Circle.alive == 0


def test_an_analysis_is_given_back_without_the_collector() -> None:
    def objects() -> int:
        return len(gc.get_objects())

    def analyse() -> int:
        project = Project()
        project.open("/nowhere/p.py", MODULE)
        analysis = project.analysis("/nowhere/p.py")
        assert analysis is not None
        diagnostics(analysis)
        assert len(list(analysis.prompts)) == 50
        count = objects()
        project.forget()
        return count

    analyse()
    gc.collect()
    gc.disable()
    try:
        before = objects()
        assert analyse() - before > 5_000
        assert objects() - before < 500
    finally:
        gc.enable()


def test_a_server_looks_for_garbage_less_often() -> None:
    callbacks, threshold = list(gc.callbacks), gc.get_threshold()
    try:
        keep_collections_short()
        assert gc.get_threshold()[0] == YOUNG_OBJECTS > threshold[0]
        assert len(gc.callbacks) == len(callbacks) + 1
    finally:
        gc.callbacks[:] = callbacks
        gc.set_threshold(*threshold)


@pytest.mark.real
def test_threads_share_two_heaps(tmp_path: Path) -> None:
    """Each of glibc's keeps what a thread once needed: a server grew by megabytes a minute."""
    file = tmp_path / "heaps.xml"
    subprocess.run([sys.executable, "-c", HEAPS, str(file)], check=True)
    assert 1 <= file.read_text().count("<heap nr=") <= 2
