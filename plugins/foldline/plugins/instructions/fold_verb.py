"""`foldline fold`: an instruction file as a model should get it, with marked sections folded."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import Namespace

    from foldline.agent.verbs import Verbs

DESCRIPTION = """\
Prints an instruction file, such as AGENTS.md, with its marked sections folded: a section that has a
line <!-- fold: what it tells --> becomes its heading, that summary, and where to read the rest.
With --to, --to-rule or --to-skill these sections move to where clients load them on demand: their
heading, summary and new place stay, and links are mended. --unfold brings them back. The change is
shown, and what each client pays before and after."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "fold", help="fold the marked sections of an instruction file", description=DESCRIPTION
    )
    parser.add_argument("file", metavar="FILE", help="the instruction file")
    option, what = parser.add_argument, parser.add_mutually_exclusive_group().add_argument
    opened = partial(what, action="append", default=[])
    many = partial(option, action="extend", default=[], nargs="+")
    for add, name, value, meaning in (
        (opened, "--open-sections", "KEY", "show a section in full"),
        (what, "--to", "PATH", "move the sections to a file, such as DIR/AGENTS.md"),
        (what, "--to-rule", "NAME", "move them to a rule for the files of --paths"),
        (what, "--to-skill", "NAME", "move each to a skill; NAME begins the names of several"),
        (what, "--unfold", "", "bring moved sections back"),
        (what, "--suggest", "", "list sections that look like reference"),
        (option, "--dry-run", "", "show the change, and write nothing"),
        (option, "--tool", "NAME", "the client's name for `read_section`, in what is printed"),
        (option, "--root", "DIR", "the folder that the client works in (default: the repository)"),
        (many, "--section", "KEY", "the sections to move or bring back (default: all)"),
        (many, "--paths", "GLOB", "the files that the rule applies to"),
        (many, "--client", "NAME", "the clients to fold for (default: those the repository shows)"),
    ):
        kind: dict[str, Any] = {"metavar": value} if value else {"action": "store_true"}
        add(name, help=meaning, **kind)
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.plugins.instructions.folding import run

    return run(options)
