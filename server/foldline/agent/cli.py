"""The command `foldline`: one module per verb, which imports its dependencies when it runs.

A verb's module has `register(verbs)`, which adds its parser and sets `run`, a function of the
parsed arguments that returns the exit status: 0, 1 for a negative result, 2 for an error.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from foldline.agent import check, code, context, doctor, preview, prompts, serve, tokens, tour
from foldline.agent.mcp import verb as mcp
from foldline.ide.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

VERBS = (serve, mcp, tour, code, context, preview, check, tokens, prompts, doctor)

# The extras that install modules, other than `server`.
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
        # The reader closed the pipe. Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
