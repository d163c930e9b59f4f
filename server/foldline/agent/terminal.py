"""Output of verbs: styled and wrapped for people, verbatim in pipes.

Text from a workspace can't control the terminal. `NO_COLOR` leaves bold and dim, `TERM=dumb`
nothing; `FORCE_COLOR` and `CLICOLOR_FORCE` style what goes into a pipe, too. `rich` is loaded for
styled output alone.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from foldline import agent
from foldline.backends.formatting.parts import Code, plain
from foldline.backends.formatting.visible import for_json, for_terminal, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console
    from rich.text import Text

    from foldline.backends.formatting.parts import Line

_collections: list[list[Line | Code]] = []
# The indentation, number or mark of a line; wrapped lines are indented to the text behind it.
_HANG = re.compile(r"\s*(?:[\d~+.,:*-]+[:-]? +|[▸▾·*•] |[a-z]+ {2,})?")
_LEAST_HANG, _MOST_HANG = 2, 30


def is_styled(stream: TextIO | None = None) -> bool:
    """Return whether a person reads the stream, by default standard output."""
    stream = stream or sys.stdout
    if stream.isatty():
        return True
    is_forced = _is_set("FORCE_COLOR") or _is_set("CLICOLOR_FORCE")
    return is_forced and not os.environ.get("NO_COLOR")


@contextmanager
def collected() -> Iterator[list[Line | Code]]:
    """Collect the lines that are shown meanwhile instead of printing them."""
    _collections.append([])
    try:
        yield _collections[-1]
    finally:
        _collections.pop()


def show(text: str, *, end: str = "\n") -> None:
    """Print text to standard output, whatever its encoding.

    On a terminal, escape codes are shown instead of obeyed; otherwise the text is verbatim.
    """
    if _collections:
        _collections[-1].extend([(line, "")] for line in (text + end).splitlines())
    else:
        _write(text + end, sys.stdout)


def show_styled(
    lines: Iterable[Line | Code], *, wrap: bool = False, sought: re.Pattern[str] | None = None
) -> None:
    """Print lines with styles for people, and their text alone into pipes.

    With `wrap`, long lines but for code are wrapped to the terminal's width, with a hanging indent.
    What matches `sought` in a found line is marked.
    """
    if _collections:
        _collections[-1].extend(lines)
        return
    if not is_styled():
        show("".join(f"{plain([line])}\n" for line in lines), end="")
        return
    from rich.text import Text

    console = console_of(sys.stdout)
    for line in lines:
        is_code = isinstance(line, Code)
        rows = (
            agent.highlight.code_lines(line)
            if isinstance(line, Code)
            else [agent.highlight.marked(line, sought)]
        )
        for row in rows:
            styled = Text.assemble(*((_shown(text, sys.stdout), style) for text, style in row))
            wraps = wrap and not is_code and sys.stdout.isatty()
            for part in _wrapped(styled, console) if wraps else (styled,):
                console.print(part, soft_wrap=True)
    sys.stdout.flush()


def console_of(stream: TextIO) -> Console:
    """Return a console of `rich` for a stream that people read."""
    from rich.console import Console

    return Console(file=stream, force_terminal=True, highlight=False, markup=False, emoji=False)


def complain(message: str) -> None:
    """Print an error message to standard error, like `show`; it may repeat any argument or name."""
    # None if standard error is closed.
    if sys.stderr is not None:
        _write("".join(f"{visible(line)}\n" for line in message.split("\n")), sys.stderr)


def json_text(data: object) -> str:
    """Return the data as JSON without characters that control a terminal or reorder text."""
    return for_json(json.dumps(data, ensure_ascii=False, indent=2, default=str))


def _is_set(name: str) -> bool:
    return os.environ.get(name, "0") not in ("", "0")


def _wrapped(line: Text, console: Console) -> Iterable[Text]:
    """Return the lines into which a line is wrapped, each below the first one's text."""
    if line.cell_len <= console.width:
        return (line,)
    indent = _HANG.match(line.plain)
    hang = indent.end() if indent else 0
    if hang > min(_MOST_HANG, console.width // 2):
        hang = 0
    first, rest = line.divide([hang])
    below = max(hang, _LEAST_HANG)
    parts = rest.wrap(console, max(1, console.width - below))
    for part in parts:
        part.rstrip()
    blank = line.blank_copy(" " * below)
    return [(blank if number else first) + part for number, part in enumerate(parts)]


def _write(text: str, stream: TextIO) -> None:
    stream.write(_shown(text, stream))
    stream.flush()


def _shown(text: str, stream: TextIO) -> str:
    if is_styled(stream):
        text = for_terminal(text)
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
