"""From a name to the symbol of an outline that it means."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.near_names import near_names
from foldline.backends.errors import AmbiguousSymbolError, SymbolNotFoundError
from foldline.backends.models import COMPLETE, SymbolDetail

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.backends.files.source import Source
    from foldline.backends.models import SymbolInfo

_INDEX = re.compile(r"(.*\S)\s*\[(\d{1,9})\]\Z", re.DOTALL)
_MOST_NEAR = 5


class Located(NamedTuple):
    """A symbol with its qualified name and the symbols that enclose it, outermost first."""

    symbol: SymbolInfo
    qualified_name: str
    enclosing: tuple[SymbolInfo, ...]


def flatten(symbols: Iterable[SymbolInfo]) -> Iterator[Located]:
    """Every symbol, in the order of an outline's lines."""
    waiting: list[Located] = [Located(symbol, symbol.name, ()) for symbol in symbols]
    waiting.reverse()
    while waiting:
        located = waiting.pop()
        yield located
        symbol, name, above = located
        enclosing = (*above, symbol)
        waiting.extend(
            Located(child, f"{name}.{child.name}", enclosing) for child in reversed(symbol.children)
        )


def locate(path: str, symbols: Iterable[SymbolInfo], name: str) -> Located:
    """The one symbol that `name` means: a dotted path, its end, or `name[2]` for the second of it.

    A whole path wins over the end of a longer one.

    Raises:
        SymbolNotFoundError: with near names, those that differ only in case first.
        AmbiguousSymbolError: with the names that tell the candidates apart.
    """
    known = list(flatten(symbols))
    asked = name.strip()
    matches = _matches(known, asked)
    if not matches and (indexed := _INDEX.match(asked)):
        matches = _matches(known, indexed.group(1))
        number = int(indexed.group(2))
        if matches and not 1 <= number <= len(matches):
            raise SymbolNotFoundError(path, name, _names(known, matches)[:_MOST_NEAR])
        matches = matches[number - 1 : number]
    if not matches:
        raise SymbolNotFoundError(path, name, _near(known, asked))
    if len(matches) > 1:
        raise AmbiguousSymbolError(path, name, _names(known, matches))
    return matches[0]


def _matches(known: list[Located], name: str) -> list[Located]:
    whole = [located for located in known if located.qualified_name == name]
    if whole:
        return whole
    ending = f".{name}"
    return [located for located in known if located.qualified_name.endswith(ending)]


def distinct(known: Iterable[Located]) -> list[tuple[str, Located]]:
    """Each symbol with a name by which `locate` finds it again."""
    every = list(known)
    counts = Counter(located.qualified_name for located in every)
    numbers: Counter[str] = Counter()
    found: list[tuple[str, Located]] = []
    for located in every:
        name = located.qualified_name
        numbers[name] += 1
        found.append((f"{name}[{numbers[name]}]" if counts[name] > 1 else name, located))
    return found


def _names(known: list[Located], matches: list[Located]) -> list[str]:
    """A name for each match with which `locate` finds it again."""
    chosen = {id(match) for match in matches}
    return [name for name, located in distinct(known) if id(located) in chosen]


def _near(known: list[Located], name: str) -> list[str]:
    """The closest names: equal but for case, then containing, then alike."""
    folded = name.casefold()
    last = folded.rpartition(".")[2]
    found: dict[str, None] = {}
    for located in known:
        if folded in (located.qualified_name.casefold(), located.symbol.name.casefold()):
            found[located.qualified_name] = None
    for located in known:
        if located.symbol.name.casefold() == last:
            found[located.qualified_name] = None
    short: dict[str, list[str]] = {}
    for located in known:
        short.setdefault(located.symbol.name, []).append(located.qualified_name)
    found |= dict.fromkeys(near_names(name, (located.qualified_name for located in known)))
    for near in near_names(last, short):
        found |= dict.fromkeys(short[near])
    if len(last) >= 3:
        for located in known:
            if last in located.symbol.name.casefold():
                found[located.qualified_name] = None
    return list(found)[:_MOST_NEAR]


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
