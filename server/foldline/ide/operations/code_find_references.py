"""`code.findReferences`: the references to a name, confirmed ones first."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import chain, groupby, islice
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from foldline.backends import formatting
from foldline.backends.base.waiting import coroutine_of
from foldline.backends.errors import BackendError
from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.formatting.budget import REFERENCES_BUDGET
from foldline.backends.formatting.text import files_text, sentences
from foldline.ide.operations import code_call_hierarchy, code_definition, code_implementations
from foldline.ide.operations.arguments import Budget, ListPage, PositionArguments, Seconds
from foldline.ide.operations.operation import Doc, Operation, Role, cost_of, run_query
from foldline.ide.operations.symbol_operation import AtSymbol
from foldline.ide.plugins import Plugin, plugins
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.backends import SmartFileAccess
    from foldline.backends.formatting.parts import Code, Line
    from foldline.backends.models import Reference, References, SymbolInfo

_MARKDOWN = (".md", ".mdc", ".markdown")
_LIBRARY = "foldline"
_MOST_FILES = 200
"""The most files whose definitions are compared with a pattern."""


class Relation(StrEnum):
    """The question about a symbol."""

    REFERENCES = "references"
    DEFINITION = "definition"
    IMPLEMENTATIONS = "implementations"
    CALLS = "calls"
    TESTS = "tests"


_OTHERS: Mapping[Relation, Operation[PositionArguments, AtSymbol[Any]]] = {
    Relation.DEFINITION: code_definition.OPERATION,
    Relation.IMPLEMENTATIONS: code_implementations.OPERATION,
    Relation.CALLS: code_call_hierarchy.OPERATION,
}


@record(kw_only=True, slots=False)
class Arguments(ListPage):
    """A name, and where to look for it."""

    name: Annotated[
        str,
        Doc("a name, such as Class.method, *Error (definitions), or a place, such as FILE:LINE"),
        Role.SYMBOL,
    ]
    relation: Annotated[
        Relation,
        Doc(
            "references, definition, implementations, calls (callers and callees), or tests",
            "or definition, implementations, calls, tests",
        ),
        Role.TOOL,
    ] = Relation.REFERENCES
    scope: Annotated[
        str | None,
        Doc("a file, a folder or a glob", "file, folder or glob"),
        Role.SCOPE,
    ] = None
    budget: Budget = REFERENCES_BUDGET
    seconds: Seconds = DEFAULT_SECONDS


async def run(access: SmartFileAccess, arguments: Arguments) -> References | AtSymbol[Any]:
    same = {name: getattr(arguments, name) for name in ("name", "budget", "cursor", "seconds")}
    if other := _OTHERS.get(arguments.relation):
        # `operator*` is a name of C++.
        is_pattern = "*" in arguments.name and "operator" not in arguments.name
        if arguments.relation == Relation.DEFINITION and is_pattern:
            return await _matching(access, arguments)
        answer = await other.run(access, PositionArguments(**same))
        return answer if arguments.scope is None else _within(access, answer, arguments.scope)
    if arguments.relation == Relation.TESTS:
        same |= {"scope": arguments.scope, "budget": None, "cursor": None}
        uses = await _in_tests(access, await run_query(access.find_references, **same))
        first = formatting.first_reference(arguments.cursor)
        return formatting.page_references(uses, first, arguments.budget)
    since = monotonic()
    references = await run_query(access.find_references, scope=arguments.scope, **same)
    if arguments.cursor is not None or arguments.scope is not None:
        return references
    return await _with_mentions(access, references, since)


async def _matching(access: SmartFileAccess, arguments: Arguments) -> References:
    """The definitions whose names match a glob, in the files that hold such a word."""
    from foldline.backends.models import Reference, References
    from foldline.backends.outlines.symbols import flatten

    pattern, found = arguments.name, list[Reference]()
    words = r"\w*".join(map(re.escape, pattern.split("*")))
    held = await run_query(access.grep, rf"\b{words}\b", arguments.scope, show="files")
    paths = [path for path, _ in held.counts]
    for path in islice(paths, _MOST_FILES):
        with suppress(BackendError):
            outline = await run_query(access.get_outline, path)
            symbols = (located.symbol for located in flatten(outline.symbols))
            found += [
                Reference(path, line, one.signature, "definition", one.name, begins=line)
                for one in symbols
                if fnmatchcase(one.name, pattern) and (line := one.name_line or one.line)
            ]
    files = len({one.path for one in found})
    looked_at = files_text(min(len(paths), _MOST_FILES))
    said = f"definitions named {pattern!r}, of {looked_at} with such a word"
    if len(paths) > _MOST_FILES:
        said += f"; {len(paths) - _MOST_FILES} more not looked at: give a scope"
    every = References(pattern, tuple(found), len(found), files, arguments.scope, said=said)
    every = replace(every, coverage=held.coverage)
    first = formatting.first_reference(arguments.cursor)
    return formatting.page_references(every, first, arguments.budget)


def _within(access: SmartFileAccess, at: AtSymbol[Any], scope: str) -> AtSymbol[Any]:
    """Return the page with the callers or places that are in the scope."""
    from foldline.backends.search.walks import Scope

    part, found = Scope(access.file_backend, scope), at.result
    name = "incoming" if hasattr(found, "incoming") else "locations"
    kept = tuple(one for one in getattr(found, name) if part.holds(one.path))
    left_out = found.left_out + len(getattr(found, name)) - len(kept)
    return AtSymbol(at.position, replace(found, left_out=left_out, **{name: kept}), kept)


async def _in_tests(access: SmartFileAccess, found: References) -> References:
    """The uses in tests, each with its test's title, and others in files of tests but imports."""
    from foldline.backends.outlines.symbols import BODIES, flatten, is_test

    every = [use for use in found if use.tier != "another"]
    uses: list[Reference] = []
    for path, group in groupby(every, key=lambda use: use.path):
        symbols: list[SymbolInfo] = []
        # It may be gone, or too large to parse.
        with suppress(BackendError):
            outline = await run_query(access.get_outline, path)
            symbols += [one.symbol for one in flatten(outline.symbols) if one.symbol.kind in BODIES]
        for use in group:
            around = [one for one in symbols if one.line <= use.line <= one.line_end]
            one = max(around, key=is_test, default=None)
            if one and (use.test or is_test(one)):
                uses.append(replace(use, enclosing=one.name, begins=one.name_line or one.line))
            elif use.test and use.kind not in {"definition", "import", "export"}:
                uses.append(replace(use, enclosing="elsewhere", begins=-1))
    sure, others = sum(use.tier == "confirmed" for use in uses), len(every) - len(uses)
    possible = len(uses) - sure if found.confirmed or found.possible else 0
    reason = sentences(found.reason, f"{others} more in no test" if others else "")
    found = replace(found, references=tuple(uses), reason=reason, text=(), counted="")
    files = len({use.path for use in uses})
    return replace(found, total=len(uses), files=files, confirmed=sure, possible=possible)


async def _with_mentions(access: SmartFileAccess, found: References, since: float) -> References:
    """The references with the places in texts for models that name the same.

    What was read for a query that was asked at `since` isn't looked at again.
    """
    index, word = access.index, found.name.rpartition(".")[2]
    if index is None or not word.isidentifier():
        return found
    held = await coroutine_of(index.texts_with)(word, since=since)
    texts = [path for path in held.paths if path.endswith(_MARKDOWN)]
    modules = index.last_holding(_LIBRARY)
    modules &= index.last_holding(word) if modules else modules
    if not texts and not modules:
        return found
    # These load the analysis of prompts.
    named = plugins().ask(Plugin.named, access, found, texts, sorted(modules))
    return replace(found, named=tuple(chain.from_iterable(named)))


def _format(found: References | AtSymbol[Any], arguments: Arguments) -> Sequence[Line | Code]:
    if isinstance(found, AtSymbol):
        return _OTHERS[arguments.relation].format(found, PositionArguments())
    return formatting.references_lines(found, arguments.budget)


OPERATION = Operation(
    "code.findReferences",
    "list the uses of a name",
    Arguments,
    run,
    _format,
    tool="find_references",
    description="Find references: where a name is used, who calls it (callers, usages) "
    f"({cost_of('find_references')}).",
    verb="refs",
    found=lambda found: (
        found.has_any
        if isinstance(found, AtSymbol)
        else found.total or found.text or found.counted or found.named
    ),
    data=lambda found: found.result if isinstance(found, AtSymbol) else found,
    across=True,
    many=True,
)
