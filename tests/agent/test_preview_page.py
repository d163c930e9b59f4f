"""`foldline preview --serve` as a process: what it prints, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.real

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
SECONDS = 60
COMMAND = (sys.executable, "-m", "foldline.agent", "preview", "--serve")

# Starts the command, which inherits our pipes, and waits to be killed.
PARENT = """
import signal, subprocess, sys
subprocess.Popen(sys.argv[1:])
signal.pause()
"""


@contextmanager
def serving(
    *arguments: str, starter: tuple[str, ...] = ()
) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """The process that was started, once its page can be opened, and all that it started."""
    with subprocess.Popen(
        [*starter, *COMMAND, "reviewer_prompt.py", *arguments],
        cwd=EXAMPLE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline().startswith("http://127.0.0.1:")
            yield process, psutil.Process(process.pid).children(recursive=True)
        finally:
            process.kill()


def assert_gone(processes: list[psutil.Process]) -> None:
    """Wait until none of `processes` runs any more; one that init has yet to reap does not."""
    deadline = time.monotonic() + SECONDS
    while left := [process for process in processes if is_running(process)]:
        assert time.monotonic() < deadline, left
        psutil.wait_procs(left, timeout=0.1)


def is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_all_of_it_ends_when_its_parent_is_killed() -> None:
    with serving(starter=(sys.executable, "-c", PARENT)) as (parent, started):
        # The command, and the worker that renders.
        assert len(started) >= 2
        os.kill(parent.pid, signal.SIGKILL)
        # We hold on to its standard input: that does not end with the parent.
        assert_gone(started)


def test_all_of_it_ends_when_it_is_killed_itself() -> None:
    with serving() as (process, started):
        process.kill()
        assert_gone(started)


def test_all_of_it_ends_with_its_input() -> None:
    with serving() as (process, started):
        _, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == 0
        running, told = errors.splitlines()
        assert running == "foldline preview: running reviewer_prompt.py…"
        assert told == "foldline preview: open this address in a browser; Ctrl-C ends it"
        assert_gone(started)


def test_ctrl_c_ends_it_without_a_word() -> None:
    with serving() as (process, started):
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 130
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
        assert_gone(started)


def test_it_starts_no_language_server() -> None:
    with serving() as (_, started):
        assert [item.cmdline() for item in started if "foldline.agent" in item.cmdline()] == []


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("nowhere.py",), 2, "there is no such file"),
        (("reviewer_prompt.py:examples/none",), 2, "it has"),
        (("reviewer_prompt.py", "--open-sections", "reference-dogs"), 2, "did you mean"),
        (("reviewer_prompt.py", "--params", "nowhere.json"), 2, "nowhere.json"),
    ],
)
def test_what_cannot_be_served_says_why(
    arguments: tuple[str, ...], status: int, words: str
) -> None:
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=EXAMPLE,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (status, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
