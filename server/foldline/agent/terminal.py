"""What verbs print: no text of a workspace controls the terminal that shows it."""

from __future__ import annotations

import io
import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from foldline.backends.formatting.visible import for_json, for_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator


def show(text: str, *, end: str = "\n") -> None:
    """Print text of any file to standard output, whatever its encoding.

    On a terminal, escape codes are shown instead of obeyed; elsewhere the text is as it is.
    """
    _write(text + end, sys.stdout)


def complain(message: str) -> None:
    """The same to standard error, for what went wrong."""
    _write(f"{message}\n", sys.stderr)


def json_text(data: object) -> str:
    """The data as JSON for programs, in which nothing controls a terminal or the order of text."""
    return for_json(json.dumps(data, ensure_ascii=False, indent=2))


@contextmanager
def shown() -> Iterator[TextIO]:
    """A stream whose text is shown in the end."""
    written = io.StringIO()
    yield written
    show(written.getvalue(), end="")


def _write(text: str, stream: TextIO) -> None:
    if stream.isatty():
        text = for_terminal(text)
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
