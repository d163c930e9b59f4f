"""Speaks to the worker that runs jedi: one query at a time, each with a deadline."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.backends import errors
from foldline.backends.base.untrusted import empty_folder, outside_environment
from foldline.backends.base.waiting import STATUS, in_thread
from foldline.backends.lsp.lifecycle import tree_memory
from foldline.backends.lsp.process import ServerProcess
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends.files.base import FileBackend
    from foldline.backends.lsp.documents import Snapshot
    from foldline.backends.lsp.lifecycle import Limits
    from foldline.backends.outlines.locations import Position

NAME = "jedi"
WORKER = Path(__file__).with_name("worker.py")
# jedi returns what it has after the first of these; after the second, it is killed.
SEARCH_SECONDS = 25.0
LAST_SECONDS = 40.0
_MOST_ANSWERS = 128
_MAX_LINE = 1 << 26


@record
class JediLocations:
    """Places as (path, line from 1, column from 0, length); `cut` when jedi ran out of time.

    `missing` are the private names that this version of jedi lacks, so that it may leave files out.
    """

    locations: tuple[tuple[str, int, int, int], ...]
    cut: bool
    missing: tuple[str, ...] = ()


# Runs on the background loop. The worker answers line by line, so a request holds `_turn` until its
# answer is read; if that is broken off, the worker is ended, or its next line would be read as the
# answer to another request. `_process` is None without a worker; `_stop` takes it before it awaits
# anything, so that two callers never stop the same one.
class JediEngine:
    """jedi in a worker process, which is started when first asked and replaced when it dies."""

    def __init__(self, files: FileBackend, limits: Limits) -> None:
        self._files = files
        self._limits = limits
        self._process: ServerProcess | None = None
        self._turn = asyncio.Lock()
        self._ids = itertools.count(1)
        self._snapshot: Snapshot | None = None
        self._answers: dict[tuple[Position, tuple[str, ...]], asyncio.Task[JediLocations]] = {}
        self._idle: asyncio.TimerHandle | None = None
        self._stopping: set[asyncio.Task[None]] = set()
        self._closed = False

    async def references(
        self, target: Position, candidates: Sequence[str], snapshot: Snapshot
    ) -> JediLocations:
        """The uses of the name at `target` in the candidates; concurrent callers share one search.

        Raises:
            LSPError: jedi failed, or took too long.
        """
        if self._closed:
            raise errors.LSPUnavailableError("the language servers have been closed", NAME)
        if snapshot is not self._snapshot or len(self._answers) > _MOST_ANSWERS:
            self._snapshot = snapshot
            self._answers.clear()
        key = (target, tuple(candidates))
        task = self._answers.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.create_task(self._search(target, candidates, snapshot))
            # asyncio logs an exception that nobody retrieves, and callers may have left.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._answers[key] = task
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End the worker for good."""
        self._closed = True
        for task in self._answers.values():
            task.cancel()
        await asyncio.gather(*self._answers.values(), return_exceptions=True)
        await self._stop()
        await asyncio.gather(*self._stopping, return_exceptions=True)

    async def _search(
        self, target: Position, candidates: Sequence[str], snapshot: Snapshot
    ) -> JediLocations:
        overlays = {
            path: text
            for path in candidates
            if (stamp := snapshot.get(path)) is not None
            and stamp.overlay
            and (text := self._files.text_of(path)) is not None
        }
        source = self._files.text_of(target.path)
        if source is None:
            raise errors.LSPUnavailableError(f"{target.path} cannot be read any more", NAME)
        request = {
            "id": next(self._ids),
            "root": str(self._files.root),
            "path": target.path,
            "source": source,
            "line": target.line,
            "column": target.column - 1,
            "candidates": [path for path in candidates if path in snapshot],
            "overlays": overlays,
            "seconds": SEARCH_SECONDS,
        }
        async with self._turn:
            try:
                async with asyncio.timeout(LAST_SECONDS):
                    reply = await self._exchange(request)
            except TimeoutError:
                await self._stop()
                raise errors.LSPTimeoutError(
                    f"gave no answer within {LAST_SECONDS:.0f} s", NAME
                ) from None
            except BaseException:
                # Half an exchange: the next line would be read as the answer to another request.
                await self._stop()
                raise
            await self._rest()
        if "error" in reply:
            raise errors.LSPResponseError(str(reply["error"]), NAME)
        return JediLocations(
            tuple(map(tuple, reply["locations"])), bool(reply["cut"]), tuple(reply["missing"])
        )

    async def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._idle is not None:
            self._idle.cancel()
        process = self._process
        if process is None:
            # Its search path has nothing of the workspace, trusted or not, and no files beside the
            # worker (-P).
            root = self._files.root
            process = self._process = await ServerProcess.start(
                NAME,
                (sys.executable, "-P", str(WORKER)),
                cwd=empty_folder(root),
                env=outside_environment(root),
            )
        try:
            process.writer.write(json.dumps(request).encode() + b"\n")
            await process.writer.drain()
            line = b""
            while not line.endswith(b"\n"):
                part = await process.reader.read(1 << 16)
                line += part
                if not part or len(line) > _MAX_LINE:
                    break
        except OSError as error:
            raise errors.LSPDiedError(f"the worker cannot be spoken to: {error}", NAME) from error
        if not line.endswith(b"\n"):
            await process.wait(1.0)
            tail = process.stderr_tail
            last = f"; it last wrote: {tail.splitlines()[-1]}" if tail else ""
            raise errors.LSPDiedError(f"the worker ended{last}", NAME, process.exit_code, tail)
        reply = json.loads(line)
        if not isinstance(reply, dict) or reply.get("id") != request["id"]:
            raise errors.LSPProtocolError("the worker answered something else", NAME)
        return reply

    async def _rest(self) -> None:
        """End a worker that holds too much memory after an answer, or stays idle."""
        pid = self._process.pid if self._process else None
        if (
            pid is not None
            and await in_thread(partial(tree_memory, pid), STATUS) > self._limits.memory
        ):
            await self._stop()
            return
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(self._limits.idle, self._stop_idle)

    def _stop_idle(self) -> None:
        if not self._turn.locked():
            task = asyncio.get_running_loop().create_task(self._stop())
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)

    async def _stop(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        process, self._process = self._process, None
        if process is not None:
            # It has nothing to save, and may be in the middle of a search.
            await asyncio.shield(process.stop(0.1))
