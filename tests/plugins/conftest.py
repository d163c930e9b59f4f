"""Tests of what plugins bring to the shells have what the shells' own tests have."""

from ..agent.conftest import cache
from ..server.conftest import connect, editor, example, visit

__all__ = ["cache", "connect", "editor", "example", "visit"]
