"""The string literal around an offset, from the text alone: unfinished code seldom parses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.ide.analysis.module_analysis import ModuleAnalysis

_BEGIN = re.compile(r"#|(?:\b([A-Za-z]{1,2}))?(\"\"\"|'''|\"|')")


@dataclass(frozen=True, slots=True)
class Quoted:
    """An open literal: its prefix in lower case, and the offset at which its text starts."""

    prefix: str
    start: int

    @property
    def formatted(self) -> bool:
        """True if braces in it are code, so that a literal brace is written twice."""
        return "f" in self.prefix or "t" in self.prefix


def quoted_at(analysis: ModuleAnalysis, offset: int) -> Quoted | None:
    """Return the literal around an offset; None in code and comments."""
    starts = [statement.code_start(offset) for statement in analysis.statements]
    return _open_at(analysis.text, max(filter(offset.__ge__, starts), default=0), offset)


def _open_at(text: str, at: int, offset: int) -> Quoted | None:
    while True:
        begin = _BEGIN.search(text, at, offset)
        if begin is None:
            return None
        if begin[0] == "#":
            end = text.find("\n", begin.end(), offset)
            if end < 0:
                return None
            at = end
            continue
        quote = begin[2]
        closed = _end_of(text, begin.end(), offset, quote)
        if closed is None:
            return Quoted((begin[1] or "").lower(), begin.end())
        at = closed


def call_before(text: str, at: int) -> re.Match[str] | None:
    """Match the innermost open call `name[arguments](` before an offset; groups: both."""
    low = max(0, at - _FAR)
    # Brackets in strings and comments don't count.
    code = _STRING.sub(lambda match: " " * len(match[0]), text[low:at])
    depth = 0
    for index in range(len(code) - 1, -1, -1):
        if code[index] in ")]}":
            depth += 1
        elif code[index] in "([{":
            depth -= 1
            # Most brackets are left out by a look at what is before them.
            called = depth < 0 and text.endswith("](", low, low + index + 1)
            found = _CALL.search(text, low, low + index + 1) if called else None
            if found is not None:
                return found
            depth = max(depth, 0)
    return None


_FAR = 4_000
_CALL = re.compile(r"(?<![\w.])\.*([A-Za-z_][\w.]*)\[((?:[\w.,\s]|\[[\w.,\s]*\])+)\]\(\Z")
_STRING = re.compile(
    r"\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)|'\'\'(?:[^\\]|\\.)*?(?:'\'\'|\Z)"
    r"|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|#[^\n]*",
    re.DOTALL,
)


# An escape is no end.
_ENDS = {
    **{quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in ('"""', "'''")},
    **{quote: re.compile(rf"\\.|{quote}|[\r\n]", re.DOTALL) for quote in ('"', "'")},
}


def _end_of(text: str, at: int, offset: int, quote: str) -> int | None:
    """Return where a literal ends before the offset: at its quote, or at its line end."""
    for end in _ENDS[quote].finditer(text, at, offset):
        if end[0] == quote:
            return end.end()
        if end[0][0] != "\\":
            return end.start()
    return None
