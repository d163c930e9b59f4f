"""Find the symbol of an outline that a name or a position means."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields, replace
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.languages import language_of
from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.backends.errors import AmbiguousSymbolError, InvalidArgumentError, SymbolNotFoundError
from foldline.backends.formatting.text import column_in
from foldline.backends.models import COMPLETE, ReferenceKind, SymbolDetail, SymbolKind
from foldline.backends.outlines.locations import Position
from foldline.backends.outlines.outlines import PARSED_WITH_ERRORS
from foldline.backends.parsers.brackets import end_of
from foldline.backends.references.spelling import DOLLARS, MARKED, OPERATORS, SIGNS, is_name, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from foldline.backends.files.base import FileBackend
    from foldline.backends.files.source import Source
    from foldline.backends.models import SymbolInfo
    from foldline.backends.outlines.analysis import Analysis

INDEXED = re.compile(r"(.*\S)\s*\[(\d{1,9})\]\Z", re.DOTALL)
_TITLED = re.compile(r"^[\w.]+\s*\(?\s*([\"'`])(.*)\1\)?$")
BODIES = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TEST})
_MOST_NEAR = 5
_TESTS = re.compile(r"(?:^|[^a-z])[Tt]est(?:Method|Case)?\b|rstest|\b(?:Fact|Theory)\b")


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


def is_test(symbol: SymbolInfo) -> bool:
    """Return whether the symbol is a test that holds no others, by its title, name or marks."""
    is_one = symbol.kind == SymbolKind.TEST or (
        symbol.kind in BODIES
        and (symbol.name.lower().startswith("test") or any(map(_TESTS.search, symbol.decorators)))
    )
    return is_one and not any(child.kind == SymbolKind.TEST for child in symbol.children)


def locate(path: str, symbols: Iterable[SymbolInfo], name: str) -> Located:
    """The one symbol that `name` means: a dotted path, its end, or `name[2]` for the second of it.

    A whole path wins over the end of a longer one.

    Raises:
        SymbolNotFoundError: with near names, those that differ only in case first.
        AmbiguousSymbolError: with the names that tell the candidates apart.
    """
    every = list(flatten(symbols))
    asked = name.strip()
    matches = _matches(every, asked) or _matches(every, _titles(asked))
    if not matches and (indexed := INDEXED.match(asked)):
        matches = _matches(every, indexed.group(1))
        number = int(indexed.group(2))
        if matches and not 1 <= number <= len(matches):
            raise SymbolNotFoundError(path, name, _names(every, matches)[:_MOST_NEAR])
        matches = matches[number - 1 : number]
    if not matches:
        raise SymbolNotFoundError(path, name, _near(every, asked))
    # A class is more likely meant than its constructor.
    outer = tuple(f"{match.qualified_name}." for match in matches)
    matches = [match for match in matches if not match.qualified_name.startswith(outer)]
    if len(matches) > 1:
        raise AmbiguousSymbolError(path, name, _names(every, matches))
    return matches[0]


def _matches(known: list[Located], name: str) -> list[Located]:
    exact = [located for located in known if located.qualified_name == name]
    if exact:
        return exact
    ending = f".{name}"
    ending_so = [located for located in known if located.qualified_name.endswith(ending)]
    # What is local to a function is meant where nothing else has the name.
    return [one for one in ending_so if not is_local(one)] or ending_so


def is_local(located: Located) -> bool:
    """Return whether the symbol stands inside a function or a test."""
    return any(outer.kind in BODIES for outer in located.enclosing)


def _titles(name: str) -> str:
    """`describe "cors" > it "sets it"` and `TestCors/sets it` as `cors.sets it`."""
    parts = re.split(r"\s+>\s+", name) if " > " in name else name.split("/")
    return ".".join(_TITLED.sub(r"\2", part.strip()) for part in parts)


def distinct(known: Iterable[Located]) -> list[tuple[str, Located]]:
    """Each symbol with a name by which `locate` finds it again."""
    every = list(known)
    counts = Counter(located.qualified_name for located in every)
    numbers: Counter[str] = Counter()
    distinct_names: list[tuple[str, Located]] = []
    for located in every:
        name = located.qualified_name
        numbers[name] += 1
        distinct_names.append((f"{name}[{numbers[name]}]" if counts[name] > 1 else name, located))
    return distinct_names


def _names(known: list[Located], matches: list[Located]) -> list[str]:
    """A name for each match with which `locate` finds it again."""
    chosen = {id(match) for match in matches}
    return [name for name, located in distinct(known) if id(located) in chosen]


def _near(known: list[Located], name: str) -> list[str]:
    """The closest names: equal but for case, then containing, then alike."""
    folded = name.casefold()
    last = folded.rpartition(".")[2]
    near_ones: dict[str, None] = {}
    for located in known:
        if folded in (located.qualified_name.casefold(), located.symbol.name.casefold()):
            near_ones[located.qualified_name] = None
    for located in known:
        if located.symbol.name.casefold() == last:
            near_ones[located.qualified_name] = None
    short: dict[str, list[str]] = {}
    for located in known:
        short.setdefault(located.symbol.name, []).append(located.qualified_name)
    near_ones |= dict.fromkeys(near_names(name, (located.qualified_name for located in known)))
    for near in near_names(last, short):
        near_ones |= dict.fromkeys(short[near])
    if len(last) >= 3:
        for located in known:
            if last in located.symbol.name.casefold():
                near_ones[located.qualified_name] = None
    return list(near_ones)[:_MOST_NEAR]


def detail_of(
    located: Located, source: Source, backend: str, coverage: str = COMPLETE, reason: str = ""
) -> SymbolDetail:
    """The symbol with its decorators, body and leading comments.

    Where the `reason` of its outline tells of errors, its brackets end it, or it says so.
    """
    symbol, qualified_name, enclosing = located
    lines = source.lines
    notes = [source.note] if source.note else []
    if PARSED_WITH_ERRORS in reason:
        end = end_of(lines, symbol.line, symbol.line_end, language_of(source.path))
        if end is None or f"(line {symbol.line_end + 1})" in reason:
            notes.append(f"{reason.partition(':')[0]}: the end may be further down")
        symbol = replace(symbol, line_end=end or symbol.line_end)
    first = _first_comment_line(lines, symbol.line)
    body = "\n".join(lines[first - 1 : symbol.line_end])
    return SymbolDetail(
        **{one.name: getattr(symbol, one.name) for one in fields(symbol)},
        body=body,
        parent=enclosing[-1].name if enclosing else None,
        char_count=len(body),
        path=source.path,
        qualified_name=qualified_name,
        body_line=first,
        notes=tuple(notes),
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


_IDENTIFIER = re.compile(r"(?<![\w$])#?(?:[^\W\d]|\$)[\w$]*")
_MARKED_IDENTIFIER = re.compile(
    r"(?<!\w)(?:[^\W\d]|[^\x00-\x7f])(?:\w|[^\x00-\x7f])*(?:[?!](?!=)|=(?=\())?"
)


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
    on_line = names_on(path, lines[line - 1])
    if name is not None:
        word = name.strip().rpartition(".")[2]
        for start, match in on_line:
            if match.lstrip("#") == key_of(word, language_of(path)) and (
                column is None or start <= column <= start + len(match)
            ):
                return Position(path, line, start, match)
        raise InvalidArgumentError(
            "name", f"line {line} of {path} has no {name!r}{_hint(on_line, word)}"
        )
    if column is not None:
        for start, match in on_line:
            if start <= column <= start + len(match):
                return Position(path, line, start, match)
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
    match = re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", lines[line - 1])
    return match.start() + 1 if match else None


def names_on(path: str, line: str) -> list[tuple[int, str]]:
    """The identifiers on a line with their columns, as the file's language writes them."""
    line = line if language_of(path) in DOLLARS else line.replace("$", " ")
    pattern = _MARKED_IDENTIFIER if language_of(path) in MARKED else _IDENTIFIER
    return [(match.start() + 1, match.group()) for match in pattern.finditer(line)]


def name_at(path: str, line: str, column: int) -> str:
    """The identifier or the operator at `column` of a line, or the empty string.

    A macro of Rust has its `!`.
    """
    names = names_on(path, line)
    if language_of(path) in OPERATORS:
        names += [(match.start() + 1, match.group()) for match in SIGNS.finditer(line)]
    for at, one in names:
        if at <= column <= at + len(one):
            is_macro = (
                line[: at - 1].endswith("macro_rules! ") or line[at - 1 + len(one) :][:1] == "!"
            )
            return f"{one}!" if is_macro and language_of(path) == "rust" else one
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
        uses = list(analysis.find_references(word, path)) if is_name(word) else []
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
        names = {one for line in lines for _, one in names_on(path, line)}
        raise SymbolNotFoundError(path, name, near_names(word, names)) from None
    return _defined(path, lines, symbol.name_line, symbol.name)


def _defined(path: str, lines: Sequence[str], line: int, name: str) -> Position:
    # The name of a heading or a quoted key differs from its source.
    return Position(path, line, first_column(lines, line, name) or 1, name)


def _hint(on_line: Sequence[tuple[int, str]], word: str = "") -> str:
    names = list(dict.fromkeys(name for _, name in on_line))
    listed = f"; it has {', '.join(names[:_MOST_NEAR])}" if names else ""
    return did_you_mean(near_names(word, names), listed)
