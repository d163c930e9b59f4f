"""The example that asks about code plays its transcript, by the requirements PM-01 to PM-03."""

import subprocess
import sys
from pathlib import Path

import pytest

from foldline.agent.cli import main

pytestmark = pytest.mark.real

EXAMPLES = Path(__file__).parents[2] / "examples"
TRANSCRIPT = EXAMPLES / "ask_code" / "transcript.json"


def test_the_example_answers_offline() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "ask_code" / "ask.py")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "`check_password` (passwords.py:50)" in done.stdout
    assert "unread" not in done.stdout


def test_the_command_of_its_page_answers_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    page = (EXAMPLES / "ask_code" / "README.md").read_text(encoding="utf-8")
    question = "How are passwords hashed, and who checks them?"
    assert f'"{question}"' in page
    root = str(EXAMPLES / "code_reviewer" / "auth")
    arguments = ["--root", root, "--budget", "12000", "--transcript", str(TRANSCRIPT)]
    assert main(["context", *arguments, question]) == 0
    assert "`check_password` (passwords.py:50)" in capsys.readouterr().out
