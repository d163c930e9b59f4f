"""The symbols of one file from a server that is up and ready, or from none.

Syntax trees answer without servers. So none is started for symbols, a late answer isn't waited for,
and a server that was late is left alone for a while.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError, Future

from foldline.backends.base.waiting import result_of
from foldline.backends.engine import DocumentSymbols, SymbolsQuery
from foldline.backends.files.source import split_lines
from foldline.backends.lsp import results
from foldline.backends.lsp.configuration import BY_SYNTAX
from foldline.backends.lsp.requests import ServerRequests
from foldline.backends.lsp.symbol_requests import Answered
from foldline.backends.models import SymbolInfo
from foldline.backends.outlines.outline_merge import has_word, is_word
from foldline.records import record


class ServerSymbols(ServerRequests):
    """Symbols of files, from servers that are up."""

    def begin_symbols(self, file_path: str) -> SymbolsQuery | None:
        """Ask a server that is up, in the background; None where no server was ever asked."""
        if self._closed or not self._pool.has_servers or self._catalog.choice.outlines == BY_SYNTAX:
            return None
        path = self._files.resolve(file_path)
        until = time.monotonic() + self._limits.symbols
        return ServerSymbolsQuery(self._loop.start(self._pool.symbols(path, until)), until)


@record
class ServerSymbolsQuery(SymbolsQuery):
    """A request whose answer is used `until` a time of `time.monotonic`."""

    asked: Future[Answered | None]
    until: float

    async def answer(self) -> DocumentSymbols | None:
        """The symbols, if they come in time and can be those of the text."""
        # The loop keeps the same deadline, but may be busy.
        left = self.until - time.monotonic()
        try:
            answered = await result_of(self.asked, max(left, 0))
        except (TimeoutError, CancelledError):
            return None
        if answered is None:
            return None
        lines = split_lines(answered.text)
        symbols = results.read_symbols(answered.result, lines)
        if not is_sound(symbols, lines):
            return None
        return DocumentSymbols(symbols, answered.text, answered.engine)


def is_sound(symbols: Iterable[SymbolInfo], lines: Sequence[str]) -> bool:
    """Return whether these can be the symbols of a text.

    They can't where a symbol is outside the text or its parent, or where most names aren't on their
    lines: the server then speaks of another version.
    """
    waiting = [(symbol, 1, len(lines)) for symbol in symbols]
    there = missing = 0
    while waiting:
        symbol, first, last = waiting.pop()
        if not first <= symbol.line <= symbol.name_line <= symbol.line_end <= last:
            return False
        if is_word(symbol.name):
            if has_word(lines[symbol.name_line - 1], symbol.name):
                there += 1
            else:
                missing += 1
        waiting.extend((child, symbol.line, symbol.line_end) for child in symbol.children)
    return missing <= there
