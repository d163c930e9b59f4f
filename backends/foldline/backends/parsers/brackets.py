"""Broken code: where a definition ends that the grammar lost, and what mends a source.

A grammar that fails inside a definition often ends it there. Its brackets still say where it ends,
if the line of the last one is indented as its first line is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from foldline.backends.base.languages import SCRIPTS
from foldline.backends.models import SymbolInfo, SymbolKind

# In languages such as Rust, quotes hold one character, and a lone apostrophe begins no string.
_LONG = rb"'(?:\\.|[^'\\\n]){0,400}+'"
_CHARACTER = rb"'(?:\\[^\n]{1,8}?|[^'\\\n])'"
_SKIPPED = rb"""|"(?:\\.|[^"\\\n])*+"?|`(?:\\.|[^`\\])*+`?|//[^\n]*|/\*.*?(?:\*/|\Z)"""
_BRACKET = rb"|(?P<bracket>[()\[\]{}]|\n[ \t]+(?=[<(]))"
_STRINGS, _CHARACTERS = (
    re.compile(quoted + _SKIPPED + _BRACKET, re.DOTALL) for quoted in (_LONG, _CHARACTER)
)
_TOKENS = {
    **dict.fromkeys((*SCRIPTS, "css", "php"), _STRINGS),
    **dict.fromkeys(("c", "cpp", "csharp", "go", "java", "kotlin"), _CHARACTERS),
    **dict.fromkeys(("rust", "scala", "swift"), _CHARACTERS),
}
_MOST_BYTES = 1_000_000
_INTERFACE = re.compile(rb"\binterface\s[^{};]*")
_GOES_ON = re.compile(rb"(?:=>|[-:,|&=(<?{;+*])[ \t]*\Z")
_EXPORT_TYPE = re.compile(rb"(?<=^export )type(?= *\*)", re.MULTILINE)
_KOTLIN_END = re.compile(rb"(?<=[^\s{;])[ \t](?=\})")
# Macros of C where no expression stands: `class API name {`, `INLINE bool f(`, `) NOEXCEPT {`; and
# `#if` where an expression goes on, with its other branches. What is kept is a group.
_MACRO = rb"[A-Z][A-Z0-9]*_[A-Z0-9_]+"
_MACROS = re.compile(
    rb"(\b(?:class|struct|union)[ \t]+)" + _MACRO + rb"(?=[ \t]+\w+[ \t]*(?:final\s*)?[{:\n])"
    rb"|^([ \t]*)" + _MACRO + rb"(?=[ \t]+(?:(?:[\w:<>,]+[ \t*&]+)+[\w:~]+|[\w:<>]+::~?\w+)[(;\s])"
    rb"|^()" + _MACRO + rb"(?=[ \t]*$)"
    rb"|(\)\s*(?:const\s+)?)" + _MACRO + rb"(?:\([^()\n]*\))?(?=\s*[{;:])"
    rb"|()\b[A-Z_]*GUARDED_BY\([^()\n]*\)"
    rb"|(?<=[:,()|&=?]\n)[ \t]*#[ \t]*if.*((?:\n(?![ \t]*#).*){0,50})"
    rb"(?:\n[ \t]*#[ \t]*el.*(?:\n(?![ \t]*#[ \t]*endif).*){0,50})?\n[ \t]*#[ \t]*endif.*",
    re.MULTILINE,
)
_LETTERS = re.compile(rb"[^\n]")
# A declaration that starts its line is most likely one of the file's own.
_DECLARATION = re.compile(
    rb"^(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?(?:async[ \t]+)?"
    rb"(function|class|interface|enum|type|namespace|const|let|var)\b[ \t*]+"
    rb"([A-Za-z_$\x80-\xff][\w$\x80-\xff]*).*",
    re.MULTILINE,
)
# Damage in thousands of pieces isn't code that people read.
_MOST_PIECES = 500


def end_of(lines: Sequence[str], first: int, last: int, language: str) -> int | None:
    """The line that ends the definition on the lines from `first` to `last`, by its brackets.

    That is `last` where they close, or the language has none; None where nothing closes them.
    """
    if language not in _TOKENS:
        return last
    data = "\n".join(lines[first - 1 :]).encode("utf-8", "replace")[:_MOST_BYTES]
    ends = len("\n".join(lines[first - 1 : last]).encode("utf-8", "replace"))
    depth = 0
    for offset, bracket in _brackets(data, language):
        if offset >= ends and depth <= 0:
            return last
        depth += {b"{": 1, b"}": -1}.get(bracket, 0)
        if offset >= ends and depth == 0:
            row = first + data.count(b"\n", 0, offset)
            return row if _indent(lines[row - 1]) == _indent(lines[first - 1]) else None
    return None if depth > 0 else last


def mended(data: bytes, language: str) -> bytes:
    """The source, as long as before, without what its grammar is known to misread."""
    if language == "kotlin":  # class A { fun a() = 1 }
        return _KOTLIN_END.sub(b";", data)
    if language in {"c", "cpp"}:
        return _MACROS.sub(_blanked, data)
    if language not in SCRIPTS:
        return data
    text = bytearray(_EXPORT_TYPE.sub(b"    ", data))
    # Call signatures one after the other, with no semicolon between them.
    bodies = {match.end() for match in _INTERFACE.finditer(data)}
    stack: list[int] = []
    for offset, bracket in _brackets(data, language):
        if bracket[:1] == b"\n":
            if stack and stack[-1] in bodies and not _GOES_ON.search(data, offset - 80, offset):
                text[offset + len(bracket) - 1] = ord(";")
        elif bracket in b")]}":
            del stack[-1:]
        else:
            stack.append(offset)
    return bytes(text)


def _blanked(match: re.Match[bytes]) -> bytes:
    """The match with all but its group as blanks."""
    start, end = (at - match.start() for at in match.span(match.lastindex or 0))
    before, behind = (_LETTERS.sub(b" ", text) for text in (match[0][:start], match[0][end:]))
    return before + match[0][start:end] + behind


def _brackets(data: bytes, language: str) -> Iterator[tuple[int, bytes]]:
    """The brackets outside of strings and comments, and the starts of lines before `<` and `(`."""
    for match in _TOKENS[language].finditer(data):
        if match["bracket"]:
            yield match.start(), match["bracket"]


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def mend_outline(
    data: bytes,
    symbols: tuple[SymbolInfo, ...],
    outline: Callable[[bytes], tuple[SymbolInfo, ...]],
) -> tuple[SymbolInfo, ...]:
    """The symbols of JavaScript or TypeScript with those that error recovery gave up.

    Where the tree has no declaration though a line begins with one, the piece up to the next such
    line is given to `outline` by itself, so that damage stays where it is.
    """
    lines = {symbol.line for symbol in symbols} | {symbol.name_line for symbol in symbols}
    matches = list(islice(_DECLARATION.finditer(data), _MOST_PIECES))
    ends = [match.start() for match in matches[1:]]
    mended = list(symbols)
    row = counted = 0
    for match, end in zip(matches, [*ends, len(data)], strict=False):
        start = match.start()
        row += data.count(b"\n", counted, start)
        counted = start
        if row + 1 not in lines:
            # Empty lines above it, so that its symbols have the lines of the file.
            piece = b"\n" * row + data[start:end]
            mended += outline(piece) or (_by_its_line(match, row + 1),)
    return tuple(sorted(mended, key=lambda symbol: symbol.line))


def _by_its_line(match: re.Match[bytes], number: int) -> SymbolInfo:
    word, name = (part.decode("utf-8", "replace") for part in match.groups())
    kind = SymbolKind.VARIABLE if word in {"const", "let", "var"} else SymbolKind(word)
    line = match.group().decode("utf-8", "replace").rstrip().rstrip("{").rstrip()
    return SymbolInfo(name, kind, number, number, line, name_line=number)
