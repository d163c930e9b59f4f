"""Names in git's history: the commit that wrote a line, and the one that ended what it names.

Only objects are read: no hook, filter, textconv, external diff or monitor of a repository runs, and
nothing is fetched. One list has all changes of the history, so that few commands are needed.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from math import inf
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from foldline.backends.base.languages import is_indexed
from foldline.backends.index.words import split_words
from foldline.ide.errors import RevisionError
from foldline.ide.instructions.files import is_instructions
from foldline.ide.render.revisions import contents_in, run_git
from foldline.plugins.instructions.mentions import symbol_in
from foldline.plugins.instructions.targets import Tree

_LARGEST_FILE = 1_000_000
_MOST_BYTES = 50_000_000
_MOST_KEPT = 16
_MOST_COMMITS = 20_000
_MOST_AT_ONCE = 1_000
_heads: dict[tuple[Path, float], tuple[str, str]] = {}
_CHANGE = re.compile(r"([0-9a-f]{40,64})[\0\n]|:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) \w\0([^\0]*)\0")


class Commit(NamedTuple):
    """A commit: its whole hash, the day of its author, its subject, its place in the history."""

    hash: str
    date: str
    subject: str
    at: int


class Blob(NamedTuple):
    """A file of a commit."""

    hash: str
    size: int


class Change(NamedTuple):
    """A file in a commit, by the commit's place in the history: its blobs, empty where it isn't.

    A merge is compared with its first parent.
    """

    at: int
    path: str
    old: str
    new: str


class Verdict(NamedTuple):
    """What a name meant: the files that had it, and the commit that ended it; None at `HEAD`."""

    homes: tuple[str, ...]
    ended: Commit | None


class History:
    """The history of one repository, as of its `HEAD`; what was read of it is kept.

    Attributes:
        verdicts: For a path, a line and a name in it; None if it meant nothing.
        end: The time of `time.monotonic` at which reading ends with a RevisionError.
    """

    def __init__(self, top: Path, head: str) -> None:
        self.top = top
        self.head = head
        self.end = 0.0
        self.verdicts: dict[tuple[str, str, str], Verdict | None] = {}
        self._files: dict[str, Mapping[str, Blob]] = {}
        self._trees: dict[str, Tree] = {}
        self._sizes: dict[str, int] = {}
        self._texts: dict[str, str] = {}
        self._left = _MOST_BYTES
        self._known: dict[int, Commit] = {}
        self._renames: dict[int, dict[str, str]] = {}
        self._words: dict[str, list[str]] = {}
        self._holding: dict[str, Mapping[str, list[str]]] = {}

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
            self._files[commit] = files = {
                # What the clone lacks has no size.
                path: Blob(name, int(size) if size.isdigit() else sys.maxsize)
                for (_, kind, name, size), path in ((row[0].split(), row[2]) for row in rows)
                if kind == "blob"
            }
            self._sizes |= files.values()
        return self._files[commit]

    def tree(self, commit: str) -> Tree:
        """Return the files of a commit, which are read when asked for."""
        files = self.files(commit)

        def read(path: str) -> str:
            blob = files[path].hash if path in files else ""
            return self.texts([blob]).get(blob, "")

        return self._trees.setdefault(commit, Tree(tuple(files), read))

    @cached_property
    def commits(self) -> list[list[str]]:
        """The latest commits, oldest first, each with its parents."""
        options = ("--topo-order", "--reverse", "--parents", f"--max-count={_MOST_COMMITS}")
        return [*map(str.split, self._git("rev-list", *options, self.head).splitlines())]

    @cached_property
    def _changes(self) -> tuple[dict[str, list[Change]], dict[int, list[Change]]]:
        """All changes, by path and by commit."""
        pairs = "".join(f"{' '.join(one[:2])}\n" for one in self.commits)
        options = ("--stdin", "--root", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff")
        output = self._run(("diff-tree", *options), pairs).decode("utf-8", "surrogateescape")
        places = {one[0]: at for at, one in enumerate(self.commits)}
        by_path, by_commit, at = dict[str, list[Change]](), dict[int, list[Change]](), 0
        for commit, old, new, path in _CHANGE.findall(output):
            if commit:
                at = places[commit]
                continue
            change = Change(at, path, old if old.strip("0") else "", new if new.strip("0") else "")
            by_path.setdefault(path, []).append(change)
            by_commit.setdefault(at, []).append(change)
        return by_path, by_commit

    def changes(self, path: str) -> list[Change]:
        """Return the changes of a file, oldest first, up to what it is at `HEAD`."""
        changes, blob = self._changes[0].get(path, []), self.files(self.head).get(path)
        while changes and changes[-1].new != (blob.hash if blob else ""):
            changes.pop()  # On a branch whose merge didn't take it.
        return changes

    def changed(self, at: int) -> list[Change]:
        """Return the changes of a commit."""
        return self._changes[1].get(at, [])

    def below(self, path: str) -> list[str]:
        """Return the file, or the files that were ever in the folder."""
        return [one for one in self._changes[0] if one == path or one.startswith(f"{path}/")]

    def writers(self, path: str, lines: Iterable[str]) -> dict[str, int]:
        """Return the place of the commit that wrote each line of a file, of those at `HEAD`.

        What a commit took over from a Markdown file that it removed was written there.
        """
        left, written, waiting = set(lines), dict[str, int](), [*self.changes(path)]
        known = self._lines(waiting)
        left &= known.get(waiting[-1].new, set()) if waiting else set()
        while left and waiting:
            change = waiting.pop()
            before = known.get(change.old, set())
            if waiting and waiting[-1].new == change.new:
                continue  # A merge of what a branch did.
            if not change.old:
                moved = [one for one in self.changed(change.at) if _is_moved(one)]
                known |= self._lines(moved)
                have = {one.path: known[one.old] & left for one in moved if one.old in known}
                source = max(have, key=lambda path: len(have[path]), default="")
                before, every = have.get(source, set()), self._changes[0].get(source, [])
                waiting = [one for one in every if one.at < change.at]
                known |= self._lines(waiting)
            written |= dict.fromkeys(left - before, change.at)
            left &= before
        return written

    def _lines(self, changes: Iterable[Change]) -> dict[str, set[str]]:
        """Return the lines of files before and after some changes, without the blanks around."""
        texts = self.texts(blob for one in changes for blob in one[2:])
        return {blob: {*map(str.strip, text.split("\n"))} for blob, text in texts.items()}

    def holding(self, at: int, words: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Return the code files of a commit with each of some words; a file is read once."""
        wanted = {word.encode() for word in words}
        if not self._named.issuperset(wanted):
            self._named.update(wanted)
            self._words.clear()
            self._holding.clear()
        commit = self.commits[at][0]
        if commit not in self._holding:
            files = {path: one.hash for path, one in self.files(commit).items() if is_indexed(path)}
            new = [*{*files.values()}.difference(self._words)]
            for start in range(0, len(new), _MOST_AT_ONCE):
                for blob, text in self.texts(new[start : start + _MOST_AT_ONCE]).items():
                    found = self._named.intersection(split_words(text.encode("utf-8", "replace")))
                    self._words[blob] = [word.decode() for word in found]
            holding = self._holding[commit] = defaultdict[str, list[str]](list)
            for path, blob in files.items():
                for word in self._words.get(blob, ()):
                    holding[word].append(path)
        return self._holding[commit]

    @cached_property
    def _named(self) -> set[bytes]:
        """The words of symbols in all instruction files."""
        files = self.files(self.head)
        texts = self.texts(blob.hash for path, blob in files.items() if is_instructions(path))
        spans = (span for text in texts.values() for span in re.findall("`([^`\n]+)`", text))
        return {one.word.encode() for span in spans if (one := symbol_in(span, 0))}

    def commit(self, at: int) -> Commit:
        """Return a commit."""
        if at in self._known:
            return self._known[at]
        name = self.commits[at][0]
        options = ("--max-count=1", "--encoding=UTF-8", "--format=%as%n%s")
        _, date, subject, *_ = self._git("rev-list", *options, name).split("\n")
        return self._known.setdefault(at, Commit(name, date, subject, at))

    def renamed(self, at: int, path: str) -> str:
        """Return the new name of a file or folder that a commit renamed; empty if it didn't.

        A folder is renamed if more than a half of its files that went are in another.
        """
        if at not in self._renames:
            options = ("-r", "-M", "--diff-filter=R", "--name-status", "-z", "--no-ext-diff")
            commit = self.commits[at][0]
            output = self._git("diff-tree", "--no-commit-id", "--no-textconv", *options, commit)
            parts = output.split("\0")
            self._renames[at] = dict(zip(parts[1::3], parts[2::3], strict=False))
        renames, below = self._renames[at], f"{path}/"
        new = Counter(
            after.removesuffix(before.removeprefix(path))
            for before, after in renames.items()
            if before.startswith(below) and after.endswith(before.removeprefix(path))
        )
        gone = sum(not one.new and one.path.startswith(below) for one in self.changed(at))
        return renames.get(path) or next((to for to in new if 2 * new[to] > gone), "")

    def texts(self, blobs: Iterable[str]) -> Mapping[str, str]:
        """Return the texts of files by their blobs, but for large ones; all are read at once."""
        wanted = dict.fromkeys(filter(None, blobs))
        if new := [blob for blob in wanted if blob not in self._texts]:
            self._read(new)
        return {blob: text for blob in wanted if (text := self._texts.get(blob)) is not None}

    def _read(self, blobs: Sequence[str]) -> None:
        if unknown := [blob for blob in blobs if blob not in self._sizes]:
            sizes = self._run(("cat-file", "--batch-check=%(objectsize)"), _rows(unknown))
            known = (int(size) if size.isdigit() else sys.maxsize for size in sizes.splitlines())
            self._sizes.update(zip(unknown, known, strict=False))
        if any(self._sizes[blob] == sys.maxsize for blob in blobs):
            raise RevisionError("the clone has a part of the files only")
        small, left = list[str](), _MOST_BYTES
        for blob in blobs:
            if self._sizes[blob] <= min(left, _LARGEST_FILE):
                left -= self._sizes[blob]
                small.append(blob)
        self._left -= _MOST_BYTES - left
        if self._left < 0:
            self._texts.clear()
            self._left = left
        stream = self._run(("cat-file", "--batch"), _rows(small)) if small else b""
        for blob, data in zip(small, contents_in(stream), strict=True):
            self._texts[blob] = (data or b"").decode("utf-8", "replace")

    def _git(self, *arguments: str, codes: Collection[int] = (0,)) -> str:
        return self._run(arguments, codes=codes).decode("utf-8", "surrogateescape")

    def _run(
        self, arguments: tuple[str, ...], stdin: str = "", codes: Collection[int] = (0,)
    ) -> bytes:
        left = self.end - monotonic()
        if left <= 0:
            raise RevisionError("the history was read for as long as it may be")
        return run_git(self.top, arguments, stdin, outside=self.top, seconds=left, codes=codes)


def history_of(root: Path, seconds: float, since: float = inf) -> History:
    """Return the history around a folder, with what earlier queries read of the same `HEAD`.

    `HEAD` is as of now, or `since` or later.

    Raises:
        RevisionError: There is none, or only a part of it.
    """
    top, head = _heads.get((root, since)) or _head(root, seconds)
    if since < inf:
        _heads.clear()
        _heads[root, since] = top, head
    history = _history(Path(top), head)
    history.end = monotonic() + seconds
    return history


def _head(root: Path, seconds: float) -> tuple[str, str]:
    arguments = ("rev-parse", "--show-toplevel", "--is-shallow-repository", "HEAD")
    output = run_git(root, arguments, outside=root, seconds=seconds)
    top, shallow, head = output.decode("utf-8", "surrogateescape").splitlines()
    if shallow != "false":
        raise RevisionError("the clone has a part of the history only")
    return top, head


@lru_cache(maxsize=_MOST_KEPT)
def _history(top: Path, head: str) -> History:
    return History(top, head)


def _is_moved(change: Change) -> bool:
    return not change.new and change.path.endswith((".md", ".mdc"))


def _rows(names: Iterable[str]) -> str:
    return "".join(f"{name}\n" for name in names)
