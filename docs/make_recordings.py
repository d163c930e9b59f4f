"""Draws what commands print on a terminal, in colour, and records a preview, into `docs/images`.

    uv run python docs/make_recordings.py [--terminals]

Each command runs in a terminal of its own, in a copy of the example. A test fails while a picture
is older than what its command prints. The preview is clicked through in Chromium; make it anew when
its page looks different.
"""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from base64 import b64decode
from fcntl import ioctl
from io import StringIO
from pathlib import Path
from struct import pack, unpack
from termios import TIOCSWINSZ
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


# An extension shows only what it brings.
PREVIEWS = ("images/browser-preview.png", "../editors/vscode/media/preview.png")
# What is clicked, the text that a place has then, and how many milliseconds that is shown.
SCENES = (
    ("#more-button", ".words", "Text: ", 2400),
    ("[data-id=reference-docs] .change", "[data-id=reference-docs] .badge", "opened", 4800),
)
POINTING = 1200
SIZE = (900, 470)
ROUNDS = 3
POINTER = """
(() => {
  const box = document.querySelector(%s).getBoundingClientRect();
  const at = [box.x + box.width / 2, box.y + box.height / 2];
  let arrow = document.getElementById('pointer');
  if (!arrow) {
    document.body.insertAdjacentHTML('beforeend', `<svg id="pointer" width="20" height="28">
      <path d="M1 1v19l5-4 3 8 4-2-4-8h7z" fill="black" stroke="white"/></svg>`);
    arrow = document.getElementById('pointer');
    Object.assign(arrow.style, { position: 'fixed', zIndex: 9, pointerEvents: 'none' });
  }
  Object.assign(arrow.style, { left: `${at[0]}px`, top: `${at[1]}px` });
  return at;
})()
"""


class Browser:
    """A page in Chromium, which is asked by its pipe."""

    def __init__(self, address: str, folder: Path) -> None:
        names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
        program = next(filter(None, map(shutil.which, names)), None)
        if program is None:
            raise FileNotFoundError(f"install one of {', '.join(names)}, or use --terminals")
        options = ("--headless", "--no-sandbox", "--hide-scrollbars", "--remote-debugging-pipe")
        self.process = subprocess.Popen(
            # It reads from 3, and writes to 4.
            ("bash", "-c", 'exec "$0" "$@" 3<&0 4>&1 >/dev/null', program, *options),
            cwd=folder,
            env={"HOME": str(folder), "PATH": os.environ["PATH"]},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.session: dict[str, str] = {}
        self.number = 0
        page = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=page, flatten=True)
        self.session = {"sessionId": attached["sessionId"]}
        width, height = SIZE
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **metrics)
        # For the pointer that is drawn on it.
        self.ask("Page.setBypassCSP", enabled=True)
        self.ask("Page.navigate", url=address)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return what a method of the DevTools answers."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **self.session}
        self.process.stdin.write(json.dumps(message).encode() + b"\0")
        self.process.stdin.flush()
        received = b""
        while character := self.process.stdout.read(1):
            if character != b"\0":
                received += character
                continue
            answer = json.loads(received)
            received = b""
            if answer.get("id") == self.number:
                if "result" not in answer:
                    raise ValueError(f"{method}: {answer}")
                result: dict[str, Any] = answer["result"]
                return result
        raise EOFError("Chromium ended")

    def value(self, script: str) -> Any:
        """Return what a script gives, or its promise."""
        options = {"returnByValue": True, "awaitPromise": True}
        answer = self.ask("Runtime.evaluate", expression=script, **options)
        if "exceptionDetails" in answer:
            raise ValueError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait(self, selector: str, text: str) -> None:
        """Wait until an element has a text."""
        found = f"document.querySelector({json.dumps(selector)})?.innerText"
        condition = f"({found} ?? '').includes({json.dumps(text)})"
        look = f"() => {condition} ? done() : requestAnimationFrame(look)"
        self.value(f"new Promise((done) => {{ const look = {look}; look(); }})")

    def picture(self) -> bytes:
        return b64decode(self.ask("Page.captureScreenshot")["data"])


def recorded(folder: Path) -> bytes:
    """Return the preview of the example's prompt, clicked through, as an animated PNG."""
    foldline = str(Path(sys.executable).with_name("foldline"))
    with subprocess.Popen(
        (foldline, "preview", "reviewer_prompt.py", "--serve"),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        browser = Browser(server.stdout.readline().strip(), folder.parent)
        try:
            browser.wait(SCENES[-1][0], "Open")
            frames = [(browser.picture(), POINTING)]
            for button, place, text, milliseconds in SCENES:
                x, y = browser.value(POINTER % json.dumps(button))
                mouse = {"x": x, "y": y, "button": "left", "clickCount": 1}
                browser.ask("Input.dispatchMouseEvent", type="mouseMoved", **mouse)
                frames.append((browser.picture(), POINTING))
                for action in ("mousePressed", "mouseReleased"):
                    browser.ask("Input.dispatchMouseEvent", type=action, **mouse)
                browser.wait(place, text)
                frames.append((browser.picture(), milliseconds))
        finally:
            browser.process.kill()
            browser.process.wait()
            server.terminate()
    return animated(frames)


def animated(frames: Sequence[tuple[bytes, int]]) -> bytes:
    """Return pictures, each with its milliseconds, as one PNG that moves."""
    # Near colours become one, so that a palette has room for all.
    near = bytes(255 - (255 - value + 4) // 9 * 9 for value in range(256))
    pixels = [
        [[row[x : x + 3] for x in range(0, len(row), 3)] for row in rows(picture, near)]
        for picture, _ in frames
    ]
    palette = sorted({pixel for picture in pixels for row in picture for pixel in row})
    index = {pixel: number for number, pixel in enumerate(palette)}
    width, height = SIZE
    parts = [
        b"\x89PNG\r\n\x1a\n",
        chunk(b"IHDR", pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        chunk(b"PLTE", b"".join(palette)),
        chunk(b"acTL", pack(">II", len(frames), ROUNDS)),
    ]
    before: list[list[bytes]] = []
    for number, (picture, (_, milliseconds)) in enumerate(zip(pixels, frames, strict=True)):
        # Only the rows from the first that changed to the last.
        changed = [y for y in range(height) if not before or picture[y] != before[y]]
        top, bottom = changed[0], changed[-1] + 1
        area = (width, bottom - top, 0, top, milliseconds, 1000, 0, 0)
        parts.append(chunk(b"fcTL", pack(">IIIIIHHBB", max(2 * number - 1, 0), *area)))
        lines = (b"\0" + bytes(index[pixel] for pixel in row) for row in picture[top:bottom])
        data = zlib.compress(b"".join(lines), 9)
        kind, order = (b"fdAT", pack(">I", 2 * number)) if number else (b"IDAT", b"")
        parts.append(chunk(kind, order + data))
        before = picture
    return b"".join((*parts, chunk(b"IEND", b"")))


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return a part of a PNG."""
    return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))


def rows(picture: bytes, colours: bytes) -> Iterator[bytes]:
    """Yield the rows of a PNG in RGB, with each value translated."""
    width, height = SIZE
    assert unpack(">IIBB", picture[16:26]) == (width, height, 8, 2)
    packed, at = b"", 8
    while at < len(picture):
        size, kind = unpack(">I4s", picture[at : at + 8])
        packed += picture[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    raw = zlib.decompress(packed)
    above = bytes(3 * width)
    for start in range(0, len(raw), 3 * width + 1):
        row = bytearray(raw[start + 1 : start + 1 + 3 * width])
        for x, value in enumerate(row):
            left, corner = (row[x - 3], above[x - 3]) if x >= 3 else (0, 0)
            guess = left + above[x] - corner
            nearest = min((left, above[x], corner), key=lambda one: abs(guess - one))
            filters = (0, left, above[x], (left + above[x]) // 2, nearest)
            row[x] = (value + filters[raw[start]]) % 256
        above = bytes(row)
        yield above.translate(colours)


if __name__ == "__main__":
    for path, picture in pictures():
        path.write_text(picture, encoding="utf-8")
        sys.stdout.write(f"{path}\n")
    if "--terminals" not in sys.argv:
        with tempfile.TemporaryDirectory() as temporary:
            example = shutil.copytree(
                DOCS.parent / "examples" / "code_reviewer", Path(temporary, "x")
            )
            preview = recorded(example)
            for name in PREVIEWS:
                (DOCS / name).write_bytes(preview)
