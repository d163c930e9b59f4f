"""`foldline fold`: an instruction file as a model should get it, with marked sections folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace

    from foldline.agent.verbs import Verbs

DESCRIPTION = """\
Prints an instruction file, such as AGENTS.md, with its marked sections folded: a section that has a
line <!-- fold: what it tells --> becomes its heading, that summary, and where to read the rest.
With --write the text goes to a file that says where it comes from, so that --check can tell
whether it is up to date: the exit status is 1 if it isn't."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "fold", help="fold the marked sections of an instruction file", description=DESCRIPTION
    )
    parser.add_argument("file", metavar="FILE", help="the instruction file, or a generated one")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--open-sections", action="append", default=[], metavar="KEY", help="show a section in full"
    )
    what.add_argument("--write", metavar="OUT", help="write the folded text to OUT")
    for option, answer in {
        "--check": "say whether FILE, written by --write, is up to date",
        "--unfold": "print the whole text of FILE, written by --write",
        "--suggest": "list sections that look like reference",
    }.items():
        what.add_argument(option, action="store_true", help=answer)
    for option, value, meaning in (
        ("--tool", "NAME", "the client's name for `read_section`"),
        ("--root", "DIR", "the folder that the client works in (default: the repository)"),
        ("--skill", "DIR", "with --write: also write a skill that reads the sections, into DIR"),
    ):
        parser.add_argument(option, metavar=value, help=meaning)
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.plugins.instructions.folding import run

    return run(options)
