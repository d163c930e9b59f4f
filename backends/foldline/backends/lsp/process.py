"""A server's process: started under a guard, drained, and certainly stopped."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from foldline.backends.base.processes import started
from foldline.backends.errors import LSPStartError

log = logging.getLogger(__name__)

STDERR_LINES = 50
_STDERR_LINE_BYTES = 2_000
# The guard kills what is left within this time of the end of its leash.
_GUARD_SECONDS = 3.0
_STREAM_LIMIT = 1 << 20
_GUARD = Path(__file__).with_name("guard.py")
_HAS_GUARD = os.name == "posix"


class ServerProcess:
    """One running process with its streams; everything it starts ends with it, and with us.

    Attributes:
        pid: The server's own pid, once it is known.
    """

    def __init__(
        self, name: str, process: asyncio.subprocess.Process, leash: socket.socket | None
    ) -> None:
        self._name = name
        self._process = process
        self._leash = leash
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self.pid: int | None = None if leash else process.pid
        self._tasks = [asyncio.create_task(self._drain_stderr())]
        if leash is not None:
            self._tasks.append(asyncio.create_task(self._learn_pid(leash)))

    @classmethod
    async def start(
        cls,
        name: str,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
    ) -> ServerProcess:
        """Start `command` in `cwd`, in a process group of its own.

        Raises:
            LSPStartError: The system refused.
        """
        start = cls._start(name, command, cwd, env)
        return await started(start, lambda process: process.stop(0), LSPStartError)

    @classmethod
    async def _start(
        cls, name: str, command: Sequence[str], cwd: Path, env: Mapping[str, str] | None
    ) -> ServerProcess:
        ours: socket.socket | None = None
        theirs: socket.socket | None = None
        arguments = list(command)
        if _HAS_GUARD:
            ours, theirs = socket.socketpair()
            ours.setblocking(False)
            guard = [sys.executable, "-I", "-S", str(_GUARD), str(theirs.fileno())]
            arguments = [*guard, *arguments]
        try:
            process = await asyncio.create_subprocess_exec(
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=cwd,
                env=dict(env) if env is not None else None,
                limit=_STREAM_LIMIT,
                pass_fds=(theirs.fileno(),) if theirs else (),
                start_new_session=_HAS_GUARD,
            )
        except OSError as error:
            if ours is not None:
                ours.close()
            raise LSPStartError(f"{command[0]} cannot be started: {error}", name) from error
        finally:
            if theirs is not None:
                theirs.close()
        return cls(name, process, ours)

    @property
    def reader(self) -> asyncio.StreamReader:
        """The server's standard output."""
        assert self._process.stdout is not None  # A pipe was asked for.
        return self._process.stdout

    @property
    def writer(self) -> asyncio.StreamWriter:
        """The server's standard input."""
        assert self._process.stdin is not None  # A pipe was asked for.
        return self._process.stdin

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    @property
    def stderr_tail(self) -> str:
        """The last lines of its standard error."""
        return "\n".join(self._stderr)

    async def wait(self, seconds: float) -> bool:
        """Return whether it has ended within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
        except TimeoutError:
            return False
        return True

    async def stop(self, grace: float) -> None:
        """End it and all its children: close its input, then terminate, then kill."""
        self.writer.close()
        if self.exit_code is None and not await self.wait(grace):
            self._signal(signal.SIGTERM)
            await self.wait(grace)
        if self._leash is not None:
            # The guard kills all descendants, and ends.
            self._leash.close()
        if not await self.wait(_GUARD_SECONDS if self._leash is not None else 0):
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            if not await self.wait(_GUARD_SECONDS):
                log.error("%s: process %s cannot be killed", self._name, self._process.pid)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            async with asyncio.timeout(1):
                await self.writer.wait_closed()
        # Without a guard a descendant may hold the pipes open: our ends are closed all the same.
        self._process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if _HAS_GUARD:
                os.killpg(self._process.pid, number)
            else:
                self._process.send_signal(number)

    async def _drain_stderr(self) -> None:
        stream = self._process.stderr
        assert stream is not None  # A pipe was asked for.
        rest = b""
        while chunk := await stream.read(1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            # A flood is cut before it is decoded: only the last lines are ever seen.
            for line in lines[-STDERR_LINES:]:
                self._take_line(line)
            rest = rest[-_STDERR_LINE_BYTES:]
        if rest:
            self._take_line(rest)

    def _take_line(self, line: bytes) -> None:
        text = line[:_STDERR_LINE_BYTES].decode("utf-8", "replace").rstrip()
        self._stderr.append(text)
        log.debug("%s: %s", self._name, text)

    async def _learn_pid(self, leash: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.pid = int(await asyncio.get_running_loop().sock_recv(leash, 64))
