"""`foldline definition`, `implementations`, `hover`, `calls` and `diagnostics`.

What a language server knows of one symbol or file; where none answers, what syntax trees tell by
the name alone, marked as such. Exit status as for the other verbs that read code; `diagnostics`
returns 0 where a server finds nothing wrong, 1 where it does, and 2 where none was there to say.
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, NamedTuple

from foldline.agent.code_verb import (
    FOUND,
    NOT_ASKED,
    NOTHING,
    Answer,
    add_servers,
    add_verb,
    budget_of,
    found,
)

if TYPE_CHECKING:
    from foldline.agent.verbs import Verbs
    from foldline.backends import SmartFileAccess
    from foldline.backends.semantics import AskLimits, Place

_PLACE = re.compile(r"(.+?)(?::(\d+))?(?::(\d+))?\Z", re.DOTALL)


class Where(NamedTuple):
    """A place as a compiler prints it; what is not said is None."""

    file: str
    line: int | None
    column: int | None


def register(verbs: Verbs) -> None:
    for name, ask, description in (
        ("definition", _definition, "show where a symbol is defined"),
        ("implementations", _implementations, "list what implements or overrides a symbol"),
        ("hover", _hover, "show the type and documentation of a symbol"),
        ("calls", _calls, "list who calls a function, and whom it calls"),
    ):
        parser = add_verb(verbs, name, ask, description, paged=True)
        parser.add_argument(
            "place", type=_where, metavar="FILE[:LINE[:COLUMN]]", help="where the symbol stands"
        )
        parser.add_argument(
            "name", nargs="?", help="its name on that line, or without one Class.method or a use"
        )
        add_servers(parser)
    problems = add_verb(
        verbs, "diagnostics", _diagnostics, "list what is wrong in a file", paged=True
    )
    problems.add_argument("path", help="a file")
    add_servers(problems)


def _definition(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends.navigation_text import format_locations

    place = _place(access, options)
    places = access.goto_definition(*place.at, **_limits(options))
    return Answer(format_locations(places, place, "definition"), places, found(places))


def _implementations(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends.navigation_text import format_locations

    place = _place(access, options)
    places = access.find_implementations(*place.at, **_limits(options))
    return Answer(format_locations(places, place, "implementation"), places, found(places))


def _hover(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends.navigation_text import format_hover

    place = _place(access, options)
    said = access.hover(*place.at, **_limits(options))
    return Answer(format_hover(said, place), said, found(said.text))


def _calls(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends.navigation_text import format_calls

    place = _place(access, options)
    calls = access.call_hierarchy(*place.at, **_limits(options))
    return Answer(format_calls(calls, place), calls, found(calls.incoming or calls.outgoing))


def _diagnostics(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends.models import COMPLETE
    from foldline.backends.navigation_text import format_diagnostics

    problems = access.diagnostics(options.path, **_limits(options))
    status = FOUND if problems.coverage == COMPLETE else NOT_ASKED
    return Answer(format_diagnostics(problems), problems, NOTHING if problems else status)


def _place(access: SmartFileAccess, options: argparse.Namespace) -> Place:
    file, line, column = options.place
    return access.find_place(file, options.name, line=line, column=column)


def _limits(options: argparse.Namespace) -> AskLimits:
    from foldline.backends.budget import NAVIGATION_BUDGET

    budget = budget_of(options, NAVIGATION_BUDGET)
    return {"budget": budget, "cursor": options.cursor, "seconds": options.seconds}


def _where(text: str) -> Where:
    match = _PLACE.match(text)
    if match is None:
        raise argparse.ArgumentTypeError("name a file")
    file, line, column = match.groups()
    return Where(file, _number(line), _number(column))


def _number(digits: str | None) -> int | None:
    return None if digits is None else int(digits)
