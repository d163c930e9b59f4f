"""Instruction files on the command line, in a repository without a line of Python."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import count
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from foldline.agent import check
from foldline.agent.cli import main
from foldline.plugins.instructions import checks

from .verbs import run

if TYPE_CHECKING:
    from pathlib import Path

DATA = "It lives in `data/`, one file for each year, and nothing else is read. " * 5
AGENTS = f"""\
# Rules
Be brief.

## Data
<!-- fold: where data lives -->
{DATA}
### Years
From 1990.

## Tests
Run `go test ./...`.
"""
SKILL = (
    "---\nname: deploy\ndescription: Deploys the service.\n---\n\n# Deploy\nRun `make deploy`.\n"
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "go.mod": "module example.com/app\n",
        "main.go": "package main\n",
        "AGENTS.md": AGENTS,
        "README.md": "# App\n",
        "pkg/AGENTS.md": "# Rules of the package\nBe kind.\n",
        ".claude/skills/deploy/SKILL.md": SKILL,
        ".claude/skills/deploy/references/hosts.md": "# Hosts\nOne and two.\n",
        ".claude/skills/deploy/logo.png": "\0",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("repository")
def test_tokens_counts_each_file_and_each_section() -> None:
    status, out, _ = run("tokens")
    assert status == 0
    assert "in 3 instruction files" in out
    assert "  1.1. Data  summarized, +" in out
    assert "README.md" not in out
    _, out, _ = run("tokens", "AGENTS.md", "--depth", "1")
    assert "1. Rules  with 2 inside" in out
    assert "in 1 instruction file " in out


@pytest.mark.usefixtures("repository")
def test_tokens_counts_the_three_levels_of_a_skill() -> None:
    _, out, _ = run("tokens", ".claude", "--json")
    (skill,) = json.loads(out)["prompts"].values()
    levels = skill["levels"]
    assert levels["used"] == skill["tokens"] == skill["sections"]["deploy"]["tokens"]
    assert list(levels["files"]) == ["references/hosts.md"]
    assert 0 < levels["always"] < 20
    _, out, _ = run("tokens", ".claude")
    assert f"{levels['always']} tokens always, {levels['used']} when used, " in out
    _, _, err = run("preview", ".claude/skills/deploy/SKILL.md")
    assert "in 1 file on demand" in err


def test_a_file_that_grew_over_the_baseline_is_a_failure(repository: Path) -> None:
    (repository / "before.json").write_text(run("tokens", "--json")[1])
    assert run("tokens", "--baseline", "before.json")[0] == 0
    file = repository / "pkg/AGENTS.md"
    file.write_text(file.read_text() + "Be kind to all who read this.\n")
    status, out, _ = run("tokens", "--baseline", "before.json")
    assert status == 1
    assert "pkg/AGENTS.md grew from" in out


@pytest.mark.usefixtures("repository")
def test_preview_shows_a_file_as_it_is_sent() -> None:
    status, out, err = run("preview", "AGENTS.md")
    assert (status, err) == (0, "")
    assert "where data lives" in out
    assert "data/" not in out
    _, out, _ = run("preview", "AGENTS.md", "--open-sections", "rules.data")
    assert out == AGENTS
    _, out, _ = run("preview", "AGENTS.md", "--tree")
    assert "▸ 1.1. Data  rules.data  +" in out
    _, out, _ = run("preview", "AGENTS.md", "--json")
    assert [block["key"] for block in json.loads(out)["blocks"]] == [
        "rules",
        "rules.data",
        "rules.tests",
    ]
    _, out, _ = run("preview", ".claude/skills/deploy/SKILL.md")
    assert out == "# Deploy\nRun `make deploy`.\n"
    status, _, err = run("preview", "AGENTS.md", "--open-sections", "data2")
    assert status != 0
    assert "rules.data" in err


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["preview", "AGENTS.md:data"], "has sections, and no prompts by name: leave :data out"),
        (["preview", "AGENTS.md", "--set", "x=1"], "has no parameters or chapters: leave --set"),
        (["preview", "AGENTS.md", "--chapter", "none"], "leave --chapter out"),
        (["preview", "AGENTS.md", "--params", "p.json"], "leave --params out"),
        (["tokens", "--max-growth", "5%"], "--max-growth goes with --baseline FILE"),
        (
            ["fold", "AGENTS.md", "--root", "nowhere"],
            "--root nowhere: that's no folder around AGENTS.md",
        ),
    ],
)
def test_arguments_that_mean_nothing_are_refused(arguments: list[str], message: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.usefixtures("repository")
def test_preview_serves_a_page_of_a_file() -> None:
    command = [sys.executable, "-m", "foldline.agent", "preview", "AGENTS.md", "--serve"]
    # It ends with its input.
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("http://127.0.0.1:")
    assert "running" not in done.stderr


def test_check_reads_them_in_every_format(repository: Path) -> None:
    assert run("check") == (0, "3 files: no diagnostics\n", "")
    skill = ".claude/skills/deploy/SKILL.md"
    (repository / skill).write_text(SKILL.replace("name: deploy", "name: Deploy"))
    status, out, _ = run("check")
    assert status == 1
    assert f"{skill}:2:1: error: `Deploy` isn't a name" in out
    _, out, _ = run("check", skill, "--json")
    (finding,) = json.loads(out)["findings"]
    assert (finding["code"], finding["range"]["start"]["line"]) == ("front-matter", 2)
    _, out, _ = run("check", skill, "--format", "sarif")
    assert json.loads(out)["runs"][0]["results"][0]["ruleId"] == "front-matter"
    _, out, _ = run("check", skill, "--format", "github")
    assert out.startswith(f"::error file={skill},line=2,")


def test_a_file_that_cannot_be_read_hides_no_other(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "pkg/AGENTS.md").write_bytes(b"a\0b")
    (repository / "CLAUDE.md").write_text("@nope.md\n", encoding="utf-8")
    assert main(["check"]) == 2
    shown = capsys.readouterr()
    assert "there is no nope.md" in shown.out
    assert shown.err == "foldline check: pkg/AGENTS.md: its Markdown can't be parsed\n"


@pytest.mark.usefixtures("repository")
def test_all_files_of_a_check_share_the_time_for_their_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = Mock(return_value=())
    monkeypatch.setattr(checks, "stale_mentions", given)
    for options, expected in (((), 0), (("--strict",), 2)):
        given.reset_mock()
        monkeypatch.setattr(check, "monotonic", Mock(side_effect=count(0, 15)))
        status, _, err = run("check", *options)
        assert status == expected
        assert [call.kwargs["seconds"] for call in given.call_args_list] == [20, 15, 0]
        assert "no time to look up all names of AGENTS.md, pkg/AGENTS.md: name fewer files" in err


@pytest.mark.usefixtures("repository")
def test_a_clone_without_its_history_says_that_nothing_stale_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").rmdir()
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path))
    for arguments in ("init -q", "add -A", "commit -qm 1", "commit -qm 2 --allow-empty"):
        subprocess.run([*git, *arguments.split()], check=True)
    assert "clone" not in run("check", "--strict")[2]
    for kind, option in (("shallow", "--depth=1"), ("partial", "--filter=blob:none")):
        clone = ("clone", "-q", option, tmp_path.as_uri(), str(tmp_path / kind))
        subprocess.run([*git, "-c", "uploadpack.allowFilter=true", *clone], check=True)
        monkeypatch.chdir(tmp_path / kind)
        said = f"{kind} clone: stale names aren't looked for (fetch-depth: 0)\n"
        assert run("check") == (0, "3 files: no diagnostics\n", f"foldline check: {said}")
        assert run("check", "--strict")[0] == 2


def test_a_repository_with_neither_says_what_there_could_be(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# App\n")
    status, _, err = run("check", str(tmp_path))
    assert status == 0
    assert "no file here instructs agents, as AGENTS.md does" in err


@pytest.mark.parametrize("arguments", [["preview"], ["fold"]])
def test_opening_a_section_opens_those_around_it(
    arguments: list[str], repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = AGENTS.replace("### Years\n", "### Years\n<!-- fold: since when -->\n")
    (repository / "AGENTS.md").write_text(text, encoding="utf-8")
    assert main([*arguments, "AGENTS.md", "--open-sections", "years"]) == 0
    assert capfd.readouterr().out.rstrip() == text.rstrip()
