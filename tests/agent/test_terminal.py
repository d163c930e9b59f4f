"""What verbs print does not control the terminal; elsewhere content is as it is."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from foldline.agent.terminal import json_text

from .verbs import STYLING, foldline

pytestmark = pytest.mark.real

CONTROL = {chr(code) for code in (*range(32), *range(127, 160))} - {"\n", "\t"}
PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate
odd = PromptTemplate(ns="demo", key="HIDDEN", sections=[
    MarkdownSection[None](title="Odd HIDDEN", key="odd", template="HIDDEN ${")])
"""
STYLE = re.compile(r"\x1b\[[\d;]*m")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7])m")
CONTENT = "title = '\x1b]0;owned\x07'\n\tred = '\x9b31m'\r\n"


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "a\x1b[2J\n9 B.py").write_text(CONTENT, encoding="utf-8", newline="")
    (tmp_path / "b.py").write_text(CONTENT, encoding="utf-8", newline="")
    return tmp_path


def on_terminal(root: Path, *arguments: str, columns: int = 200, **environment: str) -> str:
    """What a verb writes to a terminal, both its streams."""
    quiet = {name: value for name, value in os.environ.items() if name not in STYLING}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "foldline.agent", *arguments],
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**quiet, "TERM": "xterm-256color", **environment},
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
    for term in ("xterm-256color", "dumb"):
        done = foldline(*arguments, folder=workspace, terminal=True, environment={"TERM": term})
        written = done.stdout + done.stderr
        # Ours are styles, and nothing else.
        assert set(STYLE.sub("", written)).isdisjoint(CONTROL)
    assert set(written).isdisjoint(CONTROL)
    assert "\\u001b" in written or "b.py" in written


def test_a_pipe_gets_the_content_as_it_is(workspace: Path) -> None:
    shown = foldline("read", "b.py", folder=workspace).stdout
    assert "\x1b]0;owned\x07" in shown
    assert "\x9b31m" in shown


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
        done = foldline(*arguments, folder=workspace)
        assert json.loads(done.stdout), done.stderr
        assert set(done.stdout).isdisjoint(CONTROL | {"\u202e"}), arguments


def test_what_is_refused_is_shown_on_one_line(workspace: Path) -> None:
    (workspace / "pyproject.toml").touch()
    odd = "a\x1b[31m\nb"
    for arguments in (
        ("check", odd),
        ("tokens", odd),
        ("check", ".", f"../{odd}/.."),
        ("tokens", "--baseline", str(workspace / "b.py"), "b.py"),
    ):
        said = foldline(*arguments, folder=workspace).stderr
        assert said.count("\n") == 1
        assert set(said).isdisjoint(CONTROL)


def test_a_pattern_that_is_no_text_is_refused() -> None:
    done = foldline("grep", "a\udcff")
    assert done.returncode == 2
    assert "no text" in done.stderr


CODE = '''class Cart:
    """What a customer wants to have, and what all of it costs together with the taxes."""

    def total(self, country: str, discounts: list[float], shipping: bool = True) -> float:
        return 1.0
'''
# Beside code.
NUMBER = re.compile(r"^\x1b\[2m *\d+  \x1b\[0m", re.MULTILINE)
# The parts of what a verb says that have a style, one each.
STYLED = [
    (("outline", "shop.py"), "\x1b[2m1-5\x1b[0m \x1b[36mclass\x1b[0m \x1b[1mCart\x1b[0m"),
    (("grep", "return"), "\x1b[2m  5:\x1b[0m "),
    (("grep", "RETURN|cart", "--ignore-case"), "\x1b[1;31mreturn\x1b[0m 1.0"),
    (("lines", "shop.py", "4-5"), "\x1b[2m5  \x1b[0m        \x1b[35mreturn\x1b[0m"),
    (("read", "shop.py"), "\x1b[2m1  \x1b[0m\x1b[35mclass\x1b[0m"),
    (("refs", "Cart", "--seconds", "0"), "\x1b[1m1 by name in 1 file"),
    (("refs", "Cart", "--seconds", "0"), "\x1b[36m definition\x1b[0m"),
    (("symbol", "Cart.total", "--seconds", "0"), "\x1b[1m Cart.total\x1b[0m"),
    (("symbol", "Cart.total", "--seconds", "0"), "\x1b[35mdef\x1b[0m \x1b[1mtotal\x1b[0m"),
    (("lines", "shop.py", "1-2"), "\x1b[2m:1-2\x1b[0m\x1b[2m of 5 lines\x1b[0m"),
    (("tree",), "\x1b[1;34m./\x1b[0m\x1b[2m 3 files, "),
    (("search", "cart"), "\x1b[1mshop.py\x1b[0m"),
    (("definition", "Cart", "--seconds", "0"), "\x1b[2m  1:\x1b[0m"),
]


@pytest.mark.parametrize(("words", "part"), STYLED, ids=lambda value: value[0])
def test_numbers_are_dim_and_names_bold(words: tuple[str, ...], part: str, workspace: Path) -> None:
    (workspace / "shop.py").write_text(CODE, encoding="utf-8")
    styles = {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    shown = foldline(*words, folder=workspace, environment=styles).stdout
    assert part in shown
    plain = foldline(*words, folder=workspace).stdout
    assert "\x1b[" not in plain.replace("\x1b[2J", "")
    without_numbers = NUMBER.sub("", shown)
    assert STYLE.sub("", without_numbers) == plain.replace("\x1b", "\\u001b")


@pytest.mark.parametrize(
    ("variables", "has_styles", "has_colours"),
    [
        ({}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False, False),
    ],
)
def test_variables_decide_on_the_styles_of_a_pipe(
    variables: dict[str, str], has_styles: bool, has_colours: bool, workspace: Path
) -> None:
    shown = foldline("tree", folder=workspace, environment=variables).stdout
    assert bool(STYLE.search(shown)) is has_styles
    assert bool(COLOUR.search(shown)) is has_colours


def test_a_terminal_without_colour_has_bold_and_wraps_below_the_text(workspace: Path) -> None:
    (workspace / "shop.py").write_text(CODE, encoding="utf-8")
    words = ("outline", "shop.py")
    shown = on_terminal(workspace, *words, columns=50, NO_COLOR="1")
    assert "\x1b[1mCart\x1b[0m" in shown
    assert not COLOUR.search(shown)
    lines = STYLE.sub("", shown).splitlines()
    assert max(map(len, lines)) <= 50
    assert lines[-2:] == [
        "  4-5 def total(self, country: str, discounts:",
        "      list[float], shipping: bool = True) -> float",
    ]


def test_rich_is_loaded_for_people_alone(workspace: Path) -> None:
    code = (
        "import sys; from foldline.agent.cli import main\n"
        "main(['tree']); print('rich' in sys.modules, file=sys.stderr)"
    )
    for variables, loaded in (({}, "False"), ({"FORCE_COLOR": "1"}, "True")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=workspace,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={**{k: v for k, v in os.environ.items() if k not in STYLING}, **variables},
        )
        assert done.stderr.strip() == loaded
