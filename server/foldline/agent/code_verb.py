"""What the verbs that read code share: their options, and how an answer is printed."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, NamedTuple

from foldline.agent.index_bar import index_bar
from foldline.agent.terminal import complain, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldline.agent.verbs import Verbs
    from foldline.backends import SmartFileAccess

FOUND, NOTHING, NOT_ASKED = 0, 1, 2


class Answer(NamedTuple):
    """The text form, the models behind it, and the exit status."""

    text: str
    data: object
    status: int = FOUND


def found(anything: object) -> int:
    """The exit status of an answer that holds anything, or not."""
    return FOUND if anything else NOTHING


def add_verb(
    verbs: Verbs,
    name: str,
    ask: Callable[[SmartFileAccess, argparse.Namespace], Answer],
    description: str,
    *,
    paged: bool = False,
) -> argparse.ArgumentParser:
    """A verb that asks about the code of a folder; `paged` where its answers have a cursor."""
    parser = verbs.add_parser(name, help=description, description=f"{description.capitalize()}.")
    parser.add_argument("--root", default=".", metavar="DIR", help="the workspace (default: .)")
    parser.add_argument("--json", action="store_true", help="the whole answer, for programs")
    parser.add_argument("--no-ignore", action="store_true", help="ignored files too")
    if paged:
        add_budget(parser)
        parser.add_argument("--cursor", help="go on where an answer ended")
    parser.set_defaults(run=lambda options: run(ask, options))
    return parser


def add_budget(parser: argparse.ArgumentParser) -> None:
    """The options that limit the text."""
    limits = parser.add_mutually_exclusive_group()
    limits.add_argument("--budget", type=count, metavar="BYTES", help="how long the text may be")
    limits.add_argument("--all", action="store_true", help="no limit")


def add_servers(parser: argparse.ArgumentParser) -> None:
    """The options of a verb that asks language servers."""
    parser.add_argument(
        "--seconds",
        type=float,
        default=20.0,
        help="how long a language server may take; 0: do not ask it (default: 20)",
    )
    parser.add_argument(
        "--trust", action="store_true", help="also use servers that may run the workspace's code"
    )


def run(
    ask: Callable[[SmartFileAccess, argparse.Namespace], Answer], options: argparse.Namespace
) -> int:
    """Ask, print the answer, and return the exit status."""
    from foldline.backends import BackendError, SmartFileAccess
    from foldline.backends.errors import SymbolError

    try:
        access = SmartFileAccess.for_workspace(
            options.root,
            no_ignore=options.no_ignore,
            patience=None,
            language_servers=getattr(options, "seconds", 0) > 0,
            trusted=getattr(options, "trust", False),
            progress=index_bar(),
        )
        try:
            answer = ask(access, options)
        finally:
            access.close()
    except SymbolError as error:
        complain(f"foldline: {error}")
        return NOTHING
    except BackendError as error:
        complain(f"foldline: {error}")
        return NOT_ASKED
    show(_as_json(answer.data) if options.json else answer.text)
    return answer.status


def budget_of(options: argparse.Namespace, default: int) -> int | None:
    """How long the text may be, in bytes; None for no limit."""
    if options.all:
        return None
    return default if options.budget is None else int(options.budget)


def count(text: str) -> int:
    """An option's number, from 0 up."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 up")
    return int(text)


def _as_json(data: object) -> str:
    from cattrs import Converter

    return json.dumps(Converter().unstructure(data), ensure_ascii=False, indent=2)
