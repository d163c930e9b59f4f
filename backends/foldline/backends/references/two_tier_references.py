"""References in two tiers: those that an engine confirms, and those that only have the same name.

Identifier matches lose no dynamic call, and a semantic engine takes no namesake for the real thing;
neither alone does both. If the engine fails, the matches are the answer.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from itertools import filterfalse
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

from foldline.backends.base.languages import language_of
from foldline.backends.base.path_kinds import is_test_path
from foldline.backends.base.waiting import coroutine_of
from foldline.backends.engine import NO_ENGINE, Confirmation, EngineQuery
from foldline.backends.fallback import attempt, nothing
from foldline.backends.formatting import page_references
from foldline.backends.formatting.text import first_of, sentences
from foldline.backends.models import COMPLETE, CUT_SHORT, Reference, ReferenceKind, References
from foldline.backends.outlines.locations import Position
from foldline.backends.references.hierarchy import DECLARES, ROOTS, fit, imports_of
from foldline.backends.references.meaning import Meaning
from foldline.backends.references.namesakes import told_apart
from foldline.backends.references.spelling import key_of, word_of
from foldline.backends.search.walks import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from foldline.backends.engine import Engine
    from foldline.backends.files.base import FileBackend
    from foldline.backends.outlines.analysis import Analysis
    from foldline.backends.outlines.locations import Location
    from foldline.backends.references.meaning import Names
    from foldline.backends.references.references_cache import ReferencesCache

CONFIRMED = "confirmed"
# Where a name is only used, an engine is asked about this many of its uses.
_MOST_USES = 3
_MOST_PROBED = 24
# Confirmed references come first, wherever they are: up to so many matches are looked for.
_MOST_TO_CONFIRM = 5_000
# The time of an engine that is asked too late: its answer may be there already.
_LEAST_SECONDS = 0.02
# How many other names are followed, and where a name needs no import.
_MOST_ALIASES = 8
# A type of C may have a function's name.
_TAGGED = re.compile(r"\s*(?:typedef\s+)?(?:struct|union|enum)\b[^()]*\Z")
# What signs or the language itself call, by the line that defines it.
_UNNAMED = re.compile(
    r"\boperator\b|\b(?:def|function) (?:__\w+|(?:self\.)?(?:\[\]|[-+!~]@))"
    r"|\bfn (?:add|sub|mul|div|rem|neg|not|index|deref|eq|(?:partial_)?cmp)(?:_mut|_assign)?\("
)
_FAMILIES = {"c": ("c", "cpp"), "cpp": ("c", "cpp"), "ruby": ("ruby",), "go": ("go",)}


@dataclass
class ReferencesQuery:
    """One query about the uses of a name.

    The engine gets what is left of `seconds` once the matches are known; with 0 it is not asked.
    With `most`, the caller needs no more references than that: those of very common names are not
    looked for in all files.
    """

    files: FileBackend
    analysis: Analysis
    engine: Engine
    cache: ReferencesCache
    names: Names
    name: str
    scope: str | None
    seconds: float
    most: int | None
    target: Position | None
    since: float
    page: tuple[int, int] | None = None
    """The first reference of the only page that is wanted, and its budget."""

    def __post_init__(self) -> None:
        if self.seconds <= 0:
            self.engine = NO_ENGINE
        if self.most is not None and (
            self.engine is not NO_ENGINE or self.target or "." in self.name
        ):
            self.most = max(self.most, _MOST_TO_CONFIRM)
        where = self.target and f"@{self.target.path}:{self.target.line}"
        self._key = f"{self.name}{where or ''}"
        self._meant = Meaning(self.name)
        self._uses_of = coroutine_of(self.analysis.find_references)
        self._positions: list[Position] = []
        self._confirmed: tuple[list[Position], Confirmation] | None = None

    async def run(self) -> References:
        """The uses of the name: the confirmed ones first, then those that may be namesakes."""
        begun = coroutine_of(self.engine.begin)(self.name, self.scope, self.since)
        query = await attempt(begun, _failed_query)
        cached = await attempt(self.cache.get(query, self._key, self.scope, self.seconds), nothing)
        if cached is not None:
            return cached
        await self._look_up(query)
        if (page := await self._of_page(query)) is not None:
            return page
        matches = await self._under_other_names(await self._matches(self.scope))
        confirmation = self._within_scope(await self._confirm(query, matches))
        note = self._meant.said
        if confirmation == Confirmation():
            # Of a name that nothing defines, no use is confirmed.
            possible = len(matches) if note and not self._meant.found else 0
            matches = await self._told_apart(matches)
            reason = sentences(matches.reason, _without_name(matches))
            return replace(matches, said=note, possible=possible, reason=reason)
        if CUT_SHORT in matches.coverage:
            matched = {match.path for match in matches}
            if any(use.path not in matched for use in confirmation.references):
                self.most = None
                matches = await self._under_other_names(await self._matches(self.scope))
        merged = self._remarked(await self._told_apart(merge(matches, confirmation)))
        await attempt(self.cache.keep(query, merged, self._key), nothing)
        return merged

    async def _of_page(self, query: EngineQuery) -> References | None:
        """The answer where each use on the page is confirmed, or None; others' uses are tokens."""
        is_known = query.needs_targets and self.analysis.knows_types and self.scope is None
        if not (self.page and is_known and self._is_of_a_module()):
            return None
        labelled: set[str] = set()
        while True:
            uses = await self._uses_of(self.name, since=self.since, labelled=labelled)
            matches = await self._under_other_names(uses)
            confirmation = await self._confirm(query, matches)
            if not confirmation.engine:
                return None
            merged = await self._told_apart(merge(matches, confirmation), in_order_only=True)
            shown = page_references(merged, *self.page).references
            if any(use.tier != CONFIRMED for use in shown):
                return None
            if (paths := {use.path for use in shown}) <= labelled:
                return self._remarked(merged)
            labelled |= paths

    def _is_of_a_module(self) -> bool:
        """Return False for a method in Python, whose namesakes all have to be told apart."""
        word = key_of(self.name.rpartition(".")[2])
        indexed = self.analysis.files_defining(word)
        paths = [one.path for one in self._positions] or [*filterfalse(is_test_path, indexed)]
        paths = [path for path in paths if path.endswith((".py", ".pyi"))]
        defining = (self.analysis.definitions_in(path, word) for path in paths[:_MOST_PROBED])
        return any(not one.enclosing for uses in defining for one in uses)

    def _remarked(self, merged: References) -> References:
        """The answer with what is said of it."""
        reason = sentences(merged.reason, _without_name(merged))
        if self.target is None and "." not in self.name:
            reason = sentences(_any_of(merged), reason)
        said = self._meant.said
        return replace(merged, name=self.name, scope=self.scope, said=said, reason=reason)

    async def _prefetch(self, query: EngineQuery) -> None:
        """Let the engine begin with the definitions in the index, while the disk is looked at."""
        if not query.needs_targets:
            return
        owner, _, word = self.name.strip().rpartition(".")
        owner = owner.rpartition(".")[2]
        # Files that aren't indexed yet are read for what a dotted name means, right after this.
        paths = self.analysis.files_defining(word, () if owner else None)
        if owner:
            holding = {*self.analysis.files_defining(owner, ())}
            paths = [path for path in paths if path in holding or f"/{owner}" in f"/{path}"]
        for path in paths[:_MOST_PROBED]:
            if definitions := self.analysis.definitions_in(path, word):
                query.prefetch(targets_of(definitions, self.name))

    async def _matches(self, scope: str | None, name: str = "") -> References:
        return await self._uses_of(name or self.name, scope, since=self.since, most=self.most)

    async def _under_other_names(self, matches: References) -> References:
        """The matches with the uses under the names that imports and aliases of types give it.

        A name counts in the files that bind it, and in those that import it from there.
        """
        every = matches if self.scope is None else await self._matches(None)
        bound = _aliases(every, key_of(matches.name))
        names_in: dict[str, set[str]] = {}
        more: dict[tuple[str, int, int], Reference] = {}
        left: set[str] = set()
        while bound and len(names_in) < _MOST_ALIASES:
            name, binding = bound.popitem()
            names_in[name] = paths = {use.path for use in binding}
            is_wide = len(paths) > _MOST_PROBED or any(map(_passes_on, binding))
            scopes = [None] if is_wide else sorted(paths)
            uses = [use for scope in scopes for use in await self._matches(scope, name)]
            paths |= {use.path for use in uses if _is_bound(self.analysis, name, use, paths)}
            inside = [use for use in uses if use.path in paths and use.tier != "another"]
            left |= {use.path for use in uses if use.kind == ReferenceKind.IMPORT} - paths
            more |= {(use.path, use.line, use.column): use for use in inside}
            for other, others in _aliases(inside, name).items():
                if other not in names_in and other != matches.name:
                    bound.setdefault(other, []).extend(others)
        taken = {(use.path, use.line) for use in matches}
        scope = Scope(self.files, self.scope)
        added = [use for at, use in more.items() if at[:2] not in taken and scope.holds(use.path)]
        notes: list[str] = []
        if names_in:
            places = (f"{name} in {_files_text(paths)}" for name, paths in names_in.items())
            notes.append(f"also as {', '.join(places)}")
        # Those of an operator are too many.
        bound |= {use.alias: [] for use in every if use.alias and not word_of(use.alias)}
        if bound:
            names = first_of(bound, _MOST_ALIASES)
            notes.append(f"known as {names}: those uses aren't among these")
        if modules_renamed := {use.path for use in every if is_whole(use)}:
            notes.append(
                f"{_files_text(modules_renamed)} exports it whole: importers may name it otherwise"
            )
        if not notes:
            return matches
        if left:
            notes.append(f"imports of such a name in {_files_text(left)} weren't followed")
        return _with(matches, added, sentences(matches.reason, *notes))

    async def _confirm(self, query: EngineQuery, matches: References) -> Confirmation:
        """The engine's answer at the deadline; if it failed, the coverage says so."""
        targets: list[Position] = []
        if query.needs_targets or self.engine is NO_ENGINE:
            targets = await self._targets(matches, needed=query.needs_targets)
            if not targets or not query.needs_targets:
                return Confirmation()
        if self._confirmed is None or self._confirmed[0] != targets:
            candidates = tuple(dict.fromkeys(match.path for match in matches))
            left = max(self.since + self.seconds - time.monotonic(), _LEAST_SECONDS)
            asked = query.confirm(targets, candidates, left)
            self._confirmed = targets, await attempt(asked, _failed)
        confirmed = self._confirmed[1]
        if confirmed.coverage != COMPLETE or not confirmed.engine:
            return confirmed
        coverage = coverage_of_imports(confirmed.engine, targets, matches, confirmed.references)
        return replace(confirmed, coverage=coverage)

    async def _targets(self, matches: References, *, needed: bool) -> list[Position]:
        """The definitions that the name means: its own, or those of the bases."""
        owner = self.name.rpartition(".")[0]
        if self._meant.found or self.target or not (owner or needed):
            return self._positions
        if self.scope is not None and not any(
            match.kind == ReferenceKind.DEFINITION for match in matches
        ):
            matches = await self._matches(None)
        targets = targets_of(matches, self.name)
        if targets:
            self._meant = Meaning(self.name)
        return targets or self._written_so(matches, owner)

    async def _look_up(self, query: EngineQuery) -> None:
        """Find what a dotted name means, and let the engine begin with that."""
        if self.target is None:
            await attempt(self._prefetch(query), nothing)
        if self.target is not None:
            self._positions = [self.target]
        elif "." in self.name and (query.needs_targets or self.engine is NO_ENGINE):
            self._meant = await self.names.meaning(self.name)
            if self._meant.found and not self.name.endswith(
                self._meant.found[0].located.symbol.name
            ):
                # It differs in case.
                self.name = self._meant.found[0].name
            places = map(self.names.position, self._meant.found)
            self._positions = [Position(*where.at) for where in places]
        if self._positions:
            query.prefetch(self._positions)

    def _written_so(self, matches: References, owner: str) -> list[Position]:
        """Some uses of `asyncio.sleep` in files that import `asyncio`, which is defined nowhere."""
        imported = re.compile(rf"(?<![\w.]){re.escape(owner.partition('.')[0])}(?!\w)")
        uses = [
            use
            for use in matches
            if use.context[: max(use.column - 1, 0)].endswith(f"{owner}.")
            and any(map(imported.search, self.analysis.get_outline(use.path).imports))
        ]
        return [Position(use.path, use.line, use.column) for use in uses[:_MOST_USES]]

    async def _told_apart(self, found: References, *, in_order_only: bool = False) -> References:
        """The uses, another definition's last; `in_order_only` puts just confirmed ones right."""
        if not self._positions or CUT_SHORT in found.coverage:
            return found
        meant = {(position.path, position.line) for position in self._positions}
        every = found if self.scope is None else await self._matches(None)
        defining = [use for use in every if use.kind == ReferenceKind.DEFINITION]
        around = {use.enclosing for use in defining if (use.path, use.line) in meant}
        # A prototype is the same thing, and what an engine confirms.
        meant |= {
            (use.path, use.line)
            for use in (*defining, *found)
            if use.kind == ReferenceKind.DEFINITION
            and (use.tier == CONFIRMED or (use.enclosing in around and _is_prototype(use)))
        }
        if self.target is not None and not around:
            return found  # A use doesn't say which definition it means.
        if in_order_only:
            first = {path for path, _ in meant}
            uses = sorted(found, key=lambda use: (use.test, use.path not in first))
            return replace(found, references=tuple(uses))
        references = await told_apart(found, self.name, every, meant, self.names.types)
        return replace(found, references=references)

    def _within_scope(self, found: Confirmation) -> Confirmation:
        scope = Scope(self.files, self.scope)
        inside = tuple(use for use in found.references if scope.holds(use.path))
        return replace(found, references=inside)


def _any_of(found: References) -> str:
    """The remark that confirmed uses may be of any of several definitions."""
    places = {
        (use.path, use.enclosing, bool(_TAGGED.match(use.context))): f"{use.path}:{use.line}"
        for use in reversed(found.references)
        if use.kind == ReferenceKind.DEFINITION and use.tier == CONFIRMED and not _is_prototype(use)
    }
    named = first_of([*places.values()][::-1], _MOST_USES)
    return f"confirmed: of any of {len(places)} definitions ({named})" if len(places) > 1 else ""


def _is_prototype(use: Reference) -> bool:
    return language_of(use.path) in _FAMILIES["c"] and bool(DECLARES.fullmatch(use.context))


def _without_name(found: References) -> str:
    """The remark that what has the name may be used by a sign."""
    defining = (use for use in found if use.kind == ReferenceKind.DEFINITION)
    is_sign = any(_UNNAMED.search(use.context) for use in defining if use.tier != "another")
    return "uses that don't write its name, as by a sign, may be missing" if is_sign else ""


def _aliases(uses: Iterable[Reference], name: str) -> dict[str, list[Reference]]:
    """The uses that bind another name, by that name."""
    aliases: dict[str, list[Reference]] = {}
    for use in uses:
        if use.alias not in {"", "default", name} and use.tier != "another" and word_of(use.alias):
            aliases.setdefault(use.alias, []).append(use)
    return aliases


def _passes_on(use: Reference) -> bool:
    """Return whether other files may import what a use binds."""
    is_local = use.kind == ReferenceKind.IMPORT and not _PASSES_ON.search(use.context)
    return not (is_local and not use.path.endswith("__init__.py"))


def is_whole(use: Reference) -> bool:
    """Return whether a use is all that its module of JavaScript exports, or its default."""
    before = use.context[: max(use.column - 1, 0)]
    is_all = use.kind != ReferenceKind.CALL and _EXPORTS_WHOLE.fullmatch(before) is not None
    return is_all or use.alias == "default"


def _is_bound(analysis: Analysis, name: str, use: Reference, paths: set[str]) -> bool:
    """Return whether the name means the same in a use as in files: it's imported, or needn't be."""
    if use.kind == ReferenceKind.IMPORT:
        # The module may stand on another line, and begin with the name of the package itself.
        imports = analysis.get_outline(use.path).imports
        modules = [module for module, _ in imports_of(imports, use.alias or name)]
        modules += [one.partition("/")[2] for one in modules if not one.startswith(".")]
        leads = any(_leads_to(module, paths, use.path) for module in modules)
        return leads or _is_from(use.context, paths, use.path)
    language = language_of(use.path)
    return any(
        language_of(path) in _FAMILIES.get(language, ())
        and (language != "go" or dirname(path) == dirname(use.path))
        for path in paths
    )


def _files_text(paths: set[str]) -> str:
    return next(iter(paths)) if len(paths) == 1 else f"{len(paths)} files"


def _with(matches: References, more: Sequence[Reference], reason: str) -> References:
    """The references with others of their files, and then of more files, tests last."""
    order = order_of(matches)
    every = tuple(sorted((*matches, *more), key=lambda use: (use.test, order(use))))
    files = len({use.path for use in every})
    return replace(matches, references=every, total=len(every), files=files, reason=reason)


def order_of(
    matches: Iterable[Reference | Location],
) -> Callable[[Reference | Location], tuple[int, str, int, int]]:
    """A key that sorts uses by file, in the order of the matches, and then by place."""
    order = {path: number for number, path in enumerate(dict.fromkeys(m.path for m in matches))}
    return lambda use: (order.get(use.path, len(order)), use.path, use.line, use.column)


def _failed_query(error: Exception) -> EngineQuery:
    query = EngineQuery()
    query.needs_targets, query.failed = True, _failed(error)
    return query


def targets_of(matches: Iterable[Reference], name: str) -> list[Position]:
    """The definitions that `name`, dotted or not, may mean; of a plain one also some uses."""
    matches = list(matches)
    owner, _, _ = name.strip().rpartition(".")
    owned = [match for match in matches if _is_in(match, owner)]
    targets = [match for match in owned if match.kind == ReferenceKind.DEFINITION]
    targets = targets or first_writes(owned)
    if not targets and not owner:
        imports = [match for match in matches if match.kind == ReferenceKind.IMPORT]
        targets = list({match.path: match for match in imports or matches}.values())[:_MOST_USES]
    # Code before its tests: a cap then leaves out what matters least.
    targets.sort(key=lambda match: match.test)
    return [Position(match.path, match.line, match.column) for match in targets]


def first_writes(matches: Iterable[Reference]) -> list[Reference]:
    """The first assignment in each scope, of a name that is never declared."""
    firsts: dict[tuple[str, str], Reference] = {}
    for match in matches:
        if match.kind == ReferenceKind.WRITE:
            firsts.setdefault((match.path, match.enclosing), match)
    return list(firsts.values())


def _is_in(match: Reference, owner: str) -> bool:
    # The owner may be a class, or a module, which no enclosing symbol names.
    qualified = f"{match.enclosing}._".strip(".")
    return not owner or fit(match.path, qualified, f"{owner}._") in range(3)


def merge(matches: References, found: Confirmation) -> References:
    """Every match and every confirmed use once, confirmed ones first."""
    confirmed, possible, extra = _tiers(matches, found.references)
    if extra:
        confirmed.extend(extra)
        confirmed.sort(key=order_of(matches))
    references = (*confirmed, *possible)
    # Without a match, the reason says why there is none: a confirmed use contradicts it.
    remarks = [matches.reason if matches.references or not references else "", *found.notes]
    if found.outside:
        remarks.append(f"{found.outside} more in files that the workspace does not show")
    coverage = [part for part in (found.coverage, matches.coverage) if part != COMPLETE]
    return replace(
        matches,
        references=references,
        total=len(references),
        files=len({use.path for use in references}),
        reason=sentences(*remarks),
        backend=f"{found.engine}+{matches.backend}" if found.engine else matches.backend,
        coverage="; ".join(coverage) or COMPLETE,
        confirmed=len(confirmed) if found.engine else 0,
        possible=len(possible) if found.engine else 0,
    )


def _tiers(
    matches: Iterable[Reference], confirmed: Iterable[Reference]
) -> tuple[list[Reference], list[Reference], list[Reference]]:
    """The matches that are confirmed, those that aren't, and confirmed uses without a match."""
    by_line: dict[tuple[str, int], list[Reference]] = {}
    for use in confirmed:
        by_line.setdefault((use.path, use.line), []).append(use)
    matched: list[Reference] = []
    possible: list[Reference] = []
    whole_lines: set[tuple[str, int]] = set()
    for match in matches:
        here = by_line.get((match.path, match.line), [])
        # It covers the match, or begins it: `module.Name` or `operator` may be all of a name.
        holders = [
            use for use in here if not use.column or use.column <= match.column < use.column_end
        ]
        if not holders:
            possible.append(match)
            continue
        matched.append(replace(match, tier=CONFIRMED))
        for use in holders:
            if use.column:
                here.remove(use)
            else:
                whole_lines.add((use.path, use.line))
    extra = [
        _extra(use)
        for line, uses in by_line.items()
        for use in uses
        if use.column or line not in whole_lines
    ]
    # What a module defines or imports is what its `__all__` names.
    named = {use.path for use in matched if not use.enclosing}
    exports = {use for use in possible if use.kind == ReferenceKind.EXPORT and use.path in named}
    extra += (replace(use, tier=CONFIRMED) for use in exports)
    return matched, [use for use in possible if use not in exports], extra


def _extra(use: Reference) -> Reference:
    """A use under another name: an alias, or a name within a string."""
    imported = use.context.lstrip().startswith(("import ", "from ", "export "))
    kind = use.kind or (ReferenceKind.IMPORT if imported else ReferenceKind.READ)
    return replace(use, kind=kind, tier=CONFIRMED)


def _failed(error: Exception) -> Confirmation:
    return Confirmation(coverage=f"partial: {str(error) or type(error).__name__}")


# The module, on the line of the name: `from a.b import name`, `import { name } from "./a/b"`.
_MODULE = re.compile(
    r"""(?:\bfrom\s+["']?|\b(?:require|import)\s*\(\s*["']|\buse\s+)([\w./@:-]+)"""
)
# Before a name of JavaScript that is all that its module exports.
_EXPORTS_WHOLE = re.compile(
    r"\s*(?:export\s+default|module\.exports\s*=)\s+"
    r"(?:(?:async\s+)?function\b\W*|(?:abstract\s+)?class\s+)?"
)
# It says so, or the line is one of several.
_PASSES_ON = re.compile(r"\b(?:export|pub|global)\b|\A\s*[\w$]+\s+as\b")
_PART = re.compile(r"[\w-]+")


def coverage_of_imports(
    engine: str,
    targets: Iterable[Position],
    matches: Iterable[Reference],
    uses: Iterable[Reference],
) -> str:
    """Partial where most imports of a definition at `targets` aren't among the `uses`.

    `matches` are all identifiers with the name. Imports over several lines don't count: their first
    line names the module, and another one the name.
    """
    paths = {target.path for target in targets}
    lines = {(use.path, use.line) for use in uses}
    imports = [
        (match.path, match.line) in lines
        for match in matches
        if match.kind == ReferenceKind.IMPORT and _is_from(match.context, paths)
    ]
    confirmed = sum(imports)
    if confirmed * 2 >= len(imports):
        return COMPLETE
    return (
        f"partial: {engine} confirmed {confirmed:,} of {len(imports):,} imports from the file that "
        "defines it"
    )


def _is_from(line: str, paths: Iterable[str], path: str = "") -> bool:
    """Return whether the line imports from one of these files, or from a package around it."""
    module = _MODULE.search(line)
    return module is not None and _leads_to(module[1], paths, path)


def _leads_to(module: str, paths: Iterable[str], path: str) -> bool:
    """Return whether a module as it's written in a file is one of some files, or around one."""
    if path and module.startswith(("./", "../")):
        module = normpath(join(dirname(path), module))
    parts = _PART.findall(re.sub(r"(?:(?<=\w)/index)?(?:\.[jt]sx?)?\Z|::\w+\Z", "", module))
    name = ".".join([one for one in parts if one not in ROOTS] or ["lib"] * ("crate" in parts))
    return bool(name) and any(fit(path, "_", f"{name}._") is not None for path in paths)
