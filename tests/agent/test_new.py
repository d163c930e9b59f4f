"""`foldline new`: from an empty folder to a prompt that is previewed and checked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from foldline.agent.cli import main

from .verbs import foldline

if TYPE_CHECKING:
    from pathlib import Path


def test_a_stranger_comes_from_an_empty_folder_to_a_checked_prompt(tmp_path: Path) -> None:
    made = foldline("new", "prompts/support.py", folder=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    commands = [line.split() for line in made.stdout.splitlines()[1:]]
    assert [words[:2] for words in commands] == [["foldline", "preview"], ["foldline", "check"]]
    preview, check = (foldline(*words[1:], folder=tmp_path) for words in commands)
    assert (preview.returncode, preview.stderr) == (0, "")
    assert "## 1. Task\n\nAnswer a question about Lumen, in English.\n" in preview.stdout
    assert "Refunds are for a person" not in preview.stdout
    assert check.stdout == "1 file: no diagnostics\n"
    opened = foldline(
        "preview", "prompts/support.py", "--open-sections", "policies", folder=tmp_path
    )
    assert "- Refunds are for a person: hand over, with" in opened.stdout
    counted = foldline("tokens", "prompts/support.py", folder=tmp_path)
    assert re.search(r"summarized, ~?\+\d+ if opened", counted.stdout), "folding it wins"
    again = foldline("new", "prompts/support.py", folder=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert "prompts/support.py exists, and is left alone" in again.stderr


@pytest.mark.parametrize("name", ["support", "my-prompt.py", "class.py", ".py", "a b.py", "x.txt"])
def test_a_name_that_is_no_module_is_refused(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", str(tmp_path / name)]) == 2
    assert "name a Python module, of letters, digits and `_`" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("name", ["Größe_2.py", "_.py", "__.py"])
def test_every_module_name_gives_a_prompt(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    assert main(["new", path]) == 0
    assert main(["check", path]) == 0


def test_a_folder_that_cannot_be_made_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["new", str(tmp_path / "file" / "support.py")]) == 2
    assert "file/support.py: " in capsys.readouterr().err
