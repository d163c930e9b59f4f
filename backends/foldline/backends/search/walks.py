"""Walks of a workspace: bounded in time, and shared by concurrent questions."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.waiting import Shared, result_of
from foldline.backends.models import COMPLETE

if TYPE_CHECKING:
    from foldline.backends.files.base import FileBackend
    from foldline.backends.files.walk import FileStamp

WALK_SECONDS = 5.0
# Between two looks at the clock within a folder.
_STEP = 1_000
# Walks kept for sharing; they hold no files once they have ended.
_MOST_WALKS = 64


@dataclass(frozen=True, slots=True)
class Walked:
    """The files below a folder, the number of ignored entries, and the coverage.

    `problems` lists the lines of ignore files that were left out.
    """

    stamps: tuple[FileStamp, ...]
    ignored: int = 0
    coverage: str = COMPLETE
    problems: tuple[str, ...] = ()


class _Kind(NamedTuple):
    folder: str
    no_ignore: bool
    by_level: bool


class _OutOfTimeError(Exception):
    """The walk has reached its time limit."""


class Walks:
    """The walks of one workspace; callers at the same time share one that begins after their calls.

    After `seconds` a walk ends with the files it has found; None sets no limit.
    """

    def __init__(self, files: FileBackend, seconds: float | None = WALK_SECONDS) -> None:
        self._files = files
        self._seconds = seconds
        self._lock = threading.Lock()
        self._shared: dict[_Kind, Shared[Walked]] = {}

    async def below(
        self,
        folder: str,
        *,
        no_ignore: bool = False,
        by_level: bool = False,
        since: float | None = None,
    ) -> Walked:
        """The files below a folder that `resolve` gave, in the order of `walk`.

        They are as of now, or of `since`, a time of `time.monotonic`, or later.

        With `by_level`, a walk that ends early has listed a part of every folder near the top.
        """
        kind = _Kind(folder, no_ignore, by_level)
        with self._lock:
            shared = self._shared.pop(kind, None) or Shared(partial(self._walk, kind))
            self._shared[kind] = shared
            while len(self._shared) > _MOST_WALKS:
                self._shared.pop(next(iter(self._shared)))
        return await result_of(shared.ask(since))

    def _walk(self, kind: _Kind, since: float) -> Walked:
        end = None if self._seconds is None else monotonic() + self._seconds
        stamps: list[FileStamp] = []
        hidden: list[str] = []
        problems: list[str] = []

        def check() -> None:
            if end is not None and monotonic() > end:
                raise _OutOfTimeError

        found = self._files.walk_folder(
            kind.folder,
            no_ignore=kind.no_ignore,
            hidden=hidden,
            problems=problems,
            check=check,
            by_level=kind.by_level,
            since=since,
        )
        coverage = COMPLETE
        try:
            for number, stamp in enumerate(found, 1):
                stamps.append(stamp)
                if number % _STEP == 0:
                    check()
        except _OutOfTimeError:
            coverage = (
                f"partial: {len(stamps):,} files were listed in {self._seconds:.3g} s, and there "
                "are more; name a folder below"
            )
        return Walked(tuple(stamps), len(hidden), coverage, tuple(problems))
