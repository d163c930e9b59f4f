"""Answers in two tiers: what a semantic engine confirms, and what only has the same name.

Identifier matches lose no dynamic call, and a semantic engine takes no namesake for the real thing;
neither alone is both. Whatever the engine dies of, the matches are the answer.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.fallback import DEFAULT_SECONDS, awaited, guarded
from foldline.backends.locations import Confirmation, Position, SemanticEngine
from foldline.backends.models import COMPLETE, Reference, ReferenceKind, References
from foldline.backends.references import is_test_path
from foldline.backends.scopes import Scope
from foldline.backends.waiting import question_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldline.backends.files.base import BaseFileBackend
    from foldline.backends.locations import Location, ReferencesQuery
    from foldline.backends.protocol import FileAnalysisBackend
    from foldline.backends.references_cache import ReferencesCache

CONFIRMED = "confirmed"
POSSIBLE = "possible"
# Where a name is only used, an engine is asked about so many of its uses.
_MOST_USES = 3
_MOST_PROBED = 24
# What an engine asked too late still gets: its answer may be there already.
_LEAST_SECONDS = 0.02


async def find_references(
    files: BaseFileBackend,
    analysis: FileAnalysisBackend,
    engine: FileAnalysisBackend | None,
    name: str,
    scope: str | None,
    *,
    seconds: float = DEFAULT_SECONDS,
    cache: ReferencesCache | None = None,
) -> References:
    """The uses of `name`: those that the engine confirms first, then those it does not.

    The engine gets what is left of `seconds` once the matches are known; with 0 it is not asked.
    """
    asked = time.monotonic()
    deadline = asked + seconds
    if engine is None or seconds <= 0:
        return await uses_of(analysis, name, scope, asked)
    if not isinstance(engine, SemanticEngine):
        return _from_plain(engine, await uses_of(analysis, name, scope, asked), name, scope)
    query = guarded(partial(engine.begin, asked))
    if not isinstance(query, Exception):
        if cache is not None:
            kept = await awaited(cache.get(query, name, scope, seconds))
            if isinstance(kept, References):
                return kept
        guarded(partial(_prefetch, analysis, query, name))
    matches = await uses_of(analysis, name, scope, asked)
    around = matches
    targets = targets_of(matches, name)
    if scope is not None and not any(each.kind == ReferenceKind.DEFINITION for each in matches):
        # What is used here may be defined elsewhere.
        around = await uses_of(analysis, name, None, asked)
        targets = targets_of(around, name)
    if not targets:
        return matches
    found = await _confirm(query, targets, around, deadline)
    if scope is not None:
        within = Scope(files, scope)
        inside = tuple(each for each in found.locations if within.holds(each.path))
        found = replace(found, locations=inside)
    merged = replace(_merged(name, matches, found), scope=scope)
    if cache is not None and not isinstance(query, Exception):
        await awaited(cache.keep(query, merged, name))
    return merged


async def _confirm(
    query: ReferencesQuery | Exception,
    targets: list[Position],
    around: References,
    deadline: float,
) -> Confirmation:
    """What the engine says until the deadline; what it died of is the coverage."""
    found: Confirmation | Exception
    if isinstance(query, Exception):
        found = query
    else:
        candidates = tuple(dict.fromkeys(each.path for each in around))
        left = max(deadline - time.monotonic(), _LEAST_SECONDS)
        found = await awaited(query.confirm(targets, candidates, left))
    if isinstance(found, Exception):
        return Confirmation(coverage=f"partial: {str(found) or type(found).__name__}")
    return found


def _prefetch(analysis: FileAnalysisBackend, query: ReferencesQuery, name: str) -> None:
    """Let the engine begin on the definitions that the index knows, while all files are parsed."""
    if not isinstance(analysis, ASTFileAnalysisBackend):
        return
    last = name.strip().rpartition(".")[2]
    found: list[Reference] = []
    for path in analysis.files_defining(last)[:_MOST_PROBED]:
        found.extend(analysis.find_references(last, path))
    definitions = [each for each in found if each.kind == ReferenceKind.DEFINITION]
    if definitions:
        query.prefetch(targets_of(definitions, name))


def targets_of(matches: Iterable[Reference], name: str) -> list[Position]:
    """The definitions that `name`, dotted or not, may mean; without any, some of its uses."""
    matches = list(matches)
    owner, _, _ = name.strip().rpartition(".")
    definitions = [
        each for each in matches if each.kind == ReferenceKind.DEFINITION and _is_in(each, owner)
    ]
    if not definitions:
        # Assigned, never declared: once for each scope.
        written = [
            each for each in matches if each.kind == ReferenceKind.WRITE and _is_in(each, owner)
        ]
        definitions = list(
            {(each.path, each.enclosing): each for each in reversed(written)}.values()
        )
        definitions.reverse()
    if not definitions:
        imports = [each for each in matches if each.kind == ReferenceKind.IMPORT]
        definitions = list({each.path: each for each in imports or matches}.values())[:_MOST_USES]
    # Code before its tests: a cap then leaves out what matters least.
    definitions.sort(key=lambda each: each.test)
    return [Position(each.path, each.line, each.column) for each in definitions]


async def uses_of(
    analysis: FileAnalysisBackend, name: str, scope: str | None = None, since: float | None = None
) -> References:
    """The identifiers that `analysis` finds, for a question that was asked at `since`."""
    if isinstance(analysis, ASTFileAnalysisBackend):
        return await question_of(analysis.find_references)(name, scope, since=since)
    found = analysis.find_references(name, scope)
    if isinstance(found, References):
        return found
    references = tuple(found)
    return References(
        name,
        references,
        len(references),
        len({each.path for each in references}),
        scope,
        None,
        "" if references else "no identifier of that name in code below the scope",
        getattr(analysis, "name", "ast"),
    )


def _is_in(match: Reference, owner: str) -> bool:
    if not owner:
        return True
    # The owner may be a class, or a module, which no enclosing symbol names.
    inside = match.enclosing
    module = match.path.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")
    whole = f"{module}.{inside}" if inside else module
    return whole == owner or whole.endswith(f".{owner}")


def _merged(name: str, matches: References, found: Confirmation) -> References:
    """Every match and every confirmed place once, confirmed ones first."""
    places: dict[tuple[str, int], list[Location]] = {}
    for place in found.locations:
        places.setdefault((place.path, place.line), []).append(place)
    confirmed: list[Reference] = []
    possible: list[Reference] = []
    for match in matches:
        here = places.get((match.path, match.line), [])
        # `module.Name` may be confirmed as a whole: the name is the end of it.
        held = [
            each
            for each in here
            if each.column <= match.column and match.column_end <= each.column_end
        ]
        if held:
            confirmed.append(replace(match, tier=CONFIRMED))
            for each in held:
                here.remove(each)
        else:
            possible.append(match)
    extra = [_reference(place) for left in places.values() for place in left]
    if extra:
        confirmed.extend(extra)
        order = {path: number for number, path in enumerate(dict.fromkeys(m.path for m in matches))}
        confirmed.sort(
            key=lambda each: (order.get(each.path, len(order)), each.path, each.line, each.column)
        )
    references = (*confirmed, *possible)
    remarks = [matches.reason if not references else "", *found.notes]
    if found.outside:
        remarks.append(f"{found.outside} more in files that the workspace does not show")
    coverage = [each for each in (found.coverage, matches.coverage) if each != COMPLETE]
    return References(
        name,
        references,
        len(references),
        len({each.path for each in references}),
        matches.scope,
        None,
        "; ".join(filter(None, remarks)),
        f"{found.engine}+{matches.backend}" if found.engine else matches.backend,
        "; ".join(coverage) or COMPLETE,
        len(confirmed) if found.engine else 0,
        len(possible) if found.engine else 0,
    )


def _reference(place: Location) -> Reference:
    """A use under another name: an alias, or a name within a string."""
    imported = place.context.lstrip().startswith(("import ", "from ", "export "))
    return Reference(
        place.path,
        place.line,
        place.context,
        ReferenceKind.IMPORT if imported else ReferenceKind.READ,
        "",
        is_test_path(place.path),
        place.column,
        place.column_end,
        CONFIRMED,
    )


def _from_plain(
    engine: FileAnalysisBackend, matches: References, name: str, scope: str | None
) -> References:
    """With a backend that has nothing but the protocol: what it gives is confirmed."""
    found = guarded(lambda: tuple(engine.find_references(name, scope)))
    if isinstance(found, Exception):
        return matches
    known = {(each.path, each.line) for each in found}
    confirmed = [replace(each, tier=CONFIRMED) for each in found]
    possible = [each for each in matches if (each.path, each.line) not in known]
    references = (*confirmed, *possible)
    return replace(
        matches,
        references=references,
        total=len(references),
        files=len({each.path for each in references}),
        reason=matches.reason if not references else "",
        backend=f"{getattr(engine, 'name', 'lsp')}+{matches.backend}",
        confirmed=len(confirmed),
        possible=len(possible),
    )
