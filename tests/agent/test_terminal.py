"""What verbs print does not control the terminal; elsewhere content is as it is."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from foldline.agent.cli import main
from foldline.agent.terminal import json_text

CONTROL = {chr(code) for code in (*range(32), *range(127, 160))} - {"\n", "\t"}
PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate
odd = PromptTemplate(ns="demo", key="HIDDEN", sections=[
    MarkdownSection[None](title="Odd HIDDEN", key="odd", template="HIDDEN ${")])
"""
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


HIDDEN = "\x7f\x85\x9b31m\u202e\u2066\u200b\ufeff\U000e0041\udcff"


@pytest.mark.parametrize("text", [HIDDEN, "é 🎉\u200d", '"\\\n'])
def test_json_shows_what_is_hidden_and_means_the_same(text: str) -> None:
    data = {text: [text, 1, None]}
    written = json_text(data)
    assert json.loads(written) == data
    assert set(written).isdisjoint(CONTROL | set(HIDDEN) - set("31m"))
    assert written.count("🎉") == text.count("🎉") * 2


def test_json_of_every_verb_hides_nothing(workspace: Path) -> None:
    prompt = PROMPT.replace("HIDDEN", HIDDEN[1:6])
    (workspace / "p.py").write_text(prompt, encoding="utf-8")
    for arguments in (
        ("read", "p.py", "--json"),
        ("grep", "title", "--json"),
        ("check", "p.py", "--format", "json"),
        ("check", "p.py", "--format", "sarif"),
        ("tokens", "p.py", "--json"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "foldline.agent", *arguments],
            cwd=workspace,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert json.loads(done.stdout), done.stderr
        assert set(done.stdout.decode()).isdisjoint(CONTROL | {"\u202e"}), arguments


def test_what_is_refused_is_shown_on_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workspace: Path
) -> None:
    monkeypatch.chdir(workspace)
    (workspace / "pyproject.toml").touch()
    odd = "a\x1b[31m\nb"
    for arguments in (
        ("check", odd),
        ("tokens", odd),
        ("check", ".", f"../{odd}/.."),
        ("tokens", "--baseline", str(workspace / "b.py"), "b.py"),
    ):
        main(arguments)
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert set(said).isdisjoint(CONTROL)


def test_a_pattern_that_is_no_text_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workspace: Path
) -> None:
    monkeypatch.chdir(workspace)
    assert main(["grep", "a\udcff"]) == 2
    assert "no text" in capsys.readouterr().err
