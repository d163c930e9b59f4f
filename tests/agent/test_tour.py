"""The README's first command, as a person and as a program runs it."""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from foldline.agent import tour, tour_steps
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
        size, _ = step["whole"] or (10_000, "a change")
        assert 0 < step["bytes"] == len(step["text"].encode()) < size


def test_the_tour_is_printed_for_people() -> None:
    done = foldline("tour")
    assert done.returncode == 0, done.stderr
    for words in ("Reference Documentation", "Security Rules", "What each step cost"):
        assert words in done.stdout
    # The end of a change, without a doubt about it, and no row for it in the table.
    assert re.search(
        r"… \d+ lines of the change, then:\n\+Folded: .*\n.*\nNothing is written: --dry-run\.\n"
        r"(?:[\w ]+: [\d,]+ -> [\d,]+ tokens in each session; [\d,]+ on demand\n)+[\d,]+ bytes\n",
        done.stdout,
    )
    assert done.stdout.count("Reference, moved to skills") == 1


def test_the_second_part_is_what_its_commands_print_in_a_repository(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scratch, here, copy = (tmp_path / name for name in ("scratch", "here", "copy"))
    scratch.mkdir()
    here.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    example = tour.example_workspace("go_service")
    before = _contents(example)
    caches = {"FOLDLINE_CACHE_DIR": str(tmp_path / "caches")}
    done = foldline("tour", "--json", folder=here, environment={"FORCE_COLOR": "1", **caches})
    assert not [*scratch.iterdir(), *here.iterdir()]
    # That of the first part, whose folder stays.
    assert len([*tmp_path.glob("caches/index/*.sqlite3")]) == 1
    assert _contents(example) == before
    answer = json.loads(done.stdout)
    shutil.copytree(answer["repository"], copy)
    subprocess.run(("git", "init", "--quiet", str(copy)), check=True)
    wholes = {
        "5 instruction files": sum(len(text) for file, text in before.items() if ".md" in file),
        "the 6 Go files": sum(len(text) for file, text in before.items() if ".go" in file),
        "store/store.go": len(before["store/store.go"]),
    }
    verbs = []
    for step in answer["steps"][5:]:
        program, *words = step["command"].split()
        typed = foldline(*words, folder=copy)
        assert (program, typed.returncode, typed.stderr) == ("foldline", 0, "")
        assert typed.stdout == step["text"] + "\n"
        assert step["whole"] is None or step["whole"][0] == wholes[step["whole"][1]]
        verbs.append(words[0])
    assert verbs == ["stack", "fold", "tree", "outline", "symbol"]
    # What a reader types changes nothing.
    assert _contents(copy) == before


def test_a_verb_that_no_installed_plugin_has_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tour_steps, "installed", lambda: SimpleNamespace(parts=lambda kind: []))
    steps = [step for step, _ in tour_steps.run_verbs(tour.example_workspace("go_service"))]
    left_out = "Left out: no installed plugin has the verb {}."
    assert [step.text for step in steps[:2]] == list(map(left_out.format, ("stack", "fold")))
    assert [step.whole is None for step in steps] == [True, True, False, False, False]


def test_a_verb_that_fails_fails_the_tour(tmp_path: Path) -> None:
    shutil.copytree(tour.example_workspace("go_service"), tmp_path, dirs_exist_ok=True)
    (tmp_path / "store/store.go").write_text("package store\n", encoding="utf-8")
    with pytest.raises(tour_steps.TourError, match=r"`foldline outline \S+` exited with"):
        tour_steps.run_verbs(tmp_path)


@pytest.mark.parametrize("directory", ["/dev/null/none", ""])
def test_without_room_for_temporary_files_the_tour_says_where_they_may_be(
    directory: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object, **__: object) -> None:
        raise shutil.Error([("from", "to", "[Errno 28] No space left on device")])

    monkeypatch.setattr(tempfile, "tempdir", directory or str(tmp_path))
    monkeypatch.setattr(shutil, "copytree", full)
    with pytest.raises(tour_steps.TourError, match="set TMPDIR to another folder"):
        tour_steps.run_verbs(tour.example_workspace("go_service"))


def test_a_step_that_fails_fails_the_tour(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "reviewer_prompt.py").write_text("raise RuntimeError('broken')\n", encoding="utf-8")
    monkeypatch.setattr(tour, "example_workspace", lambda name: tmp_path)
    assert main(["tour"]) == 1
    assert "broken" in capsys.readouterr().err


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and ".git" not in file.parts
    }
