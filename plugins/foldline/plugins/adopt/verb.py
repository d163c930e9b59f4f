"""`foldline adopt`: a prompt module from a string, an f-string, a template or chat messages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace

    from foldline.agent.verbs import Verbs

DESCRIPTION = """\
Turns a prompt into a prompt module: its headings into sections, its placeholders into a dataclass,
conditions into `enabled`, loops into lists. FILE is a Python module with strings, f-strings,
templates or chat messages, a text, Jinja or `.prompty` file, or YAML, TOML or JSON with prompts as
values; nothing of it is executed. The calls that fill in a text are looked up in the workspace.
With DIR, its prompts are listed, or with --all adopted. The new module is run and compared with the
source for sample values: the exit status is 1 if the texts differ, or a message is left out. What
no section can show is kept as a remainder: a field, with the source in a comment."""
STYLES = {
    "text": "the model is to see it as it is",
    "f-string": "the rest of it is text",
    "format": "`.format(…)` fills it in: {name}, and {{ for a brace",
    "percent": "`%` fills it in",
    "replace": "`.replace(…)` fills it in: {name}, and all other braces are text",
    "template": "`string.Template` fills it in",
    "jinja": "Jinja fills it in",
}
"""Meanings of the styles, for a text that could have several."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "adopt",
        help="make a prompt module of a string, f-string, Jinja template or messages",
        description=DESCRIPTION,
    )
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="FILE[:NAME]|DIR",
        help="a file, and the variable, function or key in it that has the prompt; or a folder, to "
        "list its prompts; several prompts, to write sections that they share once",
    )
    parser.add_argument("--all", action="store_true", help="adopt all prompts of DIR")
    parser.add_argument(
        "--output",
        metavar="PATH",
        type=Path,
        help="the module to write (default: NAME_prompt.py beside FILE)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the module, write nothing")
    parser.add_argument(
        "--style",
        choices=[*STYLES, "messages"],
        help="read a text as this (default: the one it seems to be)",
    )
    parser.add_argument(
        "--trim-blocks", action="store_true", help="of the Jinja environment: no line after a block"
    )
    parser.add_argument(
        "--lstrip-blocks", action="store_true", help="of it: no blanks in front of a block"
    )
    parser.add_argument(
        "--rewrite-call",
        action="store_true",
        help="let the one place that makes the text render the prompt, and show the change",
    )
    parser.add_argument("--json", action="store_true", help="print the module and the proof")
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.plugins.adopt.adopting import run

    return run(options)
