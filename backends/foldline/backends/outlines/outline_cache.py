"""Outlines by the content they were made from, in memory and in the workspace's index."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.backends.index.database import today
from foldline.backends.parsers.outline_builder import Outline, OutlineBuilder

if TYPE_CHECKING:
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.models import SymbolInfo

_MOST_IN_MEMORY = 300
# Parsing a smaller file is faster than looking its outline up.
_WORTH_KEEPING = 2_000

_Row = list[object]


class OutlineCache:
    """Outlines of the latest files in memory, and of all files on disk."""

    def __init__(self, index: WorkspaceIndex | None) -> None:
        self._index = index
        self._known: OrderedDict[bytes, Outline] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, language: str, data: bytes) -> tuple[bytes, Outline | None]:
        """The key of this content, and its outline where it is known."""
        digest = hashlib.blake2b(data, digest_size=16, person=_parsers_version())
        digest.update(language.encode())
        key = digest.digest()
        with self._lock:
            outline = self._known.get(key)
            if outline is not None:
                self._known.move_to_end(key)
                return key, outline
        if self._index is None or len(data) < _WORTH_KEEPING:
            return key, None
        kept = self._index.outline(key) or self._index.outline(_of_today(key))
        if kept is None:
            return key, None
        outline = decode_outline(kept)
        if outline is not None:
            self._remember(key, outline)
        return key, outline

    def keep(self, key: bytes, data: bytes, outline: Outline) -> None:
        """Keep an outline under the key that `get` gave."""
        self._remember(key, outline)
        if self._index is not None and len(data) >= _WORTH_KEEPING:
            kept = _of_today(key) if outline.provisional else key
            self._index.keep_outline(kept, encode_outline(outline))

    def _remember(self, key: bytes, outline: Outline) -> None:
        with self._lock:
            self._known[key] = outline
            while len(self._known) > _MOST_IN_MEMORY:
                self._known.popitem(last=False)


def _of_today(key: bytes) -> bytes:
    """The key of an outline without a parse that took too long: tomorrow it's tried again."""
    return hashlib.blake2b(key, digest_size=16, salt=str(today()).encode()).digest()


def encode_outline(outline: Outline) -> str:
    """The outline as JSON; no depth of nesting is too deep for it."""
    rows: list[_Row] = []
    waiting: list[tuple[SymbolInfo, int]] = [(symbol, -1) for symbol in reversed(outline.symbols)]
    while waiting:
        symbol, parent = waiting.pop()
        rows.append(
            [
                parent,
                symbol.name,
                str(symbol.kind),
                symbol.line,
                symbol.line_end,
                symbol.signature,
                list(symbol.decorators),
                symbol.docstring,
                symbol.name_line,
            ]
        )
        index = len(rows) - 1
        waiting.extend((child, index) for child in reversed(symbol.children))
    return json.dumps(
        [rows, outline.imports, outline.exports, outline.docstring, outline.reason],
        ensure_ascii=False,
        separators=(",", ":"),
    )


def decode_outline(text: str) -> Outline | None:
    """The outline of `encode_outline`'s JSON; None for anything else."""
    try:
        rows, imports, exports, docstring, reason = json.loads(text)
        builder = OutlineBuilder()
        for row in rows:
            builder.add(*row)
    except (ValueError, TypeError):
        return None
    return Outline(builder.finish(), imports, exports, docstring, reason)


@cache
def _parsers_version() -> bytes:
    """A digest that changes with the parsers: the times of their files."""
    times = ",".join(str(file.stat().st_mtime_ns) for file in parser_files())
    return hashlib.blake2b(times.encode(), digest_size=16).digest()


def parser_files() -> list[Path]:
    """The files that decide what an outline holds."""
    here = Path(__file__)
    return [*sorted(here.parents[1].glob("parsers/*.py")), here.with_name("outlines.py")]
