"""Outlines and definitions: an engine is asked first, and the syntax tree always."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import coroutine_of
from foldline.backends.engine import NO_ENGINE
from foldline.backends.errors import SymbolNotFoundError
from foldline.backends.fallback import DEFAULT_SECONDS, attempt, nothing
from foldline.backends.models import ReferenceKind, SymbolKind
from foldline.backends.outlines.analysis import OwnAnalysis
from foldline.backends.outlines.locations import Position
from foldline.backends.outlines.outline_merge import merge_outline
from foldline.backends.outlines.symbols import detail_of, flatten, locate
from foldline.backends.references.spelling import is_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldline.backends.engine import Engine
    from foldline.backends.files.base import FileBackend
    from foldline.backends.models import FileOutline, SymbolDetail
    from foldline.backends.outlines.analysis import Analysis
    from foldline.backends.outlines.locations import Location
    from foldline.backends.references.meaning import Names


async def get_outline(
    files: FileBackend, analysis: Analysis, engine: Engine, file: str
) -> FileOutline:
    """The outline of the engine and of the syntax tree together, or that of the tree alone."""
    preferred = await attempt(engine.preferred_outline(file), nothing)
    return preferred or await _merged(files, analysis, engine, file)


async def read_symbol(
    files: FileBackend,
    analysis: Analysis,
    engine: Engine,
    file: str,
    name: str,
    *,
    servers: Callable[[], Engine],
    names: Names,
    seconds: float = DEFAULT_SECONDS,
) -> SymbolDetail:
    """The definition of `name` in `file`; where the file only imports it, from where it stands.

    That of `servers` gets `seconds` to say where that is; with 0 none is asked.

    Raises:
        SymbolNotFoundError: with the nearest names.
        AmbiguousSymbolError: with the candidates' names.
    """
    if seconds <= 0:
        engine = NO_ENGINE
    preferred = await attempt(engine.preferred_symbol(file, name), nothing)
    if preferred is not None:
        return preferred
    detail: SymbolDetail | None = None
    missing: SymbolNotFoundError | None = None
    try:
        detail = await _read_defined(files, analysis, engine, file, name)
        # What a file only passes on is better read where it is defined.
        if detail is not None and detail.kind != SymbolKind.EXPORT:
            return detail
        # Its error has near names.
        outline = analysis.get_outline(file)
        locate(outline.path, outline.symbols, name)
    except SymbolNotFoundError as error:
        missing = error
    if seconds > 0 and (engine := servers()) is not NO_ENGINE:
        imported = await attempt(_read_imported(analysis, engine, file, name, seconds), nothing)
        if imported is not None:
            return imported
    if detail is not None:
        return detail
    missing = missing or SymbolNotFoundError(file, name)
    meant = await names.meaning(name, files.resolve(file))
    if not meant.found:
        raise missing
    meant.one()
    # Of overloads and accessors, the one with a body.
    one = max(meant.found, key=lambda part: part.located.symbol.line_end - part.located.symbol.line)
    detail = analysis.read_symbol(one.path, one.readable)
    if detail is None:
        raise missing
    return meant.shown(detail)


async def _merged(files: FileBackend, analysis: Analysis, engine: Engine, file: str) -> FileOutline:
    """The outline of the tree, with what the engine knows of the same text."""
    # The engine answers while we parse.
    query = await attempt(coroutine_of(engine.begin_symbols)(file), nothing)
    outline = analysis.get_outline(file)
    answer = None if query is None else await attempt(query.answer(), nothing)
    if answer is None or answer.text != files.read_source(outline.path).text:
        return outline
    return merge_outline(outline, answer)


async def _read_defined(
    files: FileBackend, analysis: Analysis, engine: Engine, file: str, name: str
) -> SymbolDetail | None:
    """The definition in the file itself: the engine locates it, too, and the tree describes it."""
    if isinstance(analysis, OwnAnalysis):
        # Only a user's own backend has these facts about a definition.
        return analysis.read_symbol(file, name)
    outline = await _merged(files, analysis, engine, file)
    located = locate(outline.path, outline.symbols, name)
    source = files.read_source(outline.path)
    return detail_of(located, source, outline.backend, reason=outline.reason)


async def _read_imported(
    analysis: Analysis, engine: Engine, file: str, name: str, seconds: float
) -> SymbolDetail | None:
    """The definition of a name that the file does not define itself; None where it is unknown."""
    first, _, rest = name.strip().partition(".")
    if not is_name(first):
        return None
    uses = tuple(analysis.find_references(first, file))
    imports = [use for use in uses if use.kind == ReferenceKind.IMPORT] or list(uses)
    if not imports:
        return None
    # The last of `import a as b` and `from a import b` is the name that the file uses.
    use = imports[0]
    target = Position(use.path, use.line, use.column, first)
    imported = await engine.goto_definition(target, seconds=seconds)
    for location in imported.locations:
        if location.outside:
            continue
        detail = _symbol_at(analysis, location, rest)
        if detail is not None:
            note = f"defined in {detail.path}, shown from there"
            return replace(
                detail,
                notes=(note, *detail.notes),
                backend=f"{imported.backend}+{detail.backend}",
                coverage=imported.coverage,
            )
    return None


def _symbol_at(analysis: Analysis, location: Location, rest: str) -> SymbolDetail | None:
    """The symbol defined at `location`, or what is called `rest` inside it."""
    for symbol, qualified_name, _ in flatten(analysis.get_outline(location.path)):
        if location.line in {symbol.name_line, symbol.line}:
            name = f"{qualified_name}.{rest}" if rest else qualified_name
            return analysis.read_symbol(location.path, name)
    if location.line == 1 and rest:
        # The name is that of a module.
        return analysis.read_symbol(location.path, rest)
    return None
