"""`foldline completion`: completes command lines in shells, by `argcomplete`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from foldline.agent.terminal import show

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from foldline.agent.verbs import Verbs

SHELLS = ("bash", "zsh", "fish", "powershell")
DESCRIPTION = """\
Prints the script with which a shell completes foldline's command lines. For bash, put
eval "$(foldline completion bash)" into ~/.bashrc; for fish: foldline completion fish | source."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "completion", help="print the script that completes in a shell", description=DESCRIPTION
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell that you use")
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from argcomplete.shell_integration import shellcode

    show(shellcode(["foldline"], shell=options.shell))
    return 0


def words_so_far() -> list[str]:
    """Return the words of the line that a shell completes, without the one at the cursor."""
    line = os.environ.get("COMP_LINE", "")
    typed = line[: int(os.environ.get("COMP_POINT") or len(line))]
    return typed.split()[1:] if typed.endswith(" ") else typed.split()[1:-1]


def complete(parser: ArgumentParser) -> None:
    """Answer the shell, and end the process."""
    import argcomplete

    argcomplete.autocomplete(parser, always_complete_options=False)
