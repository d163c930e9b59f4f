"""`code.readSymbol`: the source of one symbol, or of several of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from foldline.backends import formatting
from foldline.backends.errors import AmbiguousSymbolError, MissingPathError
from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.formatting.budget import SYMBOL_BUDGET, size_of
from foldline.backends.formatting.text import symbol_lines
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations.arguments import MOST_ALIKE, Budget, Paged, Query, Seconds
from foldline.ide.operations.operation import Doc, Operation, Role, cost_of, run_query
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends import SmartFileAccess
    from foldline.backends.models import SymbolDetail, SymbolDetails
    from foldline.backends.references.meaning import Meaning

_HEADING = 100


@record(kw_only=True, slots=False)
class Arguments(Paged):
    """One symbol, or several. A language server finds what the file only imports."""

    path: Annotated[str | None, Doc("a file"), Role.FILE] = None
    name: Annotated[
        str,
        Doc(
            "NAME, Class.method, or NAME[2] for the second of them",
            "`f`, `Class.method`, or `f[2]` for the second `f`",
        ),
        Role.SYMBOL,
    ]
    more: Annotated[
        tuple[str, ...], Doc("other names, which share the budget", "other names"), Role.POSITIONAL
    ] = ()
    query: Query = None
    budget: Budget = SYMBOL_BUDGET
    seconds: Seconds = DEFAULT_SECONDS


async def run(access: SmartFileAccess, arguments: Arguments) -> SymbolDetail | SymbolDetails:
    names, path = (arguments.name, *arguments.more), arguments.path
    meaning: Meaning | None = None
    shared: dict[str, Any] = {
        "query": arguments.query,
        "budget": arguments.budget,
        "seconds": arguments.seconds,
    }
    if arguments.more and arguments.cursor is not None:
        raise ArgumentsError({"cursor": "continues one symbol: leave out `more`"})
    if path is not None and arguments.more:
        return await run_query(access.read_symbols, path, names, **shared)
    if path is None:
        meant = [
            await run_query(access.definitions_of, name, seconds=arguments.seconds)
            for name in names
        ]
        if (few := await _few(access, arguments, meant)) is not None:
            return formatting.share_budget(few, (), arguments.budget, arguments.query)
        meaning = meant[0]
        one = meaning.one()
        names, path = (one.readable if len(meaning.found) == 1 else one.name,), one.path
        if meaning.said and arguments.budget is not None:
            room = size_of(f"(partial: {meaning.said})\n")
            # A default stays one: a large class is shown as its outline alone.
            shared["budget"] = type(arguments.budget)(max(arguments.budget - room, 1))
    try:
        detail = await run_query(
            access.read_symbol, path, names[0], cursor=arguments.cursor, **shared
        )
    except AmbiguousSymbolError as error:
        if not error.parts or arguments.cursor is not None:
            raise
        return await run_query(access.read_symbols, path, names, **shared)
    except MissingPathError:
        # A file that was renamed since it was shown.
        meaning = await run_query(access.definitions_of, names[0], seconds=0)
        if len(meaning.found) != 1:
            raise
        one = meaning.one()
        note = (f"{path} isn't there; {one.path} defines {one.name}", meaning.gap and meaning.said)
        meaning = meaning._replace(said="; ".join(filter(None, note)))
        detail = await run_query(access.read_symbol, one.path, one.readable, **shared)
    return detail if meaning is None else meaning.shown(detail)


async def _few(
    access: SmartFileAccess, arguments: Arguments, meant: Sequence[Meaning]
) -> list[SymbolDetail] | None:
    """Return several symbols: of several names, parts of one, or a few small ones of one name."""
    answers = meant[0].found
    alike = len({(one.path, one.name) for one in answers})
    if arguments.more:
        answers = tuple(meaning.one() for meaning in meant)
    elif len(answers) == 1 or not 1 <= alike <= MOST_ALIKE or arguments.cursor is not None:
        return None
    read = [
        await run_query(access.read_symbol, one.path, one.readable, seconds=0) for one in answers
    ]
    read[0] = meant[0].shown(read[0])
    size = sum(size_of(one.body) + _HEADING for one in read)
    # The parts of one definition share the budget; several are listed unless they are small.
    fits = arguments.more or alike == 1 or size <= (arguments.budget or SYMBOL_BUDGET)
    return read if fits else None


OPERATION = Operation(
    "code.readSymbol",
    "show one definition, or several",
    Arguments,
    run,
    lambda detail, _: symbol_lines(detail),
    tool="read_symbol",
    description=f"Show the source of a function, class or method ({cost_of('read_symbol')}).",
    verb="symbol",
    whole=True,
)
