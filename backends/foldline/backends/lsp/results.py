"""Tolerant readers of servers' results: a malformed item is dropped, and no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foldline.backends.errors import shown
from foldline.backends.models import SymbolInfo, SymbolKind
from foldline.backends.outlines.locations import CodeDiagnostic
from foldline.records import record

# LSP's numbers; all others are variables.
_KINDS = {
    2: SymbolKind.NAMESPACE,
    3: SymbolKind.NAMESPACE,
    4: SymbolKind.NAMESPACE,
    5: SymbolKind.CLASS,
    6: SymbolKind.METHOD,
    9: SymbolKind.METHOD,
    10: SymbolKind.ENUM,
    11: SymbolKind.INTERFACE,
    12: SymbolKind.FUNCTION,
    23: SymbolKind.CLASS,
    26: SymbolKind.TYPE,
}
_LONGEST_SIGNATURE = 200
_GIVES_LOCATIONS = frozenset(
    f"textDocument/{what}" for what in ("definition", "implementation", "references")
)
_SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}
_MAX_LINE = 1 << 31


@record
class RawLocation:
    """A range as the server gave it: lines from 0, columns in its own units."""

    uri: str
    line: int
    start: int
    line_end: int
    end: int


def read_locations(result: object) -> list[RawLocation]:
    """The locations of a `Location`, `LocationLink`, list of these, or null, each once."""
    return list(dict.fromkeys(filter(None, map(_location, _items(result)))))


def problem_of(method: str, result: object) -> str:
    """The reason why a result can't be one of `method`; empty where it can, and for null."""
    if method == "textDocument/hover":
        usable = result is None or isinstance(result, dict)
    elif method in _GIVES_LOCATIONS:
        items = [*_items(result)]
        usable = not items or any(map(_location, items))
    else:
        usable = result is None or isinstance(result, dict | list)
    return "" if usable else f"its answer to {method} is no result of it: {shown(result)[:40]}"


def read_hover(result: object) -> str:
    """The text of a hover in any of its forms."""
    contents = result.get("contents") if isinstance(result, dict) else None
    parts = []
    for item in contents if isinstance(contents, list) else [contents]:
        text = item.get("value") if isinstance(item, dict) else item
        if isinstance(text, str) and text.strip():
            parts.append(text.strip())
    return "\n\n".join(parts)


def read_diagnostics(path: str, items: object) -> list[CodeDiagnostic]:
    """The diagnostics of a list, with columns from 0 in the server's own units."""
    diagnostics = []
    for item in items if isinstance(items, list) else ():
        span = _range(item.get("range")) if isinstance(item, dict) else None
        if span is None:
            continue
        severity = item.get("severity")
        code = item.get("code")
        diagnostics.append(
            CodeDiagnostic(
                path,
                span[0] + 1,
                span[1],
                _SEVERITIES.get(severity if isinstance(severity, int) else 1, "error"),
                str(item.get("message", "")),
                str(code) if isinstance(code, str | int) else "",
                str(item.get("source") or ""),
            )
        )
    return diagnostics


def read_symbols(result: object, lines: Sequence[str], depth: int = 0) -> tuple[SymbolInfo, ...]:
    """The symbols of a document, nested where the server nests them.

    The signature of each is the line of its name.
    """
    symbols = []
    for item in result if isinstance(result, list) and depth < 64 else ():
        if not isinstance(item, dict):
            continue
        location = item.get("location")
        flat = location.get("range") if isinstance(location, dict) else None
        full_range = _range(item.get("range") or flat)
        name, kind = item.get("name"), item.get("kind")
        if full_range is None or not isinstance(name, str) or not isinstance(kind, int):
            continue
        row, *_ = _range(item.get("selectionRange")) or full_range
        line = lines[row].strip().rstrip("{").rstrip() if row < len(lines) else ""
        symbols.append(
            SymbolInfo(
                name,
                _KINDS.get(kind, SymbolKind.VARIABLE),
                full_range[0] + 1,
                # A range that ends at the start of a line does not hold that line.
                max(full_range[2] + (1 if full_range[3] else 0), full_range[0] + 1),
                line[:_LONGEST_SIGNATURE] if name in line else name,
                read_symbols(item.get("children"), lines, depth + 1),
                name_line=row + 1,
            )
        )
    return tuple(symbols)


def read_call(item: object) -> tuple[str, RawLocation] | None:
    """The name and location of a call hierarchy's item."""
    if not isinstance(item, dict) or not isinstance(name := item.get("name"), str):
        return None
    location = _location({"uri": item.get("uri"), "range": item.get("selectionRange")})
    return None if location is None else (name, location)


def read_lines_of(ranges: object) -> tuple[int, ...]:
    """The lines, from 1, on which the ranges of a list start."""
    spans = (_range(item) for item in ranges) if isinstance(ranges, list) else iter(())
    return tuple(sorted({span[0] + 1 for span in spans if span is not None}))


def _items(result: object) -> Iterator[object]:
    if isinstance(result, list):
        yield from result
    elif result is not None:
        yield result


def _location(item: object) -> RawLocation | None:
    if not isinstance(item, dict):
        return None
    uri = item.get("uri", item.get("targetUri"))
    span = _range(item.get("targetSelectionRange") or item.get("range"))
    if not isinstance(uri, str) or span is None:
        return None
    return RawLocation(uri, *span)


def _range(value: object) -> tuple[int, int, int, int] | None:
    if not isinstance(value, dict):
        return None
    numbers: list[int] = []
    for end in ("start", "end"):
        position = value.get(end)
        for part in ("line", "character"):
            number = position.get(part) if isinstance(position, dict) else None
            if not isinstance(number, int) or not 0 <= number < _MAX_LINE:
                return None
            numbers.append(number)
    return numbers[0], numbers[1], numbers[2], numbers[3]
