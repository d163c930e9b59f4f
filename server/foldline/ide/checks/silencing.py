"""Silences diagnostics in place: `# foldline: ignore[code]`, and reports what silences nothing.

Only files with such a comment are read for them, each statement once while it stays the same.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import NamedTuple

from foldline.ide.analysis.model import LineTable, SourceSpan, Span
from foldline.ide.analysis.module_analysis import ModuleAnalysis
from foldline.ide.analysis.syntax import (
    Assign,
    ClassDefinition,
    Compound,
    FunctionDefinition,
    Statement,
)
from foldline.ide.analysis.top_level import TopLevel
from foldline.ide.checks.codes import Code, Severity
from foldline.ide.checks.diagnostic import Change, Diagnostic, Fix, did_you_mean
from foldline.ide.plugins import plugins
from foldline.prompts import errors
from foldline.records import record

COUNTED = frozenset(
    {Code.TOKEN_BUDGET, Code.UNPROVEN_BUDGET, Code.FOLDING_COSTS_MORE, Code.CACHE_ORDER}
)
"""Codes that depend on the configuration and on the installed tokenizer.

A comment that silences them is never reported: it may be of use elsewhere.
"""


class Silencer:
    """The comments of a file, and what they silence."""

    def __init__(self, analysis: ModuleAnalysis) -> None:
        self.file = analysis.file
        self.comments = Comments(analysis)
        self._used: set[Span] = set()

    def silences(self, code: str, place: SourceSpan) -> bool:
        """Return True if a comment silences a diagnostic; the comment counts as used then."""
        if not self.comments.directives:
            return False
        silenced = False
        for line in self.comments.lines_of(place.span):
            for directive in self.comments.by_line.get(line, ()):
                for ignored in directive.codes or ():
                    if ignored.code == code:
                        self._used.add(ignored.place)
                        silenced = True
        return silenced

    def unused(
        self, levels: Mapping[Code, Severity], found: Iterable[Diagnostic]
    ) -> Iterator[Diagnostic]:
        """Yield the comments, and the codes in them, that silence nothing.

        Args:
            levels: The severity of each code. Of one that is off nothing is known.
            found: The other diagnostics of the file.

        Codes of plugins are left alone: one may be installed elsewhere, or left out here.
        """
        severity = levels[Code.UNUSED_IGNORE]
        if severity is Severity.OFF or not self.comments.directives:
            return
        off = {code for code, level in levels.items() if level is Severity.OFF}
        shown = [(diagnostic.code, diagnostic.place.span) for diagnostic in found]
        for directive in self.comments.directives:
            if not directive.codes:
                message = "Name the diagnostics to silence: `# foldline: ignore[code]`."
                named = tuple(self._named(directive, shown))
                fixes = (*named, self._removal(directive, preferred=not named))
                yield self._diagnostic(severity, message, directive.place, fixes)
            for ignored in directive.codes or ():
                if ignored.code not in set(Code):
                    if not (plugins().problems or ignored.code in plugins().codes):
                        yield self._misspelt(severity, directive, ignored)
                elif not self._is_used(ignored, off):
                    message = f"This silences nothing: there is no `{ignored.code}` here."
                    only = len(directive.codes or ()) == 1
                    span = directive.place if only else ignored.place
                    fix = self._removal(directive, None if only else ignored)
                    yield self._diagnostic(severity, message, span, (fix,))

    def _is_used(self, ignored: IgnoredCode, off: Collection[Code]) -> bool:
        code = Code(ignored.code)
        unknown = code in COUNTED or code is Code.UNUSED_IGNORE or code in off
        return unknown or ignored.place in self._used

    def _diagnostic(
        self, severity: Severity, message: str, place: Span, fixes: tuple[Fix, ...]
    ) -> Diagnostic:
        span = SourceSpan(self.file, *place)
        return Diagnostic(Code.UNUSED_IGNORE, severity, message, span, fixes, unnecessary=True)

    def _misspelt(
        self, severity: Severity, directive: Directive, ignored: IgnoredCode
    ) -> Diagnostic:
        near = errors.near_names(ignored.code, (*Code, *plugins().codes))
        fixes = tuple(
            Fix(f"Change to `{name}`", (self._change(ignored.place, name),), len(near) == 1)
            for name in near
        )
        only = len(directive.codes or ()) == 1
        removal = self._removal(directive, None if only else ignored, preferred=not fixes)
        message = f"There is no diagnostic `{ignored.code}`.{did_you_mean(near)}"
        return self._diagnostic(severity, message, ignored.place, (*fixes, removal))

    def _named(self, directive: Directive, shown: Iterable[tuple[str, Span]]) -> Iterator[Fix]:
        """Yield the fix that names the diagnostics that a comment is about."""
        line = self.comments.line(directive.place.start)
        codes = sorted({code for code, span in shown if line in self.comments.lines_of(span)})
        if codes:
            named = f"# foldline: ignore[{', '.join(codes)}]"
            change = self._change(directive.place, named)
            yield Fix(f"Change to `{named}`", (change,), preferred=True)

    def _change(self, place: Span, text: str) -> Change:
        return Change(SourceSpan(self.file, *place), text)

    def _removal(
        self, directive: Directive, ignored: IgnoredCode | None = None, *, preferred: bool = True
    ) -> Fix:
        """Return the fix that removes a comment with its reason, or one code of it."""
        if ignored is not None:
            codes = [other.place for other in directive.codes or ()]
            index = codes.index(ignored.place)
            span = (
                Span(codes[index - 1].end, ignored.place.end)
                if index
                else Span(ignored.place.start, codes[1].start)
            )
            title = f"Remove `{ignored.code}`"
        else:
            span = self._whole(directive)
            title = "Remove the comment"
        return Fix(title, (self._change(span, ""),), preferred)

    def _whole(self, directive: Directive) -> Span:
        text, (start, end) = self.comments.text, directive.place
        line_end = self.comments.line_end(end)
        after = text.find("#", end, line_end)
        if after >= 0:
            return Span(start, after)
        line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        if not text[line:start].strip():
            line_break = _LINE_END.match(text, line_end)
            return Span(line, line_end if line_break is None else line_break.end())
        return Span(line + len(text[line:start].rstrip()), line_end)


def silenced_here(analysis: ModuleAnalysis, found: Diagnostic) -> Fix | None:
    """Return the change that silences a diagnostic with a comment; None without a place for one."""
    if found.code is Code.UNUSED_IGNORE or not analysis.statements:
        return None
    comments = Comments(analysis)
    end = comments.comment_place(max(found.place.start, found.place.end - 1))
    around = comments.statement_around(found.place.start)
    if comments.is_continued(end):
        if around is None or comments.is_continued(comments.comment_place(around.end)):
            return None
        end = comments.comment_place(around.end)
    title = f"Silence `{found.code}` here"
    for directive in comments.by_line.get(comments.line(end), ()):
        codes = [ignored.code for ignored in directive.codes or ()]
        named = f"# foldline: ignore[{', '.join([*codes, found.code])}]"
        return Fix(title, (Change(SourceSpan(analysis.file, *directive.place), named),))
    text = analysis.text
    line = max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1
    start = line + len(text[line:end].rstrip())
    change = Change(
        SourceSpan(analysis.file, start, end),
        f"{'  ' if start else ''}# foldline: ignore[{found.code}]",
    )
    return Fix(title, (change,))


MARK = "foldline:"
"""The text that every such comment contains."""

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


@record
class Directive:
    """A comment `# foldline: ignore[code, …]`; without brackets, `codes` is None."""

    place: Span
    codes: tuple[IgnoredCode, ...] | None

    def moved(self, by: int) -> Directive:
        """Return the same comment further down."""
        codes = None
        if self.codes is not None:
            codes = tuple(IgnoredCode(code, span.moved(by)) for code, span in self.codes)
        return Directive(self.place.moved(by), codes)


class Comments:
    """The comments of a file that speak to foldline, and the lines that a diagnostic is on."""

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
        directives: dict[int, list[Directive]] = {}
        for directive in self.directives:
            directives.setdefault(self.line(directive.place.start), []).append(directive)
        return directives

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

    def is_continued(self, end: int) -> bool:
        """Return True if a line goes on after a backslash, so that no comment fits."""
        return self.text[:end].endswith("\\")

    def line_end(self, offset: int) -> int:
        """Return the end of the line of an offset."""
        end = _LINE_END.search(self.text, offset)
        return len(self.text) if end is None else end.start()

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
        strings = (token for token in _TOKEN.finditer(top.text) if token["comment"] is None)
        return [Span(*string.span()).moved(top.start) for string in strings]

    def _directives(self) -> Iterator[Directive]:
        memo, at = self._analysis.evaluator.memo, 0
        for statement in self._analysis.statements:
            yield from _in_text(self.text[at : statement.start], at)
            at = statement.end
            if MARK not in statement.text:
                continue
            read = partial(_in_text, statement.text, 0)
            directives = (
                read() if statement.broken else memo.facts(statement.anchor, "directives", read)
            )
            for directive in directives:
                yield directive.moved(statement.start)
        yield from _in_text(self.text[at:], at)


def _in_text(text: str, start: int) -> Iterator[Directive]:
    if MARK not in text:
        return
    for token in _TOKEN.finditer(text):
        if token["comment"] is None or MARK not in token[0]:
            continue
        for match in _DIRECTIVE.finditer(text, *token.span()):
            span = Span(*match.span()).moved(start)
            codes = None
            if match["codes"] is not None:
                listed = _CODE.finditer(text, *match.span("codes"))
                codes = tuple(
                    IgnoredCode(code[0], Span(*code.span()).moved(start)) for code in listed
                )
            yield Directive(span, codes)


def _innermost(statements: Iterable[Statement], offset: int) -> Span | None:
    for statement in statements:
        low, high = statement.anchor.range(statement.start, statement.end)
        if not low <= offset <= high:
            continue
        if isinstance(statement, Compound | ClassDefinition | FunctionDefinition):
            return _innermost(statement.body, offset)
        if isinstance(statement, Assign) or low < high:
            return Span(low, high)
    return None
