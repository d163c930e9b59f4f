"""Watches over the process that runs the user's code.

Where the platform can fork, this process never runs the user's code. It kills the process that
does, with all it started, when its answer has been sent, the deadline has passed, or nobody waits
any longer. Elsewhere one process does both, and ends itself.
"""

import contextlib
import faulthandler
import gc
import os
import re
import select
import signal
import sys
import threading
import time
from json import loads
from pathlib import Path

import _foldline_failures
import _foldline_job
import _foldline_preload
from _foldline_json import encoded

MAX_ANSWER_BYTES = 1 << 25
# The stack is written down this long before the deadline, so that the answer can name the line.
DUMP_SECONDS = 0.2
POLL_SECONDS = 0.01
# What it may take, after the answer, to tell which modules it took.
MODULES_SECONDS = 1.0


def supervise(request: _foldline_job.Request, leash: int, answers: int) -> list[str] | None:
    """Sends the answer to `request`; None when nobody waits for answers any more.

    `leash` is the descriptor of the requests: before the answer its end says that nobody waits, and
    whatever else comes that this request is taken back. `answers` is the one to write to. The
    request's token stands before its answer: what else is written there, or to the pipe between the
    two processes, isn't taken for one.

    Returns:
        The installed modules that were imported for it, and that this process does not have yet.
    """

    def send(answer: bytes) -> None:
        _write(answers, _token(request) + answer + b"\n")

    if not hasattr(os, "fork"):
        send(_run_here(request, leash))
        return []
    # A collection in the new process would write to every object there is, and so copy them all.
    gc.freeze()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    answer_reader, answer_writer = os.pipe()
    dump_reader, dump_writer = os.pipe()
    child = os.fork()
    if child == 0:
        # The user's code must not reach what belongs to other requests.
        for descriptor in (leash, answers, answer_reader, dump_reader):
            os.close(descriptor)
        _run_in_fork(request, answer_writer, dump_writer)
    os.close(answer_writer)
    os.close(dump_writer)
    with contextlib.suppress(OSError):
        # Both processes do it: whichever comes first, the group is there when it is needed.
        os.setpgid(child, child)
    try:
        answer, rest = _watch(request, child, leash, answer_reader, dump_reader)
        if answer is not None and rest is not None:
            send(answer)
            return _modules(answer_reader, rest)
    finally:
        _kill_all(child)
        os.close(answer_reader)
        os.close(dump_reader)
    if answer is None:
        return None
    send(answer)
    return []


def _run_in_fork(request: _foldline_job.Request, answer: int, dump: int) -> None:
    """Carry out `request` in this new process, and end it."""
    status = 1
    known = frozenset(sys.modules)
    try:
        os.setpgid(0, 0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        with contextlib.suppress(OSError):
            # When memory runs out, this process goes first, not the editor.
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
        faulthandler.dump_traceback_later(
            max(request["deadline"] - DUMP_SECONDS, request["deadline"] / 2), file=dump
        )
        _write(answer, _token(request) + _foldline_job.run(request) + b"\n")
        modules = _foldline_preload.installed_modules(request["root"], known)
        _write(answer, encoded(modules) + b"\n")
        status = 0
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        # No thread or exit handler that the user's code left behind may hold up the end.
        os._exit(status)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _watch(
    request: _foldline_job.Request, child: int, leash: int, answer_reader: int, dump_reader: int
) -> tuple[bytes | None, bytes | None]:
    """The answer, None when nobody waits for it; and what was read behind the process's own."""
    deadline = time.monotonic() + request["deadline"]
    answer = _Answer(_token(request))
    while True:
        status = _reap(child)
        # Only what was written before the end counts: a process that it left behind may hold the
        # other end of the pipe open for ever.
        readable, _, _ = select.select([leash, answer_reader], [], [], POLL_SECONDS)
        if leash in readable:
            if not os.read(leash, 1 << 12):
                return None, None
            return _foldline_failures.failure("cancelled", "The request was taken back"), None
        if answer_reader in readable and (chunk := os.read(answer_reader, 1 << 16)):
            if (whole := answer.add(chunk)) is not None:
                return whole
            if answer.size > MAX_ANSWER_BYTES:
                message = f"The answer is larger than {MAX_ANSWER_BYTES} bytes"
                return _foldline_failures.failure("output", message), None
            continue
        if status is not None:
            return _foldline_failures.ended(request, status), None
        if time.monotonic() > deadline:
            dump = os.read(dump_reader, 1 << 16) if _is_readable(dump_reader) else b""
            frames = re.findall(r'File "(.+?)", line (\d+)', dump.decode("utf-8", "replace"))
            # The dump shows the innermost frame first.
            places = [(file, int(line)) for file, line in reversed(frames)]
            return _foldline_failures.late(request, places), None


class _Answer:
    """An answer as it arrives: between its token and the end of that line."""

    def __init__(self, token: bytes) -> None:
        self._token = token
        self._data = bytearray()
        self._start = -1

    @property
    def size(self) -> int:
        return len(self._data)

    def add(self, chunk: bytes) -> tuple[bytes, bytes] | None:
        """The answer once it is whole, with what follows it."""
        # What was looked through before is not again: an answer may come in many parts.
        new = len(self._data)
        self._data += chunk
        if self._start < 0:
            found = self._data.find(self._token, max(0, new - len(self._token)))
            if found < 0:
                return None
            new = self._start = found + len(self._token)
        end = self._data.find(b"\n", new)
        if end < 0:
            return None
        return bytes(self._data[self._start : end]), bytes(self._data[end + 1 :])


def _token(request: _foldline_job.Request) -> bytes:
    return request["token"].encode()


def _modules(answer_reader: int, line: bytes) -> list[str]:
    """The names in the line that follows an answer, of which some may have been read already."""
    end = time.monotonic() + MODULES_SECONDS
    while not line.endswith(b"\n"):
        if not _is_readable(answer_reader, max(0, end - time.monotonic())):
            return []
        chunk = os.read(answer_reader, 1 << 16)
        if not chunk:
            return []
        line += chunk
    try:
        names = loads(line)
    except ValueError:
        return []  # The user's code wrote there too.
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _is_readable(descriptor: int, seconds: float = 0) -> bool:
    return bool(select.select([descriptor], [], [], seconds)[0])


def _reap(child: int) -> int | None:
    """How the process `child` ended, as its exit code or minus its signal; None while it runs."""
    try:
        pid, status = os.waitpid(child, os.WNOHANG)
    except ChildProcessError:
        return 1
    return os.waitstatus_to_exitcode(status) if pid else None


def _kill_all(child: int) -> None:
    """Kill `child`, its group, and all that it started and set free, until nothing is left."""
    pause = POLL_SECONDS / 16
    for _ in range(200):
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        for orphan in _own_children():
            with contextlib.suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(pause)
        pause = min(2 * pause, POLL_SECONDS)


def _own_children() -> list[int]:
    """The pids of this process's children, adopted ones included, as far as /proc tells."""
    with contextlib.suppress(OSError):
        # This process has one thread: with more it would not fork.
        return [
            int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        ]
    children = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name, in parentheses, may hold anything; the state and the parent follow it.
            if int(entry.read_bytes().rpartition(b")")[2].split()[1]) == os.getpid():
                children.append(int(entry.parent.name))
    return children


def _run_here(request: _foldline_job.Request, leash: int) -> bytes:
    def leave_with_the_server() -> None:
        while os.read(leash, 1 << 12):
            pass
        os._exit(1)

    def leave_at_the_deadline() -> None:
        time.sleep(request["deadline"])
        os._exit(1)

    for target in (leave_with_the_server, leave_at_the_deadline):
        threading.Thread(target=target, daemon=True).start()
    return _foldline_job.run(request)


_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
