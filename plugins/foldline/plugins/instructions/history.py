"""Names in git's history: the commit that wrote a line, and the one that ended what it names.

Only objects are read: no hook, filter, textconv, external diff or monitor of a repository runs, and
nothing is fetched. One list has all changes of the history, so that few commands are needed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from math import inf
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from foldline.backends.base.languages import is_indexed
from foldline.backends.index.words import split_words
from foldline.ide.errors import RevisionError
from foldline.ide.instructions.files import is_instructions
from foldline.ide.render.revisions import contents_in, lacking, run_git
from foldline.plugins.instructions.mentions import symbol_in
from foldline.plugins.instructions.targets import Tree

_LARGEST_FILE = 1_000_000
_MOST_BYTES = 50_000_000
_MOST_KEPT = 16
_MOST_COMMITS = 20_000
_MOST_AT_ONCE = 1_000
_WRITTEN = re.compile(r"^([0-9a-f]{40,64}) \d+ \d+(?: \d+)?\n(?:[a-z].*\n)*\t(.*)$", re.MULTILINE)
_FILE = re.compile(r"(?<![^\0])\d+ blob ([0-9a-f]+)\t([^\0]+)")
_CHANGE = re.compile(r"([0-9a-f]{40,64})[\0\n]|:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) \w\0([^\0]*)\0")


class Commit(NamedTuple):
    """A commit: its whole hash, its parents, the day of its author and its subject."""

    hash: str
    parents: str
    date: str
    subject: str


class Change(NamedTuple):
    """A file in a commit, by the commit's place in the history: its blobs, empty where it isn't.

    A merge is compared with its first parent.
    """

    at: int
    path: str
    old: str
    new: str


class Verdict(NamedTuple):
    """The files that held a name, and the commit that removed it; None if none did."""

    homes: tuple[str, ...]
    ended: Commit | None


class History:
    """The history of one repository, as of its `HEAD`; what was read of it is kept.

    Attributes:
        files: The blobs of a commit's files by path.
        tree: The files of a commit, which are read when asked for.
        verdicts: For a path, a line and a name in it; None if it meant nothing.
        end: The time of `time.monotonic` at which reading ends with a RevisionError.
    """

    def __init__(self, top: Path, head: str) -> None:
        self.top = top
        self.head = head
        self.end = 0.0
        self.verdicts: dict[tuple[str, str, str], Verdict | None] = {}
        self.files = cache(self._list)
        self.tree = cache(lambda commit: self.tree_of(self.files(commit)))
        self._texts: dict[str, str | None] = {}
        self._size = 0
        self._renames: dict[str, dict[str, str]] = {}
        self._words: dict[str, list[str]] = {}
        self._holding: dict[str, defaultdict[str, dict[str, str]]] = {}

    @cached_property
    def is_sparse(self) -> bool:
        """True where files of `HEAD` are left out of the folder."""
        return self._git("config", "--bool", "core.sparseCheckout", codes=(0, 1)) == "true\n"

    def _list(self, commit: str) -> Mapping[str, str]:
        """Return the blobs of a commit's files by path."""
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", commit)
        return {path: blob for blob, path in _FILE.findall(listed)}

    def tree_of(self, blobs: Mapping[str, str]) -> Tree:
        """Return files, given with their blobs, which are read when asked for."""
        return Tree(tuple(blobs), lambda path: "".join(self.texts([blobs.get(path, "")]).values()))

    @cached_property
    def commits(self) -> list[Commit]:
        """The latest commits, oldest first."""
        options = ("--topo-order", "--reverse", f"--max-count={_MOST_COMMITS}", "--encoding=UTF-8")
        output = self._git("rev-list", *options, "--format=%H%x00%P%x00%as%x00%s", self.head)
        return [Commit(*row.split("\0", 3)) for row in output.split("\n") if "\0" in row]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The places of the commits in the history."""
        return {one.hash: at for at, one in enumerate(self.commits)}

    @cached_property
    def _changes(self) -> tuple[dict[str, list[Change]], dict[str, dict[str, Change]]]:
        """All changes, by path and by commit."""
        pairs = (f"{one.hash} {one.parents.partition(' ')[0]}" for one in self.commits)
        options = ("--stdin", "--root", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff")
        output = self._run(("diff-tree", *options), pairs).decode("utf-8", "surrogateescape")
        by_path, by_commit = dict[str, list[Change]](), dict[str, dict[str, Change]]()
        for commit, *blobs, path in _CHANGE.findall(output):
            if commit:
                at, changed = self.places[commit], by_commit.setdefault(commit, {})
                continue
            old, new = (blob if blob.strip("0") else "" for blob in blobs)
            changed[path] = change = Change(at, path, old, new)
            by_path.setdefault(path, []).append(change)
        return by_path, by_commit

    def changes(self, path: str) -> Sequence[Change]:
        """Return the changes of a file, oldest first."""
        return self._changes[0].get(path, ())

    def changed(self, commit: str) -> Mapping[str, Change]:
        """Return the changes of a commit by path."""
        return self._changes[1].get(commit, {})

    def below(self, path: str) -> list[str]:
        """Return the file, or the files that were ever in the folder."""
        return [one for one in self._changes[0] if one == path or one.startswith(f"{path}/")]

    def writers(self, path: str) -> Mapping[str, int]:
        """Return the place of the commit that wrote each line of a file, without the blanks."""
        options = ("-w", "-M", "--no-textconv", "--no-ignore-revs-file", self.head, "--", path)
        lines = _WRITTEN.findall(self._git("blame", "--porcelain", *options))
        listed = [line for line in reversed(lines) if line[0] in self.places]
        return {text.strip(): self.places[commit] for commit, text in listed}

    def holding(self, at: int, words: Collection[str]) -> Mapping[str, Mapping[str, str]]:
        """Return the blobs of a commit's code with each of some words; a file is read once."""
        wanted = {word.encode() for word in words}
        if not self._named.issuperset(wanted):
            self._named.update(wanted)
            self._words.clear()
            self._holding.clear()
        commit = self.commits[at].hash
        if commit not in self._holding:
            files = {path: one for path, one in self.files(commit).items() if is_indexed(path)}
            new = [*{*files.values()}.difference(self._words)]
            for start in range(0, len(new), _MOST_AT_ONCE):
                for blob, text in self.texts(new[start : start + _MOST_AT_ONCE]).items():
                    names = self._named.intersection(split_words(text.encode("utf-8", "replace")))
                    self._words[blob] = [name.decode() for name in names]
            holding = self._holding[commit] = defaultdict[str, dict[str, str]](dict)
            for path, blob in files.items():
                for word in self._words.get(blob, ()):
                    holding[word][path] = blob
        return self._holding[commit]

    @cached_property
    def _named(self) -> set[bytes]:
        """The words of symbols in all instruction files."""
        files = self.files(self.head)
        texts = self.texts(blob for path, blob in files.items() if is_instructions(path))
        spans = (span for text in texts.values() for span in re.findall("`([^`\n]+)`", text))
        return {one.word.encode() for span in spans if (one := symbol_in(span, 0))}

    def renamed(self, commit: str, path: str) -> str:
        """Return the new name of a file or folder that a commit renamed; empty if it didn't.

        A folder is renamed if more than a half of its files that went are in another.
        """
        if commit not in self._renames:
            options = ("-r", "-M", "--diff-filter=R", "--name-status", "-z", "--no-ext-diff")
            output = self._git("diff-tree", "--no-commit-id", "--no-textconv", *options, commit)
            parts = output.split("\0")
            self._renames[commit] = dict(zip(parts[1::3], parts[2::3], strict=False))
        renames, below = self._renames[commit], f"{path}/"
        new = Counter(
            after.removesuffix(before.removeprefix(path))
            for before, after in renames.items()
            if before.startswith(below) and after.endswith(before.removeprefix(path))
        )
        changed = self.changed(commit)
        gone = sum(not changed[one].new for one in changed if one.startswith(below))
        return renames.get(path) or next((to for to in new if 2 * new[to] > gone), "")

    def texts(self, blobs: Iterable[str]) -> Mapping[str, str]:
        """Return the texts of files by their blobs, but for large ones; all are read at once."""
        wanted = dict.fromkeys(filter(None, blobs))
        if new := [blob for blob in wanted if blob not in self._texts]:
            self._read(new)
        return {blob: text for blob in wanted if (text := self._texts.get(blob)) is not None}

    def _read(self, blobs: Sequence[str]) -> None:
        told = self._run(("cat-file", "--batch-check=%(objectsize)"), blobs).split(b"\n")
        # Of a file that git lacks, it says so.
        sizes = (int(one) if one.isdigit() else _LARGEST_FILE + 1 for one in told[:-1])
        if self._size > _MOST_BYTES:
            self._texts.clear()
            self._size = 0
        small, left = list[str](), _MOST_BYTES
        for blob, size in zip(blobs, sizes, strict=True):
            if size > _LARGEST_FILE:
                self._texts[blob] = None
            elif size <= left:
                left, self._size = left - size, self._size + size
                small.append(blob)
        stream = self._run(("cat-file", "--batch"), small) if small else b""
        for blob, data in zip(small, contents_in(stream), strict=True):
            self._texts[blob] = (data or b"").decode("utf-8", "replace")

    def _git(self, *arguments: str, codes: Collection[int] = (0,)) -> str:
        return self._run(arguments, codes=codes).decode("utf-8", "surrogateescape")

    def _run(
        self, arguments: tuple[str, ...], rows: Iterable[str] = (), codes: Collection[int] = (0,)
    ) -> bytes:
        left, stdin = self.end - monotonic(), "".join(f"{row}\n" for row in rows)
        return run_git(self.top, arguments, stdin, outside=self.top, seconds=left, codes=codes)


def history_of(root: Path, seconds: float, since: float = inf) -> History:
    """Return the history around a folder, with what earlier queries read of the same `HEAD`.

    `HEAD` is as of now, or `since` or later.

    Raises:
        RevisionError: There is none, or only a part of it.
    """
    history = _history(*_head(root, since if since < inf else monotonic()))
    history.end = monotonic() + seconds
    return history


@lru_cache(maxsize=_MOST_KEPT)
def _head(root: Path, _as_of: float) -> tuple[Path, str]:
    if clone := lacking(root):
        raise RevisionError(f"the clone is {clone}")
    output = run_git(root, ("rev-parse", "--show-toplevel", "HEAD"), outside=root)
    top, head = output.decode("utf-8", "surrogateescape").splitlines()
    return Path(top), head


_history = lru_cache(maxsize=_MOST_KEPT)(History)
