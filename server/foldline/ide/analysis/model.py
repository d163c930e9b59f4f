"""A file's prompts and sections as frozen models, with offsets in code points.

Models that each keystroke creates by the thousand are named tuples: five times as fast as
dataclasses.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from foldline.records import record


class Span(NamedTuple):
    """A range of a text: `start` inclusive, `end` exclusive, in code points."""

    start: int
    end: int

    def holds(self, offset: int) -> bool:
        """Return True for a cursor inside the span or at its edge."""
        return self.start <= offset <= self.end

    def moved(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)

    def covers(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


class SourceSpan(NamedTuple):
    """A range of a file."""

    file: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


class Position(NamedTuple):
    """A line and a column, both zero-based; the column counts code points."""

    line: int
    column: int


class Visibility(StrEnum):
    """The visibility that a section declares."""

    FULL = "FULL"
    SUMMARY = "SUMMARY"
    UNKNOWN = "unknown"


class StaticSection(NamedTuple):
    """A section as its source declares it.

    `source` is the call that constructs the section and `selection` its key, or else its title;
    both may be in another file than the prompt (`source.file`). `use` is the expression in the
    prompt's own tree: the same call, or the name of the variable or function that holds it.
    `number` is empty if something unknown precedes the section.
    """

    path: tuple[str, ...]
    key: str
    title: str
    number: str
    depth: int
    visibility: Visibility
    kind: str
    source: SourceSpan
    selection: SourceSpan
    use: SourceSpan
    children: tuple[StaticSection, ...] = ()

    @property
    def range(self) -> Span:
        return self.source.span

    def walk(self) -> Iterator[StaticSection]:
        """Yield the section and all below it, in rendering order."""
        yield self
        for child in self.children:
            yield from child.walk()


@record
class StaticPrompt:
    """A module-level variable that holds a template or a prompt bound to one."""

    name: str
    ns: str
    key: str
    range: Span
    name_range: Span
    sections: tuple[StaticSection, ...]
    complete: bool
    """True if every section is known; otherwise only running the code yields the others."""
    bound: bool
    """True for a `Prompt`, False for a `PromptTemplate`."""
    stale: bool
    """True if the statement doesn't parse now, and this is its last good state."""

    def walk(self) -> Iterator[StaticSection]:
        """Yield all sections, in rendering order."""
        for section in self.sections:
            yield from section.walk()


@record
class PromptModule:
    """A file's prompts, in definition order."""

    text: str
    prompts: tuple[StaticPrompt, ...]
    broken: bool
    """True if some statement doesn't parse."""

    def prompt(self, name: str) -> StaticPrompt | None:
        """Return the prompt with that variable name or `ns/key`."""
        named = (one for one in self.prompts if name in (one.name, f"{one.ns}/{one.key}"))
        return next(named, None)


class LineTable:
    """Converts offsets of one text to positions, and back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        at = 0
        for line in text.splitlines(keepends=True):
            at += len(line)
            if line[-1] in "\r\n":
                self.starts.append(at)

    def position(self, offset: int) -> Position:
        line = bisect_right(self.starts, offset) - 1
        return Position(line, offset - self.starts[line])

    def line(self, number: int) -> str:
        """Return a line without its end; one behind the last is empty."""
        if number >= len(self.starts):
            return ""
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
        return self.text[self.starts[number] : end].rstrip("\r\n")

    def offset(self, line: int, column: int) -> int:
        if line >= len(self.starts):
            return len(self.text)
        return min(self.starts[line] + column, len(self.text))
