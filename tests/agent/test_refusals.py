"""Every error of the command line: one line, one shape of JSON, one table of exit statuses."""

import json
import os
import subprocess
import sys
from contextlib import chdir
from io import FileIO, TextIOWrapper
from pathlib import Path
from unittest.mock import Mock

import pytest

from foldline.agent import cli, exit_statuses
from foldline.agent.cli import main

from ..rows import slow
from .verbs import foldline

pytestmark = pytest.mark.real

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
PROMPT = str(EXAMPLE / "reviewer_prompt.py")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop.py").write_text("def pay():\n    pass\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path.parent / "cache"))
    return tmp_path


# One error of each verb; the kinds are for programs.
ERRORS = [
    (["tree", "nowhere"], 2, "path"),
    (["tree", "--root", "nowhere"], 2, "path"),
    (["outline", "gone.py"], 2, "path"),
    (["symbol", "shop.py", "py"], 1, "symbol"),
    (["hover", "nothing_here"], 1, "symbol"),
    (["lines", "shop.py"], 2, "usage"),
    (["lines", "shop.py", "x"], 2, "usage"),
    (["grep", "(zebra"], 2, "arguments"),
    (["tokens", "gone"], 2, "arguments"),
    (["doctor", "--root", "gone"], 2, "path"),
    (["context", "what", "--transcript", "gone"], 2, "arguments"),
    (["preview", "gone.py"], 2, "arguments"),
    (["preview", "shop.py:nothing"], 2, "no_prompt"),
    (["preview", f"{PROMPT}:nothing"], 2, "no_prompt"),
    (["preview", PROMPT, "--open-sections", "nothing"], 2, "tool"),
    (["preview", PROMPT, "--set", "nothing"], 2, "prompt"),
    (["preview", PROMPT, "--chapter", "nothing"], 2, "prompt"),
    (["preview", PROMPT, "--diff", "nothing"], 2, "revision"),
    (["nonsense"], 2, "usage"),
    (["tree", "--bugdet"], 2, "usage"),
]


@pytest.mark.parametrize(("words", "status", "kind"), ERRORS, ids=lambda value: str(value)[:40])
def test_an_error_is_one_line_or_one_object(words: list[str], status: int, kind: str) -> None:
    done = foldline(*words)
    assert (done.returncode, done.stdout) == (status, "")
    line = done.stderr.rstrip("\n")
    assert line.startswith("foldline")
    assert "\n" not in line
    done = foldline(*words, "--json")
    assert (done.returncode, done.stderr) == (status, "")
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == kind
    assert error["message"] in line


@pytest.mark.parametrize("verb", ["preview", "tokens", "check"])
def test_a_file_that_is_no_python_module_is_refused_and_markdown_says_who_reads_it(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("NOTES.md").write_text("# Rules\n\nIt's a rule.\n", encoding="utf-8")
    Path("rules.txt").write_text("It's a rule.\n", encoding="utf-8")
    assert main([verb, "NOTES.md"]) == 2
    assert capsys.readouterr().err == (
        f"foldline {verb}: NOTES.md isn't a file that agents load, such as AGENTS.md; if yours do, "
        'put instructions = ["NOTES.md"] into foldline.toml; '
        "`foldline outline NOTES.md` and `foldline symbol NOTES.md HEADING` read any file\n"
    )
    Path("foldline.toml").write_text('instructions = ["NOTES.md"]\n')
    assert main([verb, "NOTES.md"]) == 0
    capsys.readouterr()
    for words in (["outline", "NOTES.md"], ["symbol", "NOTES.md", "Rules"]):
        assert main(words) == 0
    assert "# Rules" in capsys.readouterr().out
    assert main([verb, "rules.txt"]) == 2
    assert capsys.readouterr().err.endswith("is neither an instruction file nor a Python module\n")


def test_what_is_foldlines_own_fault_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr("foldline.agent.code._print", fail)
    assert main(["tree"]) == exit_statuses.FAULT
    assert capsys.readouterr().err == (
        "foldline tree: foldline failed, please report it: ZeroDivisionError: of ours "
        "(FOLDLINE_TRACEBACK=1 shows where)\n"
    )
    monkeypatch.setenv("FOLDLINE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["tree"])


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the folder that a process is in")
@pytest.mark.parametrize("words", ["tree", "check", "refs a", "stack", "doctor", "adopt ."])
def test_a_folder_that_is_gone_is_told(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verb, *_ = words.split()
    (tmp_path / "gone").mkdir()
    with chdir(tmp_path / "gone"):
        (tmp_path / "gone").rmdir()
        status = main(words.split())
    told = f"foldline {verb}: the folder that you are in is gone: change to another\n"
    assert (status, capsys.readouterr().err) == (2, told)


def test_the_table_of_statuses_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "exit-statuses"]) == 0
    shown = capsys.readouterr().out
    for status, meaning in exit_statuses.STATUSES.items():
        assert f"{status:>3}  {meaning}\n" in shown
    assert "foldline help exit-statuses" in cli.EXAMPLES


# Each prints many lines before its reader has gone.
LONG = [
    ["tree"], ["outline", "big.py"], ["read", "big.py", "--all"], ["lines", "big.py", "1-2000"],
    ["grep", "name", "--all"], ["refs", "name", "--seconds", "0", "--all"], ["search", "name"],
    ["symbol", "big.py:1", "--seconds", "0"], ["tokens", PROMPT], ["prompts"],
    ["preview", PROMPT], ["read", "big.py", "--all", "--json"],
]  # fmt: skip


@pytest.mark.parametrize("words", LONG, ids=" ".join)
def test_a_pipe_that_is_closed_early_ends_a_verb(
    words: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "big.py").write_text("".join(f"name{n} = name\n" for n in range(2_000)))
    monkeypatch.setattr(os, "dup2", Mock())
    reading, writing = os.pipe()
    os.close(reading)
    # Unbuffered, as each write may be the first one to fail.
    with TextIOWrapper(FileIO(writing, "w"), write_through=True) as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert main(words) in (exit_statuses.CLOSED, 0, 1)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("words", [["read", "big.py", "--all"], ["--help"]], ids=" ".join)
def test_a_pipe_that_is_closed_early_leaves_no_traceback(words: list[str], folder: Path) -> None:
    (folder / "big.py").write_text("".join(f"name{n} = name\n" for n in range(2_000)))
    with subprocess.Popen(
        [sys.executable, "-m", "foldline", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
        assert process.wait(60) in (exit_statuses.CLOSED, 0, 1)
    assert "Traceback" not in said
    assert "BrokenPipeError" not in said


@pytest.mark.parametrize("unbuffered", ["1", ""])
@pytest.mark.parametrize(
    "words",
    [["tree"], *slow(["tree", "--json"], ["--version"], ["check", PROMPT])],
)
def test_an_answer_that_cannot_be_written_is_told(words: list[str], unbuffered: str) -> None:
    """Standard output is a full disk, or closed; what is said is all, also where nothing can be."""
    for redirection, said in (
        (">/dev/full", "No space left on device"),
        (">&-", "standard output is closed"),
        (">&- 2>&-", None),
    ):
        done = subprocess.run(
            [
                "/bin/sh",
                "-c",
                f'"$@" {redirection}',
                "sh",
                sys.executable,
                "-m",
                "foldline",
                *words,
            ],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            capture_output=True,
            text=True,
            check=False,
        )
        line = "" if said is None else f"foldline {words[0]}: can't write the answer: {said}\n"
        assert (done.stdout, done.stderr) == ("", line)
        assert done.returncode == exit_statuses.REFUSED


def test_asking_for_names_that_are_not_there_says_so_each_time(folder: Path) -> None:
    """A language server that is still starting when the answer is there ends quietly."""
    for number in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "foldline", "refs", f"Nosuch{number}"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (1, "")
