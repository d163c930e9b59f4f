"""Lines of an answer for a terminal: code with styled tokens, and marked matches of a search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.backends.formatting.parts import FOUND
from foldline.backends.formatting.visible import for_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pygments.lexer import Lexer

    from foldline.backends.formatting.parts import Code, Line, Part

# Longer code has no colours: styling it would take too long.
_LONGEST_CODE = 200_000


def code_lines(code: Code) -> Iterator[Line]:
    """Yield the lines of code with their numbers and the styles of their tokens."""
    text = for_terminal(code.text)
    lexer = _lexer(code.path) if len(text) <= _LONGEST_CODE else None
    width = len(str(code.first + text.count("\n")))
    for number, line in enumerate(_tokens(text, lexer), code.first):
        yield [(f"{number:{width}}  ", "dim"), *line] if code.first else line


def marked(line: Line, sought: re.Pattern[str] | None) -> Line:
    """Return the line with a style for what matches `sought` in a found part."""
    return [part for one in line for part in _marked(one, sought)]


def pattern_of(text: str, *, ignore_case: bool) -> re.Pattern[str] | None:
    """Return a pattern of `regex` as one of `re`; None if that has no such pattern."""
    try:
        return re.compile(text, re.IGNORECASE if ignore_case else 0)
    except re.error:
        return None


def _marked(part: Part, sought: re.Pattern[str] | None) -> Iterator[Part]:
    text, style = part
    end = 0
    for match in sought.finditer(text) if sought is not None and style == FOUND else ():
        if match.end() > match.start():
            yield text[end : match.start()], ""
            yield match[0], "bold red"
            end = match.end()
    yield text[end:], "" if style == FOUND else style


def _tokens(code: str, lexer: Lexer | None) -> Iterator[Line]:
    if lexer is None:
        yield from ([(line, "")] for line in code.split("\n"))
        return
    style_of = _token_styles()
    line: list[Part] = []
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
    return lambda kind: next((style for kinds, style in styles.items() if kind in kinds), "")


def _lexer(path: str) -> Lexer | None:
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        return get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
