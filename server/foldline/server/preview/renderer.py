"""Starts the worker for each request about a prompt, and sees that it ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.server.preview.interpreter import Interpreter

log = logging.getLogger(__name__)

WORKER = Path(__file__).parent / "worker" / "_foldline_worker.py"
# What the worker may take beyond the request's own deadline, to start, to kill and to answer.
GRACE_SECONDS = 5.0
MAX_RENDERS = 2
STOP_SECONDS = 2.0
MAX_ANSWER_BYTES = 1 << 26
STDERR_LOG_BYTES = 1 << 16
STDERR_TAIL_BYTES = 1 << 12


class RenderError(Exception):
    """A prompt could not be rendered.

    Attributes:
        kind: `exception`, `deadline`, `exit`, `prompt`, `tool`, `no_foldline` or `interpreter`.
        file: The user's file at which it failed, where one is known.
        line: The 1-based line in `file`.
        details: What else is known: the exception's type, the traceback, near names.
    """

    def __init__(self, failure: Mapping[str, Any]) -> None:
        super().__init__(failure["message"])
        self.kind: str = failure["kind"]
        self.message: str = failure["message"]
        self.file: str | None = failure.get("file")
        self.line: int | None = failure.get("line")
        known = ("kind", "message", "file", "line")
        self.details = {name: value for name, value in failure.items() if name not in known}


@dataclass(frozen=True, slots=True)
class Job:
    """One request to the worker.

    Attributes:
        file: The prompt module.
        root: The workspace folder; also the working directory.
        overlays: The text of every open document by path, which stands for the disk's.
        deadline: Seconds to import the module and answer.
        action: What to do, as the worker understands it.
    """

    file: Path
    root: Path
    overlays: Mapping[str, str]
    deadline: float
    action: Mapping[str, object]


class Renderer:
    def __init__(self) -> None:
        self._processes: set[asyncio.subprocess.Process] = set()
        self._slots = asyncio.Semaphore(MAX_RENDERS)

    async def run(self, interpreter: Interpreter, job: Job) -> dict[str, Any]:
        """The worker's answer to `job`.

        Cancelling the call ends the worker and everything it started.

        Raises:
            RenderError: The interpreter did not start, or the prompt could not be rendered.
        """
        async with self._slots:
            process = await _start(interpreter, job.root)
            self._processes.add(process)
            stderr = asyncio.create_task(_drain(process, job.file.name))
            try:
                answer = await _converse(process, job)
            finally:
                await asyncio.shield(_stop(process, stderr))
                self._processes.discard(process)
        if not answer.endswith(b"\n"):
            message = f"The process that renders {job.file.name} ended with {process.returncode}"
            raise RenderError({"kind": "exit", "message": message, "stderr": stderr.result()})
        reply: dict[str, Any] = json.loads(answer)
        if "failure" in reply:
            raise RenderError(reply["failure"])
        return reply

    def close(self) -> None:
        """Let go of every worker: each then kills what it started, and leaves."""
        for process in tuple(self._processes):
            _let_go(process)


async def _start(interpreter: Interpreter, root: Path) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            str(interpreter.path),
            str(WORKER),
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            limit=MAX_ANSWER_BYTES,
        )
    except OSError as error:
        message = f"{interpreter.path} ({interpreter.reason}) does not start: {error.strerror}"
        raise RenderError({"kind": "interpreter", "message": message}) from error


async def _converse(process: asyncio.subprocess.Process, job: Job) -> bytes:
    """The worker's one line of answer; shorter where the worker ended before it was whole."""
    assert process.stdin is not None
    assert process.stdout is not None
    request = {
        "file": str(job.file),
        "root": str(job.root),
        "overlays": dict(job.overlays),
        "deadline": job.deadline,
        **job.action,
    }
    limit = job.deadline + GRACE_SECONDS
    try:
        async with asyncio.timeout(limit):
            with contextlib.suppress(ConnectionError):
                process.stdin.write(json.dumps(request).encode() + b"\n")
                await process.stdin.drain()
            return await process.stdout.readline()
    except TimeoutError:
        message = f"{job.file.name} was not rendered within {limit:g} s"
        raise RenderError({"kind": "deadline", "message": message}) from None
    except ValueError as error:
        message = f"{job.file.name} renders to more than {MAX_ANSWER_BYTES} bytes"
        raise RenderError({"kind": "output", "message": message}) from error


async def _drain(process: asyncio.subprocess.Process, name: str) -> str:
    """Log what the user's code prints, up to a limit, and return the end of it."""
    assert process.stderr is not None
    logged = 0
    tail = b""
    while chunk := await process.stderr.read(1 << 16):
        tail = (tail + chunk)[-STDERR_TAIL_BYTES:]
        if logged < STDERR_LOG_BYTES:
            for line in chunk.decode("utf-8", "replace").splitlines():
                log.info("%s: %s", name, line)
        logged += len(chunk)
    if logged > STDERR_LOG_BYTES:
        log.info("%s: printed %d bytes, of which the first are logged", name, logged)
    return tail.decode("utf-8", "replace")


async def _stop(process: asyncio.subprocess.Process, stderr: asyncio.Task[str]) -> None:
    """End the worker: let go, so that it kills what it started and leaves, or else kill it."""
    _let_go(process)
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        log.warning("The worker %d did not leave: killing it", process.pid)
        _kill_group(process)
        await process.wait()
    done, _ = await asyncio.wait({stderr}, timeout=STOP_SECONDS)
    if not done:
        stderr.cancel()


def _let_go(process: asyncio.subprocess.Process) -> None:
    # The worker holds on to its standard input: its end means that nobody waits for the answer.
    if process.stdin is not None:
        process.stdin.close()


def _kill_group(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
