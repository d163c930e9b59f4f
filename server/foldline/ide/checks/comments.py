"""Comments and strings of a file, for comments that speak to foldline.

Only files with such a comment are read for them, each statement once while it stays the same.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from foldline.ide.analysis.model import LineTable, Span
from foldline.ide.analysis.syntax import Assign, Block, ClassDefinition, FunctionDefinition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.syntax import Statement
    from foldline.ide.analysis.top_level import TopLevel

MARK = "foldline:"
"""What every such comment contains."""

_TOKEN = re.compile(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:"""|\Z)'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'''|\Z)"
    r'|"(?:[^"\\\r\n]|\\(?:\r\n|.))*"?'
    r"|'(?:[^'\\\r\n]|\\(?:\r\n|.))*'?"
    r"|(?P<comment>#[^\r\n]*)",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"#[ \t]*foldline:[ \t]*ignore\b(?:[ \t]*\[(?P<codes>[^\]\r\n]*)\])?")
_CODE = re.compile(r"[^\s,](?:[^,]*[^\s,])?")
_LINE_END = re.compile(r"\r\n?|\n|\Z")


class IgnoredCode(NamedTuple):
    """A code in a comment, and where it is."""

    code: str
    place: Span


@dataclass(frozen=True, slots=True)
class Directive:
    """A comment `# foldline: ignore[code, …]`; without brackets, `codes` is None."""

    place: Span
    codes: tuple[IgnoredCode, ...] | None

    def moved(self, by: int) -> Directive:
        """Return the same comment further down."""
        moved = None
        if self.codes is not None:
            moved = tuple(IgnoredCode(code, _moved(place, by)) for code, place in self.codes)
        return Directive(_moved(self.place, by), moved)


def _moved(place: Span, by: int) -> Span:
    return Span(place.start + by, place.end + by)


class Comments:
    """The comments of a file that speak to foldline, and the lines that a finding is on."""

    def __init__(self, analysis: ModuleAnalysis) -> None:
        self._analysis = analysis
        self.text = analysis.text

    @cached_property
    def directives(self) -> tuple[Directive, ...]:
        """The directives, in order."""
        if MARK not in self.text:
            return ()
        return tuple(self._directives())

    @cached_property
    def by_line(self) -> dict[int, list[Directive]]:
        """The directives by line."""
        found: dict[int, list[Directive]] = {}
        for directive in self.directives:
            found.setdefault(self.line(directive.place.start), []).append(directive)
        return found

    @cached_property
    def _lines(self) -> LineTable:
        return LineTable(self.text)

    def line(self, offset: int) -> int:
        """Return the line of an offset, from zero."""
        return self._lines.position(offset).line

    def lines_of(self, place: Span) -> set[int]:
        """Return the lines on which a comment is about what is at `place`.

        They are its first and last line, the first and last line of the innermost statement around
        it, and for lines that end inside of a string, the line where that string ends.
        """
        ends = {place.start, max(place.start, place.end - 1)}
        lines = {self.line(offset) for offset in ends}
        lines |= {self.line(self.comment_place(offset)) for offset in ends}
        around = self.statement_around(place.start)
        if around is not None:
            lines |= {self.line(around.start), self.line(max(around.start, around.end - 1))}
        return lines

    def comment_place(self, offset: int) -> int:
        """Return the first line end after an offset at which a comment isn't part of a string."""
        strings = self._strings(offset)
        end = self.line_end(offset)
        while True:
            index = bisect_right(strings, end, key=lambda span: span.start) - 1
            if index < 0 or not strings[index].start < end < strings[index].end:
                return end
            end = self.line_end(strings[index].end)

    def statement_around(self, offset: int) -> Span | None:
        """Return the innermost statement around an offset that has no statements in it."""
        top = self._top_level(offset)
        return None if top is None or top.broken else _innermost(top.nodes, offset)

    def line_break_after(self, end: int) -> int:
        """Return the offset after a line break."""
        found = _LINE_END.match(self.text, end)
        return end if found is None else found.end()

    def code_end(self, end: int) -> int:
        """Return the end of a line without the spaces at its end."""
        start = max(self.text.rfind("\n", 0, end), self.text.rfind("\r", 0, end)) + 1
        return start + len(self.text[start:end].rstrip())

    def is_continued(self, end: int) -> bool:
        """Return True if a line goes on after a backslash, so that no comment fits."""
        return self.text[:end].endswith("\\")

    def line_end(self, offset: int) -> int:
        """Return the end of the line of an offset."""
        found = _LINE_END.search(self.text, offset)
        return len(self.text) if found is None else found.start()

    def _top_level(self, offset: int) -> TopLevel | None:
        statements = self._analysis.statements
        index = bisect_right(statements, offset, key=lambda statement: statement.start) - 1
        if index < 0 or offset > statements[index].end:
            return None
        return statements[index]

    def _strings(self, offset: int) -> list[Span]:
        """Return the strings of the statement around an offset."""
        top = self._top_level(offset)
        if top is None:
            return []
        tokens = _TOKEN.finditer(top.text)
        start = top.start
        return [
            Span(start + token.start(), start + token.end())
            for token in tokens
            if token["comment"] is None
        ]

    def _directives(self) -> Iterator[Directive]:
        memo, at = self._analysis.evaluator.memo, 0
        for statement in self._analysis.statements:
            yield from _in_text(self.text[at : statement.start], at)
            at = statement.end
            if MARK not in statement.text:
                continue
            read = partial(_of_statement, statement.text)
            found = read() if statement.broken else memo.fact(statement.anchor, "directives", read)
            for directive in found:
                yield directive.moved(statement.start)
        yield from _in_text(self.text[at:], at)


def _of_statement(text: str) -> tuple[Directive, ...]:
    return tuple(_in_text(text, 0))


def _in_text(text: str, start: int) -> Iterator[Directive]:
    if MARK not in text:
        return
    for token in _TOKEN.finditer(text):
        if token["comment"] is None or MARK not in token[0]:
            continue
        for match in _DIRECTIVE.finditer(text, *token.span()):
            place = Span(start + match.start(), start + match.end())
            codes = None
            if match["codes"] is not None:
                listed = _CODE.finditer(text, *match.span("codes"))
                codes = tuple(
                    IgnoredCode(code[0], Span(start + code.start(), start + code.end()))
                    for code in listed
                )
            yield Directive(place, codes)


def _innermost(statements: Iterable[Statement], offset: int) -> Span | None:
    for statement in statements:
        low, high = statement.anchor.range(statement.start, statement.end)
        if not low <= offset <= high:
            continue
        if isinstance(statement, Block | ClassDefinition | FunctionDefinition):
            return _innermost(statement.body, offset)
        if isinstance(statement, Assign) or low < high:
            return Span(low, high)
    return None
