"""Brackets of broken code: where a definition ends that the grammar lost, and what mends a source.

A grammar that fails inside a definition often ends it there. Its brackets still say where it ends,
if the line of the last one is indented as its first line is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foldline.backends.models import SymbolInfo

LANGUAGES = frozenset(
    "c cpp csharp css go graphql java javascript kotlin php proto rust scala swift typescript tsx "
    "vue svelte".split()
)
"""Languages whose definitions end with a bracket."""

# Quotes are strings where they close on their line; where they hold one character, as in Rust, an
# apostrophe alone is no string.
_LONG = rb"'(?:\\.|[^'\\\n]){0,400}+'"
_CHARACTER = rb"'(?:\\[^\n]{1,8}?|[^'\\\n])'"
_SKIPPED = rb"""|"(?:\\.|[^"\\\n])*+"?|`(?:\\.|[^`\\])*+`?|//[^\n]*|/\*.*?(?:\*/|\Z)"""
_BRACKET = rb"|(?P<bracket>[()\[\]{}])|(?P<line>\n[ \t]+)(?=[<(])"
_TOKENS = {
    long: re.compile((_LONG if long else _CHARACTER) + _SKIPPED + _BRACKET, re.DOTALL)
    for long in (True, False)
}
_LONG_STRINGS = frozenset({"javascript", "typescript", "tsx", "php", "css", "vue", "svelte"})
_CLOSES = {b")": b"(", b"]": b"[", b"}": b"{"}
_INTERFACE = re.compile(rb"\binterface\s[^{};]*")
_GOES_ON = re.compile(rb"(?:=>|[-:,|&=(<?{;+*])[ \t]*\Z")
_KOTLIN_END = re.compile(rb"(?<=[^\s{;])[ \t](?=\})")


def close(data: bytes, language: str) -> dict[int, int]:
    """For each curly bracket that opens, the offset of the one that closes it."""
    found: dict[int, int] = {}
    stack: list[tuple[bytes, int]] = []
    for offset, bracket in _brackets(data, language):
        if bracket in {b"(", b"[", b"{"}:
            stack.append((bracket, offset))
        elif any(one == _CLOSES.get(bracket) for one, _ in stack[-2:]):
            # One that nothing closes, as in a string of another kind, is left out.
            opening, at = stack.pop()
            if opening != _CLOSES[bracket]:
                opening, at = stack.pop()
            if opening == b"{":
                found[at] = offset
    return found


def _brackets(data: bytes, language: str) -> Iterator[tuple[int, bytes]]:
    for match in _TOKENS[language in _LONG_STRINGS].finditer(data):
        if match.lastgroup == "bracket":
            yield match.start(), match["bracket"]
        elif match.lastgroup == "line":
            yield match.end() - 1, b"\n"


def is_cut(text: str, language: str) -> bool:
    """Return whether a bracket of the definition opens in `text` and doesn't close in it."""
    if language not in LANGUAGES:
        return False
    depth = 0
    for _, bracket in _brackets(text.encode("utf-8", "replace"), language):
        depth += {b"{": 1, b"}": -1}.get(bracket, 0)
    return depth > 0


def end_by_brackets(
    data: bytes, symbols: Sequence[SymbolInfo], language: str
) -> tuple[SymbolInfo, ...]:
    """The symbols of broken `data`, each up to the bracket that closes it."""
    pairs = close(data, language)
    return _ended(_Ends(data, sorted(pairs.items())), symbols, 1 << 60)


class _Ends:
    """The last lines of definitions by their brackets."""

    def __init__(self, data: bytes, pairs: Sequence[tuple[int, int]]) -> None:
        self._data = data
        self._pairs = pairs
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]

    def of(self, symbol: SymbolInfo) -> int:
        """The symbol's last line; the one that it has where its brackets don't say another."""
        if symbol.line_end >= len(self._starts):
            return symbol.line_end
        start = self._starts[symbol.name_line - 1]
        at = bisect_left(self._pairs, (start, 0))
        if at == len(self._pairs) or self._pairs[at][0] >= self._starts[symbol.line_end]:
            return symbol.line_end
        opening, closing = self._pairs[at]
        if b";" in self._data[start:opening]:
            return symbol.line_end
        row = bisect_left(self._starts, closing + 1) - 1
        same = self._indent(row) == self._indent(symbol.line - 1)
        return max(symbol.line_end, row + 1) if same else symbol.line_end

    def _indent(self, row: int) -> bytes:
        start = self._starts[row]
        line = self._data[start : start + 200]
        return line[: len(line) - len(line.lstrip())]


def _ended(ends: _Ends, symbols: Sequence[SymbolInfo], limit: int) -> tuple[SymbolInfo, ...]:
    found: list[SymbolInfo] = []
    for symbol in symbols:
        last = min(ends.of(symbol), limit)
        before = found[-1] if found else None
        if before is not None and symbol.line > before.line and symbol.line_end <= before.line_end:
            # It stood inside all along: the grammar ended the definition around it too early.
            inside = _ended(ends, (symbol,), before.line_end)
            found[-1] = replace(before, children=(*before.children, *inside))
            continue
        children = _ended(ends, symbol.children, last)
        found.append(replace(symbol, line_end=max(last, symbol.line_end), children=children))
    return tuple(found)


def mended(data: bytes, language: str) -> bytes:
    """The source, as long as before, without what its grammar is known to misread."""
    if language == "kotlin":  # class A { fun a() = 1 }
        return _KOTLIN_END.sub(b";", data)
    if language not in {"typescript", "tsx"}:
        return data
    # Call signatures one after the other, with no semicolon between them.
    bodies = {match.end() for match in _INTERFACE.finditer(data)}
    text = bytearray(data)
    stack: list[int] = []
    for offset, bracket in _brackets(data, language):
        if bracket == b"\n":
            line = data.rfind(b"\n", 0, offset)
            if stack and stack[-1] in bodies and not _GOES_ON.search(data, line - 80, line):
                text[offset] = ord(";")
        elif bracket in _CLOSES:
            del stack[-1:]
        else:
            stack.append(offset)
    return bytes(text)
