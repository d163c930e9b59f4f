"""`foldline preview`: one prompt or instruction file as a model would get it, in a terminal.

A module is executed: the user who names it trusts it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foldline.agent.verbs import Verbs
from foldline.ide.operations.operation import Role, parameters_of
from foldline.ide.prompts.action import Action
from foldline.ide.prompts.actions import ACTIONS


def register(verbs: Verbs, actions: Sequence[type[Action[Any]]] = ACTIONS) -> None:
    parser = verbs.add_parser(
        "preview",
        help="show a prompt or an instruction file as a model would get it",
        description="Runs FILE in the Python of its project and shows its prompt as `evaluate` "
        "sends it by default: with every chapter that may open. A file that instructs agents, "
        "such as AGENTS.md, is shown as it is sent, and nothing is run.",
    )
    parser.add_argument(
        "target",
        metavar="FILE[:NAME]",
        help="a module, and the variable or ns/key of a prompt in it; or an instruction file",
    )
    offered = [action for action in actions if action.names.option]
    for action in offered:
        add_action(parser, action)
    parser.add_argument(
        "--params",
        metavar="FILE",
        type=Path,
        help="values by dataclass name or section key, in JSON or TOML",
    )
    parser.add_argument(
        "--set", metavar="NAME", dest="parameter_set", help="the parameter set, or `none`"
    )
    parser.add_argument(
        "--chapter",
        action="append",
        metavar="KEY",
        help="open this chapter and no other, or `none`; may be repeated",
    )
    parser.add_argument("--tag", help="show it with the project's overrides of this tag")
    parser.add_argument(
        "--diff", metavar="REV[..REV]", help="show what has changed since a revision of git"
    )
    parser.add_argument("--interpreter", metavar="PYTHON", help="the Python that renders it")
    parser.add_argument(
        "--watch", action="store_true", help="show it again whenever a file below changes"
    )
    parser.add_argument(
        "--serve", action="store_true", help="show it as a web page that follows its files"
    )
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        "--text", action="store_true", help="print the text, with roles on a terminal"
    )
    forms.add_argument(
        "--tree", action="store_true", help="print the sections with their costs, as terminals do"
    )
    forms.add_argument(
        "--as",
        dest="provider",
        choices=("anthropic", "openai", "openai-responses"),
        help="print the JSON that an evaluation would send to a provider; nothing is sent",
    )
    parser.add_argument(
        "--compare-sets",
        action="store_true",
        help="show all parameter sets by the prompt's sections: what each shows, and its tokens",
    )
    parser.add_argument(
        "--html",
        nargs="?",
        const="",
        metavar="OUT",
        help="write one file that shows it with each parameter set, for people without foldline",
    )
    forms.add_argument("--json", action="store_true", help="print it with costs and cache plan")
    parser.add_argument("--model", help="the model that --as names")
    parser.add_argument(
        "--loop", action="store_true", help="with --as: as `evaluate_with_disclosure` sends it"
    )
    parser.set_defaults(run=run, actions=offered)


def add_action(parser: argparse.ArgumentParser, action: type[Action[Any]]) -> None:
    """Add the option of an action, and one for each further argument: `--pin KEY --pin-times 2`."""
    option = f"--{action.names.snake.replace('_', '-')}"
    for argument in parameters_of(action):
        doc, many = argument.doc.documentation, argument.kind is tuple
        if Role.KEY in argument.roles:
            parser.add_argument(
                option,
                action="append" if many else "store",
                default=[] if many else None,
                metavar="KEY",
                help=f"{doc}; may be repeated" if many else doc,
            )
        elif argument.roles.isdisjoint({Role.MODEL, Role.PEOPLE}):
            name = argument.name.replace("_", "-")
            parser.add_argument(f"{option}-{name}", metavar="VALUE", help=doc)


def run(options: argparse.Namespace) -> int:
    from foldline.agent.preview_run import preview

    return preview(options)
