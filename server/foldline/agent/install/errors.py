"""What can be wrong with a configuration."""

from __future__ import annotations

from foldline.agent.refusals import Refused


class InstallError(Refused):
    """The configuration isn't changed; the message says why, and what to do."""


class UnparsableError(InstallError):
    """A text isn't of its format, or has something else where the servers belong."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        where = f"line {line}, column {column}: " if line else ""
        super().__init__(f"{where}{problem}")
