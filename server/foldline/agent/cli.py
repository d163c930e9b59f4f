"""The command `foldline`: one module per verb, loaded when the command line begins with that verb.

A verb's module has `register(verbs)`, which adds its parser and sets `run`, a function of the
parsed arguments that returns the exit status: 0, 1 for a negative result, 2 for an error. It
imports its dependencies when it runs.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from foldline.ide.version import VERSION

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence
    from typing import NoReturn

    from foldline.agent.verbs import Verbs

TITLE = f"foldline {VERSION}"

# The module of each verb, in the order of the help. The operations name their verbs themselves.
VERBS = {
    "serve": "serve",
    "mcp": "mcp.verb",
    "tour": "tour",
    None: "code",
    "context": "context",
    "preview": "preview",
    "check": "check",
    "tokens": "tokens",
    "prompts": "prompts",
    "doctor": "doctor",
}

# The extras that install modules, other than `server`.
EXTRAS = {"mcp": "mcp", "mcp_types": "mcp", "pydantic": "mcp"}


def command() -> NoReturn:
    """Run this process' command line, and end the process."""
    status = main()
    from foldline.ide.lifecycle import end_process

    end_process(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        if words and words[0] == "--version":
            # As the parser does, which takes as long to load as Python.
            print(TITLE)  # noqa: T201
            return 0
        options = _parser(words[0] if words else None).parse_args(words)
        return int(options.run(options))
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing == "foldline":
            raise
        extra = EXTRAS.get(missing, "server")
        print(  # noqa: T201
            f"foldline: this command needs {missing!r}: pip install 'foldline[{extra}]'",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader closed the pipe. Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


def _parser(first: str | None) -> ArgumentParser:
    import argparse

    parser = argparse.ArgumentParser(
        prog="foldline", description="Shows prompts and code folded, and unfolds what is asked for."
    )
    parser.add_argument("--version", action="version", version=TITLE)
    add_verbs(parser.add_subparsers(metavar="COMMAND", required=True), first)
    return parser


def add_verbs(verbs: Verbs, first: str | None = None) -> None:
    """Add the parser of the verb `first`.

    Where there is no such verb, the help or an error lists all of them, so that all are added.
    """
    if first and first in VERBS:
        _module(first).register(verbs)
    elif first and (operation := _module(None).operation_of(first)):
        _module(None).add_operation(verbs, operation)
    else:
        for verb in VERBS:
            _module(verb).register(verbs)


def _module(verb: str | None) -> Any:
    return import_module(f"foldline.agent.{VERBS[verb]}")
