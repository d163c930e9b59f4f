"""`code.findReferences`: the references to a name, confirmed ones first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.formatting.budget import REFERENCES_BUDGET
from foldline.backends.text import format_references
from foldline.ide.operations.arguments import Budget, Cursor, Seconds
from foldline.ide.operations.costs import cost_of
from foldline.ide.operations.operation import Doc, Operation, Role, run_query

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.models import References


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """A name, and where to look for it."""

    name: Annotated[str, Doc("an identifier"), Role.SYMBOL]
    scope: Annotated[
        str | None,
        Doc("a file, a folder or a glob", "file, folder or glob"),
        Role.SCOPE,
    ] = None
    budget: Budget = REFERENCES_BUDGET
    cursor: Cursor = None
    seconds: Seconds = DEFAULT_SECONDS


async def run(access: SmartFileAccess, arguments: Arguments) -> References:
    return await run_query(
        access.find_references,
        arguments.name,
        arguments.scope,
        budget=arguments.budget,
        cursor=arguments.cursor,
        seconds=arguments.seconds,
    )


OPERATION = Operation(
    "code.findReferences",
    "list the uses of a name",
    Arguments,
    run,
    lambda uses, arguments: format_references(uses, arguments.budget),
    tool="find_references",
    description="Find references: where a name is used, who calls it (callers, usages) "
    f"({cost_of('find_references')}).",
    verb="refs",
    found=lambda uses: uses.total,
    across=True,
    many=True,
)
