"""Names that meant something when their line was written, and no longer do."""

from __future__ import annotations

import json
import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import dropwhile, islice, takewhile
from math import inf
from pathlib import Path
from posixpath import basename, dirname, join, normpath
from time import monotonic
from typing import NamedTuple

from foldline.backends import SmartFileAccess
from foldline.backends.base.languages import CODE, is_indexed
from foldline.ide.errors import RevisionError
from foldline.ide.instructions.files import is_instructions
from foldline.ide.plugins import REPOSITORY_SECONDS
from foldline.plugins.instructions.history import Change, Commit, History, Verdict, history_of
from foldline.plugins.instructions.mentions import Kind, Mention
from foldline.plugins.instructions.targets import (
    MOST_USING,
    Targets,
    Tree,
    defines,
    is_of_tests,
    likely_names,
    names_in,
)
from foldline.version import VERSION

log = logging.getLogger(__name__)
_VERSION = VERSION, *(one.stat().st_mtime_ns for one in sorted(Path(__file__).parent.glob("*.*")))
"""Cached results are keyed by the version of this code and its tables."""
_SAID = re.compile(r"\b(?:[Rr]emoved?|[Dd]eprecated|[Ff]ormerly|[Nn]o longer|used to)\b")
"""Lines that already say that something is gone."""
OF_OTHERS = re.compile(r"(?:^|/)(?:skills|templates?|fixtures?|testdata|examples?)/")
"""Folders whose files instruct agents elsewhere."""
_COPIED = re.compile(r"\.d\.[cm]?ts\Z|(?:^|/)(?:vendor|third[_-]party|node_modules)/").search
_OF_PATHS = (Kind.PATH, Kind.GLOB)
_MORE_SECONDS = 5.0
"""How long after the deadline of the history names are still looked up in the files."""
_MOST_FILES = 200
_MOST_PARSED = 32
_MOST_LINES = 20
_MOST_NEAR = 10


class StaleMention(NamedTuple):
    """A mention of what is no more.

    Attributes:
        commit: The commit that removed it; None if that isn't known, or not committed yet.
        near: What it may be called now, to stand in its place; empty if nothing is like it.
    """

    mention: Mention
    commit: Commit | None
    near: str

    @property
    def message(self) -> str:
        """The finding as a sentence."""
        one = self.commit
        gone = f"{one.hash[:8]} of {one.date} removed it: {one.subject}" if one else "it's gone now"
        text = f"`{self.mention.name}` existed when this line was written; {gone}"
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
    end, index = monotonic() + seconds, access.index
    if not (every := tuple(mentions)):
        return ()
    targets = Targets(access, path, since)
    try:
        history = history_of(access.file_backend.root, end - monotonic(), since)
        key = blake2b(f"{_VERSION}\0{history.head}\0{path}\0{text}".encode("utf-8", "replace"))
        key.update(targets.digest)
        if index is not None and (kept := index.outline(key.digest())) is not None:
            rows = json.loads(kept)
            return tuple(StaleMention(every[at], by and Commit(*by), near) for at, by, near in rows)
        if index is not None:
            # While code is being indexed, each name has all files read that the index lacks.
            index.wait(seconds / 2, CODE, targets.as_of)
        in_time = takewhile(lambda _: monotonic() < end, every)
        waiting = [one for one in in_time if not targets.has(one)]
        search = Search(history, targets, path, text)
        found = tuple(search.stale(waiting) if waiting else ())
    except (RevisionError, ValueError) as error:
        log.info("no history of %s: %s", path, error)
        return ()
    if index is not None and monotonic() < end:
        rows = [(every.index(one.mention), one.commit, one.near) for one in found]
        index.keep_outline(key.digest(), json.dumps(rows))
    return found


def line_of(text: str, mention: Mention) -> str:
    """Return the line of a mention, without the blanks around it."""
    start = text.rfind("\n", 0, mention.start) + 1
    return text[start : text.find("\n", mention.start) % (len(text) + 1)].strip()


class Search:
    """The search for what ended the mentions of one file."""

    def __init__(self, history: History, targets: Targets, path: str, text: str) -> None:
        self.history = history
        self.targets = targets
        root = targets.access.file_backend.root
        self._root = root.resolve().relative_to(history.top.resolve())
        self._path = (self._root / path).as_posix()
        self._folder = dirname(self._path)
        self._text = text
        self._of_tests = is_of_tests(path)

    def stale(self, waiting: Iterable[Mention]) -> Iterable[StaleMention]:
        """Yield the stale ones of mentions that mean nothing now, or several things."""
        waiting = [one for one in waiting if not _SAID.search(line_of(self._text, one))]
        sparse = self.history.is_sparse
        with suppress(RevisionError):
            self._judge([one for one in waiting if self._key(one) not in self.history.verdicts])
        for mention in waiting:
            verdict = self.history.verdicts.get(self._key(mention))
            if verdict is None or (verdict.ended is None and sparse):
                continue
            if monotonic() > self.history.end + _MORE_SECONDS:
                break
            if not self.targets.exists(mention, self._here(verdict.homes)):
                yield StaleMention(mention, verdict.ended, self._near(mention, verdict))

    def _judge(self, new: Sequence[Mention]) -> None:
        """Find the verdicts on some mentions; those before a RevisionError stay known."""
        written = self.history.writers(self._path) if new else {}
        groups = defaultdict[int, list[Mention]](list)
        for mention in new:
            if (at := written.get(line_of(self._text, mention))) is not None:
                groups[at].append(mention)
        for at, group in groups.items():
            self._read_ahead(at, group)
            for mention in group:
                self.history.verdicts[self._key(mention)] = self._verdict(at, mention)

    def _read_ahead(self, at: int, group: Iterable[Mention]) -> None:
        """Read at once what the verdicts on some mentions of a commit need."""
        symbols = [one for one in group if one.kind == Kind.SYMBOL]
        self.history.holding(at, [one.word for one in symbols])
        homes = {home for one in symbols for home in self.homes(at, one)}
        changes = (one for home in homes for one in self.history.changes(home) if one.at > at)
        self.history.texts(blob for one in changes for blob in (one.old, one.new))

    def _key(self, mention: Mention) -> tuple[str, str, str]:
        return self._path, line_of(self._text, mention), mention.name

    def _here(self, paths: Iterable[str]) -> list[str]:
        """Return those of the repository's paths that are in the folder, as it has them."""
        above = f"{self._root.as_posix()}/".removeprefix("./")
        return [path.removeprefix(above) for path in paths if path.startswith(above)]

    def _verdict(self, at: int, mention: Mention) -> Verdict | None:
        """Return what a mention meant in a commit, and how long; None if it meant nothing."""
        homes = self.homes(at, mention)
        while homes:
            ends = [self._lost(mention, home, at) for home in homes]
            if None in ends:
                return Verdict(homes, None)
            # It grows, so that this ends.
            if not (at := max(end or 0 for end in ends)):
                return None
            if not (moved := self._moved(at, mention)):
                return Verdict(homes, self.history.commits[at])
            homes = moved
        return None

    def homes(self, at: int, mention: Mention) -> tuple[str, ...]:
        """Return the files and folders that a mention meant in a commit."""
        history, words = self.history, [mention.word] * (mention.kind == Kind.SYMBOL)
        blobs = history.holding(at, words)[words[0]] if words else {}
        return self._homes(history.tree(history.commits[at].hash), mention, blobs)

    def _moved(self, at: int, mention: Mention) -> tuple[str, ...]:
        """Return the files in which a commit put what a mention means."""
        changed = self.history.changed(self.history.commits[at].hash)
        blobs = {path: one.new for path, one in changed.items() if one.new}
        return self._homes(self.history.tree_of(blobs), mention, blobs)

    def _homes(self, tree: Tree, mention: Mention, blobs: Mapping[str, str]) -> tuple[str, ...]:
        """Return what a mention means in a tree; of symbols, in files given with their blobs."""
        found = tree.find(mention, self._folder)
        paths = [one if isinstance(one, str) else one.path for one in found]
        name = mention.name.strip("/")
        if mention.kind == Kind.PATH and ("/" not in name or OF_OTHERS.search(self._path)):
            # `settings.json` alone is also a word for those of other projects.
            beside = {normpath(one) for one in (name, join(self._folder, name))}
            paths = [path for path in paths if path in beside]
        is_symbol = mention.kind == Kind.SYMBOL
        return tuple(paths) or (self._defining(mention, blobs) if is_symbol else ())

    def _defining(self, mention: Mention, blobs: Mapping[str, str]) -> tuple[str, ...]:
        """Return those of some files that define a symbol."""
        word, every = mention.word, [path for path in blobs if is_indexed(path)]
        tests = self._of_tests or word.lower().startswith("test")
        code = [one for one in every if not _COPIED(one) and (tests or not is_of_tests(one))]
        texts = self.history.texts(blobs[path] for path in code[:_MOST_FILES])
        using = [(path, text) for path in code if word in (text := texts.get(blobs[path], ""))]
        if len(using) > MOST_USING:
            # To parse all files that use a name takes long.
            using = [one for one in using if word in likely_names(*one)][:_MOST_PARSED]
        return tuple(path for path, text in using if defines(path, text, mention))

    def _has(self, mention: Mention, change: Change) -> bool:
        """Return whether a changed file has what is meant; a large one, without a text, may."""
        if mention.kind in _OF_PATHS or not self.history.texts([change.new]):
            return bool(change.new)
        blobs = {change.path: change.new}
        return bool(self._homes(self.history.tree_of(blobs), mention, blobs))

    def _lost(self, mention: Mention, home: str, at: int) -> int | None:
        """Return the place of the commit by which a file or folder lost a meaning.

        None if it didn't, or only in a merge; 0 if that isn't known.
        """
        history, ends = self.history, [0]
        for path in history.below(home) if mention.kind in _OF_PATHS else [home]:
            changes = [one for one in reversed(history.changes(path)) if one.at > at]
            if mention.kind not in _OF_PATHS:
                history.texts(one.new for one in changes)
            if self._has(mention, Change(0, path, "", history.files(history.head).get(path, ""))):
                return None
            # Of branches that were merged, the one that still has it may come last.
            own = [one for one in changes if " " not in history.commits[one.at].parents]
            kept = dropwhile(lambda one: self._has(mention, one), own or changes)
            gone = [*takewhile(lambda one: not self._has(mention, one), kept)]
            if changes and not gone:
                return None
            ends += [one.at for one in gone[-1:]]
        return max(ends)

    def _near(self, mention: Mention, verdict: Verdict) -> str:
        """Return what stands in place of a mention now; a path means one thing."""
        every = {Kind.PATH: self._near_paths, Kind.SYMBOL: self._near_symbols}.get(mention.kind)
        means = self.targets.of if mention.kind == Kind.PATH else self.targets.has
        with suppress(RevisionError):
            for near in islice(every(mention, verdict), _MOST_NEAR) if every else ():
                if near != mention.name and means(mention._replace(name=near)):
                    return near + "/" * mention.name.endswith("/")
        return ""

    def _near_paths(self, mention: Mention, verdict: Verdict) -> Iterator[str]:
        """Yield what git says that a path was renamed to, and the only path of its base name."""
        name, ended = mention.name.rstrip("/"), verdict.ended
        for path in verdict.homes if ended else ():
            if ended and (new := self.history.renamed(ended.hash, path)):
                shorter = "/".join(new.split("/")[-len(name.split("/")) :])
                yield from (new.removeprefix(path.removesuffix(name)), shorter, new)
        same = [path for path in self.targets.tree.paths if basename(path) == basename(name)]
        # Many files are called `AGENTS.md` or `SKILL.md`: that tells nothing.
        yield from same if len(same) == 1 and not is_instructions(same[0]) else ()

    def _near_symbols(self, mention: Mention, verdict: Verdict) -> Iterator[str]:
        """Yield a symbol's name with the part that was renamed, in lines with no other change."""
        for path in verdict.homes:
            before, after = self._around(path, verdict.ended)
            old, new = (
                {part for name in names_in(path, text) for part in name.split(".")}
                for text in (before, after)
            )
            for part in reversed(mention.dotted.split(".")):
                for one in _renamed(part, before, after):
                    if one in new - old:
                        yield re.sub(rf"\b{part}\b", one, mention.name)

    def _around(self, path: str, ended: Commit | None) -> tuple[str, str]:
        """Return a file's text before and after a commit; without one, at `HEAD` and now."""
        if ended is None:
            after = "".join(map(self.targets.tree.read, self._here([path])))
            return self.history.tree(self.history.head).read(path), after
        changed = self.history.changed(ended.hash)
        if (change := changed.get(path)) is None:
            return "", ""
        to = path if change.new else self.history.renamed(ended.hash, path)
        new = changed[to].new if to else ""
        texts = self.history.texts([change.old, new])
        return texts.get(change.old, ""), texts.get(new, "")


def _renamed(word: str, before: str, after: str) -> Iterator[str]:
    """Yield what stands for a word now in lines that differ in nothing else.

    As many such lines are taken in their order.
    """
    old, new = before.splitlines(), after.splitlines()
    kept = {*old} & {*new}
    gone, added = ([line for line in lines if line not in kept] for lines in (old, new))
    for line in islice((line for line in gone if line.count(word) == 1), _MOST_LINES):
        head, _, tail = line.partition(word)
        fits = re.compile(rf"{re.escape(head)}(\w+){re.escape(tail)}").fullmatch
        was, now = ([one[1] for one in map(fits, lines) if one] for lines in (gone, added))
        if len(was) == len(now):
            yield now[was.index(word)]
