"""Names that meant something when their line was written, and no longer do."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice, takewhile
from math import inf
from posixpath import basename, dirname, join, splitext
from time import monotonic
from typing import NamedTuple

from foldline.backends import SmartFileAccess
from foldline.backends.base.languages import CODE
from foldline.backends.base.near_names import near_names
from foldline.backends.errors import BackendError
from foldline.ide.errors import RevisionError
from foldline.ide.plugins import REPOSITORY_SECONDS
from foldline.plugins.instructions.history import Commit, History, history_of
from foldline.plugins.instructions.mentions import Kind, Mention
from foldline.plugins.instructions.targets import Targets, defined_in, defines, is_of_tests

log = logging.getLogger(__name__)
_MORE_SECONDS = 5.0
"""How long after that what was found is looked for in the files."""
_MOST_MERGES = 8
_LIKE = 0.85
_MOST_LINES = 20


class StaleMention(NamedTuple):
    """A mention of what is no more.

    Attributes:
        commit: The commit that ended it; None if it isn't committed yet.
        near: What it may be called now, to stand in its place; empty if nothing is like it.
    """

    mention: Mention
    commit: Commit | None
    near: str

    @property
    def message(self) -> str:
        """The finding as a sentence."""
        name, commit = self.mention.name, self.commit
        if commit is None:
            text = f"`{name}` is in the last commit, and no longer in the files"
        else:
            what = f"{commit.hash[:8]} of {commit.date} ended it: {commit.subject}"
            text = f"`{name}` meant something when this line was written; {what}"
        return text + (f"; did you mean `{self.near}`?" if self.near else "")


def stale_mentions(
    access: SmartFileAccess,
    path: str,
    text: str,
    mentions: Iterable[Mention],
    *,
    seconds: float = REPOSITORY_SECONDS,
    since: float = inf,
) -> tuple[StaleMention, ...]:
    """Return the mentions of a file that its history resolves, and its repository doesn't.

    Those that cannot be told in some seconds are left out, as are all outside of a repository, in a
    shallow clone, and on lines that aren't committed. Files are as of now, or `since` or later.
    """
    end = monotonic() + seconds
    if (index := access.index) is not None:
        # While code is being indexed, each name has all files read that the index lacks.
        index.wait(seconds / 2, CODE)
    targets = Targets(access, path, since)
    in_time = takewhile(lambda _: monotonic() < end, mentions)
    waiting = [one for one in in_time if not targets.of(one)]
    if not waiting:
        return ()
    try:
        history = history_of(access.file_backend.root, end - monotonic())
        return tuple(Search(history, access, path, text, since).stale(waiting))
    except (RevisionError, ValueError) as error:
        log.info("no history of %s: %s", path, error)
        return ()


def line_of(text: str, mention: Mention) -> str:
    """Return the line of a mention, without the blanks around it."""
    start = text.rfind("\n", 0, mention.start) + 1
    return text[start : text.find("\n", mention.start) % (len(text) + 1)].strip()


class Search:
    """The search for what ended the mentions of one file."""

    def __init__(
        self, history: History, access: SmartFileAccess, path: str, text: str, since: float = inf
    ) -> None:
        self.history = history
        self._access = access
        self._file, self._since = path, since
        root = access.file_backend.root.resolve()
        self._path = (root / path).relative_to(history.top.resolve()).as_posix()
        self._text = text
        self._of_tests = is_of_tests(path)

    @cached_property
    def targets(self) -> Targets:
        """Names as they mean something now: by then, what changed is indexed."""
        return Targets(self._access, self._file, self._since)

    def stale(self, waiting: Iterable[Mention]) -> Iterable[StaleMention]:
        """Yield the stale ones of mentions that mean nothing now, or several things."""
        waiting, sparse = list(waiting), self.history.is_sparse
        try:
            self._judge([one for one in waiting if self._key(one) not in self.history.verdicts])
        except RevisionError as error:
            log.info("not all of the history of %s: %s", self._path, error)
        for mention in waiting:
            verdict = self.history.verdicts.get(self._key(mention), False)
            ended = None if isinstance(verdict, bool) else verdict
            if not verdict or (ended is None and sparse):
                continue
            if monotonic() > self.history.end + _MORE_SECONDS:
                break
            if not self.targets.exists(mention):
                yield StaleMention(mention, ended, self._near(mention, ended))

    def _judge(self, new: Iterable[Mention]) -> None:
        """Find the verdicts on some mentions; those before a RevisionError stay known."""
        by_line = self._committed(new)
        written = self.history.writers(self._path, by_line) if by_line else {}
        groups: dict[str, list[Mention]] = {}
        for line, group in by_line.items():
            groups.setdefault(written[line], []).extend(group)
        for commit, group in groups.items():
            self.history.defining(commit, {one.word for one in group if one.kind == Kind.SYMBOL})
            for mention in group:
                self.history.verdicts[self._key(mention)] = self._verdict(commit, mention)

    def _key(self, mention: Mention) -> tuple[str, str, str]:
        return self._path, line_of(self._text, mention), mention.name

    def _verdict(self, commit: str, mention: Mention) -> Commit | bool:
        if not self.resolves(commit, mention):
            return False
        if self.resolves(self.history.head, mention, commit):
            return True
        return self._end(mention, commit, self.history.head)

    def _committed(self, waiting: Iterable[Mention]) -> dict[int, list[Mention]]:
        """Return mentions by their line at `HEAD`, without those of lines that it hasn't."""
        numbers: dict[str, int] = {}
        text = self.history.tree(self.history.head).read(self._path)
        for number, line in enumerate(text.split("\n"), 1):
            numbers.setdefault(line.strip(), number)
        by_line: dict[int, list[Mention]] = {}
        for mention in waiting:
            at = numbers.get(line_of(self._text, mention))
            if at is not None:
                by_line.setdefault(at, []).append(mention)
        return by_line

    def resolves(self, commit: str, mention: Mention, good: str = "") -> bool:
        """Return whether a mention meant something in a commit; it did in the commit `good`."""
        folder = dirname(self._path)
        target = self.history.tree(commit).find(mention, folder)
        if mention.kind == Kind.PATH and "/" not in mention.name:
            # `settings.json` alone is also a word for those of other projects.
            return any(path in target for path in (mention.name, join(folder, mention.name)))
        if target or mention.kind != Kind.SYMBOL:
            return bool(target)
        # Most names stay where they were; to search all files takes much longer.
        homes = self.history.files(commit).keys() & (self._files(good, mention) if good else ())
        return bool((homes and self._files(commit, mention, homes)) or self._files(commit, mention))

    def _files(self, commit: str, mention: Mention, within: Collection[str] = ()) -> list[str]:
        """Return the files that define a symbol in a commit; of those `within`, if any are."""
        word = mention.word
        return [
            path
            for path, names in self.history.defining(commit, [word], within).items()
            if defines(path, names, mention)
            and (self._of_tests or word.lower().startswith("test") or not is_of_tests(path))
        ]

    def _end(self, mention: Mention, good: str, bad: str) -> Commit | bool:
        """Return the commit after `good`, up to `bad`, that ended a meaning; False for too many."""
        commit: Commit | bool = False
        for _ in range(_MOST_MERGES):
            commits = self.history.since(good, bad)
            low, high = -1, len(commits) - 1
            if high < 0:
                break
            while high - low > 1:
                middle = (low + high) // 2
                resolves = self.resolves(commits[middle], mention, good)
                low, high = (middle, high) if resolves else (low, middle)
            commit = self.history.commit(commits[high])
            # A merge of what another branch ended.
            earlier = (one for one in commit.parents if one in commits[:high])
            before = next((one for one in earlier if not self.resolves(one, mention, good)), None)
            if before is None:
                break
            bad = before
        return commit

    def _near(self, mention: Mention, ended: Commit | None) -> str:
        """Return what may stand in place of a mention now; it means one thing."""
        with suppress(RevisionError):
            if monotonic() > self.history.end:
                return ""
            for near in islice(self._nearest(mention, ended), 10):
                if near != mention.name and self.targets.of(mention._replace(name=near)):
                    return near
        return ""

    def _nearest(self, mention: Mention, ended: Commit | None) -> Iterable[str]:
        if mention.kind == Kind.PATH:
            return self._near_paths(mention.name.rstrip("/"), ended)
        return self._near_symbols(mention, ended) if mention.kind == Kind.SYMBOL else ()

    def _near_paths(self, name: str, ended: Commit | None) -> Iterable[str]:
        if ended is not None and ended.parents:
            for path in self.history.tree(ended.parents[0]).named(name, dirname(self._path)):
                if new := self.history.renamed(ended.hash, path):
                    yield new.removeprefix(path.removesuffix(name))
                    yield new
        paths = self.targets.tree.paths
        same = [path for path in paths if basename(path) == basename(name)]
        yield from same if len(same) == 1 else near_names(name, same)
        if ending := splitext(name)[1]:
            yield from near_names(name, (path for path in paths if path.endswith(ending)))

    def _near_symbols(self, mention: Mention, ended: Commit | None) -> Iterable[str]:
        word = mention.word
        above = mention.name.removesuffix(word)
        old = self.history.head if ended is None else next(iter(ended.parents), None)
        if old is not None:
            before = {path: self.history.tree(old).read(path) for path in self._files(old, mention)}
            after = {path: self._text_after(ended, path) for path in before}
            now = (defined_in(path, text) for path, text in after.items())
            new = set().union(*now) - self.history.defined(old, before)
            renamed = [one for path in before for one in _renamed(word, before[path], after[path])]
            for one in (*(one for one in renamed if one in new), *near_names(word, new)):
                yield above + one
        index = self._access.index
        for one in near_names(word, index.last_defined() if index else (), _LIKE):
            # What is merely like it is something else, as is a variable beside a type.
            if SequenceMatcher(None, word, one).ratio() >= _LIKE:
                yield above + one

    def _text_after(self, ended: Commit | None, path: str) -> str:
        """Return a file's text in the commit that ended something, or as it is now."""
        if ended is not None:
            return self.history.tree(ended.hash).read(path)
        files = self._access.file_backend
        try:
            return files.load((self.history.top / path).relative_to(files.root).as_posix()).text
        except (BackendError, ValueError):
            return ""


def _renamed(word: str, before: str, after: str) -> Iterable[str]:
    """Yield what stands for a word now in lines that differ in nothing else."""
    old, new = before.splitlines(), after.splitlines()
    kept = set(new)
    gone = [line for line in old if line not in kept and line.count(word) == 1]
    kept = set(old)
    added = [line for line in new if line not in kept]
    for line in gone[:_MOST_LINES]:
        head, _, tail = line.partition(word)
        for one in added:
            name = one.removeprefix(head).removesuffix(tail)
            if name.isidentifier() and one == head + name + tail:
                yield name
