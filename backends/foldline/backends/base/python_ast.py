"""Python's own parser, for threads.

Python 3.11 keeps one depth of recursion for all threads: one that parses while another is in the
middle of its own makes that one fail with a `SystemError`.
"""

from __future__ import annotations

import ast
from threading import Lock

_LOCK = Lock()


def parse_module(text: str) -> ast.Module:
    """`ast.parse`, in one thread at a time."""
    with _LOCK:
        return ast.parse(text)


def parse_expression(text: str) -> ast.expr:
    """`ast.parse` of one expression, in one thread at a time."""
    with _LOCK:
        return ast.parse(text, mode="eval").body
