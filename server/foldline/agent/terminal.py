"""Output of verbs: text from a workspace can't control the terminal."""

from __future__ import annotations

import io
import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from foldline.backends.formatting.visible import for_json, for_terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def show(text: str, *, end: str = "\n") -> None:
    """Print text to standard output, whatever its encoding.

    On a terminal, escape codes are shown instead of obeyed; otherwise the text is verbatim.
    """
    _write(text + end, sys.stdout)


def show_styled(lines: Iterable[Iterable[tuple[str, str]]]) -> None:
    """Print lines of texts with styles of `rich` to a terminal, in colour if it supports that."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in lines:
        styled = Text.assemble(*((for_terminal(text), style) for text, style in line))
        console.print(styled, soft_wrap=True)


def complain(message: str) -> None:
    """Print an error message to standard error, like `show`."""
    _write(f"{message}\n", sys.stderr)


def json_text(data: object) -> str:
    """Return the data as JSON without characters that control a terminal or reorder text."""
    return for_json(json.dumps(data, ensure_ascii=False, indent=2))


@contextmanager
def buffered_output() -> Iterator[TextIO]:
    """Return a stream whose text is printed by `show` at the end."""
    written = io.StringIO()
    yield written
    show(written.getvalue(), end="")


def _write(text: str, stream: TextIO) -> None:
    if stream.isatty():
        text = for_terminal(text)
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
