"""`code.scopedContext`: the context of one generating call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from foldline.backends.formatting.budget import FILE_BUDGET
from foldline.ide.operations.arguments import Budget
from foldline.ide.operations.operation import Doc, Operation, Role
from foldline.ide.scoped_context import scoped_context

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess


NO_LIMIT = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The files that are edited or explained, and those around them."""

    paths: Annotated[tuple[str, ...], Doc("files to show in full", "in full"), Role.FILES]
    supporting: Annotated[
        tuple[str, ...], Doc("files to show as outlines", "as outlines"), Role.FILES
    ] = ()
    budget: Budget = FILE_BUDGET


async def run(access: SmartFileAccess, arguments: Arguments) -> str:
    return scoped_context(
        access, arguments.paths, arguments.supporting, file_budget=arguments.budget or NO_LIMIT
    )


OPERATION = Operation(
    "code.scopedContext",
    "show some files in full and others as outlines, as the context of an answer",
    Arguments,
    run,
    lambda text, _: text,
    tool="generate_scoped_context",
    description="The context of an answer: some files in full, others as outlines.",
    verb="scoped-context",
)
