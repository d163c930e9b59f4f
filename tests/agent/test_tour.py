"""The README's first command, as a person and as a program runs it."""

import json
from pathlib import Path

import pytest

from foldline.agent import tour
from foldline.agent.cli import main

from .verbs import foldline

pytestmark = pytest.mark.real


def test_the_tour_goes_from_folded_to_unfolded() -> None:
    done = foldline("tour", "--json")
    assert done.returncode == 0, done.stderr
    steps = {step["title"]: step for step in json.loads(done.stdout)["steps"]}
    folded, opened = steps["The prompt, folded"], steps["The model opens `reference-docs`"]
    assert "Security Rules" not in folded["text"]
    assert "Security Rules" in opened["text"]
    assert folded["bytes"] < opened["bytes"] < folded["whole"][0]
    assert steps["One symbol"]["text"].startswith("auth/service.py:")
    for step in steps.values():
        assert step["bytes"] == len(step["text"].encode()) < step["whole"][0]


def test_the_tour_is_printed_for_people() -> None:
    done = foldline("tour")
    assert done.returncode == 0, done.stderr
    for words in ("Reference Documentation", "Security Rules", "What each step cost"):
        assert words in done.stdout


def test_a_step_that_fails_fails_the_tour(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "reviewer_prompt.py").write_text("raise RuntimeError('broken')\n", encoding="utf-8")
    monkeypatch.setattr(tour, "example_workspace", lambda: tmp_path)
    assert main(["tour"]) == 1
    assert "broken" in capsys.readouterr().err
