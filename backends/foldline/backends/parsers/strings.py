"""Pieces of source text in the forms that outlines show."""

from __future__ import annotations

import ast
import re

_SPACE = re.compile(rb"\s+")
_OPENING = re.compile(r"([A-Za-z]*)(\"\"\"|'''|\"|')")
_PADDING = re.compile(r"(?<=[(\[{]) | (?=[)\]}])|,(?= ?[)\]}])")


def one_line(data: bytes) -> str:
    """The source on one line: every run of white space one blank, none inside brackets' edges."""
    if b"\n" not in data:
        return data.decode("utf-8", "replace").strip()
    text = _SPACE.sub(b" ", _without_comments(data)).decode("utf-8", "replace").strip()
    return _PADDING.sub("", _PADDING.sub("", text))


def _without_comments(data: bytes) -> bytes:
    if b"#" not in data:
        return data
    return _COMMENT.sub(lambda match: match.group(1) or b"", data)


# A string is matched first, so that a `#` inside it starts no comment.
_COMMENT = re.compile(rb"(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|#[^\n]*")


def first_line_of_string(literal: bytes) -> str | None:
    """The first line with text in a Python string literal; None when there is none."""
    text = literal.decode("utf-8", "replace")
    match = _OPENING.match(text)
    if match is None:
        return None
    prefix, quote = match.groups()
    if "f" in prefix.lower() or "b" in prefix.lower():
        return None  # No docstrings to Python either.
    content = text[match.end() :]
    content = content.removesuffix(quote)
    for line in content.split("\n"):
        if stripped := line.strip():
            if "\\" in stripped and "r" not in prefix.lower():
                return _unescaped(stripped)
            return stripped
    return None


def _unescaped(line: str) -> str:
    try:
        value = ast.literal_eval('"""' + line.rstrip("\\").replace('"', '\\"') + '"""')
    except (ValueError, SyntaxError, MemoryError):
        return line
    return " ".join(str(value).split()) or line
