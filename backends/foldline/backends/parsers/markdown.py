"""The parts of a Markdown text: headings, comments, code and what its prose names."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.outlines.syntax import parse
from foldline.backends.parsers.strings import fold_space
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

# A run of backquotes opens a code span, and the next run of as many closes it.
_QUOTES = re.compile(r"`+")
_LINK = re.compile(
    r"\[[^\[\]]*\]\(\s*+(<[^<>\n]*>|[^\s()<>]++)[^()\n]*+\)"
    r"|\A\[(?!\^)[^\[\]]+\]:\s*+(<[^<>\n]*>|[^\s<>]++)(?=\s*\Z|\s+[\"'(])"
)
_HEADINGS = frozenset({"atx_heading", "setext_heading"})
_FENCES = frozenset({"fenced_code_block", "indented_code_block"})
_PROSE = frozenset({"inline", "pipe_table_cell", "link_reference_definition"})


class Range(NamedTuple):
    """A range of a text in code points; `end` is exclusive."""

    start: int
    end: int


class Heading(NamedTuple):
    """A heading and what it heads: all up to the next one of its level or above.

    Attributes:
        level: From 1 to 6.
        title: Its text in one line, `(no title)` without any.
        start: Where its line begins, in code points, as are all offsets.
        body: Where the line after it begins.
        end: Where what it heads ends.
        parent: The place of the heading around it; -1 without one.
    """

    level: int
    title: str
    start: int
    body: int
    end: int
    parent: int


class Fence(NamedTuple):
    """A block of code: its language, empty if it says none, and the range of its lines."""

    language: str
    start: int
    end: int


@record
class Markdown:
    """A Markdown text, as its grammar reads it.

    Attributes:
        front_matter: What stands between the lines `---` at its start.
        headings: Those that stand in no quote and no list, in order.
        comments: HTML comments that are blocks of their own in no quote and no list.
        prose: Where it has words, code spans and links: paragraphs, headings, cells, definitions.
        fences: The blocks of code.
    """

    text: str
    front_matter: Range | None
    headings: tuple[Heading, ...]
    comments: tuple[Range, ...]
    prose: tuple[Range, ...]
    fences: tuple[Fence, ...]

    def code_spans(self) -> Iterator[Range]:
        """Yield what stands between backquotes, without the blanks around it."""
        for part in self.prose:
            for opened, closed in _code(self.text, part):
                inner = self.text[opened.end : closed.start]
                start = opened.end + len(inner) - len(inner.lstrip())
                yield Range(start, start + len(inner.strip()))

    def link_targets(self) -> Iterator[Range]:
        """Yield the targets of links and images, and of their definitions, without `<` and `>`."""
        for part in self.prose:
            text = self.words(part)
            for match in _LINK.finditer(text):
                start, end = match.span(match.lastindex or 0)
                bare = text.startswith("<", start)
                yield Range(part.start + start + bare, part.start + end - bare)

    def words(self, part: Range) -> str:
        """Return a part of the text, its code spans as blanks."""
        pieces, at = [], part.start
        for opened, closed in _code(self.text, part):
            pieces += [self.text[at : opened.start], " " * (closed.end - opened.start)]
            at = closed.end
        return "".join([*pieces, self.text[at : part.end]])


def read_markdown(text: str) -> Markdown:
    """Read a Markdown text.

    Raises:
        ParseRefusedError: It can't be read within the limits of parsing.
    """
    data = text.encode("utf-8", "replace")
    # Front matter may end with the file, which the grammar doesn't know.
    unended = text[:3] in ("---", "+++") and text.rstrip(" \t").endswith(f"\n{text[:3]}")
    root = parse("markdown", data + b"\n" * unended).root_node
    offset = (lambda byte: byte) if len(data) == len(text) else _Offsets(data).offset

    def at(byte: int) -> int:
        return min(offset(byte), len(text))

    quoted, front = 0, None
    comments: list[Range] = []
    prose: list[Range] = []
    fences: list[Fence] = []
    for node in _blocks(root):
        start, end = at(node.start_byte), at(node.end_byte)
        if node.type in ("minus_metadata", "plus_metadata"):
            inner = text[start:end].rstrip()
            first = inner.find("\n") + 1
            front = Range(start + first, start + max(first, inner.rfind("\n") + 1))
        elif node.type in ("block_quote", "list"):
            quoted = max(quoted, node.end_byte)
        elif node.type == "html_block" and node.start_byte >= quoted:
            comments += _comments(text, start, end)
        elif node.type in _FENCES:
            fences.append(Fence(_language(data, node), start, end))
        elif node.type in _PROSE:
            prose.append(Range(start, end))
    return Markdown(
        text,
        front,
        tuple(_headed(text, data, root)),
        tuple(comments),
        tuple(prose),
        tuple(fences),
    )


def _comments(text: str, at: int, end: int) -> Iterator[Range]:
    while (start := text.find("<!--", at, end)) >= 0:
        close = text.find("-->", start + 4, end)
        if close < 0:
            return
        at = close + 3
        yield Range(start, at)


def _code(text: str, part: Range) -> Iterator[tuple[Range, Range]]:
    """Yield the runs of backquotes that open and close the code spans of a part of a text."""
    runs = [Range(*match.span()) for match in _QUOTES.finditer(text, *part)]
    later: dict[int, list[int]] = {}
    for index, run in reversed([*enumerate(runs)]):
        later.setdefault(run.end - run.start, []).append(index)
    last = -1
    for index, run in enumerate(runs):
        same = later[run.end - run.start]
        same.pop()
        if index > last and same:
            last = same[-1]
            yield run, runs[last]


def headings(data: bytes, root: Node) -> Iterator[tuple[int, str, int, int]]:
    """Yield the level and the title of each heading, the row of its line and that after it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _HEADINGS:
            content = node.child_by_field_name("heading_content")
            title = fold_space(data[content.start_byte : content.end_byte]) if content else ""
            marker = next(child for child in node.children if "_h" in child.type)
            level = int(marker.type.partition("_h")[2][0])
            after = node.end_point[0] + (node.end_point[1] > 0)
            shown = title.rstrip("#").rstrip() or "(no title)"
            yield level, shown, node.start_point[0], after
        elif node.type in {"document", "section"}:
            waiting.extend(reversed(node.named_children))


def ends_of(levels: list[int], last: int, starts: list[int]) -> Iterator[tuple[int, int]]:
    """Yield for each heading where what it heads ends, and the place of that around it, or -1.

    That is where the next one of its level or above starts, or at `last`.
    """
    ends = [last] * len(levels)
    parents: list[int] = []
    above: list[int] = []
    for index, level in enumerate(levels):
        while above and levels[above[-1]] >= level:
            ends[above.pop()] = starts[index]
        parents.append(above[-1] if above else -1)
        above.append(index)
    return zip(ends, parents, strict=True)


def _headed(text: str, data: bytes, root: Node) -> Iterator[Heading]:
    lines = [0, *(line.end() for line in re.finditer("\n", text)), len(text)]
    every = list(headings(data, root))
    starts = [lines[min(row, len(lines) - 1)] for _, _, row, _ in every]
    ends = ends_of([level for level, *_ in every], len(text), starts)
    for (level, title, _, after), start, (end, parent) in zip(every, starts, ends, strict=True):
        yield Heading(level, title, start, lines[min(after, len(lines) - 1)], end, parent)


def _blocks(root: Node) -> Iterator[Node]:
    """Yield the nodes of the text in order; nothing in code or HTML."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if node.type not in _FENCES and node.type not in ("html_block", "inline"):
            waiting.extend(reversed(node.named_children))


def _language(data: bytes, node: Node) -> str:
    info = next((child for child in node.named_children if child.type == "info_string"), None)
    words = b"" if info is None else data[info.start_byte : info.end_byte]
    return next(iter(words.decode("utf-8", "replace").split()), "")


class _Offsets:
    """Offsets in code points of a text that isn't ASCII alone."""

    def __init__(self, data: bytes) -> None:
        self._inside = [match.start() for match in re.finditer(rb"[\x80-\xbf]", data)]

    def offset(self, byte: int) -> int:
        """Return the offset in code points of a byte that begins one."""
        return byte - bisect_left(self._inside, byte)
