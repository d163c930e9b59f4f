"""What verbs print does not control the terminal; elsewhere content is as it is."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

CONTROL = {chr(code) for code in (*range(32), *range(127, 160))} - {"\n", "\t"}
CONTENT = "title = '\x1b]0;owned\x07'\n\tred = '\x9b31m'\r\n"


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "a\x1b[2J\n9 B.py").write_text(CONTENT, encoding="utf-8", newline="")
    (tmp_path / "b.py").write_text(CONTENT, encoding="utf-8", newline="")
    return tmp_path


def on_terminal(root: Path, *arguments: str) -> str:
    """What a verb writes to a terminal, both its streams."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "foldline.agent", *arguments],
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        written = b""
        try:
            while chunk := os.read(ours, 1 << 16):
                written += chunk
        except OSError:
            pass  # How Linux tells that the other end is closed.
        finally:
            os.close(ours)
        process.wait(60)
    return written.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("tree",),
        ("read", "b.py"),
        ("read", "b.py", "--json"),
        ("lines", "b.py", "1-2"),
        ("grep", "title"),
        ("outline", "b.py"),
        ("check", "gone\x1b[2J.py"),
        ("read", "gone\x1b[2J.py"),
    ],
    ids=" ".join,
)
def test_no_escape_code_reaches_a_terminal(workspace: Path, arguments: tuple[str, ...]) -> None:
    written = on_terminal(workspace, *arguments)
    assert written
    assert set(written).isdisjoint(CONTROL)
    assert "\\u001b" in written or "b.py" in written


def test_a_pipe_gets_the_content_as_it_is(workspace: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "foldline.agent", "read", "b.py"],
        cwd=workspace,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert b"\x1b]0;owned\x07" in done.stdout
    assert "\x9b31m".encode() in done.stdout
