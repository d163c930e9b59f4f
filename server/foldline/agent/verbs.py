"""The interface to which verbs add their parsers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Verbs(Protocol):
    """The sub-parsers of the command line."""

    def add_parser(self, name: str, *, help: str, description: str) -> ArgumentParser:  # noqa: A002
        """Return a new parser for the verb `name`."""
        ...
