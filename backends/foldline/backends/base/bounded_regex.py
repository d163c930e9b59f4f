"""Untrusted regular expressions, with a bound on their time: those of `regex`, under a clock.

`regex` is loaded when a pattern is compiled.
"""

from __future__ import annotations

import re
import time
from typing import Any

from foldline.backends.errors import InvalidArgumentError
from foldline.backends.formatting.visible import is_text

# The time limit of all searches with one pattern together.
GREP_SECONDS = 20.0
# A search that takes less isn't counted: thousands of names are matched with a harmless pattern.
_UNCOUNTED_SECONDS = 0.001
# Of what repeats itself, regex makes tables in cubic time, and looks at no clock: 300 s for 10,000.
_MOST_CHARACTERS = 2_000
# What means a line's end, or lets a match go on behind it.
_ACROSS = re.compile(r"\n|(?<!\\)(?:\\\\)*(?:\\n|\(\?[a-zA-Z]*s|\[\\s\\S\]|\[\\S\\s\])")
# A class of all but some characters; what isn't one is a group.
_NEGATED = re.compile(r"(\\.|\[(?!\^)\]?(?:\\.|[^\]\\])*\])|\[\^\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
# Look-around and atomic groups: what is behind a line's end may decide on a match in the line.
_LOOKS_BEYOND = re.compile(r"\(\?|[+*?}]\+|\\[AGZ]")


class PatternTimeoutError(Exception):
    """A pattern that took too long."""


def spans_lines(pattern: str) -> bool:
    """Return whether matches may span lines: the pattern says so."""
    return _ACROSS.search(_NEGATED.sub(r"\1", pattern)) is not None


class _Clock:
    """The time left to the searches with one pattern."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def search(self, compiled: Any, text: str, pos: int = 0) -> Any:
        """Search as `regex` does, without the interpreter's lock.

        Raises:
            PatternTimeoutError: It took too long.
        """
        if self._left <= 0:
            raise PatternTimeoutError
        # Of this thread alone: on a busy machine, waiting for a processor costs nothing.
        started = time.thread_time()
        try:
            return compiled.search(text, pos, concurrent=True, timeout=self._left)
        except (TimeoutError, MemoryError):
            self._left = 0
            raise PatternTimeoutError from None
        finally:
            seconds = time.thread_time() - started
            if seconds > _UNCOUNTED_SECONDS:
                self._left -= seconds


class LinePattern:
    """A pattern to be searched for within the lines of a text, or across them if it says so.

    Raises:
        InvalidArgumentError: It does not compile.
    """

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        if not is_text(pattern):
            raise InvalidArgumentError(
                "pattern", "it has bytes or halves of characters that are no text"
            )
        if len(pattern) > _MOST_CHARACTERS:
            raise InvalidArgumentError("pattern", f"is longer than {_MOST_CHARACTERS:,} characters")
        # Its wheel carries no types.
        import regex  # type: ignore[import-untyped]

        # Words and digits are ASCII, as in most engines; but so would be the folding of case.
        words = regex.ASCII if pattern.isascii() else regex.UNICODE
        flags = regex.MULTILINE | words | (regex.IGNORECASE if ignore_case else 0)
        try:
            self._compiled = regex.compile(pattern, flags, cache_pattern=False)
        except (regex.error, RecursionError, OverflowError, ValueError) as error:
            raise InvalidArgumentError("pattern", str(error)) from None
        self._across = spans_lines(pattern)
        self._looks_beyond = _LOOKS_BEYOND.search(pattern) is not None
        self._clock = _Clock(GREP_SECONDS)
        self._data = b""
        self._text = ""
        # A place in both, from which on the next is counted.
        self._at = (0, 0)

    def search(self, data: bytes, position: int = 0) -> tuple[int, int] | None:
        """The first and last byte of the next match; within lines, only where it begins.

        Raises:
            PatternTimeoutError: It took too long.
        """
        if data is not self._data:
            self._data, self._text, self._at = data, data.decode("utf-8", "surrogateescape"), (0, 0)
        start = self._character(position)
        while (match := self._clock.search(self._compiled, self._text, start)) is not None:
            if self._across:
                return self._byte(match.start()), self._byte(match.end())
            end = self._text.find("\n", match.start())
            end = len(self._text) if end < 0 else end
            if match.end() <= end and not self._looks_beyond:
                return (offset := self._byte(match.start()), offset)
            # The match may go on behind the line's end, where nothing counts.
            first = max(self._text.rfind("\n", 0, match.start()) + 1, start)
            within = self._clock.search(self._compiled, self._text[first:end])
            if within is not None:
                return (offset := self._byte(first + within.start()), offset)
            if end >= len(self._text):
                break
            start = end + 1
        return None

    def _character(self, byte: int) -> int:
        if len(self._data) == len(self._text):
            return byte
        at_byte, at = self._at if self._at[0] <= byte else (0, 0)
        at += len(self._data[at_byte:byte].decode("utf-8", "surrogateescape"))
        self._at = (byte, at)
        return at

    def _byte(self, character: int) -> int:
        if len(self._data) == len(self._text):
            return character
        at_byte, at = self._at if self._at[1] <= character else (0, 0)
        return at_byte + len(self._text[at:character].encode("utf-8", "surrogateescape"))
