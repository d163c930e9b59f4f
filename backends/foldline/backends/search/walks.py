"""The files of a query: a folder, a file or a glob, listed by walks that queries share."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends import errors
from foldline.backends.base.languages import TEXT
from foldline.backends.base.waiting import Shared, result_of
from foldline.backends.files.globs import MAGIC, Glob
from foldline.backends.files.ignore import ALWAYS_HIDDEN, DEFAULT_SOURCE
from foldline.backends.files.listing import name_of
from foldline.backends.formatting.visible import visible
from foldline.backends.models import COMPLETE
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from foldline.backends.files.base import FileBackend
    from foldline.backends.files.ignore import Ignored
    from foldline.backends.files.listing import FileStamp

WALK_SECONDS = 5.0
# Between two looks at the clock within a folder.
_STEP = 1_000
# Walks kept for sharing; they hold no files once they have ended.
_MOST_WALKS = 64
# Ignored files that are looked at for one that a glob without a match may mean.
_MOST_LOOKED_AT = 20_000
# Ignored entries among which one is looked for that a person's pattern hides.
_MOST_ASKED = 50


@record
class Walked:
    """The files below a folder, the ignored entries, and the coverage.

    `problems` lists the lines of ignore files that were left out, and `refused` the folders that
    the system doesn't list in full.
    """

    stamps: tuple[FileStamp, ...]
    ignored: tuple[str, ...] = ()
    coverage: str = COMPLETE
    problems: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class _Asked(NamedTuple):
    folder: str
    no_ignore: bool
    by_level: bool
    kind: int


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
        self._shared: dict[_Asked, Shared[Walked]] = {}

    async def below(
        self,
        folder: str,
        *,
        no_ignore: bool = False,
        by_level: bool = False,
        since: float | None = None,
        kind: int = TEXT,
    ) -> Walked:
        """The files below a folder that `resolve` gave, in the order of `walk`.

        They are as of now, or of `since`, a time of `time.monotonic`, or later.

        With `by_level`, a walk that ends early has listed a part of every folder near the top. For
        `CODE`, sizes and times of other files may be older.
        """
        asked = _Asked(folder, no_ignore, by_level, kind)
        with self._lock:
            shared = self._shared.pop(asked, None) or Shared(partial(self._walk, asked))
            self._shared[asked] = shared
            while len(self._shared) > _MOST_WALKS:
                self._shared.pop(next(iter(self._shared)))
        return await result_of(shared.ask(since))

    def _walk(self, asked: _Asked, since: float) -> Walked:
        end = None if self._seconds is None else monotonic() + self._seconds
        stamps: list[FileStamp] = []
        hidden: list[str] = []
        problems: list[str] = []
        refused: list[str] = []

        def check() -> None:
            if end is not None and monotonic() > end:
                raise _OutOfTimeError

        entries = self._files.walk_folder(
            asked.folder,
            no_ignore=asked.no_ignore,
            hidden=hidden,
            problems=problems,
            refused=refused,
            check=check,
            by_level=asked.by_level,
            since=since,
            kind=asked.kind,
        )
        coverage = COMPLETE
        try:
            for number, stamp in enumerate(entries, 1):
                stamps.append(stamp)
                if number % _STEP == 0:
                    check()
        except _OutOfTimeError:
            coverage = (
                f"partial: {len(stamps):,} files were listed in {self._seconds:.3g} s, and there "
                "are more; name a folder below"
            )
        return Walked(tuple(stamps), tuple(hidden), coverage, tuple(problems), tuple(refused))


class Scope:
    """A part of the workspace: all of it, a file, a folder, or the paths that match a `Glob`.

    A path that exists is not a glob, whatever characters it has. A name that doesn't is one too.

    Raises:
        PathError: from the constructor, for a path that may not be read or does not exist.
        InvalidArgumentError: from the constructor, for a text that is no glob.
    """

    def __init__(self, files: FileBackend, text: str | None, *, no_ignore: bool = False) -> None:
        self._files = files
        self._no_ignore = no_ignore
        self._folder = "."
        self._glob: Glob | None = None
        self._missing: errors.PathError | None = None
        self.single_file: str | None = None
        if text is None or text in {"", ".", "./"}:
            return
        is_glob = not MAGIC.isdisjoint(text)
        try:
            path = _resolved(files, text, no_ignore=no_ignore, exact=is_glob)
        except errors.MissingPathError as error:
            if not is_glob and "/" in text.rstrip("/"):
                raise
            self._missing = None if is_glob else error
            self._glob = Glob(files, text)
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
            return self._glob.matches(path)
        return self._folder == "." or path.startswith(f"{self._folder}/")

    async def walked(self, walks: Walks, since: float | None = None) -> Walked:
        """The files of this part that a walk lists in time, as of now, or of `since` or later.

        Raises:
            PathError: The glob matches no file.
        """
        if self.single_file is not None:
            return Walked(tuple(self.walk()))
        files_walked = await walks.below(self._folder, no_ignore=self._no_ignore, since=since)
        if self._glob is None:
            return files_walked
        matching = tuple(stamp for stamp in files_walked.stamps if self._glob.matches(stamp.path))
        if not matching and files_walked.coverage == COMPLETE:
            self.check([stamp.path for stamp in files_walked.stamps])
        ignored = tuple(filter(self._glob.matches, files_walked.ignored))
        return replace(files_walked, stamps=matching, ignored=ignored)

    def walk(self) -> Iterator[FileStamp]:
        """The files of this part, all of them."""
        if self.single_file is not None:
            stamp = self._files.stamp(self.single_file)
            if stamp is not None:
                yield stamp
            return
        for stamp in self._files.walk(self._folder, no_ignore=self._no_ignore):
            if self._glob is None or self._glob.matches(stamp.path):
                yield stamp

    def check(self, paths: Sequence[str] | None = None) -> None:
        """Check that a glob matches one of `paths`, by default all files; others always pass.

        Raises:
            PathError: It matches none; says where such files are, or that they are ignored.
        """
        if self._glob is None:
            return
        if paths is None:
            paths = [stamp.path for stamp in self._files.walk(no_ignore=self._no_ignore)]
        if any(map(self._glob.matches, paths)):
            return
        if not self._no_ignore:
            every = islice(self._files.walk(no_ignore=True), _MOST_LOOKED_AT)
            for path in (one.path for one in every if self._glob.matches(one.path)):
                try:
                    self._files.resolve(path)
                except errors.IgnoredPathError as error:
                    problem = f"matches ignored files only: {visible(path)} {error.problem}"
                    raise errors.NoMatchError(self._glob.text, problem, error.cure) from None
        raise self._missing or errors.NoMatchError(
            self._glob.text, "matches no file", self._glob.near(paths)
        )


def left_out(files: FileBackend, walked: Walked, counts: Iterable[str] = ()) -> str:
    """The counts of what an answer isn't about, ignored entries first, and how to look at those."""
    rules = files.rules()
    first: Ignored | None = None
    paths = [path for path in walked.ignored if name_of(path) not in ALWAYS_HIDDEN]
    for path in paths[:_MOST_ASKED]:
        rule = rules.for_path(path, is_folder=files.is_folder(path))
        if rule is not None and (first is None or first.source == DEFAULT_SOURCE):
            first = rule
    ignored: list[str] = []
    if first is not None:
        such = f"{len(paths):,} ignored, such as" if len(paths) > 1 else "1 ignored:"
        ignored = [f"{such} {first.entry} by {first.pattern!r} of {first.source} ({first.cure})"]
    counted = ", ".join((*ignored, *counts))
    return f"not looked at: {visible(counted)}" if counted else ""


def _resolved(files: FileBackend, text: str, *, no_ignore: bool, exact: bool) -> str:
    """The path that exists; one that begins with a slash may be meant from the root."""
    try:
        return files.resolve(text, no_ignore=no_ignore, exact=exact)
    except errors.OutsideWorkspaceError:
        inside = text.strip("/")
        if not text.startswith("/") or not inside:
            raise
        first = inside.partition("/")[0]
        if MAGIC.isdisjoint(first) and not files.exists(first):
            raise
        return files.resolve(inside, no_ignore=no_ignore, exact=exact)
