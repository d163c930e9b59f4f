"""`foldline fold`: an instruction file as a model should get it, with marked sections folded."""

from __future__ import annotations

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
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--open-sections", action="append", default=[], metavar="KEY", help="show a section in full"
    )
    for group, option, value, meaning in (
        (what, "--to", "PATH", "move the sections to a file, such as DIR/AGENTS.md"),
        (what, "--to-rule", "NAME", "move them to a rule for the files of --paths"),
        (what, "--to-skill", "NAME", "move each to a skill; NAME begins the names of several"),
        (what, "--unfold", "", "bring moved sections back"),
        (what, "--suggest", "", "list sections that look like reference"),
        (parser, "--dry-run", "", "show the change, and write nothing"),
        (parser, "--tool", "NAME", "the client's name for `read_section`, in what is printed"),
        (parser, "--root", "DIR", "the folder that the client works in (default: the repository)"),
    ):
        kind: dict[str, Any] = {"metavar": value} if value else {"action": "store_true"}
        group.add_argument(option, help=meaning, **kind)
    for option, value, meaning in (
        ("--section", "KEY", "the sections to move or bring back (default: all)"),
        ("--paths", "GLOB", "the files that a rule is for"),
        ("--client", "NAME", "whose rules or skills (default: those that the repository shows)"),
    ):
        parser.add_argument(
            option, metavar=value, help=meaning, nargs="+", action="extend", default=[]
        )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.plugins.instructions.folding import run

    return run(options)
