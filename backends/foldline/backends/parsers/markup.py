"""Code in other documents: scripts and tags of Vue, Svelte and HTML, and the cells of notebooks."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import islice

from foldline.backends.models import SymbolInfo, SymbolKind

MARKUP = frozenset({"vue", "svelte", "html"})
"""Languages of which the scripts are parsed."""

_SCRIPT = re.compile(
    rb"<script\b(?![^>]{0,500}\btype=.(?!module|(?:text|application)/(?:java|type)script))[^>]{0,2000}>"
    rb"(.*?)(?:</script|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TEXT = re.compile(rb"[^\n]")
_TAGS = re.compile(
    rb"^<(?P<block>template)\b.*?(?:^</template>|\Z)|<h(?P<level>[1-6])\b[^<>]{0,500}>(?P<title>[^<]{1,200})"
    rb"|<[\w-]+\s[^<>]{0,500}?\bid=[\"'](?P<id>[\w-]+)[\"'][^<>]{0,500}>",
    re.DOTALL | re.MULTILINE,
)
_COMPONENT = re.compile(rb"<([A-Z]\w*|[a-z]\w*-[\w-]+)")
_MOST_TAGS, _MOST_COMPONENTS = 500, 20


def only_scripts(language: str, data: bytes) -> bytes:
    """The source, of markup with all but its scripts blanked, so that positions stay the same."""
    if language not in MARKUP:
        return data
    parts: list[bytes] = []
    at = 0
    for match in _SCRIPT.finditer(data):
        parts += [_TEXT.sub(b" ", data[at : match.start(1)]), match[1]]
        at = match.end(1)
    return b"".join([*parts, _TEXT.sub(b" ", data[at:])])


def with_tags(data: bytes, symbols: tuple[SymbolInfo, ...]) -> tuple[SymbolInfo, ...]:
    """The symbols with a template and the components in it, with headings and what has an id."""
    all_symbols = list(symbols)
    row = counted = 0
    for match in islice(_TAGS.finditer(data), _MOST_TAGS):
        row += data.count(b"\n", counted, match.start())
        counted = match.start()
        text = match[0].decode("utf-8", "replace")
        first = SymbolInfo("", SymbolKind.BLOCK, row + 1, row + 1, text, name_line=row + 1)
        if match["block"]:
            names = list(dict.fromkeys(one.decode() for one in _COMPONENT.findall(match[0])))
            used = f" of {', '.join(names[:_MOST_COMPONENTS])}" if names else ""
            last = row + 1 + text.count("\n")
            all_symbols.append(
                replace(first, name="template", line_end=last, signature=f"<template>{used}")
            )
        elif match["level"]:
            title = " ".join(match["title"].decode("utf-8", "replace").split())
            heading = f"{'#' * int(match['level'])} {title}"
            all_symbols.append(
                replace(first, name=title or "(no title)", kind="heading", signature=heading)
            )
        else:
            short = " ".join(text.split())
            all_symbols.append(replace(first, name=match["id"].decode(), signature=short))
    return tuple(sorted(all_symbols, key=lambda symbol: symbol.line))


def read_cells(data: bytes) -> tuple[bytes, tuple[SymbolInfo, ...]]:
    """The code of a notebook, each line at its row of the file, and the headings of its texts."""
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
