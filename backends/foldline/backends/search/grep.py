"""Regular expressions over files, in bounded time."""

from __future__ import annotations

import re
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends import errors
from foldline.backends.base.bounded_regex import (
    GREP_SECONDS,
    LinePattern,
    PatternTimeoutError,
    spans_lines,
)
from foldline.backends.base.path_kinds import CODE, path_kind
from foldline.backends.base.reading import unknown
from foldline.backends.base.waiting import coroutine_of
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.text import files_text, grep_lines
from foldline.backends.models import COMPLETE, GrepMatch, GrepResults
from foldline.backends.search.walks import Scope, left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from foldline.backends.files.base import FileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.search.walks import Walked, Walks

_KIND = "grep"
_MOST_CONTEXT = 50
# Code points of a line that are kept: more than is shown, less than a minified file.
_LONGEST_LINE = 400
SHOWN = ("lines", "files", "counts")
# Lines of each file that come first, lines of the same text that come with the first of them, and
# the bytes that a line takes at least.
_MOST_OF_FILE = 3
_MOST_EQUAL = 3
_SMALLEST = 4
# Different texts that are remembered: memory has a bound.
_MOST_TEXTS = 10_000
# So few lines are shown with those that they are nested in, and so many with how they go on.
_FEW, _SOME = 2, 10
_MOST_ABOVE, _MOST_BELOW = 3, 3
_WORD = re.compile(r"\w")
_COMMENTS = ("#", "//", "/*", "*")


async def grep_files(
    files: FileBackend,
    walks: Walks,
    index: WorkspaceIndex | None,
    pattern: str,
    glob: str | None = None,
    *,
    context: int = 0,
    ignore_case: bool = False,
    show: str = "lines",
    budget: int | None = None,
    cursor: str | None = None,
    no_ignore: bool = False,
    seconds: float | None = None,
) -> GrepResults:
    r"""The lines that match `pattern`, in the files of a folder or glob; code first, text last.

    Patterns have the syntax of `regex`, and a time limit. Matches span lines where the pattern says
    so: by `\n`, `(?s)` or `[\s\S]`. One that matches nothing is taken as plain text.

    With a budget, pages begin with three lines of each file; lines of the same text count as one.
    `show` may be `files` or `counts`: these have no lines.

    After `seconds` it returns what it has found, and `coverage` says so; None sets no limit.

    Raises:
        InvalidArgumentError: The pattern doesn't compile.
        NoMatchError: The glob matches no file.
    """
    since = monotonic()
    budgets.check_budget(budget)
    if not 0 <= context <= _MOST_CONTEXT:
        raise errors.InvalidArgumentError("context", f"{context} is not from 0 to {_MOST_CONTEXT}")
    if not pattern:
        raise errors.InvalidArgumentError("pattern", "is empty, which matches every line")
    if show not in SHOWN:
        raise errors.InvalidArgumentError("show", unknown(show, SHOWN, "value"))
    first = budgets.read_cursor(_KIND, cursor)
    if index is not None:
        # A walk that begins with the kept list compares times, and opens no folder.
        index.recall()
    walked = await Scope(files, glob, no_ignore=no_ignore).walked(walks, since)

    async def results_of(text: str, literal: str = "") -> GrepResults:
        compiled = LinePattern(text, ignore_case=ignore_case)
        without: Collection[str] = ()
        if index is not None and not ignore_case:
            without = await coroutine_of(index.files_without)(required_parts(text), since=since)
        across = spans_lines(text)
        search = _Search(files, walked, without, seconds, across=across)
        matching = partial(_matching_lines, compiled, across=across)
        pages = _Pages(search.read, matching, first, context, budget)
        for path, data in search.texts():
            pages.add(path, data)
        results = GrepResults(
            pattern,
            (),
            sum(pages.counts.values()),
            len(pages.counts),
            search.searched,
            reason=_reason(files, walked, search, pages),
            coverage=search.coverage,
            show=show,
            literal=literal,
        )
        return pages.page(results)

    refusal, results = None, None
    try:
        results = await results_of(pattern)
    except errors.InvalidArgumentError as error:
        refusal = error
    plain = _PUNCTUATION.sub(r"\\\g<0>", pattern)
    if plain != pattern and (results is None or results.total == 0):
        why = "not a regular expression" if refusal else "no line as a regular expression"
        as_text = await results_of(plain, why)
        results = as_text if as_text.total else results
    if refusal is not None and results is None:
        raise refusal
    assert results is not None
    return results


class _Search:
    """The texts of a walk's files, as far as the time allows.

    Attributes:
        searched: How many were yielded, or left out since they are known to have no match.
        too_large: The paths over the size limit.
        unreadable: The folders and files that the system refuses to read.
        binary: How many aren't text.
    """

    def __init__(
        self,
        files: FileBackend,
        walked: Walked,
        without: Collection[str],
        seconds: float | None,
        *,
        across: bool,
    ) -> None:
        self._across = across
        self.too_large: list[str] = []
        self.unreadable = [*walked.refused]
        self.binary = 0
        self.coverage = walked.coverage
        self._files = files
        self._paths = [stamp.path for stamp in walked.stamps if stamp.path not in without]
        self._paths.sort(key=path_kind)
        self.searched = len(walked.stamps) - len(self._paths)
        self._seconds = seconds

    def read(self, path: str) -> bytes:
        """The UTF-8 text of a file; for a pattern across lines, these end as the pattern says."""
        data = self._files.load(path).parse_data
        return data.replace(b"\r\n", b"\n") if self._across else data

    def texts(self) -> Iterator[tuple[str, bytes]]:
        """The path and UTF-8 text of each file that may have a match."""
        end = None if self._seconds is None else monotonic() + self._seconds
        for number, path in enumerate(self._paths):
            if end is not None and monotonic() > end:
                self.coverage = self._partial(number)
                return
            try:
                data = self.read(path)
            except errors.FileTooLargeError:
                self.too_large.append(path)
                continue
            except errors.UnreadablePathError:
                self.unreadable.append(path)
                continue
            except errors.PathError as error:
                # Else special, or gone.
                self.binary += isinstance(error, errors.BinaryFileError)
                continue
            self.searched += 1
            yield path, data

    def _partial(self, number: int) -> str:
        more = "" if self.coverage == COMPLETE else " and more"
        return (
            f"partial: {number:,} of {len(self._paths):,}{more} files were searched in "
            f"{self._seconds:.3g} s; name a folder or a glob"
        )


class _Place(NamedTuple):
    """A matching line: its row, its first byte, and the match's column in bytes.

    `begins` is False for a line in which a match goes on, `whole` True if it has all of it.
    """

    row: int
    start: int
    byte: int
    begins: bool
    whole: bool


@dataclass
class _Pages:
    """The matching lines in the order of pages: the first three of each file, then the others.

    Where an earlier line has the same text, a line goes with that one; the first three do at once.

    Attributes:
        counts: The matching lines of each file.
    """

    read: Callable[[str], bytes]
    matching: Callable[[bytes], Iterator[_Place]]
    first: int
    context: int
    budget: int | None
    counts: dict[str, int] = field(default_factory=dict)
    _taken: int = 0
    _kept: list[tuple[GrepMatch, bytes, int]] = field(default_factory=list)
    _before: Counter[str] = field(default_factory=Counter)
    # The numbers of each file's lines that come first; by text, the lines found and taken.
    _early: dict[str, set[int]] = field(default_factory=dict)
    _equal: dict[bytes, list[int]] = field(default_factory=dict)

    @property
    def _last(self) -> int:
        """A number behind the last line that the page may reach."""
        room = sys.maxsize if self.budget is None else self.budget // _SMALLEST + 1
        return self.first + room

    def add(self, path: str, data: bytes) -> None:
        """Count the matching lines of the next file, and take its first ones."""
        early: set[int] = set()
        count = number = 0
        chosen = False
        for number, match in enumerate(self.matching(data), 1):
            text = self._text(data, match)
            if text and len(self._equal) < _MOST_TEXTS:
                self._equal.setdefault(text, [0, 0])
            equal = self._equal.get(text, [0, 0])
            equal[0] += 1
            if equal[1]:
                chosen = equal[1] <= _MOST_EQUAL
            elif match.begins:
                chosen = count < _MOST_OF_FILE or self.budget is None
                count += 1
            if chosen:
                early.add(number)
                self._take(path, data, match)
        if number:
            self.counts[path], self._early[path] = number, early

    def page(self, results: GrepResults) -> GrepResults:
        """The results with as many lines or files as fit the budget, at least one."""
        self._add_others()
        order = {path: number for number, path in enumerate(self.counts)}
        matches = [
            replace(match, equal=self._equal[text][0] - number) if text else match
            for match, text, number in self._kept
        ]
        if results.total <= _SOME and isinstance(self.budget, budgets.DefaultBudget):
            matches = [self._around(match, nested=results.total <= _FEW) for match in matches]
        every = [*self.counts.items()][self.first :]
        is_lines = results.show == "lines"
        total = results.total if is_lines else results.files

        def part(count: int) -> GrepResults:
            last = self.first + count
            cursor = budgets.make_cursor(_KIND, last) if last < total else None
            if not is_lines:
                return replace(results, counts=tuple(every[:count]), cursor=cursor)
            kept = sorted(matches[:count], key=lambda match: (order[match.path], match.line))
            shown = self._before + Counter(match.path for match in kept)
            paths = dict.fromkeys(match.path for match in kept)
            left = tuple((path, n) for path in paths if (n := self.counts[path] - shown[path]))
            return replace(results, matches=tuple(kept), counts=left, cursor=cursor)

        count = len(matches) if is_lines else len(every)
        if (budget := self.budget) is not None:
            count = budgets.most(
                count, lambda n: budgets.size_of_lines(grep_lines(part(n))) <= budget
            )
        return part(count)

    def _around(self, match: GrepMatch, *, nested: bool) -> GrepMatch:
        """The match with the lines that it's nested in, or those that it begins, in code."""
        if self.context or path_kind(match.path) != CODE:
            return match
        with suppress(errors.PathError):
            lines = self.read(match.path).decode("utf-8", "replace").split("\n")
            around = _lines_above(lines[: match.line]) if nested else _below(lines, match.line)
            return replace(match, around=tuple(around))
        return match

    def _add_others(self) -> None:
        """Take the lines that don't come first, as far as the page may reach."""
        for path, early in self._early.items():
            if self._taken >= self._last:
                return
            if len(early) == self.counts[path]:
                continue
            with suppress(errors.PathError):
                data = self.read(path)
                for number, match in enumerate(self.matching(data), 1):
                    if number not in early:
                        self._take(path, data, match)

    def _take(self, path: str, data: bytes, place: _Place) -> None:
        equal = self._equal.get(text := self._text(data, place))
        if equal is not None:
            equal[1] += 1
        if self._taken < self.first:
            self._before[path] += 1
        elif self._taken < self._last:
            match = _match(path, data, place, self.context)
            self._kept.append((match, text, equal[1]) if equal is not None else (match, b"", 0))
        self._taken += 1

    def _text(self, data: bytes, place: _Place) -> bytes:
        """The text by which lines are equal; empty where they are told apart."""
        if self.budget is None or self.context or not place.whole:
            return b""
        line = _bytes_of_line(data, place.start)
        return line.strip() if len(line) < _LONGEST_LINE else b""


def _reason(files: FileBackend, walked: Walked, search: _Search, pages: _Pages) -> str:
    reasons = []
    if not pages.counts:
        binary = [f"{search.binary} binary"] if search.binary else ()
        reasons.append(f"no line of {files_text(search.searched)} matches")
        reasons += filter(None, [left_out(files, walked, binary)])
    for why, paths in (
        ("over the size limit", search.too_large),
        ("not readable", search.unreadable),
    ):
        if paths:
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            reasons.append(f"{why} and not searched: {paths[0]}{more}")
    return "; ".join(reasons)


def _matching_lines(pattern: LinePattern, data: bytes, *, across: bool) -> Iterator[_Place]:
    """Each line with a part of a match; those of one match follow each other."""
    position = row = counted = 0
    last = -1
    end_of_time = monotonic() + GREP_SECONDS
    while position <= len(data) and (match := _search(pattern, data, position, end_of_time)):
        at, end = match
        start = data.rfind(b"\n", 0, at) + 1
        if start >= len(data) and data:
            return  # No line follows the final newline.
        newline = data.find(b"\n", at)
        is_whole = newline < 0 or end <= newline + 1
        while True:
            if start > last:
                row += data.count(b"\n", counted, start)
                yield _Place(row, start, max(at - start, 0), start <= at, is_whole)
                counted = last = start
            newline = data.find(b"\n", start)
            if newline < 0:
                return
            start = newline + 1
            if start >= end:
                break
        position = max(end, at + 1) if across else start


def _search(
    pattern: LinePattern, data: bytes, position: int, end_of_time: float
) -> tuple[int, int] | None:
    try:
        if monotonic() > end_of_time:
            raise PatternTimeoutError
        return pattern.search(data, position)
    except PatternTimeoutError:
        raise errors.InvalidArgumentError(
            "pattern", "takes too long: leave out repetition within repetition, such as (a+)+"
        ) from None


def _match(path: str, data: bytes, place: _Place, context: int) -> GrepMatch:
    row, start, byte = place[:3]
    line = _line_at(data, start)
    before: list[str] = []
    above = start
    while len(before) < context and above > 0:
        above = data.rfind(b"\n", 0, above - 1) + 1
        before.append(_line_at(data, above)[:_LONGEST_LINE])
    after: list[str] = []
    below = data.find(b"\n", start)
    while len(after) < context and 0 <= below < len(data) - 1:
        after.append(_line_at(data, below + 1)[:_LONGEST_LINE])
        below = data.find(b"\n", below + 1)
    column = len(data[start : start + byte].decode("utf-8", "replace")) + 1
    first = max(column - 1 - _LONGEST_LINE // 3, 0) if len(line) > _LONGEST_LINE else 0
    return GrepMatch(
        path,
        row + 1,
        line[first : first + _LONGEST_LINE],
        column,
        tuple(reversed(before)),
        tuple(after),
        first + 1,
    )


def _lines_above(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The numbered lines that the last one is nested in, by indentation: the nearest, in order."""
    above: list[tuple[int, str]] = []
    least = _indent(lines[-1])
    for number in range(len(lines) - 1, 0, -1):
        line, text = lines[number - 1], lines[number - 1].strip()
        if len(above) == _MOST_ABOVE:
            break
        if text and not text.startswith(_COMMENTS) and _indent(line) < least:
            opens = text == "{"
            if not opens:
                above.append((number, line.rstrip()[:_LONGEST_LINE]))
            # What a bracket ends, or one alone begins, begins at the same depth.
            least = _indent(line) + (opens or text.startswith((")", "]", "}")))
    return above[::-1]


def _below(lines: Sequence[str], number: int) -> list[tuple[int, str]]:
    """The numbered lines that one opens with what is done else, or the next part of a list."""
    line, below = lines[number - 1].rstrip(), list[tuple[int, str]]()
    most = 0 if line.lstrip().startswith(_COMMENTS) else _MOST_BELOW
    for at, text in enumerate(lines[number : number + most], number + 1):
        deeper = _indent(text) - _indent(line)
        goes_on = deeper > 0 or below or line.endswith(",")
        if deeper < 0 or not goes_on or not _WORD.search(text):
            break
        below.append((at, text.rstrip()[:_LONGEST_LINE]))
        if not deeper:
            break
    return below


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _line_at(data: bytes, start: int) -> str:
    return _bytes_of_line(data, start).removesuffix(b"\r").decode("utf-8", "replace")


def _bytes_of_line(data: bytes, start: int) -> bytes:
    end = data.find(b"\n", start)
    return data[start:] if end < 0 else data[start:end]


# A class of characters, an escape, a group's ends, a counted repetition, plain words, and what else
# has a meaning. Within a class, a bracket right at its beginning is a member of it.
_TOKEN = re.compile(
    r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]"
    r"|\\(?P<escaped>.)"
    r"|(?P<open>\()|(?P<close>\))|\{[0-9,]+\}"
    r"|(?P<word>[A-Za-z0-9_]+)(?P<optional>(?=[*?{]))?"
    r"|.",
    re.DOTALL,
)
# Escapes of one character, which stand for no letter: others may be the beginning of a longer one.
_SINGLE = frozenset("AbBdDsSwWz")
_PUNCTUATION = re.compile(r"[!-/:-@\[-^`{-~]")
_SHORTEST = 2
_MOST_PARTS = 8


def required_parts(pattern: str) -> list[str]:
    """Pieces of ASCII words, in every text that the pattern matches; maybe not all of them.

    There are none where the pattern has alternatives or flags, or is in no way simple.
    """
    if "|" in pattern or "(?" in pattern:
        return []
    parts: dict[str, None] = {}
    depth = 0
    for token in _TOKEN.finditer(pattern):
        escaped = token["escaped"]
        if escaped is not None and escaped.isalnum() and escaped not in _SINGLE:
            return []
        depth += bool(token["open"]) - bool(token["close"])
        if depth < 0:
            return []
        word = token["word"]
        # A group, and each part of it, may be optional.
        if word and not depth:
            parts[word if token["optional"] is None else word[:-1]] = None
    return [part for part in parts if len(part) >= _SHORTEST][:_MOST_PARTS]
