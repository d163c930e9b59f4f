"""A definition with its source, cut out of the file by the lines of its symbol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.models import COMPLETE, SymbolDetail

if TYPE_CHECKING:
    from foldline.backends.files.source import Source
    from foldline.backends.outlines.symbols import Located


def detail_of(
    located: Located, source: Source, backend: str, coverage: str = COMPLETE
) -> SymbolDetail:
    """The symbol with its decorators, body and leading comments."""
    symbol, qualified_name, enclosing = located
    lines = source.lines
    first = _first_comment_line(lines, symbol.line)
    body = "\n".join(lines[first - 1 : symbol.line_end])
    return SymbolDetail(
        symbol.name,
        symbol.kind,
        symbol.line,
        symbol.line_end,
        symbol.signature,
        symbol.children,
        symbol.decorators,
        symbol.docstring,
        name_line=symbol.name_line,
        body=body,
        parent=enclosing[-1].name if enclosing else None,
        char_count=len(body),
        path=source.path,
        qualified_name=qualified_name,
        body_line=first,
        notes=(source.note,) if source.note else (),
        backend=backend,
        coverage=coverage,
    )


def _first_comment_line(lines: list[str], line: int) -> int:
    """The line where the comments start that stand right above `line` at its own depth."""
    if line > len(lines):
        return line
    first = lines[line - 1]
    indent = first[: len(first) - len(first.lstrip())]
    starts = tuple(indent + mark for mark in ("#", "//", "/*", " *", "--"))
    while line > 1:
        above = lines[line - 2]
        if not above.startswith(starts) or above.startswith(("#!", "#include", "#define")):
            break
        line -= 1
    return line
