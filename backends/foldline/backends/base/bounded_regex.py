"""Untrusted regular expressions, with a bound on their time.

RE2 takes time linear in the text. It has no wheels for musl, and no marker tells musl from glibc;
so where it isn't installed, `regex` is used, with a time limit. Each is loaded when it's used.
"""

from __future__ import annotations

import re
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from foldline.backends.formatting.visible import is_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

HAS_RE2 = find_spec("re2") is not None
# The time limit of all searches with one pattern together.
GREP_SECONDS = 20.0
IGNORE_SECONDS = 0.2
_MOST_CHARACTERS = 10_000
# What means a line's end, or lets a match go on behind it.
_ACROSS = re.compile(r"\n|(?<!\\)(?:\\\\)*(?:\\n|\(\?[a-zA-Z]*s|\[\\s\\S\]|\[\\S\\s\])")
# A class of all but some characters; what isn't one is a group.
_NEGATED = re.compile(r"(\\.|\[(?!\^)\]?(?:\\.|[^\]\\])*\])|\[\^\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
# Patterns of an ignore file that are matched at once with the names of a whole folder.
_MOST_TOGETHER = 200


class Match(Protocol):
    """The part of a match that is used."""

    def span(self) -> tuple[int, int]: ...


class Pattern(Protocol):
    """The part of a compiled pattern that is used."""

    def search(self, text: bytes, pos: int = 0) -> Match | None: ...


class Lines(Protocol):
    """The part of a compiled pattern that is used for all lines of a text."""

    def finditer(self, text: bytes) -> Iterable[Match]: ...


class PatternError(ValueError):
    """A pattern that does not compile; the message says why."""


class PatternTimeoutError(Exception):
    """A pattern that took too long."""


def spans_lines(pattern: str) -> bool:
    """Return whether matches may span lines: the pattern says so."""
    return _ACROSS.search(_NEGATED.sub(r"\1", pattern)) is not None


def compile_lines(pattern: str, *, ignore_case: bool) -> Pattern:
    """A pattern to be searched for within the lines of a text, or across them if it says so.

    Raises:
        PatternError: It does not compile.
    """
    if not is_text(pattern):
        raise PatternError("it has bytes or halves of characters that are no text")
    return (_re2 if HAS_RE2 else _Lines)(pattern, ignore_case=ignore_case)


def ignore_pattern(line: str) -> GitIgnoreSpecPattern:
    """The pattern of a line of an ignore file.

    Raises:
        ValueError, re.error, OverflowError: It is malformed.
    """
    # By the package's name: threads that import a package and a module that it loads deadlock.
    import pathspec

    return pathspec.patterns.gitignore.spec.GitIgnoreSpecPattern(line)


def compile_ignore_patterns(patterns: Sequence[GitIgnoreSpecPattern]) -> GitIgnoreSpec:
    """The patterns of an ignore file. One whose time is up hides nothing from then on."""
    from pathspec import GitIgnoreSpec

    if HAS_RE2:
        return GitIgnoreSpec(patterns, backend="re2")
    for pattern in patterns:
        if pattern.regex is not None:
            # pathspec uses this part of `re.Pattern` alone.
            pattern.regex = _Bounded(pattern.regex.pattern)  # type: ignore[assignment]
    return GitIgnoreSpec(patterns, backend="simple")


def compile_any_line(patterns: Sequence[GitIgnoreSpecPattern]) -> Lines | None:
    """A pattern that matches in each line that one of these matches, and maybe in others.

    None where there is none that takes little time.
    """
    if not HAS_RE2 or len(patterns) > _MOST_TOGETHER:
        return None
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    texts = [
        pattern.regex.pattern.replace("[^/]", "[^/\n]")
        for pattern in patterns
        if pattern.regex is not None
    ]
    try:
        compiled: Lines = re2.compile(f"(?m)(?:{'|'.join(texts)})".encode(), options)
    except re2.error:
        return None
    return compiled


def lines_with(pattern: Lines, text: bytes) -> set[int]:
    """The numbers of the lines, from 0, in which the pattern matches."""
    numbers: set[int] = set()
    number = counted = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        number += text.count(b"\n", counted, start)
        counted = start
        numbers.update(range(number, number + text.count(b"\n", start, end) + 1))
    return numbers


def _re2(pattern: str, *, ignore_case: bool) -> Pattern:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_nl = not spans_lines(pattern)
    # Only where a match begins is asked; a thousand groups would be noted for each line.
    options.never_capture = True
    options.case_sensitive = not ignore_case
    try:
        compiled: Pattern = re2.compile(f"(?m){pattern}", options)
    except re2.error as error:
        message = error.args[0] if error.args else error
        shown = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
        hint = "RE2's syntax has no look-around and no back-references"
        raise PatternError(f"{shown.replace('(?m)', '', 1)}; {hint}") from None
    return compiled


class _Clock:
    """The time left to the searches with one pattern."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def search(self, compiled: Any, text: str, pos: int = 0, end: int | None = None) -> Any:
        """Search as `regex` does, without the interpreter's lock.

        Raises:
            PatternTimeoutError: It took too long.
        """
        if self._left <= 0:
            raise PatternTimeoutError
        started = time.monotonic()
        try:
            return compiled.search(text, pos, end, concurrent=True, timeout=self._left)
        except (TimeoutError, MemoryError):
            self._left = 0
            raise PatternTimeoutError from None
        finally:
            self._left -= time.monotonic() - started


class _Lines:
    """A pattern whose matches span lines only if it says so, over UTF-8.

    It may have look-around and back-references, which RE2 lacks: the clock bounds these too.
    """

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        # Neither wheel carries types.
        import regex  # type: ignore[import-untyped]

        if len(pattern) > _MOST_CHARACTERS:
            raise PatternError(f"is longer than {_MOST_CHARACTERS} characters")
        # Words and digits are ASCII, as RE2 has them; but so would be the folding of case.
        words = regex.ASCII if pattern.isascii() else regex.UNICODE
        flags = regex.MULTILINE | words | (regex.IGNORECASE if ignore_case else 0)
        try:
            self._compiled = regex.compile(pattern, flags, cache_pattern=False)
        except (regex.error, RecursionError, OverflowError, ValueError) as error:
            raise PatternError(str(error)) from None
        self._across = spans_lines(pattern)
        self._clock = _Clock(GREP_SECONDS)
        self._data = b""
        self._text = ""
        # A place in both, from which on the next is counted.
        self._at = (0, 0)

    def search(self, text: bytes, pos: int = 0) -> Match | None:
        if text is not self._data:
            self._data, self._text, self._at = text, text.decode("utf-8", "surrogateescape"), (0, 0)
        start = self._character(pos)
        while (found := self._clock.search(self._compiled, self._text, start)) is not None:
            if self._across:
                return _Found(self._byte(found.start()), self._byte(found.end()))
            first = self._text.rfind("\n", 0, found.start()) + 1
            end = self._text.find("\n", found.start())
            end = len(self._text) if end < 0 else end
            # What was found may go on behind the line's end, where nothing counts.
            line = self._text[max(first, start) : end]
            within = self._clock.search(self._compiled, line)
            if within is not None:
                place = self._byte(max(first, start) + within.start())
                return _Found(place, place)
            if end >= len(self._text):
                break
            start = end + 1
        return None

    def _character(self, byte: int) -> int:
        at_byte, at = self._at if self._at[0] <= byte else (0, 0)
        at += len(self._data[at_byte:byte].decode("utf-8", "surrogateescape"))
        self._at = (byte, at)
        return at

    def _byte(self, character: int) -> int:
        at_byte, at = self._at if self._at[1] <= character else (0, 0)
        return at_byte + len(self._text[at:character].encode("utf-8", "surrogateescape"))


class _Found(NamedTuple):
    first: int
    last: int

    def span(self) -> tuple[int, int]:
        return self.first, self.last


class _Bounded:
    """The part of `re.Pattern` that pathspec uses."""

    def __init__(self, pattern: str) -> None:
        import regex

        self.pattern = pattern
        self._compiled = regex.compile(pattern)
        self._clock = _Clock(IGNORE_SECONDS)

    def search(self, text: str) -> Any:
        try:
            return self._clock.search(self._compiled, text)
        except PatternTimeoutError:
            return None
