"""From a name or a line, as a caller has it, to the position that a server is asked about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.backends.errors import InvalidArgumentError, SymbolNotFoundError
from foldline.backends.formatting.contexts import column_in
from foldline.backends.models import ReferenceKind
from foldline.backends.outlines.locations import Position
from foldline.backends.outlines.symbols import flatten, locate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends.files.base import FileBackend
    from foldline.backends.outlines.analysis import Analysis

_IDENTIFIER = re.compile(r"(?<![\w$])[^\W\d][\w$]*")
_MOST_NEAR = 5


def find_position(
    files: FileBackend,
    analysis: Analysis,
    file: str,
    name: str | None = None,
    *,
    line: int | None = None,
    column: int | None = None,
) -> Position:
    """The position of a name; `SmartFileAccess.find_position` has the rules.

    Raises:
        SymbolError: The file has no such name (near ones are listed), or several such symbols.
        InvalidArgumentError: There is no such line, or no such name on it.
    """
    source = files.read_source(file)
    path, lines = source.path, source.lines
    if line is None:
        if column is not None:
            raise InvalidArgumentError("column", "counts on a line: name the `line` too")
        return _of_name(analysis, path, lines, name)
    if not 1 <= line <= len(lines):
        raise InvalidArgumentError("line", f"{path} has the lines 1 to {len(lines)}")
    on_line = [
        (match.start() + 1, match.group()) for match in _IDENTIFIER.finditer(lines[line - 1])
    ]
    if name is not None:
        word = name.strip().rpartition(".")[2]
        for start, found in on_line:
            if found == word and (column is None or start <= column <= start + len(found)):
                return Position(path, line, start, found)
        raise InvalidArgumentError(
            "name", f"line {line} of {path} has no {name!r}{_hint(on_line, word)}"
        )
    if column is not None:
        for start, found in on_line:
            if start <= column <= start + len(found):
                return Position(path, line, start, found)
        raise InvalidArgumentError(
            "column", f"line {line} of {path} has no name at column {column}{_hint(on_line)}"
        )
    for symbol, _, _ in flatten(analysis.get_outline(path).symbols):
        if line in {symbol.name_line, symbol.line}:
            return _defined(path, lines, symbol.name_line, symbol.name)
    raise InvalidArgumentError(
        "line", f"line {line} of {path} defines nothing; say which name on it{_hint(on_line)}"
    )


def first_column(lines: Sequence[str], line: int, name: str) -> int | None:
    """The column, from 1, of the identifier `name` on `line`; None where it is not there."""
    if not 1 <= line <= len(lines):
        return None
    found = re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", lines[line - 1])
    return found.start() + 1 if found else None


def name_at(lines: Sequence[str], line: int, column: int) -> str:
    """The identifier at `column` of `line`, or the empty string."""
    for match in _IDENTIFIER.finditer(lines[line - 1]):
        if match.start() < column <= match.end() + 1:
            return match.group()
    return ""


def _of_name(analysis: Analysis, path: str, lines: Sequence[str], name: str | None) -> Position:
    outline = analysis.get_outline(path)
    if name is None:
        for symbol in outline.symbols:
            return _defined(path, lines, symbol.name_line, symbol.name)
        raise InvalidArgumentError("name", f"{path} defines nothing; name something that it uses")
    try:
        symbol = locate(path, outline.symbols, name).symbol
    except SymbolNotFoundError as missing:
        owner, _, word = name.strip().rpartition(".")
        uses = list(analysis.find_references(word, path)) if word.isidentifier() else []
        # `hmac.compare_digest` means a use that is written with its module.
        before = f"{owner}." if owner else ""
        uses = [
            use
            for use in uses
            if use.context[: column_in(use.context, use.column - 1)].endswith(before)
        ]
        uses.sort(key=lambda use: use.kind != ReferenceKind.IMPORT)
        for use in uses:
            return Position(path, use.line, use.column, word)
        if missing.near:
            raise
        names = {match.group() for line in lines for match in _IDENTIFIER.finditer(line)}
        raise SymbolNotFoundError(path, name, near_names(word, names)) from None
    return _defined(path, lines, symbol.name_line, symbol.name)


def _defined(path: str, lines: Sequence[str], line: int, name: str) -> Position:
    # The name of a heading or a quoted key differs from its source.
    return Position(path, line, first_column(lines, line, name) or 1, name)


def _hint(on_line: Sequence[tuple[int, str]], word: str = "") -> str:
    names = list(dict.fromkeys(found for _, found in on_line))
    listed = f"; it has {', '.join(names[:_MOST_NEAR])}" if names else ""
    return did_you_mean(near_names(word, names), listed)
