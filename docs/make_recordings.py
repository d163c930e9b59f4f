"""Draws what commands print on a terminal, in colour, as pictures in `docs/images`.

    uv run python docs/make_recordings.py

Each command runs in a terminal of its own, in a copy of the example. A test fails while a picture
is older than what its command prints.
"""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
from fcntl import ioctl
from io import StringIO
from pathlib import Path
from struct import pack
from termios import TIOCSWINSZ
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parent
COLUMNS, ROWS = 92, 60
SECONDS = 120
# A picture by its name: the command, and how many of its lines are shown.
PICTURES = {
    "terminal-preview": ("foldline preview reviewer_prompt.py", 40),
    "terminal-outline": ("foldline outline auth/tokens.py", 30),
    "terminal-check": ("foldline check refund.py", 30),
}
BROKEN = """\
from dataclasses import dataclass

from foldline.prompts import MarkdownSection, PromptTemplate


@dataclass(frozen=True)
class Order:
    number: int


refund = PromptTemplate(
    ns="shop",
    key="refund",
    sections=[
        MarkdownSection[Order](
            title="Refund",
            key="refund",
            template="Refund order ${nubmer}, at most $50.",
        ),
    ],
)
"""
# Without the fonts that rich would fetch from the network.
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "Fira Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: arial, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def record(command: str, folder: Path) -> str:
    """Return the output of a command on a terminal."""
    controller, terminal = pty.openpty()
    ioctl(terminal, TIOCSWINSZ, pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(folder.parent),
        "VIRTUAL_ENV": sys.prefix,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LC_ALL": "C.UTF-8",
    }
    shown = bytearray()
    with subprocess.Popen(
        command.split(),
        cwd=folder,
        env=environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    ) as process:
        os.close(terminal)
        last = time.monotonic() + SECONDS
        while select.select([controller], [], [], max(last - time.monotonic(), 0))[0]:
            try:
                shown += os.read(controller, 65536)
            except OSError:  # The terminal was closed.
                break
        else:
            process.kill()
            raise TimeoutError(command)
    os.close(controller)
    return shown.decode().replace("\r\n", "\n")


def draw(name: str, command: str, lines: int, folder: Path) -> str:
    """Return a picture of the first lines of what a command prints."""
    shown = record(command, folder).splitlines()
    left = [f"… {len(shown) - lines} more lines"] if len(shown) > lines else []
    console = Console(record=True, width=COLUMNS, file=StringIO())
    console.print(Text(f"$ {command}", style="bold"))
    console.print(Text.from_ansi("\n".join([*shown[:lines], *left])))
    svg = console.export_svg(title="foldline", code_format=FRAME, unique_id=name)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def pictures() -> Iterator[tuple[Path, str]]:
    """Yield each picture with its file."""
    with tempfile.TemporaryDirectory() as temporary:
        example = Path(temporary) / "code_reviewer"
        shutil.copytree(DOCS.parent / "examples" / "code_reviewer", example)
        (example / "refund.py").write_text(BROKEN, encoding="utf-8")
        for name, (command, lines) in PICTURES.items():
            yield DOCS / "images" / f"{name}.svg", draw(name, command, lines, example)


if __name__ == "__main__":
    for path, picture in pictures():
        path.write_text(picture, encoding="utf-8")
        sys.stdout.write(f"{path}\n")
