"""Tokens of code with their styles, by `pygments`."""

from __future__ import annotations

from collections.abc import Iterator

from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

from foldline.backends.formatting.parts import Line, Part

_STYLES = {
    Comment: "dim",
    Keyword: "magenta",
    Operator.Word: "magenta",
    String: "green",
    Number: "cyan",
    Name.Class: "bold",
    Name.Function: "bold",
    Name.Decorator: "yellow",
}


def styled(code: str, path: str) -> Iterator[Line]:
    """Yield the lines of code with the styles of their tokens; none for an unknown language."""
    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        yield from ([(line, "")] for line in code.split("\n"))
        return
    line: list[Part] = []
    for kind, value in lexer.get_tokens(code):
        style = next((style for kinds, style in _STYLES.items() if kind in kinds), "")
        before, *after = value.split("\n")
        line.append((before, style))
        for part in after:
            yield line
            line = [(part, style)]
    yield line
