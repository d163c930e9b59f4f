"""Styles for the texts of operations: numbers and notes dim, names bold, code by its tokens.

The texts are those that models get; people see the same words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.backends.formatting.visible import for_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pygments.lexer import Lexer

    from foldline.agent.terminal import Line

STYLES = {
    "number": "dim",
    "note": "dim",
    "name": "bold",
    "path": "bold",
    "folder": "bold blue",
    "kind": "cyan",
    "tier": "italic",
    "error": "red",
    "warning": "yellow",
    "match": "bold red",
}
# Code is as long as a person reads; longer texts have no colours.
_LONGEST_CODE = 200_000
_KEYWORDS = (
    "class|def|fn|func|function|fun|interface|enum|struct|trait|impl|type|const|let|var|val|"
    "module|mod|namespace|object|record|union|protocol|package|macro"
)
# The first pattern of a verb that matches a line says which of its parts have a style.
_NOTE = r"(?P<note>\s*(?:\(.*\)|… .*))"
_TITLE = r"(?P<name>.*?): (?:no problem is known|[\d,]+ [a-z]+\b.*)"
_PLACE = r"(?P<path>[^\s(].*?)(?P<number>:\d+)(?P<name> .*)?"
_FILE = r"(?P<path>[^\s(].*?)(?P<note> \(test\))?"
_PATTERNS = {
    "tree": (
        r"(?P<folder>\s*.*/)(?P<note> [\d,]+ files?, .*)",
        r".*?(?P<note> [\d.,]+ [KMGT]?B(?: #\d+)?)",
    ),
    "outline": (
        r"(?P<path>\S.*?)(?P<note> \([^()]*, [\d,]+ lines?\).*)",
        r"(?P<note>imports .*)",
        rf"(?P<number>\s*[\d-]+) .*?(?P<kind>\b(?:{_KEYWORDS})) (?P<name>[\w$.~]+)"
        r".*?(?P<note>  # .*)?",
        r"(?P<number>\s*[\d-]+) (?P<name>#+ .*|[\w$.]+(?=[(:= ]|$)).*?(?P<note>  # .*)?",
        r"(?P<number>\s*[\d-]+) .*?(?P<note>  # .*)?",
    ),
    "refs": (
        _TITLE,
        r"(?P<tier>(?:confirmed|possible \(.*\)):)",
        r"(?P<number>\s+\d+)(?P<kind> [a-z]+)?(?P<note> in \S+?)?: .*",
        r"(?P<path>\S.*?)(?P<note>: (?:\d+, )*\d+ [a-z].*)",
        _FILE,
    ),
    "grep": (_TITLE, r"(?P<number>\s+\d+[:-]) .*", _FILE),
    "search": (_TITLE, r"(?P<path>\S.*?)(?P<number>:\d+)?(?P<note> \(.*\))"),
    "definition": (_PLACE + r": .*", r"(?P<number>\s+\d+:?).*", _FILE),
    "calls": (
        r"(?P<tier>calls:|called by:)",
        r"(?P<name>\s+\S+)(?P<note> .*:\d+(?:, on lines? [\d, ]+)?)",
        _PLACE,
    ),
    "diagnostics": (
        _TITLE,
        r"(?P<number>\s+\d+:\d+) (?:(?P<error>error)|(?P<warning>warning)|(?P<kind>\w+)):"
        r".*?(?P<note> \([\w-]+\))?",
    ),
    "hover": (_PLACE,),
}
_PATTERNS["implementations"] = _PATTERNS["definition"]
# The first line has a place, and what follows is code.
_CODE = re.compile(r"(?P<path>.+?)(?P<number>:[\d-]+)(?:(?P<note> of \d+ lines.*)|(?P<name> .*))?")
_LINES = re.compile(r":(\d+)-(\d+)")
_FOUND_LINE = re.compile(r"\s+\d+: ")
CODE_VERBS = ("symbol", "lines", "read")


def styled(verb: str, text: str, sought: re.Pattern[str] | None = None) -> Iterator[Line]:
    """Yield the lines of an operation's text with their styles.

    What matches `sought` in a line that was found is marked.
    """
    text = for_terminal(text)
    if verb in CODE_VERBS:
        yield from _styled_code(text)
        return
    patterns = [re.compile(pattern) for pattern in (_NOTE, *_PATTERNS.get(verb, ()))]
    for line in text.split("\n"):
        matches = (pattern.fullmatch(line) for pattern in patterns)
        found = next(filter(None, matches), None)
        parts = [(line, "")] if found is None else _parts(found)
        if sought is not None and found is not None and _FOUND_LINE.match(line):
            parts = [*parts[:-1], *_marked(parts[-1][0], sought)]
        yield parts


def pattern_of(text: str, *, ignore_case: bool) -> re.Pattern[str] | None:
    """Return a pattern in RE2's syntax as Python's; None if Python has no such pattern."""
    try:
        return re.compile(text, re.IGNORECASE if ignore_case else 0)
    except re.error:
        return None


def _marked(text: str, sought: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    end = 0
    for match in sought.finditer(text):
        if match.end() > match.start():
            yield text[end : match.start()], ""
            yield match[0], STYLES["match"]
            end = match.end()
    yield text[end:], ""


def _parts(found: re.Match[str]) -> list[tuple[str, str]]:
    """Return a matched line cut at its named groups, each with its style."""
    parts: list[tuple[str, str]] = []
    end = 0
    spans = sorted((found.span(name), name) for name in found.groupdict())
    for (start, stop), name in spans:
        if start >= end and stop > start:
            parts += [(found.string[end:start], ""), (found.string[start:stop], STYLES[name])]
            end = stop
    return [*parts, (found.string[end:], "")]


def _styled_code(text: str) -> Iterator[Line]:
    first, *rest = text.split("\n")
    found = _CODE.fullmatch(first)
    yield [(first, "")] if found is None else _parts(found)
    lexer = _lexer(found["path"]) if found and len(text) <= _LONGEST_CODE else None
    notes = 0
    while notes < len(rest) and re.fullmatch(r"\([a-z].*\)", rest[notes]):
        yield [(rest[notes], STYLES["note"])]
        notes += 1
    code = rest[notes:]
    if not code:
        return
    lines = _highlighted("\n".join(code), lexer)
    place = _LINES.fullmatch(found["number"]) if found and not notes else None
    if place is None:
        yield from lines
        return
    start, end = map(int, place.groups())
    width = len(str(end))
    for number, line in enumerate(lines, start):
        if number > end:
            # What stands below the code is about it.
            yield [("".join(text for text, _ in line), STYLES["note"])]
        else:
            yield [(f"{number:{width}}  ", STYLES["number"]), *line]


def _highlighted(code: str, lexer: Lexer | None) -> Iterator[Line]:
    if lexer is None:
        yield from ([(line, "")] for line in code.split("\n"))
        return
    style_of = _token_styles()
    line: list[tuple[str, str]] = []
    for kind, value in lexer.get_tokens(code):
        style = style_of(kind)
        before, *after = value.split("\n")
        line.append((before, style))
        for part in after:
            yield line
            line = [(part, style)]
    yield line


def _token_styles() -> Callable[[object], str]:
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    styles = {
        Comment: "dim",
        Keyword: "magenta",
        Operator.Word: "magenta",
        String: "green",
        Number: "cyan",
        Name.Class: "bold",
        Name.Function: "bold",
        Name.Decorator: "yellow",
    }
    return lambda kind: next((style for known, style in styles.items() if kind in known), "")


def _lexer(path: str) -> Lexer | None:
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        return get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
