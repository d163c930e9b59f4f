"""Notebooks as Jupyter writes them: a line of the file for each line of a cell."""

from __future__ import annotations

import json

from foldline.backends.models import SymbolInfo, SymbolKind


def read_cells(data: bytes) -> tuple[bytes, tuple[SymbolInfo, ...]]:
    """The code of the cells, each line at its row of the file, and the headings of their texts."""
    rows: list[str] = []
    headings: list[SymbolInfo] = []
    kind, inside = b"", False
    for number, line in enumerate(data.split(b"\n"), 1):
        text = line.strip()
        key_text = _line(text) if inside else ""
        if text.startswith(b'"cell_type":'):
            kind = text[len(b'"cell_type":') :].strip(b' ",')
        elif text == b'"source": [' or text.startswith(b"]"):
            inside = not text.startswith(b"]")
        elif kind == b"markdown" and key_text.startswith("#") and (title := key_text.lstrip("# ")):
            where = number, number, key_text
            headings.append(SymbolInfo(title, SymbolKind.HEADING, *where, name_line=number))
        # Commands of the notebook itself aren't Python.
        is_code = kind == b"code" and not key_text.lstrip().startswith(("%", "!", "?"))
        rows.append(key_text if is_code else "")
    return "\n".join(rows).encode("utf-8", "replace"), tuple(headings)


def _line(text: bytes) -> str:
    try:
        value = json.loads(text.rstrip(b","))
    except (ValueError, RecursionError):
        return ""
    return value.rstrip().replace("\n", " ") if isinstance(value, str) else ""
