"""From servers' ranges, in UTF-8, UTF-16 or UTF-32 units, to lines and columns of files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.backends.base.units import from_units
from foldline.backends.base.uris import path_of_uri
from foldline.backends.errors import PathError
from foldline.backends.files.source import split_lines
from foldline.backends.formatting.text import cut_context
from foldline.backends.lsp.results import read_locations
from foldline.backends.outlines.locations import Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foldline.backends.files.base import FileBackend
    from foldline.backends.lsp.pool import Answered
    from foldline.backends.outlines.locations import Position


def holds(files: FileBackend, answered: Answered, target: Position) -> bool:
    """Return whether an answer names the line of its target: references of a place include it."""
    collector = LocationCollector(files)
    return any(
        raw.line == target.line - 1 and collector.path_of(raw.uri) == (target.path, False)
        for raw in read_locations(answered.result)
    )


class LocationCollector:
    """Collects locations in the given order, each once.

    Attributes:
        found: Those in files that the workspace shows, and with `keep_outside` the others too.
        outside: The number in files that it does not show.
    """

    def __init__(self, files: FileBackend, *, keep_outside: bool = False) -> None:
        self._files = files
        self._rules = files.rules()
        self._keep_outside = keep_outside
        self._paths: dict[str, tuple[str, bool]] = {}
        self._lines: dict[str, list[str] | None] = {}
        self._seen: set[tuple[str, int, int]] = set()
        self.found: list[Location] = []
        self.outside = 0

    def add(self, answered: Answered) -> None:
        """Add the locations of an answer; those beyond the end of their file are dropped."""
        encoding = answered.running.encoding
        for raw in read_locations(answered.result):
            path, outside = self.path_of(raw.uri)
            if not path or (raw.uri, raw.line, raw.start) in self._seen:
                continue
            self._seen.add((raw.uri, raw.line, raw.start))
            if outside:
                self.outside += 1
                if self._keep_outside:
                    self.found.append(
                        Location(path, raw.line + 1, raw.start + 1, raw.end + 1, outside=True)
                    )
                continue
            lines = self._lines_of(path)
            if lines is None or raw.line >= len(lines):
                continue
            line = lines[raw.line]
            start = from_units(line, raw.start, encoding)
            # The end of a name that spans lines counts from the start of its last line.
            end = len(line) if raw.line_end > raw.line else from_units(line, raw.end, encoding)
            if start < len(line):
                self.found.append(
                    Location(path, raw.line + 1, start + 1, end + 1, cut_context(line, start))
                )

    def add_all(self, found: Iterable[tuple[str, int, int, int]]) -> None:
        """Add locations as (path, line from 1, column from 0, length), in code points."""
        for path, line, column, length in found:
            try:
                resolved = self._files.resolve(path)
            except PathError:
                self.outside += 1
                continue
            lines = self._lines_of(resolved)
            if (
                lines is not None
                and line <= len(lines)
                and (resolved, line, column) not in self._seen
            ):
                self._seen.add((resolved, line, column))
                context = cut_context(lines[line - 1], column)
                self.found.append(
                    Location(resolved, line, column + 1, column + 1 + length, context)
                )

    def path_of(self, uri: str) -> tuple[str, bool]:
        """The path of a `file:` URI, and whether the workspace does not show it; else empty."""
        path = self._paths.get(uri)
        if path is None:
            path = self._paths[uri] = self._path_of(uri)
        return path

    @staticmethod
    def column(lines: Sequence[str], line: int, units: int, encoding: str) -> int:
        """The column, from 1, of `units` on the line, from 0, of a file."""
        return from_units(lines[line], units, encoding) + 1 if line < len(lines) else 1

    def _path_of(self, uri: str) -> tuple[str, bool]:
        try:
            absolute = path_of_uri(uri) or ""
            real = os.path.realpath(absolute)
        except ValueError:  # Such as a surrogate, which no path has.
            absolute = ""
        if not absolute or "\0" in absolute:
            return "", True
        try:
            return self._files.resolve(real, rules=self._rules), False
        except PathError:
            return str(Path(absolute)), True

    def _lines_of(self, path: str) -> list[str] | None:
        if path not in self._lines:
            text = self._files.text_of(path)
            self._lines[path] = None if text is None else split_lines(text)
        return self._lines[path]
