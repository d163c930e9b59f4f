"""The first syntax error of a file, as the Python that runs foldline reports it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import NamedTuple

from foldline.ide.analysis.model import Position

SECONDS = 10.0
# Isolated: nothing of a workspace is imported, and nothing is executed.
_PROGRAM = f"""
import ast, json, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS:.0f}, {SECONDS:.0f}))
except (ImportError, OSError, ValueError):
    pass
fault = None
try:
    ast.parse(sys.stdin.buffer.read().decode("utf-8", "surrogatepass"))
except SyntaxError as error:
    fault = [error.msg, error.lineno, error.offset, error.end_lineno, error.end_offset]
print(json.dumps(fault))
"""


class SyntaxFault(NamedTuple):
    """A syntax error."""

    message: str
    start: Position
    end: Position


def syntax_fault(text: str, suspected: Position) -> SyntaxFault | None:
    """Return the first syntax error of a source; None if this Python parses it.

    The source is parsed in a process of its own, with a deadline: an untrusted source may take
    any time and memory. If Python reports no location, the error is at `suspected`.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=text.encode("utf-8", "surrogatepass"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=True,
        )
        fault = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return SyntaxFault("it can't be parsed", suspected, suspected)
    if fault is None:
        return None
    message, *numbers = fault
    line, column, end_line, end_column = (max(0, (number or 1) - 1) for number in numbers)
    start, end = Position(line, column), Position(end_line, end_column)
    return SyntaxFault(message, start, max(start, end))
