"""Outlines of files in an unknown language, from indentation alone."""

from __future__ import annotations

import re

from foldline.backends.models import SymbolKind
from foldline.backends.parsers.outline_builder import Outline, OutlineBuilder
from foldline.backends.parsers.strings import shorten

_DEEPEST = 3
_LONGEST = 80
_MOST = 2000
_IN_EXTRA = frozenset({"scala", "sql", "swift"})
# Blocks of protobuf and GraphQL.
_DECLARED = re.compile(
    r"(?:extend )?(?:message|service|enum|oneof|rpc|type|input|interface|query|mutation|fragment"
    r"|subscription) (\w+)"
)


def outline_by_indentation(data: bytes, language: str = "unknown") -> Outline:
    """The lines that have deeper lines below them, three levels deep."""
    builder = OutlineBuilder()
    lines = data.split(b"\n")
    ends = _block_ends(lines)
    open_blocks: list[tuple[int, int]] = []  # last row, index
    for row, end in ends.items():
        while open_blocks and open_blocks[-1][0] < row:
            open_blocks.pop()
        if len(open_blocks) >= _DEEPEST or end == row or len(builder) >= _MOST:
            continue
        text = shorten(lines[row][:400].decode("utf-8", "replace").strip(), _LONGEST)
        declared = _DECLARED.match(text)
        name = declared[1] if declared else text.rstrip("{[(: ") or text
        parent = open_blocks[-1][1] if open_blocks else -1
        index = builder.add(parent, name, SymbolKind.BLOCK, row + 1, end + 1, text)
        open_blocks.append((end, index))
    remark = f"{language} is read without a grammar"
    if language == "unknown":
        remark = "the language is unknown"
    elif language in _IN_EXTRA:
        remark += "; install foldline[grammars]"
    reason = f"{remark}: these are the lines with indented lines below them"
    if not len(builder):
        what = "plain text" if language == "unknown" else remark
        reason = f"{what} without headings or indented blocks: read its lines, or search in it"
    return Outline(builder.finish(), reason=reason)


def _block_ends(lines: list[bytes]) -> dict[int, int]:
    """For each line with text the last line that is indented more; a lone bracket closes it."""
    ends: dict[int, int] = {}
    open_lines: list[tuple[int, int]] = []  # indent, row
    last = 0
    for row, line in enumerate(lines):
        text = line.strip()
        if not text:
            continue
        head = line[: len(line) - len(line.lstrip())]
        indent = len(head.expandtabs(8))
        closing = text.rstrip(b";,") in {b"}", b"]", b")", b"end", b"fi", b"done", b"});", b"})"}
        while open_lines and open_lines[-1][0] >= indent:
            _, opened = open_lines.pop()
            # A bracket closes the outermost of these.
            if closing and not (open_lines and open_lines[-1][0] >= indent):
                ends[opened] = row
            else:
                ends[opened] = last
        last = row
        if not closing:
            ends[row] = row
            open_lines.append((indent, row))
    for _, opened in open_lines:
        ends[opened] = last
    return ends
