"""Supervises the process that runs the user's code.

If the platform can fork, this process never runs the user's code. It kills the process that does,
and all that it started, once the answer is sent, the deadline has passed, or the client is gone or
cancels. Otherwise one process does both, and ends itself.
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
# The stack is dumped this long before the deadline, so that the answer can name the line.
DUMP_SECONDS = 0.2
POLL_SECONDS = 0.01
# The time limit, after the answer, for the list of imported modules.
MODULES_SECONDS = 1.0


def supervise(request: _foldline_job.Request, request_fd: int, answers: int) -> list[str] | None:
    """Carry out `request` and send its answer.

    Args:
        request: The request. Its token precedes the answer, so that other bytes on the same
            descriptors aren't taken for it.
        request_fd: The descriptor of the requests. EOF before the answer: the client is gone; any
            byte: cancel.
        answers: The descriptor to write the answer to.

    Returns:
        The installed modules that the request imported and this process hasn't; None if the client
        is gone.
    """
    if not hasattr(os, "fork"):
        send(answers, request, _run_in_this_process(request, request_fd))
        return []
    # A garbage collection in the fork would write to every object, and so copy all pages.
    gc.freeze()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    answer_reader, answer_writer = os.pipe()
    dump_reader, dump_writer = os.pipe()
    child = os.fork()
    if child == 0:
        # The user's code must not reach the descriptors of other requests.
        for descriptor in (request_fd, answers, answer_reader, dump_reader):
            os.close(descriptor)
        _run_in_fork(request, answer_writer, dump_writer)
    os.close(answer_writer)
    os.close(dump_writer)
    with contextlib.suppress(OSError):
        # Both processes do this, so that the group exists when either needs it.
        os.setpgid(child, child)
    try:
        answer, rest = _watch(request, child, request_fd, answer_reader, dump_reader)
        if answer is not None and rest is not None:
            send(answers, request, answer)
            return _modules(answer_reader, rest)
    finally:
        _kill_all(child)
        os.close(answer_reader)
        os.close(dump_reader)
    if answer is None:
        return None
    send(answers, request, answer)
    return []


def send(answers: int, request: _foldline_job.Request, answer: bytes) -> None:
    """Write one line that answers `request`."""
    _write(answers, _token(request) + answer + b"\n")


def _run_in_fork(request: _foldline_job.Request, answer: int, dump: int) -> None:
    """Carry out `request` in this fork, and end it."""
    status = 1
    known = frozenset(sys.modules)
    try:
        # It ends with its answer: what a collection would give back is given back then.
        gc.set_threshold(50_000, 20, 100)
        os.setpgid(0, 0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        with contextlib.suppress(OSError):
            # When memory runs out, the kernel must kill this process, not the editor.
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
        # The user's threads and exit handlers must not delay the exit.
        os._exit(status)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _watch(
    request: _foldline_job.Request,
    child: int,
    request_fd: int,
    answer_reader: int,
    dump_reader: int,
) -> tuple[bytes | None, bytes | None]:
    """Return the answer, None if the client is gone; and the bytes read after it, if complete."""
    deadline = time.monotonic() + request["deadline"]
    answer = _AnswerBuffer(_token(request))
    status: int | None = None
    while True:
        # A process is reaped once: what it left in the pipe may take more rounds to read.
        status = _reap(child) if status is None else status
        # Only bytes written before its exit count: a process that it left behind may hold the other
        # end of the pipe open for ever.
        readable, _, _ = select.select([request_fd, answer_reader], [], [], POLL_SECONDS)
        if request_fd in readable:
            if not os.read(request_fd, 1 << 12):
                return None, None
            return _foldline_failures.failure("cancelled", "The request was taken back"), None
        if answer_reader in readable and (chunk := os.read(answer_reader, 1 << 16)):
            if (complete := answer.add(chunk)) is not None:
                return complete
            if answer.size > MAX_ANSWER_BYTES:
                message = f"The answer is larger than {MAX_ANSWER_BYTES} bytes"
                return _foldline_failures.failure("output", message), None
            continue
        if status is not None:
            return _foldline_failures.exited(request, status), None
        if time.monotonic() > deadline:
            dump = os.read(dump_reader, 1 << 16) if _is_readable(dump_reader) else b""
            frames = re.findall(r'File "(.+?)", line (\d+)', dump.decode("utf-8", "replace"))
            # The dump shows the innermost frame first.
            places = [(file, int(line)) for file, line in reversed(frames)]
            return _foldline_failures.timed_out(request, places), None


class _AnswerBuffer:
    """Buffers an arriving answer: the bytes between its token and the end of that line."""

    def __init__(self, token: bytes) -> None:
        self._token = token
        self._data = bytearray()
        self._start = -1

    @property
    def size(self) -> int:
        return len(self._data)

    def add(self, chunk: bytes) -> tuple[bytes, bytes] | None:
        """Append `chunk`; returns the answer and the bytes after it once it is complete."""
        # Search only the new bytes: an answer may arrive in many parts.
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
    """Read the module names from the line after an answer; `line` is what was read of it."""
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
        return []  # The user's code wrote there, too.
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _is_readable(descriptor: int, seconds: float = 0) -> bool:
    return bool(select.select([descriptor], [], [], seconds)[0])


def _reap(child: int) -> int | None:
    """Return the exit code of `child`, or minus its signal; None while it runs."""
    try:
        pid, status = os.waitpid(child, os.WNOHANG)
    except ChildProcessError:
        return 1
    return os.waitstatus_to_exitcode(status) if pid else None


def _kill_all(child: int) -> None:
    """Kill `child`, its group and its orphans, until none is left."""
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
    """Return the pids of this process's children, including adopted ones, from /proc."""
    with contextlib.suppress(OSError):
        # This process has one thread: with more it wouldn't fork.
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


def _run_in_this_process(request: _foldline_job.Request, request_fd: int) -> bytes:
    def exit_with_server() -> None:
        while os.read(request_fd, 1 << 12):
            pass
        os._exit(1)

    def exit_at_deadline() -> None:
        time.sleep(request["deadline"])
        os._exit(1)

    for target in (exit_with_server, exit_at_deadline):
        threading.Thread(target=target, daemon=True).start()
    return _foldline_job.run(request)


_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
