"""The comment right above a definition, whatever the language's comments look like."""

from __future__ import annotations

import re

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
