"""Lines of an answer for a terminal: code with styled tokens, and marked matches of a search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline import agent
from foldline.backends.formatting.parts import FOUND
from foldline.backends.formatting.visible import for_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.backends.formatting.parts import Code, Line, Part

# Longer code has no colours: styling it would take too long.
_LONGEST_CODE = 200_000


def code_lines(code: Code) -> Iterator[Line]:
    """Yield the lines of code with their numbers and the styles of their tokens."""
    text = for_terminal(code.text)
    if len(text) <= _LONGEST_CODE:
        lines = agent.code_tokens.styled(text, code.path)
    else:
        lines = ([(line, "")] for line in text.split("\n"))
    width = len(str(code.first + text.count("\n")))
    for number, line in enumerate(lines, code.first):
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
