"""`code.scopedContext`: the context of one answer, for named files or for a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from foldline import ide
from foldline.backends.base.reading import Between
from foldline.backends.formatting.budget import CONTEXT_BUDGET, LARGEST_BUDGET, OUTLINE_BUDGET
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations.arguments import SMALLEST_BUDGET, Budgeted
from foldline.ide.operations.operation import Doc, Operation, Role
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends import SmartFileAccess
    from foldline.backends.formatting.parts import Line
    from foldline.ide.scoped_context import Reader, ScopedContext, Sizes


@record(kw_only=True, slots=False)
class Arguments(Budgeted):
    """A query, or the files that are edited or explained and those around them, or both."""

    paths: Annotated[tuple[str, ...], Doc("files to show in full", "in full"), Role.FILES] = ()
    supporting: Annotated[
        tuple[str, ...], Doc("files to show as outlines", "as outlines"), Role.FILES
    ] = ()
    query: Annotated[
        str | None,
        Doc("a question: also show the symbols and outlines that match it", "what to answer"),
        Role.QUESTION,
        Role.WORDS,
        Role.POSITIONAL,
    ] = None
    within: Annotated[
        tuple[str, ...],
        Doc("files: show only symbols of these, and their outlines", "search only these files"),
        Role.FILES,
    ] = ()
    budget: Annotated[
        int | None,
        Doc("the most bytes of the text", "bytes, at most"),
        Between(SMALLEST_BUDGET, LARGEST_BUDGET),
    ] = CONTEXT_BUDGET


async def run(access: SmartFileAccess, arguments: Arguments) -> ScopedContext:
    return await run_across(ide.scoped_context.AccessReader(access), arguments)


async def run_across(reader: Reader, arguments: Arguments) -> ScopedContext:
    sizes = _sizes(arguments)
    files, supporting = arguments.paths, arguments.supporting
    if arguments.query:
        return await ide.scoped_context.context_for(
            reader,
            arguments.query,
            files=files,
            supporting=supporting,
            within=arguments.within or None,
            sizes=sizes,
        )
    if not files and not supporting:
        raise ArgumentsError({"query": "give a question, or `paths` of files"})
    return await ide.scoped_context.gather(reader, files=files, supporting=supporting, sizes=sizes)


def _sizes(arguments: Arguments) -> Sizes:
    no_limit = ide.scoped_context.NO_LIMIT
    outline = OUTLINE_BUDGET if arguments.query else no_limit
    return ide.scoped_context.Sizes(total=arguments.budget or no_limit, outline=outline)


def _format(context: ScopedContext, arguments: Arguments) -> Sequence[Line]:
    return ide.scoped_context.pack(context, _sizes(arguments))[0]


OPERATION = Operation(
    "code.scopedContext",
    "pack the code that a question is about, or named files",
    Arguments,
    run,
    _format,
    tool="generate_scoped_context",
    description="The context of an answer: what matches a question, and named files.",
    verb="context",
    found=len,
    run_across=run_across,
    many=True,
)
