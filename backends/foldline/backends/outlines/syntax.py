"""Syntax trees of sources that may be hostile: a parse has a limit, and ends within it.

Some inputs make a parser follow so many readings at once that it takes minutes and gigabytes for
kilobytes: it is stopped after as many steps as no real code takes. What happens within one step
can't be stopped, so what is known to go wrong there is looked for before. Of thousands of brackets
that nothing closes a parser makes gigabytes at the end of its text, and the scanner of YAML writes
past its memory when blocks nest too deep.

A parser that skips one wrong token after the other makes gigabytes in its last step, too: it joins
all the ways in which it may have skipped them. Its steps before are slow, by which a guarded parse
ends in time. Such a source goes to a process that may die: code with many errors looks alike.
"""

from __future__ import annotations

import mmap
import re
from functools import cache
from pathlib import Path
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

from foldline.backends.base.languages import DOCUMENTS, parser_for
from foldline.backends.parsers.markup import only_scripts

if TYPE_CHECKING:
    from tree_sitter import Point, Tree

MOST_BYTES = 20_000_000
"""Larger sources aren't parsed; a tree takes up to a hundred times the memory of its text."""

# A parser reports once in a hundred steps: every 50 bytes in the densest real code, far more often
# where it follows many readings.
_FEWEST_REPORTS = 2_000
_BYTES_A_REPORT = 8
# Some scanners read far ahead in each step. A megabyte of real code takes a second, of the worst
# broken code three; no thread but the parsing one counts.
_MOST_SECONDS = 20.0
_FEWEST_SECONDS = 1.0
_SECONDS_A_BYTE = 5e-6

# A hundred steps of code take about as long as those of the sample, of broken code ten times that.
_SAMPLE = b"def name(a, b=1):\n    if a.b(c)[0] == 'd':\n        return [a, b]\n\n\n" * 40
_SAMPLES = 5
_SLOW = 3
_MOST_BEHIND = 500
# Code has at least 60 bytes a report. What has fewer is minified, or has readings without end: some
# of them take no longer than code until the last step takes all memory.
_FEWEST_BYTES = 50
_REPORTS_TO_JUDGE = 50

_LARGEST_PIECE = 1 << 15
_SMALL_PIECE = 64

# At each column a list and its items' keys may both be open; the scanner takes about 300 blocks.
_DEEPEST_YAML = 120
_YAML_LINE = re.compile(rb"([ \t]*)([^\r\n]+)")
_YAML_MARK = re.compile(rb"[-?:](?=[ \t\r\n]|\Z)")

_DEEPEST_UNCLOSED = 500
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"()[]{}")
_CLOSES = {ord(")"): ord("("), ord("]"): ord("["), ord("}"): ord("{")}
_GENERICS = re.compile(rb"\w\s*<(?![<=])|([>;{}])")

# For each line that goes on in the next, Python's scanner looks at all that follow.
_MOST_CONTINUED = 2_000

# A tree takes up to 130 times its text.
_MOST_GROWTH = 100_000_000
_GROWTH_A_BYTE = 300
_REPORTS_A_LOOK = 50
_STATM = Path("/proc/self/statm")


class ParseRefusedError(Exception):
    """A source that no parser is given, or on which one was stopped; the message says why."""


class ParseCostlyError(ParseRefusedError):
    """A source whose parse may take all memory: give it to a process that may die."""


class ParseStoppedError(ParseRefusedError):
    """A source whose parse took far longer than code of its size should."""


def parse(language: str, data: bytes, *, guarded: bool = False) -> Tree:
    """The syntax tree of UTF-8 `data`; broken code gives a tree with error nodes.

    Other threads run while a large source is parsed. The tree doesn't hold `data`: don't use
    `Node.text`, which crashes where a source is read piece by piece.

    Raises:
        ParseRefusedError: The source is too large, or nests too deep for its grammar.
        ParseStoppedError: It takes longer than any source of its size should.
        ParseCostlyError: The parse is `guarded`, and slow as only those of broken code are.
    """
    if len(data) > MOST_BYTES:
        raise ParseRefusedError(
            f"not parsed: it has {len(data):,} bytes, the limit is {MOST_BYTES:,}"
        )
    if language == "yaml" and yaml_depth(data) > _DEEPEST_YAML:
        raise ParseRefusedError(f"not parsed: blocks nest deeper than {_DEEPEST_YAML} levels")
    if language == "python" and continued(data) > _MOST_CONTINUED:
        raise ParseRefusedError(
            f"not parsed: more than {_MOST_CONTINUED:,} lines in a row end with a backslash"
        )
    if language not in DOCUMENTS and unclosed(data) > _DEEPEST_UNCLOSED:
        raise ParseRefusedError(
            f"not parsed: more than {_DEEPEST_UNCLOSED} brackets are open at once and never closed"
        )
    data = only_scripts(language, data)
    parser = parser_for(language)
    pace = _Pace() if guarded else None
    seconds = min(_MOST_SECONDS, _FEWEST_SECONDS + _SECONDS_A_BYTE * len(data))
    # Processor time decides, but the wall clock, which is never behind it, is cheaper to read.
    soonest, latest = perf_counter() + seconds, thread_time() + seconds
    growth = _Growth(_MOST_GROWTH + _GROWTH_A_BYTE * len(data))
    left = _FEWEST_REPORTS + len(data) // _BYTES_A_REPORT

    try:
        pieces = _free_pieces.pop()
    except IndexError:
        pieces = _Pieces()
    view = memoryview(data)

    def read(start: int, _: Point) -> memoryview:
        return pieces.piece(view, start)

    def stop(offset: int, has_error: bool) -> bool:
        del has_error
        nonlocal left
        left -= 1
        return (
            left < 0
            or (pace is not None and pace.too_slow(thread_time(), offset))
            or (perf_counter() > soonest and thread_time() > latest)
            or growth.exceeded()
        )

    try:
        return parser.parse(read, progress_callback=stop)
    except ValueError:
        # A parser that was stopped would otherwise go on with this source.
        parser.reset()
        if pace is not None and pace.behind:
            raise ParseCostlyError("not parsed: it has too many errors") from None
        raise ParseStoppedError(
            "not parsed: its parser was stopped, it takes far longer than code of this size should"
        ) from None
    finally:
        _free_pieces.append(pieces)


class _Pieces:
    """Hands a source over in pieces, in memory that is used again for the next piece and source.

    tree-sitter's binding (0.26.1) never lets go of what a source is read from: with parts of the
    source itself, each parse would keep its source forever.
    """

    def __init__(self) -> None:
        self._by_size: dict[int, memoryview] = {}

    def piece(self, source: memoryview, start: int) -> memoryview:
        """The source from `start` on, or as much of it as one piece holds; empty at its end.

        The sizes are few, powers of two and small ones. No character at a piece's start is cut.
        """
        size = min(max(len(source) - start, 0), _LARGEST_PIECE)
        if size > _SMALL_PIECE:
            size = 1 << (size.bit_length() - 1)
        piece = self._by_size.get(size)
        if piece is None:
            piece = self._by_size[size] = memoryview(bytearray(size))
        piece[:] = source[start : start + size]
        return piece


# Reused buffers: one for each parse that ever ran at the same time.
_free_pieces: list[_Pieces] = []


def yaml_depth(data: bytes) -> int:
    """At how many columns the blocks of a YAML source may be open at once at most.

    Every mark that may begin a block counts, also in a string: where strings end isn't known.
    """
    columns: list[int] = []
    deepest = 0
    for line in _YAML_LINE.finditer(data):
        start, end = line.span()
        indent = len(line[1])
        while columns and columns[-1] >= indent:
            columns.pop()
        columns.append(indent)
        columns.extend(mark.end() - start for mark in _YAML_MARK.finditer(data, start, end))
        deepest = max(deepest, len(columns))
    return deepest


def continued(data: bytes) -> int:
    """The longest run of lines that end with a backslash."""
    if data.count(b"\\\n") + data.count(b"\\\r\n") <= _MOST_CONTINUED:
        return 0
    run = longest = 0
    for line in data.splitlines():
        run = run + 1 if line.endswith(b"\\") else 0
        longest = max(longest, run)
    return longest


def unclosed(data: bytes) -> int:
    """The number of brackets that are never closed, or stand one in the other as `a<a<a<` do.

    At the end of its text a parser tries for each what it may have been, at once and for all.
    """
    open_now = dict.fromkeys(_CLOSES.values(), 0)
    stack: list[int] = []
    most = 0
    if sum(map(data.count, (b"(", b"[", b"{"))) > _DEEPEST_UNCLOSED:
        for byte in data.translate(None, _NO_BRACKETS):
            opening = _CLOSES.get(byte)
            if opening is None:
                stack.append(byte)
                open_now[byte] += 1
            elif open_now[opening]:
                # Brackets in strings and comments have no partners: they go with those around.
                last, before = -1, len(stack)
                while last != opening:
                    last = stack.pop()
                    open_now[last] -= 1
                most = max(most, before - len(stack) - 1)
    run = longest = 0
    if data.count(b"<") > _DEEPEST_UNCLOSED:
        for match in _GENERICS.finditer(data):
            run = 0 if match[1] else run + 1
            longest = max(longest, run)
    return max(len(stack), most, longest)


class _Pace:
    """Tells when the steps of a guarded parse have been slow for too long, or got nowhere."""

    def __init__(self) -> None:
        unit = _seconds_a_report()
        self._allowed = _SLOW * unit
        self._most = _MOST_BEHIND * unit
        self._late = 0.0
        self._last = thread_time()
        self._reports = 0
        self.behind = False

    def too_slow(self, now: float, offset: int) -> bool:
        """Return whether the parse, with one more report at `now`, is behind.

        It has read `offset` bytes.
        """
        self._reports += 1
        self._late = max(0.0, self._late + now - self._last - self._allowed)
        self._last = now
        judged = self._reports > _REPORTS_TO_JUDGE
        got_nowhere = judged and offset < self._reports * _FEWEST_BYTES
        self.behind = got_nowhere or self._late > self._most
        return self.behind


@cache
def _seconds_a_report() -> float:
    """The time that this machine takes from one report of a parser to the next, in plain code."""
    parser = parser_for("python")

    def seconds() -> float:
        reports = 0

        def count(_: int, has_error: bool) -> bool:
            del has_error
            nonlocal reports
            reports += 1
            return False

        start = thread_time()
        parser.parse(lambda start, _: _SAMPLE[start:], progress_callback=count)
        return (thread_time() - start) / reports

    return min(seconds() for _ in range(_SAMPLES))


class _Growth:
    """Tells when this process has grown by more than a parse may take."""

    def __init__(self, most: int) -> None:
        self._most = most // mmap.PAGESIZE
        self._before = self._pages()
        self._looks = 0

    def exceeded(self) -> bool:
        """Return whether the process has grown too much; only some of the calls look."""
        self._looks += 1
        return self._looks % _REPORTS_A_LOOK == 0 and self._pages() - self._before > self._most

    @staticmethod
    def _pages() -> int:
        try:
            return int(_STATM.read_bytes().split()[1])
        except (OSError, IndexError, ValueError):
            return 0  # Not Linux: the limits on steps and time must do.
