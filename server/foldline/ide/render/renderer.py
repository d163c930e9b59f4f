"""Keeps workers that run prompts, gives each its requests, and sees that they end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from foldline.backends.base.caches import private_folder
from foldline.backends.base.processes import started
from foldline.backends.base.waiting import PROMPTS, QUICK, in_thread
from foldline.ide.errors import ArgumentsError, RenderError
from foldline.ide.render.answers import AnswerReader
from foldline.ide.render.interpreter import Interpreter, mismatch
from foldline.ide.render.render import AnswerT, UsedInterpreter
from foldline.records import record
from foldline.version import VERSION

log = logging.getLogger(__name__)

WORKER = Path(__file__).parent / "worker" / "_foldline_worker.py"
# Beyond the request's own deadline: a worker starts, imports what it keeps from the last request,
# kills and answers.
GRACE_SECONDS = 5.0
STOP_SECONDS = 2.0
IDLE_SECONDS = 600.0
MAX_RENDERS = 2
MAX_LEAVING = 2
MAX_ANSWER_BYTES = 1 << 26
STDERR_LOG_BYTES = 1 << 16
STDERR_TAIL_BYTES = 1 << 12
# The exit status by which a worker says that it must not fork any more.
UNSAFE = 76
# A process with threads must not fork, and on macOS any may have some.
CAN_STAY_WARM = hasattr(os, "fork") and sys.platform != "darwin"


@record
class Job:
    """One request to a worker.

    Attributes:
        file: The prompt module.
        root: The workspace folder; also the working directory.
        overlays: The text of every open document by path, which stands for the disk's.
        deadline: Seconds to import the module and answer.
        action: The worker's action, with its arguments.
    """

    file: Path
    root: Path
    overlays: Mapping[str, str]
    deadline: float
    action: Mapping[str, object]


class Renderer:
    """Runs jobs, up to a few at a time, in workers that stay for the next job where they can."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_RENDERS)
        self._idle: defaultdict[tuple[Path, Path], list[_Worker]] = defaultdict(list)
        self._all: set[_Worker] = set()
        # Where workers don't stay, with the packages that start threads there.
        self._cold: dict[tuple[Path, Path], tuple[str, ...]] = {}
        # How often it was closed and stopped: a job that waits compares.
        self._closed = 0
        self._stopped = 0
        self._answers = AnswerReader()
        # Each interpreter that rendered something, with what it said of itself.
        self.interpreters: dict[Path, UsedInterpreter] = {}

    async def run(
        self,
        interpreter: Interpreter,
        job: Job,
        answers: type[AnswerT],
        finish: Callable[[AnswerT], AnswerT] | None = None,
    ) -> AnswerT:
        """The worker's answer to `job`, which is one of `answers`, as `finish` completes it.

        Cancelling the call ends the user's process and everything it started.

        Raises:
            RenderError: The interpreter did not start, or the prompt could not be rendered.
        """
        key = (interpreter.path, job.root)
        # From here on: it may be closed while the job waits for its turn.
        closed = self._closed
        async with self._slots:
            # A worker may leave because packages have changed, or be killed while it waits: once
            # more. A restart doesn't count.
            left = 0
            while True:
                stopped = self._stopped
                worker, answer = await self._converse(key, interpreter, job, closed)
                left += self._stopped == stopped
                if answer or left == MAX_LEAVING:
                    break
        if not answer.endswith(b"\n"):
            if worker.stray:
                shown = worker.stray[:200]
                message = f"{interpreter.path} ({interpreter.reason}) is no Python: {shown!r}"
                raise RenderError({"kind": "interpreter", "message": message})
            message = f"The process that renders {job.file.name} ended with {worker.status}"
            raise RenderError({"kind": "exit", "message": message, "stderr": worker.stderr_tail})
        try:
            # It may be of any size, and the event loop has others to answer.
            read = partial(self._answers.read, job.file, answer, answers, finish)
            identity, result = await in_thread(read, QUICK if finish is None else PROMPTS)
        except ArgumentsError as error:
            message = f"{job.file.name} wrote into its own answer ({error}): {answer[:200]!r}"
            raise RenderError({"kind": "output", "message": message}) from error
        used_interpreter = UsedInterpreter(
            str(interpreter.path),
            interpreter.reason,
            identity.python,
            identity.foldline,
            mismatch(identity.foldline, VERSION),
            self._cold.get(key, ()),
        )
        self.interpreters[interpreter.path] = used_interpreter
        return replace(result, interpreter=used_interpreter)

    def close(self) -> None:
        """Let go of every worker: each then kills what it started, and leaves.

        No job that was asked for before is run afterwards.
        """
        self._closed += 1
        for worker in tuple(self._all):
            worker.let_go()
        self._idle.clear()

    async def stop(self) -> int:
        """End every worker, wait until all are gone, and return how many there were.

        A job that one of them had is done by a new one.
        """
        self._stopped += 1
        workers = tuple(self._all)
        # Forgotten before they end, so that no job gets one of them.
        self._idle.clear()
        self._all.clear()
        self._cold.clear()
        await asyncio.gather(*(worker.stop() for worker in workers))
        return len(workers)

    async def _converse(
        self, key: tuple[Path, Path], interpreter: Interpreter, job: Job, closed: int
    ) -> tuple[_Worker, bytes]:
        """One worker's answer to `job`, which is empty where the worker ended instead.

        Raises:
            RenderError: It failed, or the renderer was closed since it had been `closed` times.
        """
        self._check_open(job, closed)
        worker = await self._take(key, interpreter, job.root)
        stays = False
        try:
            # Starting a worker takes a while: it may have been closed meanwhile.
            self._check_open(job, closed)
            answer = await worker.ask(job)
            stays = answer.endswith(b"\n") and worker.is_warm
        except asyncio.CancelledError:
            stays = await asyncio.shield(worker.take_back())
            raise
        finally:
            if stays:
                self._keep(key, worker)
            else:
                # Even when this task is cancelled, or the process would stay.
                await asyncio.shield(self._forget(key, worker))
        return worker, answer

    def _check_open(self, job: Job, closed: int) -> None:
        if self._closed != closed:
            message = f"{job.file.name} is not executed: the workspace is no longer trusted"
            raise RenderError({"kind": "untrusted", "message": message})

    async def _take(self, key: tuple[Path, Path], interpreter: Interpreter, root: Path) -> _Worker:
        """A worker that waits for a request: one that is here already, or a new one."""
        while self._idle[key]:
            worker = self._idle[key].pop()
            if worker.status is None:
                return worker
            await self._forget(key, worker)
        worker = await _Worker.start(
            interpreter, root, warm=CAN_STAY_WARM and key not in self._cold
        )
        self._all.add(worker)
        return worker

    def _keep(self, key: tuple[Path, Path], worker: _Worker) -> None:
        """Keep `worker` for the next job, until it has been idle for a while."""
        self._idle[key].append(worker)

        def retire() -> None:
            if worker in self._idle[key]:
                self._idle[key].remove(worker)
                worker.let_go()
                self._all.discard(worker)

        worker.retirement = asyncio.get_running_loop().call_later(IDLE_SECONDS, retire)

    async def _forget(self, key: tuple[Path, Path], worker: _Worker) -> None:
        """End a worker, and remember what it said by leaving by itself, where it did."""
        if worker.status == UNSAFE:
            self._cold[key] = (await worker.threaded(),)
            log.info("%s starts threads: each render gets a fresh interpreter", *self._cold[key])
        await worker.stop()
        self._all.discard(worker)


class _Worker:
    """One process of the user's interpreter that waits for requests."""

    def __init__(self, process: asyncio.subprocess.Process, *, warm: bool) -> None:
        self._process = process
        self.is_warm = warm
        self.retirement: asyncio.TimerHandle | None = None
        self._name = "worker"
        self._logged = 0
        self._tail = b""
        self._token = b""
        # The overlays that it was sent.
        self._texts: Mapping[str, str] = {}
        # The first line of the output that isn't an answer.
        self.stray = b""
        self._is_late = False
        self._stderr = asyncio.create_task(self._drain())

    @classmethod
    async def start(cls, interpreter: Interpreter, root: Path, *, warm: bool) -> _Worker:
        """A new worker in `interpreter`, which stays after its first answer if `warm`.

        Raises:
            RenderError: The interpreter does not start.
        """
        return await started(cls._start(interpreter, root, warm=warm), cls.stop, RenderError)

    @classmethod
    async def _start(cls, interpreter: Interpreter, root: Path, *, warm: bool) -> _Worker:
        try:
            process = await asyncio.create_subprocess_exec(
                str(interpreter.path),
                str(WORKER),
                *(() if warm else ("--once",)),
                cwd=root,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # A group of its own, which is killed with all that it started.
                start_new_session=True,
                # A longer line raises ValueError.
                limit=MAX_ANSWER_BYTES,
            )
        except OSError as error:
            message = f"{interpreter.path} ({interpreter.reason}) does not start: {error.strerror}"
            raise RenderError({"kind": "interpreter", "message": message}) from error
        return cls(process, warm=warm)

    @property
    def status(self) -> int | None:
        """The exit status; None while it runs."""
        return self._process.returncode

    @property
    def stderr_tail(self) -> str:
        """The end of what was printed since the last request."""
        return self._tail.decode("utf-8", "replace")

    async def ask(self, job: Job) -> bytes:
        """The one line of answer to `job`; shorter where the worker ended before it was whole.

        Raises:
            RenderError: No answer came in time, or it is too large.
        """
        if self.retirement is not None:
            self.retirement.cancel()
        self._name, self._logged, self._tail = job.file.name, 0, b""
        # Nothing that the user's code writes where it should not is taken for an answer.
        token = secrets.token_hex(16)
        self._token = token.encode()
        before, self._texts = self._texts, job.overlays
        changed = {path: text for path, text in job.overlays.items() if before.get(path) != text}
        request = {
            "file": str(job.file),
            "root": str(job.root),
            "overlays": changed,
            "kept": [path for path in job.overlays if path not in changed],
            "deadline": job.deadline,
            "token": token,
            "pycache": str(private_folder("pycache")),
            **job.action,
        }
        limit = job.deadline + GRACE_SECONDS
        try:
            async with asyncio.timeout(limit):
                await self._send(request)
                answer = await self._read_answer()
                if not answer.endswith(b"\n"):
                    await self._process.wait()
                return answer
        except TimeoutError:
            message = f"{job.file.name} was not rendered within {limit:g} s"
            raise RenderError({"kind": "deadline", "message": message}) from None
        except ValueError as error:
            message = f"{job.file.name} renders to more than {MAX_ANSWER_BYTES} bytes"
            raise RenderError({"kind": "output", "message": message}) from error

    async def take_back(self) -> bool:
        """End what was asked for; False if the worker cannot be asked again."""
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await self._send({"cancel": True})
                answer = await self._read_answer()
        except TimeoutError:
            self._is_late = True
            return False
        except ValueError:
            return False
        return answer.endswith(b"\n") and self.is_warm

    async def threaded(self) -> str:
        """The package that started a thread in this worker, which has left for that reason."""
        assert self._process.stdout is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                # A later request may have read the line, and found its own token missing.
                for line in (self.stray, await self._process.stdout.readline()):
                    with contextlib.suppress(ValueError):
                        return str(json.loads(line[len(self._token) :]))
        return "a package"

    async def stop(self) -> None:
        """End the worker: let go, so that it kills what it started and leaves, or else kill it."""
        self.let_go()
        try:
            # One that was late already gets no second chance: a server that ends waits for this.
            seconds = 0 if self._is_late else STOP_SECONDS
            await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            log.info("The worker %d did not leave: killing it", self._process.pid)
            self._kill_group()
            # What outlives it may hold its output open: asyncio would wait for the end of that.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        done, _ = await asyncio.wait({self._stderr}, timeout=STOP_SECONDS)
        if not done:
            self._stderr.cancel()
        # Close our end: a grandchild may hold the pipe open.
        self._process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001

    def let_go(self) -> None:
        """Close its standard input: the client is gone."""
        if self.retirement is not None:
            self.retirement.cancel()
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        # A worker that has left is noticed by the answer that does not come.
        with contextlib.suppress(ConnectionError):
            data = json.dumps(message).encode()
            self._process.stdin.write(b"%d\n%b" % (len(data), data))
            await self._process.stdin.drain()

    async def _read_answer(self) -> bytes:
        """Read what follows the last request's token in its line; other lines are dropped.

        Empty, or not a whole line, where the output ends before.
        """
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            _, token, answer = line.partition(self._token)
            if token:
                return answer
            log.info("%s: wrote among the answers: %r", self._name, line[:80])
            self.stray = self.stray or line
        return b""

    async def _drain(self) -> None:
        """Log what the user's code prints, under its file's name and up to a limit."""
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(1 << 16):
            self._tail = (self._tail + chunk)[-STDERR_TAIL_BYTES:]
            if self._logged < STDERR_LOG_BYTES:
                for line in chunk.decode("utf-8", "replace").splitlines():
                    log.info("%s: %s", self._name, line)
            elif self._logged < STDERR_LOG_BYTES + len(chunk):
                log.info("%s: prints more than is logged", self._name)
            self._logged += len(chunk)

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "nt":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
