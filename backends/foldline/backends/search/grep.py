"""Regular expressions over files, in bounded time."""

from __future__ import annotations

import re
from time import monotonic
from typing import TYPE_CHECKING

from foldline.backends.base.bounded_regex import PatternError, PatternTimeoutError, compile_lines
from foldline.backends.base.waiting import coroutine_of
from foldline.backends.errors import FileTooLargeError, InvalidArgumentError, PathError
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.text import grep_room, match_lines
from foldline.backends.formatting.visible import visible
from foldline.backends.models import COMPLETE, GrepMatch, GrepResults
from foldline.backends.search.walks import Scope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from foldline.backends.base.bounded_regex import Match, Pattern
    from foldline.backends.files.base import FileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.search.walks import Walked, Walks

_KIND = "grep"
_MOST_CONTEXT = 50
# Code points of a line that are kept: more than is shown, less than a minified file.
_LONGEST_LINE = 400


async def grep(
    files: FileBackend,
    walks: Walks,
    index: WorkspaceIndex | None,
    pattern: str,
    glob: str | None = None,
    *,
    context: int = 0,
    ignore_case: bool = False,
    budget: int | None = None,
    cursor: str | None = None,
    no_ignore: bool = False,
    seconds: float | None = None,
) -> GrepResults:
    """The lines that match `pattern`, in the files of a folder or glob.

    RE2's syntax means the same on every machine. Where RE2 isn't installed, look-around and
    back-references work too, and a time limit bounds them.

    After `seconds` it returns what it has found, and `coverage` says so; None sets no limit.

    Raises:
        InvalidArgumentError: The pattern doesn't compile.
    """
    since = monotonic()
    budgets.check_budget(budget)
    if not 0 <= context <= _MOST_CONTEXT:
        raise InvalidArgumentError("context", f"{context} is not from 0 to {_MOST_CONTEXT}")
    first = budgets.read_cursor(_KIND, cursor)
    compiled = _compile(pattern, ignore_case=ignore_case)
    page = _Page(first, context, None if budget is None else budget - grep_room(pattern))
    without: Collection[str] = ()
    if index is not None and not ignore_case:
        without = await coroutine_of(index.files_without)(required_parts(pattern), since=since)
    walked = await Scope(files, glob, no_ignore=no_ignore).walked(walks, since)
    search = _Search(files, walked, without, seconds)
    with_matches = 0
    for path, data in search.texts():
        before = page.total
        for place in _matching_lines(compiled, data):
            page.add(path, data, place)
        with_matches += page.total > before
    last = first + len(page.matches)
    return GrepResults(
        pattern,
        tuple(page.matches),
        page.total,
        with_matches,
        search.searched,
        budgets.make_cursor(_KIND, last) if last < page.total else None,
        _reason(search.searched, page.total, search.too_large),
        coverage=search.coverage,
    )


class _Search:
    """The texts of a walk's files, as far as the time allows.

    Attributes:
        searched: How many were yielded, or left out since they are known to have no match.
        too_large: The paths over the size limit.
    """

    def __init__(
        self,
        files: FileBackend,
        walked: Walked,
        without: Collection[str],
        seconds: float | None,
    ) -> None:
        self.searched = 0
        self.too_large: list[str] = []
        self.coverage = walked.coverage
        self._files = files
        self._without = without
        self._stamps = walked.stamps
        self._seconds = seconds

    def texts(self) -> Iterator[tuple[str, bytes]]:
        """The path and UTF-8 text of each file that may have a match."""
        end = None if self._seconds is None else monotonic() + self._seconds
        for number, stamp in enumerate(self._stamps):
            if end is not None and monotonic() > end:
                self.coverage = self._partial(number)
                return
            if stamp.path in self._without:
                self.searched += 1
                continue
            try:
                data = self._files.load(stamp.path).parse_data
            except FileTooLargeError:
                self.too_large.append(stamp.path)
                continue
            except PathError:
                continue  # Binary, special, or gone.
            self.searched += 1
            yield stamp.path, data

    def _partial(self, number: int) -> str:
        more = "" if self.coverage == COMPLETE else " and more"
        return (
            f"partial: {number:,} of {len(self._stamps):,}{more} files were searched in "
            f"{self._seconds:.3g} s; name a folder or a glob"
        )


class _Page:
    """The matching lines from number `first` on whose text fits `room`, at least one of them.

    Attributes:
        total: All that were added; only those of the page are read and kept.
    """

    def __init__(self, first: int, context: int, room: int | None) -> None:
        self.matches: list[GrepMatch] = []
        self.total = 0
        self._first = first
        self._context = context
        self._room = room
        self._is_full = False

    def add(self, path: str, data: bytes, place: tuple[int, int, int]) -> None:
        """Count the next matching line, and keep it if it is one of the page."""
        self.total += 1
        if self._is_full or self.total <= self._first:
            return
        match = _match(path, data, place, self._context)
        if self._room is not None:
            cost = self._cost(match)
            if cost > self._room and self.matches:
                self._is_full = True
                return
            self._room -= cost
            self._is_full = self._room < 0
        self.matches.append(match)

    def _cost(self, match: GrepMatch) -> int:
        """The bytes of the match's lines, and of its path where that is the first of a file."""
        cost = sum(map(budgets.size_of_line, match_lines(match)))
        if self.matches and self.matches[-1].path == match.path:
            return cost
        return cost + budgets.size_of(visible(match.path)) + 1


def _reason(searched: int, total: int, too_large: list[str]) -> str:
    reasons = [] if total else [f"no line of {searched} files matches"]
    if too_large:
        more = f" and {len(too_large) - 1} more" if len(too_large) > 1 else ""
        reasons.append(f"over the size limit and not searched: {too_large[0]}{more}")
    return "; ".join(reasons)


def _compile(pattern: str, *, ignore_case: bool) -> Pattern:
    try:
        return compile_lines(pattern, ignore_case=ignore_case)
    except PatternError as error:
        raise InvalidArgumentError("pattern", str(error)) from None


def _matching_lines(pattern: Pattern, data: bytes) -> Iterator[tuple[int, int, int]]:
    """Row, byte where the line starts, and byte of the first match in it, for each such line."""
    position = row = 0
    counted = 0
    while position <= len(data) and (match := _search(pattern, data, position)):
        at = match.start()
        start = data.rfind(b"\n", 0, at) + 1
        if start >= len(data) and data:
            return  # No line follows the final newline.
        row += data.count(b"\n", counted, start)
        counted = start
        yield row, start, at - start
        end = data.find(b"\n", at)
        if end < 0:
            return
        position = end + 1


def _search(pattern: Pattern, data: bytes, position: int) -> Match | None:
    try:
        return pattern.search(data, position)
    except PatternTimeoutError:
        raise InvalidArgumentError(
            "pattern",
            "takes too long: leave out repetition within repetition, such as (a+)+; or install "
            "foldline[re2], whose time is linear",
        ) from None


def _match(path: str, data: bytes, place: tuple[int, int, int], context: int) -> GrepMatch:
    row, start, byte = place
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


def _line_at(data: bytes, start: int) -> str:
    end = data.find(b"\n", start)
    raw = data[start:] if end < 0 else data[start:end]
    return raw.removesuffix(b"\r").decode("utf-8", "replace")


# A class of characters, an escape, a group's ends, what else has a meaning, and plain words. Within
# a class, a bracket right at its beginning is a member of it.
_TOKEN = re.compile(
    r"\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]"
    r"|\\(?P<escaped>.)"
    r"|(?P<open>\()|(?P<close>\))"
    r"|(?P<word>[A-Za-z0-9_]+)(?P<optional>[*?{])?"
    r"|.",
    re.DOTALL,
)
# Escapes of one character, which stand for no letter: others may be the beginning of a longer one.
_SINGLE = frozenset("AbBdDsSwWz")
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
            parts[word[:-1] if token["optional"] else word] = None
    return [part for part in parts if len(part) >= _SHORTEST][:_MOST_PARTS]
