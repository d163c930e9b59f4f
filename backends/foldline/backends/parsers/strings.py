"""Pieces of source text in the forms that outlines show, and the comments above definitions."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from foldline.backends.base.python_ast import parse_expression

if TYPE_CHECKING:
    from tree_sitter import Node

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
        quoted = '"""' + line.rstrip("\\").replace('"', '\\"') + '"""'
        value = ast.literal_eval(parse_expression(quoted))
    except (ValueError, SyntaxError, MemoryError):
        return line
    return " ".join(str(value).split())


def last_line(data: bytes, node: Node) -> int:
    """The last line with text: some grammars include the newlines after a definition."""
    end = node.end_byte
    if not data[max(end - 1, node.start_byte) : end].isspace():
        return node.end_point[0] + 1
    while end > node.start_byte and data[end - 1 : end].isspace():
        end -= 1
    return node.start_point[0] + 1 + data.count(b"\n", node.start_byte, end)


_SLASHES = re.compile(rb"[ \t]*//")
_HASHES = re.compile(rb"[ \t]*\#")
_MARKERS = re.compile(rb"^[ \t]*(?:/\*+!?|///?!?|\#+|--|;+|\*+(?!/))?[ \t]*")
_TAG = re.compile(r"</?\w+/?>")
_LONGEST_COMMENT = 20_000


def doc_above(
    data: bytes, start: int, *, blocks_only: bool = False, hashes: bool = False
) -> str | None:
    """The first line with text of the comment that ends on the line above byte `start`.

    With `blocks_only`, only `/** … */` counts, as JSDoc tools read it; with `hashes`, line comments
    start with `#` rather than `//`. A definition that does not start its line has no comment.
    """
    end = data.rfind(b"\n", 0, start)
    if end < 0 or data[end + 1 : start].strip():
        return None
    begin = data.rfind(b"\n", 0, end) + 1
    line = data[begin:end].rstrip()
    if line.endswith(b"*/"):
        opening = data.rfind(b"/*", max(0, end - _LONGEST_COMMENT), end)
        if opening < 0 or (blocks_only and data[opening : opening + 3] != b"/**"):
            return None
        if data[data.rfind(b"\n", 0, opening) + 1 : opening].strip():
            return None  # It trails code.
        return _first_text(data[opening:end])
    comment = _HASHES if hashes else _SLASHES
    if blocks_only or not comment.match(line):
        return None
    first = begin
    while begin > 0:
        begin = data.rfind(b"\n", 0, begin - 1) + 1
        above = data[begin : first - 1]
        if not comment.match(above) or above.startswith(b"#!"):
            break
        first = begin
    if data.startswith(b"#!", first):
        return None
    return _first_text(data[first:end])


def _first_text(comment: bytes) -> str | None:
    for line in map(bytes.rstrip, comment.split(b"\n")):
        marked = line[:-1].rstrip(b"*") if line.endswith(b"*/") else line
        text = _TAG.sub("", _MARKERS.sub(b"", marked).decode("utf-8", "replace")).strip()
        if text and not text.startswith("@"):
            return text
    return None
