"""Diagnostics of checks: a code, a sentence, a location, and fixes that are certain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.syntax import Node, String
from foldline.ide.analysis.values import Argument, Text
from foldline.ide.checks.codes import Code, Severity, default_severity
from foldline.records import record

if TYPE_CHECKING:
    from foldline.ide.analysis.placeholders import Placeholder
    from foldline.ide.analysis.source_map import MappedText


# Locations are computed on demand: the diagnostics of a statement stay valid while typing elsewhere
# moves it.
LazyLocation: TypeAlias = Callable[[], SourceSpan | None]


@record
class Change:
    """One text replacement of a fix."""

    place: SourceSpan
    text: str


@record
class Fix:
    """A fix; the preferred one is almost certainly what the author meant."""

    title: str
    changes: tuple[Change, ...]
    preferred: bool = False


Repair: TypeAlias = Callable[[], Fix | None]


@record(eq=False)
class LazyDiagnostic:
    """A diagnostic whose location is computed when it is needed.

    `instead` is the location to use in a file that only uses the faulty text of another file.
    """

    code: Code
    message: str
    place: LazyLocation
    repairs: tuple[Repair, ...] = ()
    related: tuple[tuple[LazyLocation, str], ...] = ()
    unnecessary: bool = False
    instead: LazyLocation | None = None

    def place_in(self, file: str) -> SourceSpan | None:
        """Return the location in a file; None if it has none there."""
        span = self.place()
        if (span is None or span.file != file) and self.instead is not None:
            span = self.instead()
        return span if span is not None and span.file == file else None


@record
class Related:
    """Another location that a diagnostic refers to."""

    place: SourceSpan
    message: str


@record
class Diagnostic:
    """A diagnostic at its current location in the file; `code` is a `Code`, or of a plugin."""

    code: str
    severity: Severity
    message: str
    place: SourceSpan
    fixes: tuple[Fix, ...] = ()
    related: tuple[Related, ...] = ()
    unnecessary: bool = False


def report(
    code: Code, message: str, place: SourceSpan, fixes: tuple[Fix, ...] = (), *related: Related
) -> Diagnostic:
    """Return a diagnostic with the default severity of its code."""
    return Diagnostic(code, default_severity(code), message, place, fixes, related)


def as_wanted(
    diagnostics: Iterable[Diagnostic], severities: Mapping[str, Severity]
) -> tuple[Diagnostic, ...]:
    """Return diagnostics in the order of their text, with a project's severities."""
    wanted = (replace(one, severity=severities.get(one.code, one.severity)) for one in diagnostics)
    shown = (one for one in wanted if one.severity is not Severity.OFF)
    return tuple(sorted(shown, key=lambda one: (one.place, one.code)))


def at_node(node: Node) -> LazyLocation:
    return partial(span_of, node)


def at_argument(argument: Argument) -> LazyLocation:
    """Location of an argument, or of the string that its name or call evaluates to."""
    value = argument.value
    if isinstance(value, Text) and not isinstance(argument.node, String):
        mapped = value.mapped
        return lambda: mapped.place(0, len(mapped.text)) or span_of(argument.node)
    return at_node(argument.node)


def at_placeholder(placeholder: Placeholder) -> LazyLocation:
    """Location of a placeholder, braces included."""
    return lambda: placeholder.source


def at_text(mapped: MappedText, start: int, end: int) -> LazyLocation:
    """Location of a part of a text."""
    return partial(mapped.place, start, end)


def replacement(title: str, place: LazyLocation, text: str, *, preferred: bool = False) -> Repair:
    """Return the fix that replaces the text at a location."""

    def repair() -> Fix | None:
        span = place()
        return Fix(title, (Change(span, text),), preferred) if span is not None else None

    return repair


def changes(
    place: LazyLocation, names: Iterable[str], written: Callable[[str], str] = '"{}"'.format
) -> tuple[Repair, ...]:
    """Return the fixes that name something else at a location."""
    return tuple(replacement(f"Change to `{name}`", place, written(name)) for name in names)


def did_you_mean(near: tuple[str, ...]) -> str:
    """Return a question about near names, to follow a sentence; empty without any."""
    return f" Did you mean {alternatives(near)}?" if near else ""


def alternatives(names: tuple[str, ...]) -> str:
    """Format names for a sentence: `a`, or `a or b`."""
    return " or ".join(f"`{name}`" for name in names)
