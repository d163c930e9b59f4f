"""The files of a query: a folder, a file or a glob, listed by walks that queries share."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.waiting import Shared, result_of
from foldline.backends.errors import InvalidArgumentError, MissingPathError
from foldline.backends.models import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pathspec import GitIgnoreSpec

    from foldline.backends.files.base import FileBackend
    from foldline.backends.files.listing import FileStamp

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


_MAGIC = frozenset("*?[")


class Scope:
    """A part of the workspace: all of it, a file, a folder, or the paths that match a glob.

    A glob follows the rules of `.gitignore`: `*.py` matches at any depth, `src/**/*.ts` from the
    root. A path that exists is not a glob, whatever characters it has.

    Raises:
        PathError: from the constructor, for a path that may not be read or does not exist.
    """

    def __init__(self, files: FileBackend, text: str | None, *, no_ignore: bool = False) -> None:
        self._files = files
        self._no_ignore = no_ignore
        self._folder = "."
        self._glob: GitIgnoreSpec | None = None
        self.single_file: str | None = None
        if text is None or text in {"", ".", "./"}:
            return
        try:
            path = files.resolve(text, no_ignore=no_ignore)
        except MissingPathError:
            if not _MAGIC & set(text):
                raise
            from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

            from foldline.backends.base.bounded_regex import compile_ignore_patterns

            glob = text.replace("\\", "/").removeprefix("./")
            try:
                self._glob = compile_ignore_patterns([GitIgnoreSpecPattern(glob)])
            except (ValueError, re.error, OverflowError) as error:
                raise InvalidArgumentError("glob", f"{text!r} is not a glob: {error}") from error
            return
        if files.is_folder(path):
            self._folder = path
        else:
            self.single_file = path

    def holds(self, path: str) -> bool:
        """Return whether the path, as `walk` gives it, is in this part."""
        if self.single_file is not None:
            return path == self.single_file
        if self._glob is not None:
            return self._glob.match_file(path)
        return self._folder == "." or path.startswith(f"{self._folder}/")

    async def walked(self, walks: Walks, since: float | None = None) -> Walked:
        """The files of this part that a walk lists in time, as of now, or of `since` or later."""
        if self.single_file is not None:
            return Walked(tuple(self.walk()))
        found = await walks.below(self._folder, no_ignore=self._no_ignore, since=since)
        if self._glob is None:
            return found
        matches = self._glob.match_file
        return replace(found, stamps=tuple(stamp for stamp in found.stamps if matches(stamp.path)))

    def walk(self) -> Iterator[FileStamp]:
        """The files of this part, all of them."""
        if self.single_file is not None:
            stamp = self._files.stamp(self.single_file)
            if stamp is not None:
                yield stamp
            return
        for stamp in self._files.walk(self._folder, no_ignore=self._no_ignore):
            if self._glob is None or self._glob.match_file(stamp.path):
                yield stamp
