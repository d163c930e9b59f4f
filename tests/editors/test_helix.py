"""A real Helix, set up as editors/README.md says: what it asks, and what it shows."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from foldline.server.transport import read_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.real, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "code_reviewer"
PAGE = ROOT / "editors" / "README.md"
SECONDS = 60
# The server with its traffic written down on both sides.
RECORDER = """#!/bin/sh
tee -a "{folder}/asked" | "{program}" "$@" | tee -a "{folder}/answered"
"""
STYLE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b[=>78]")


def settings() -> str:
    """What the page tells to write into `languages.toml`."""
    part = PAGE.read_text(encoding="utf-8").partition("\n## Helix\n")[2]
    block = re.search(r"```toml\n(.*?)```", part, re.DOTALL)
    assert block is not None
    return block[1]


class Helix:
    """Helix in a terminal of its own, with a project of one prompt, and what it and the server say.

    Attributes:
        seen: What it has drawn since the last keys.
    """

    def __init__(self, hx: str, program: Path, folder: Path, languages: str) -> None:
        self.folder = folder
        self.project = folder / "project"
        shutil.copytree(EXAMPLE, self.project)
        (self.project / "pyproject.toml").touch()
        for name, text in (
            (".config/helix/languages.toml", languages),
            ("bin/foldline", RECORDER.format(folder=folder, program=program)),
        ):
            (folder / name).parent.mkdir(parents=True)
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "bin" / "foldline").chmod(0o755)
        self.environment = {
            "HOME": str(folder),
            "PATH": os.pathsep.join([str(folder / "bin"), "/usr/bin", "/bin"]),
            "TERM": "xterm-256color",
        }
        self.hx = hx
        self.seen = ""

    def __enter__(self) -> Self:
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(self.project)
            os.execve(self.hx, [self.hx, "reviewer_prompt.py"], self.environment)
        size = struct.pack("HHHH", 40, 140, 0, 0)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, size)
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)

    def type(self, keys: str) -> None:
        self.seen = ""
        os.write(self.terminal, keys.encode())

    def wait(self, condition: Callable[[], object]) -> None:
        """Read what it draws until the condition holds."""
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end, self.seen[-3000:]
            if select.select([self.terminal], [], [], 0.02)[0]:
                with suppress(OSError):  # It has ended; the server may still be writing.
                    drawn = os.read(self.terminal, 65536).decode(errors="replace")
                    self.seen += STYLE.sub("", drawn)

    def messages(self, side: str) -> Iterator[dict[str, Any]]:
        """The messages that were `asked` by Helix, or `answered` by the server, so far."""
        if (self.folder / side).exists():
            with suppress(ValueError), (self.folder / side).open("rb") as stream:
                while (message := read_message(stream)) is not None:
                    yield json.loads(message)

    def said(self, side: str, method: str) -> list[dict[str, Any]]:
        return [one["params"] for one in self.messages(side) if one.get("method") == method]

    def choose(self, keys: str, title: str) -> Path:
        """Choose the first of the actions; returns the path that is then shown."""
        count = len(self.said("answered", "window/showMessage"))
        self.type(keys)
        self.wait(lambda: title in self.seen)
        self.type("\t\r")
        self.wait(lambda: len(self.said("answered", "window/showMessage")) > count)
        message = self.said("answered", "window/showMessage")[-1]["message"]
        return Path(message.removeprefix("foldline: see "))


@pytest.mark.parametrize("trusted", [False, True])
def test_helix_shows_a_prompt_by_the_settings_of_the_page(
    trusted: bool, program: Callable[..., str], tmp_path: Path
) -> None:
    languages = settings()
    assert "# config" in languages
    if trusted:
        languages = languages.replace("# config", "config")
    serve = Path(sys.executable).with_name("foldline")
    with Helix(program("hx"), serve, tmp_path, languages) as helix:
        helix.wait(lambda: helix.said("asked", "textDocument/didOpen"))
        (opening,) = helix.said("asked", "initialize")
        assert opening["clientInfo"]["name"] == "helix"
        assert opening.get("initializationOptions") == ({"trusted": True} if trusted else None)
        (opened,) = helix.said("asked", "textDocument/didOpen")
        assert opened["textDocument"]["languageId"] == "python"

        rows = opened["textDocument"]["text"].splitlines()
        row = next(number for number, text in enumerate(rows, 1) if text.startswith("guidance ="))
        helix.type(f"{row}G")
        shown = helix.choose(" a", "Preview prompt reviewer")
        # Before it says that it can, Helix is told where the document is.
        assert shown.name == ("reviewer.md" if trusted else "reviewer.static.md")
        assert "## 1. Review Guidance\n" in shown.read_text(encoding="utf-8")
        helix.wait(lambda: "foldline:see" in helix.seen.replace(" ", ""))
        helix.type(" s")
        helix.wait(lambda: '"name": "Review Guidance"' in json.dumps([*helix.messages("answered")]))
        helix.wait(lambda: "Guid" in helix.seen)
        helix.type("\x03:lsp-workspace-command foldline.server.show\r")
        helix.wait(lambda: len(helix.said("answered", "window/showMessage")) == 2)
        helix.type(":quit!\r")
        # It waits 3 s for the answer, and says `exit` only after it.
        helix.wait(lambda: any(one.get("method") == "shutdown" for one in helix.messages("asked")))


def test_helix_finds_the_command_of_the_page(program: Callable[..., str], tmp_path: Path) -> None:
    serve = Path(sys.executable).with_name("foldline")
    helix = Helix(program("hx"), serve, tmp_path, settings())
    command = (helix.hx, "--health", "python")
    done = subprocess.run(
        command, env=helix.environment, capture_output=True, text=True, check=True
    )
    found = re.search(r"foldline.*", STYLE.sub("", done.stdout))
    assert found is not None
    assert str(tmp_path / "bin" / "foldline") in found[0]
