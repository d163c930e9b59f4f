"""`code.findReferences`: the references to a name, confirmed ones first."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from foldline.backends import formatting
from foldline.backends.base.waiting import coroutine_of
from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.formatting.budget import REFERENCES_BUDGET
from foldline.ide.errors import ArgumentsError
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
    from foldline.backends.models import References

_MARKDOWN = (".md", ".mdc", ".markdown")
_LIBRARY = "foldline"


class Relation(StrEnum):
    """The question about a symbol."""

    REFERENCES = "references"
    DEFINITION = "definition"
    IMPLEMENTATIONS = "implementations"
    CALLS = "calls"


_OTHERS: Mapping[Relation, Operation[PositionArguments, AtSymbol[Any]]] = {
    Relation.DEFINITION: code_definition.OPERATION,
    Relation.IMPLEMENTATIONS: code_implementations.OPERATION,
    Relation.CALLS: code_call_hierarchy.OPERATION,
}


@record(kw_only=True, slots=False)
class Arguments(ListPage):
    """A name, and where to look for it."""

    name: Annotated[
        str, Doc("a name, such as Class.method, or a place, such as FILE:LINE"), Role.SYMBOL
    ]
    relation: Annotated[
        Relation,
        Doc(
            "references, definition, implementations, or calls: callers and callees",
            "or definition, implementations, calls",
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
        if arguments.scope is not None:
            raise ArgumentsError({"scope": f"limits references, not {arguments.relation}"})
        return await other.run(access, PositionArguments(**same))
    since = monotonic()
    references = await run_query(access.find_references, scope=arguments.scope, **same)
    if arguments.cursor is not None or arguments.scope is not None:
        return references
    return await _with_mentions(access, references, since)


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
