"""Outlines and definitions: the syntax tree's, and a language server's where it knows more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.errors import AmbiguousSymbolError, SymbolNotFoundError
from foldline.backends.fallback import DEFAULT_SECONDS, awaited, guarded
from foldline.backends.languages import UNKNOWN
from foldline.backends.locations import Navigator, Position, SemanticEngine
from foldline.backends.models import ReferenceKind
from foldline.backends.symbols import flatten
from foldline.backends.waiting import question_of

if TYPE_CHECKING:
    from foldline.backends.locations import Location
    from foldline.backends.models import FileOutline, SymbolDetail
    from foldline.backends.protocol import FileAnalysisBackend


async def get_outline(
    analysis: FileAnalysisBackend, engine: FileAnalysisBackend | None, file: str
) -> FileOutline:
    """The outline of the syntax tree; that of the engine where the language has no grammar here."""
    if engine is not None and not isinstance(engine, SemanticEngine):
        # Somebody's own backend: first in line, as it was put there for.
        own = guarded(lambda: engine.get_outline(file))
        return analysis.get_outline(file) if isinstance(own, Exception) else own
    outline = analysis.get_outline(file)
    if engine is None or outline.language != UNKNOWN:
        return outline
    found = await awaited(question_of(engine.get_outline)(file))
    return outline if isinstance(found, Exception) or not found.symbols else found


async def read_symbol(
    analysis: FileAnalysisBackend,
    engine: FileAnalysisBackend | None,
    file: str,
    name: str,
    *,
    seconds: float = DEFAULT_SECONDS,
) -> SymbolDetail:
    """The definition of `name` in `file`; where the file only imports it, from where it stands.

    The engine gets `seconds` to say where that is; with 0 it is not asked.

    Raises:
        SymbolNotFoundError: with the nearest names.
        AmbiguousSymbolError: with the candidates' names.
    """
    if engine is not None and not isinstance(engine, SemanticEngine):
        own = guarded(lambda: engine.read_symbol(file, name))
        if own is not None and not isinstance(own, Exception):
            return own
    try:
        detail = analysis.read_symbol(file, name)
        if detail is not None:
            return detail
        missing = SymbolNotFoundError(file, name)
    except AmbiguousSymbolError:
        raise
    except SymbolNotFoundError as error:
        missing = error
    if isinstance(engine, Navigator) and seconds > 0:
        found = await awaited(_read_imported(analysis, engine, file, name, seconds))
        if found is not None and not isinstance(found, Exception):
            return found
    raise missing


async def _read_imported(
    analysis: FileAnalysisBackend, navigator: Navigator, file: str, name: str, seconds: float
) -> SymbolDetail | None:
    """The definition of a name that the file does not define itself; None where it is unknown."""
    first, _, rest = name.strip().partition(".")
    uses = tuple(analysis.find_references(first, file))
    imports = [each for each in uses if each.kind == ReferenceKind.IMPORT] or list(uses)
    if not imports:
        return None
    # The last of `import a as b` and `from a import b` is the name that the file uses.
    use = imports[0]
    target = Position(use.path, use.line, use.column)
    found = await navigator.goto_definition(target, seconds=seconds)
    for place in found.locations:
        if place.outside:
            continue
        detail = _symbol_at(analysis, place, rest)
        if detail is not None:
            note = f"defined in {detail.path}, shown from there"
            return replace(
                detail,
                notes=(note, *detail.notes),
                backend=f"{found.backend}+{detail.backend}",
                coverage=found.coverage,
            )
    return None


def _symbol_at(analysis: FileAnalysisBackend, place: Location, rest: str) -> SymbolDetail | None:
    symbols = flatten(analysis.get_outline(place.path))
    for symbol, qualified_name, _ in symbols:
        if place.line in {symbol.name_line, symbol.line}:
            return analysis.read_symbol(
                place.path, f"{qualified_name}.{rest}" if rest else qualified_name
            )
    if place.line == 1 and rest:
        # The name is that of a module.
        return analysis.read_symbol(place.path, rest)
    return None
