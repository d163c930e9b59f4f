"""Pieces of source text in the forms that outlines show."""

from __future__ import annotations

import ast
import re

_OPENING = re.compile(r"([A-Za-z]*)(\"\"\"|'''|\"|')")
_INNER_EDGES = re.compile(r"(?<=[(\[{]) |,? (?=[)\]}])")
# Strings are matched first, so that a `#` inside one starts no comment; one without an end, too, or
# the time would be quadratic in its quotes.
_PYTHON_COMMENT = re.compile(rb"(\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?)|#[^\n]*")


def one_line(data: bytes) -> str:
    """The Python source on one line: comments dropped, white space folded, brackets closed up."""
    if b"\n" not in data:
        return data.decode("utf-8", "replace").strip()
    if b"#" in data:
        data = _PYTHON_COMMENT.sub(lambda match: match.group(1) or b"", data)
    return fold_space(data)


def fold_space(data: bytes) -> str:
    """The source with each run of white space as one blank, and none inside brackets' edges."""
    return _INNER_EDGES.sub("", b" ".join(data.split()).decode("utf-8", "replace"))


def shorten(text: str, longest: int) -> str:
    """`text`, or its start and an ellipsis when it is longer."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def first_line_of_string(literal: bytes) -> str | None:
    """The first line with text in a Python string literal; None when there is none."""
    match = _OPENING.match(literal[:6].decode("ascii", "replace"))
    if match is None:
        return None
    prefix, quote = match.groups()
    if "f" in prefix.lower() or "b" in prefix.lower():
        return None  # No docstrings to Python either.
    content = literal[match.end() :].removesuffix(quote.encode()).lstrip()
    line = content.partition(b"\n")[0].decode("utf-8", "replace").rstrip()
    if "\\" in line and "r" not in prefix.lower():
        line = _unescaped(line)
    return line or None


def _unescaped(line: str) -> str:
    try:
        value = ast.literal_eval('"""' + line.rstrip("\\").replace('"', '\\"') + '"""')
    except (ValueError, SyntaxError, MemoryError):
        return line
    return " ".join(str(value).split())
