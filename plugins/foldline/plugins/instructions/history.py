"""Names in git's history: the commit that wrote a line, and the one that ended what it names.

Only objects are read: no hook, filter, textconv, external diff or monitor of a repository runs, and
nothing is fetched.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from foldline.backends.base.languages import is_indexed
from foldline.backends.parsers.language_tables import LANGUAGES
from foldline.ide.errors import RevisionError
from foldline.ide.render.revisions import contents_in, run_git
from foldline.plugins.instructions.targets import Tree, defined_in

_LARGEST_FILE = 1_000_000
_MOST_BLOBS = 200
_MOST_KEPT = 16
_MOST_COMMITS = 20_000
_CODE = tuple(
    f"*{ending}"
    for language in LANGUAGES
    for ending in language.extensions
    if is_indexed(f"a{ending}")
)


class Commit(NamedTuple):
    """A commit: its whole hash, the day of its author, its subject and its parents."""

    hash: str
    date: str
    subject: str
    parents: tuple[str, ...]


class Blob(NamedTuple):
    """A file of a commit."""

    hash: str
    size: int


class History:
    """The history of one repository, as of its `HEAD`; what was read of it is kept.

    Attributes:
        verdicts: For a path, a line and a name in it: the commit that ended what it meant, True if
            it means that at `HEAD` too, False if it meant nothing.
        end: The time of `time.monotonic` at which reading ends with a RevisionError.
    """

    def __init__(self, top: Path, head: str) -> None:
        self.top = top
        self.head = head
        self.end = 0.0
        self.verdicts: dict[tuple[str, str, str], Commit | bool] = {}
        self._files: dict[str, Mapping[str, Blob]] = {}
        self._trees: dict[str, Tree] = {}
        self._texts: dict[str, str] = {}
        self._defined: dict[str, frozenset[str]] = {}
        self._holding: dict[tuple[str, str], tuple[str, ...]] = {}

    @cached_property
    def is_sparse(self) -> bool:
        """True where files of `HEAD` are left out of the folder."""
        output = self._git("config", "--bool", "core.sparseCheckout", codes=(0, 1))
        return output.strip() == "true"

    def files(self, commit: str) -> Mapping[str, Blob]:
        """Return the files of a commit by path."""
        if commit not in self._files:
            listed = self._git("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
            rows = (row.partition("\t") for row in listed.split("\0") if row)
            self._files[commit] = {
                # What the clone lacks has no size.
                path: Blob(name, int(size) if size.isdigit() else sys.maxsize)
                for (_, kind, name, size), path in ((row[0].split(), row[2]) for row in rows)
                if kind == "blob"
            }
        return self._files[commit]

    def tree(self, commit: str) -> Tree:
        """Return the files of a commit, which are read when asked for."""
        files = self.files(commit)

        def read(path: str) -> str:
            if path not in files:
                return ""
            self._read([files[path]])
            return self._texts.get(files[path].hash, "")

        return self._trees.setdefault(commit, Tree(tuple(files), read))

    def writers(self, path: str, lines: Iterable[int]) -> dict[int, str]:
        """Return the commits that wrote some lines of a file at `HEAD`, counted from 1."""
        ranges = [part for line in lines for part in ("-L", f"{line},{line}")]
        output = self._git(
            *("blame", "--porcelain", "-w", "-M", "--no-textconv", "--no-ignore-revs-file"),
            *(*ranges, self.head, "--", path),
        )
        heads = re.finditer(r"^([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?$", output, re.MULTILINE)
        return {int(match[2]): match[1] for match in heads}

    def defining(
        self, commit: str, names: Collection[str], within: Collection[str] = ()
    ) -> dict[str, frozenset[str]]:
        """Return the code files of a commit that define some of `names`, with all they define.

        All files are searched, or those `within` alone.
        """
        files, holding = self.files(commit), set(within)
        if not within:
            if new := [name for name in names if (commit, name) not in self._holding]:
                self._holding |= dict.fromkeys(
                    [(commit, name) for name in new], self._with_words(commit, new)
                )
            holding = {path for name in names for path in self._holding[commit, name]}
        blobs = {path: files[path] for path in sorted(holding)[:_MOST_BLOBS] if path in files}
        every = self._definitions(blobs)
        return {path: defined for path, defined in every.items() if not defined.isdisjoint(names)}

    def defined(self, commit: str, paths: Iterable[str]) -> set[str]:
        """Return the names that some files of a commit define."""
        files = self.files(commit)
        return set().union(*self._definitions({path: files[path] for path in paths}).values())

    def _definitions(self, blobs: Mapping[str, Blob]) -> dict[str, frozenset[str]]:
        self._read([blob for blob in blobs.values() if blob.hash not in self._defined])
        for path, blob in blobs.items():
            if blob.hash not in self._defined:
                # The names alone are kept: texts of code are large.
                self._defined[blob.hash] = defined_in(path, self._texts.pop(blob.hash, ""))
        return {path: self._defined[blob.hash] for path, blob in blobs.items()}

    def _with_words(self, commit: str, words: Collection[str]) -> tuple[str, ...]:
        """Return the code files of a commit with one of the words."""
        wanted = [part for word in words for part in ("-e", word)]
        options = ("-l", "-z", "-F", "-w", "-I", "--no-textconv", "--no-recurse-submodules")
        output = self._git("grep", *options, *wanted, commit, "--", *_CODE, codes=(0, 1))
        return tuple(row.removeprefix(f"{commit}:") for row in output.split("\0") if row)

    def commit(self, name: str) -> Commit:
        """Return a commit."""
        options = ("--max-count=1", "--encoding=UTF-8", "--format=%as%n%P%n%s")
        output = self._git("rev-list", *options, name)
        _, date, parents, subject, *_ = output.split("\n")
        return Commit(name, date, subject, tuple(parents.split()))

    def since(self, good: str, bad: str) -> list[str]:
        """Return the commits after one that lead to another, oldest first; none if too many."""
        output = self._git(
            "rev-list",
            "--topo-order",
            "--ancestry-path",
            f"--max-count={_MOST_COMMITS}",
            f"{good}..{bad}",
        ).split()
        return output[::-1] if len(output) < _MOST_COMMITS else []

    def renamed(self, commit: str, path: str) -> str:
        """Return the new name of a file or folder that a commit renamed; empty if it didn't."""
        options = ("-r", "-M", "--diff-filter=R", "--name-status", "-z", "--no-ext-diff")
        output = self._git("diff-tree", "--no-commit-id", "--no-textconv", *options, commit)
        parts = output.split("\0")
        for before, after in zip(parts[1::3], parts[2::3], strict=False):
            if before == path:
                return after
            ending = before.removeprefix(path)
            if before.startswith(f"{path}/") and after.endswith(ending):
                return after.removesuffix(ending)
        return ""

    def _read(self, blobs: Iterable[Blob]) -> None:
        """Read files that aren't known yet, but for large ones."""
        new = (blob for blob in blobs if blob.hash not in self._texts)
        wanted = list(dict.fromkeys(blob.hash for blob in new if blob.size <= _LARGEST_FILE))
        if not wanted:
            return
        stream = self._run(("cat-file", "--batch"), "".join(f"{name}\n" for name in wanted))
        for name, data in zip(wanted, contents_in(stream), strict=True):
            if data is None:
                raise RevisionError("the clone has a part of the files only")
            self._texts[name] = data.decode("utf-8", "replace")

    def _git(self, *arguments: str, codes: Collection[int] = (0,)) -> str:
        return self._run(arguments, codes=codes).decode("utf-8", "surrogateescape")

    def _run(
        self, arguments: tuple[str, ...], stdin: str = "", codes: Collection[int] = (0,)
    ) -> bytes:
        left = self.end - monotonic()
        if left <= 0:
            raise RevisionError("the history was read for as long as it may be")
        return run_git(self.top, arguments, stdin, outside=self.top, seconds=left, codes=codes)


def history_of(root: Path, seconds: float) -> History:
    """Return the history around a folder, with what earlier queries read of the same `HEAD`.

    Raises:
        RevisionError: There is none, or only a part of it.
    """
    arguments = ("rev-parse", "--show-toplevel", "--is-shallow-repository", "HEAD")
    output = run_git(root, arguments, outside=root, seconds=seconds)
    top, shallow, head = output.decode("utf-8", "surrogateescape").splitlines()
    if shallow != "false":
        raise RevisionError("the clone has a part of the history only")
    history = _history(Path(top), head)
    history.end = monotonic() + seconds
    return history


@lru_cache(maxsize=_MOST_KEPT)
def _history(top: Path, head: str) -> History:
    return History(top, head)
