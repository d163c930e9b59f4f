"""Shared by verbs: the type of their sub-parsers, and the set-up of those that serve a client."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Verbs(Protocol):
    """The sub-parsers of the command line."""

    def add_parser(self, name: str, *, help: str, description: str) -> ArgumentParser:  # noqa: A002
        """Return a new parser for the verb `name`."""
        ...


def add_log_level(parser: ArgumentParser) -> None:
    """Add the option of verbs that serve a client."""
    parser.add_argument(
        "--log-level",
        choices=("debug", "info", "warning", "error"),
        default="warning",
        help="what to write to standard error",
    )


def prepare_server(log_level: str) -> None:
    """Log to standard error, and let finished answers out while another thread computes."""
    # A thread with a finished answer waits at most this long for the interpreter.
    sys.setswitchinterval(0.001)
    logging.basicConfig(
        level=log_level.upper(),
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
