"""The command `foldline`: one module for each verb, imported with nothing that the verb needs.

A verb's module has `register(verbs)`, which adds its parser and sets `run`, a function of the
parsed arguments that returns the exit status: 0, 1 where the answer is no, 2 where it could not be
asked.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from foldline.agent import check, code, doctor, preview, serve, tokens, tour
from foldline.agent.mcp import verb as mcp
from foldline.ide.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

VERBS = (serve, mcp, tour, code, preview, check, tokens, doctor)

# The extra that brings a module, where that is not `server`.
EXTRAS = {"mcp": "mcp", "mcp_types": "mcp", "pydantic": "mcp"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="foldline", description="Shows prompts and code folded, and unfolds what is asked for."
    )
    parser.add_argument("--version", action="version", version=f"foldline {VERSION}")
    verbs = parser.add_subparsers(metavar="COMMAND", required=True)
    for verb in VERBS:
        verb.register(verbs)
    options = parser.parse_args(arguments)
    try:
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
        # Whoever read our output has had enough. Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
