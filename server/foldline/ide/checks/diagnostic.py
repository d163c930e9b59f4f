"""What a check finds: a code, a sentence, a place, and the repairs that are certain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.syntax import String
from foldline.ide.analysis.values import Text

if TYPE_CHECKING:
    from foldline.ide.analysis.placeholders import Placeholder
    from foldline.ide.analysis.source_map import MappedText
    from foldline.ide.analysis.syntax import Node
    from foldline.ide.analysis.values import Argument


class Severity(StrEnum):
    """How much it matters; `OFF` only in the configuration."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"
    OFF = "off"


class Code(StrEnum):
    """The stable names of what is checked; each has a page (`foldline check --explain CODE`)."""

    UNKNOWN_PLACEHOLDER = "unknown-placeholder"
    STRAY_DOLLAR = "stray-dollar"
    MISSING_SUMMARY = "missing-summary"
    LONG_SUMMARY = "long-summary"
    INVALID_KEY = "invalid-key"
    INVALID_TITLE = "invalid-title"
    DUPLICATE_KEY = "duplicate-key"
    UNSPECIALISED_SECTION = "unspecialised-section"
    PARAMS_NOT_DATACLASS = "params-not-dataclass"
    BOUND_TWICE = "bound-twice"
    UNKNOWN_PARAMS = "unknown-params"
    MISSING_PARAMS = "missing-params"
    UNREACHABLE_SECTION = "unreachable-section"
    CHAPTER_NEVER_OPENS = "chapter-never-opens"
    UNKNOWN_SECTION = "unknown-section"
    GOAL_SECTION = "goal-section"
    OUTPUT_NOT_DATACLASS = "output-not-dataclass"
    TOOL_NAME = "tool-name"
    UNUSED_FIELD = "unused-field"
    TOKEN_BUDGET = "token-budget"
    NOT_EVALUATED = "not-evaluated"


SEVERITIES = {
    Code.LONG_SUMMARY: Severity.WARNING,
    Code.UNREACHABLE_SECTION: Severity.WARNING,
    Code.CHAPTER_NEVER_OPENS: Severity.WARNING,
    Code.UNUSED_FIELD: Severity.HINT,
    Code.TOKEN_BUDGET: Severity.WARNING,
    Code.NOT_EVALUATED: Severity.WARNING,
}
"""The severities that are not `ERROR`: these prompts are built, but hardly as they were meant."""


def default_severity(code: Code) -> Severity:
    """The severity of a code that is not configured."""
    return SEVERITIES.get(code, Severity.ERROR)


# Places are worked out when they are asked for: what was found in a statement stays true while
# typing elsewhere moves it.
Place: TypeAlias = Callable[[], SourceSpan | None]


@dataclass(frozen=True, slots=True)
class Change:
    """One replacement of a repair."""

    place: SourceSpan
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair; the preferred one is what the author almost certainly meant."""

    title: str
    changes: tuple[Change, ...]
    preferred: bool = False


Repair: TypeAlias = Callable[[], Fix | None]


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """Something that a check found, wherever its statement may stand.

    `instead` is the place in a file that only uses what another file says wrongly.
    """

    code: Code
    message: str
    place: Place
    repairs: tuple[Repair, ...] = ()
    related: tuple[tuple[Place, str], ...] = ()
    unnecessary: bool = False
    instead: Place | None = None

    def place_in(self, file: str) -> SourceSpan | None:
        """The place in a file; None where it has none there."""
        found = self.place()
        if (found is None or found.file != file) and self.instead is not None:
            found = self.instead()
        return found if found is not None and found.file == file else None


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that a diagnostic speaks of."""

    place: SourceSpan
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding at its present place in the file."""

    code: Code
    severity: Severity
    message: str
    place: SourceSpan
    fixes: tuple[Fix, ...] = ()
    related: tuple[Related, ...] = ()
    unnecessary: bool = False


def at_node(node: Node) -> Place:
    """The place of a node."""
    return partial(span_of, node)


def at_argument(argument: Argument) -> Place:
    """The place of an argument, or of the string that a name or call in its place stands for."""
    value = argument.value
    if isinstance(value, Text) and not isinstance(argument.node, String):
        mapped = value.mapped
        return lambda: mapped.place(0, len(mapped.text)) or span_of(argument.node)
    return at_node(argument.node)


def at_placeholder(placeholder: Placeholder) -> Place:
    """The place of a placeholder, its braces included."""
    return lambda: placeholder.source


def at_text(mapped: MappedText, start: int, end: int) -> Place:
    """The place of a part of a text."""
    return partial(mapped.place, start, end)


def replacement(title: str, place: Place, text: str, *, preferred: bool = False) -> Repair:
    """The repair that replaces what stands at a place."""

    def repair() -> Fix | None:
        span = place()
        return Fix(title, (Change(span, text),), preferred) if span is not None else None

    return repair


def either(names: tuple[str, ...]) -> str:
    """`a`, or `a or b`, in a sentence."""
    return " or ".join(f"`{name}`" for name in names)
