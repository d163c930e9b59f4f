"""`code.findReferences`: the references to a name, confirmed ones first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.formatting.budget import REFERENCES_BUDGET
from foldline.ide.operations.arguments import Budget, Paged, Seconds
from foldline.ide.operations.operation import Doc, Operation, Role, cost_of, method_of_access

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends.formatting.parts import Code, Line
    from foldline.backends.models import References


@dataclass(frozen=True, kw_only=True)
class Arguments(Paged):
    """A name, and where to look for it."""

    name: Annotated[str, Doc("an identifier"), Role.SYMBOL]
    scope: Annotated[
        str | None,
        Doc("a file, a folder or a glob", "file, folder or glob"),
        Role.SCOPE,
    ] = None
    budget: Budget = REFERENCES_BUDGET
    seconds: Seconds = DEFAULT_SECONDS


def _format(uses: References, arguments: Arguments) -> Sequence[Line | Code]:
    from foldline.backends.formatting.reference_text import references_lines

    return references_lines(uses, arguments.budget)


OPERATION = Operation(
    "code.findReferences",
    "list the uses of a name",
    Arguments,
    method_of_access(lambda access: access.find_references),
    _format,
    tool="find_references",
    description="Find references: where a name is used, who calls it (callers, usages) "
    f"({cost_of('find_references')}).",
    verb="refs",
    found=lambda uses: uses.total or uses.text or uses.counted,
    across=True,
    many=True,
)
