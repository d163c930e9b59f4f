"""Silences diagnostics in place: `# foldline: ignore[code]`, and reports what silences nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.model import SourceSpan, Span
from foldline.ide.checks.comments import Comments
from foldline.ide.checks.diagnostic import (
    Change,
    Code,
    Diagnostic,
    Fix,
    Severity,
    alternatives,
)
from foldline.prompts import errors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.checks.comments import Directive, IgnoredCode

COUNTED = frozenset({Code.TOKEN_BUDGET, Code.FOLDING_COSTS_MORE, Code.CACHE_ORDER})
"""Codes that depend on the configuration and on the installed tokenizer.

A comment that silences them is never reported: it may be of use elsewhere.
"""


class Silencer:
    """The comments of a file, and what they silence."""

    def __init__(self, analysis: ModuleAnalysis) -> None:
        self.file = analysis.file
        self.comments = Comments(analysis)
        self._used: set[Span] = set()

    def silences(self, code: Code, place: SourceSpan) -> bool:
        """Return True if a comment silences a finding; the comment counts as used then."""
        if not self.comments.directives:
            return False
        found = False
        for line in self.comments.lines_of(place.span):
            for directive in self.comments.by_line.get(line, ()):
                for ignored in directive.codes or ():
                    if ignored.code == code:
                        self._used.add(ignored.place)
                        found = True
        return found

    def unused(
        self, levels: Mapping[Code, Severity], found: Iterable[Diagnostic]
    ) -> Iterator[Diagnostic]:
        """Yield the comments, and the codes in them, that silence nothing.

        Args:
            levels: The severity of each code. Of one that is off nothing is known.
            found: The other diagnostics of the file.
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
                    yield self._misspelt(severity, directive, ignored)
                elif not self._is_used(ignored, off):
                    message = f"This silences nothing: there is no `{ignored.code}` here."
                    only = len(directive.codes or ()) == 1
                    place = directive.place if only else ignored.place
                    fix = self._removal(directive, None if only else ignored)
                    yield self._diagnostic(severity, message, place, (fix,))

    def _is_used(self, ignored: IgnoredCode, off: Collection[Code]) -> bool:
        code = Code(ignored.code)
        unknown = code in COUNTED or code is Code.UNUSED_IGNORE or code in off
        return unknown or ignored.place in self._used

    def _diagnostic(
        self, severity: Severity, message: str, place: Span, fixes: tuple[Fix, ...]
    ) -> Diagnostic:
        span = SourceSpan(self.file, place.start, place.end)
        return Diagnostic(Code.UNUSED_IGNORE, severity, message, span, fixes, unnecessary=True)

    def _misspelt(
        self, severity: Severity, directive: Directive, ignored: IgnoredCode
    ) -> Diagnostic:
        near = errors.near_names(ignored.code, Code)
        hint = f" Did you mean {alternatives(near)}?" if near else ""
        fixes = tuple(
            Fix(
                f"Change to `{name}`",
                (self._change(ignored.place, name),),
                preferred=len(near) == 1,
            )
            for name in near
        )
        only = len(directive.codes or ()) == 1
        removal = self._removal(directive, None if only else ignored, preferred=not fixes)
        message = f"There is no diagnostic `{ignored.code}`.{hint}"
        return self._diagnostic(severity, message, ignored.place, (*fixes, removal))

    def _named(self, directive: Directive, shown: Iterable[tuple[Code, Span]]) -> Iterator[Fix]:
        """Yield the fix that names the diagnostics that a comment is about."""
        line = self.comments.line(directive.place.start)
        codes = sorted({code for code, place in shown if line in self.comments.lines_of(place)})
        if codes:
            named = f"# foldline: ignore[{', '.join(codes)}]"
            change = self._change(directive.place, named)
            yield Fix(f"Change to `{named}`", (change,), preferred=True)

    def _change(self, place: Span, text: str) -> Change:
        return Change(SourceSpan(self.file, place.start, place.end), text)

    def _removal(
        self, directive: Directive, ignored: IgnoredCode | None = None, *, preferred: bool = True
    ) -> Fix:
        """Return the fix that removes a comment with its reason, or one code of it."""
        if ignored is not None:
            codes = [other.place for other in directive.codes or ()]
            index = codes.index(ignored.place)
            place = (
                Span(codes[index - 1].end, ignored.place.end)
                if index
                else Span(ignored.place.start, codes[1].start)
            )
            title = f"Remove `{ignored.code}`"
        else:
            place = self._whole(directive)
            title = "Remove the comment"
        return Fix(title, (self._change(place, ""),), preferred)

    def _whole(self, directive: Directive) -> Span:
        text, (start, end) = self.comments.text, (directive.place.start, directive.place.end)
        line_end = self.comments.line_end(end)
        after = text.find("#", end, line_end)
        if after >= 0:
            return Span(start, after)
        line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        if not text[line:start].strip():
            end = self.comments.line_break_after(line_end)
            return Span(line, end)
        return Span(line + len(text[line:start].rstrip()), line_end)


def silenced_here(analysis: ModuleAnalysis, found: Diagnostic) -> Fix | None:
    """Return the change that silences a diagnostic with a comment; None without a place for one."""
    if found.code is Code.UNUSED_IGNORE or analysis.refused:
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
        place = SourceSpan(analysis.file, directive.place.start, directive.place.end)
        return Fix(title, (Change(place, named),))
    start = comments.code_end(end)
    change = Change(
        SourceSpan(analysis.file, start, end),
        f"{'  ' if start else ''}# foldline: ignore[{found.code}]",
    )
    return Fix(title, (change,))
