"""Options of a project are the same in both files, and wrong ones are told in a few sentences."""

import difflib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.backends.errors import LONGEST_MESSAGE, MOST_PROBLEMS
from foldline.backends.lsp import configuration
from foldline.ide.config import read_project_options
from foldline.ide.render.options import read_preview_options

TOO_MANY = 5_000
HUGE = "0x" + "9" * 20_000
OPTIONS = {
    "a list as severity": "[tool.foldline.severity]\nlong-summary = [1]",
    "a table as severity": "[tool.foldline.severity]\nlong-summary = {a = 1}",
    "a huge encoding": f"[tool.foldline]\ntokens = {HUGE}",
    "a huge severity": f"[tool.foldline]\nseverity = {HUGE}",
    "one huge severity": f"[tool.foldline.severity]\nlong-summary = {HUGE}",
    "a huge table": f"[tool]\nfoldline = {HUGE}",
    "a long value": f"[tool.foldline]\ntokens = '{'x' * 100_000}'",
    "a long key": f"[tool.foldline]\n{'x' * 100_000} = 1",
    "many keys": "[tool.foldline]\n" + "".join(f"k{number} = 1\n" for number in range(TOO_MANY)),
    "many codes": "[tool.foldline.severity]\n"
    + "".join(f"k{number} = 'off'\n" for number in range(TOO_MANY)),
}


@pytest.mark.parametrize("text", OPTIONS.values(), ids=OPTIONS)
def test_wrong_options_are_told_in_short(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    problems = read_project_options(tmp_path / "a.py", tmp_path).problems
    assert 1 <= len(problems) <= MOST_PROBLEMS + 1
    assert all(len(problem) <= LONGEST_MESSAGE + 50 for problem in problems)


def test_few_of_many_unknown_servers_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ", ".join(f"'n{number}'" for number in range(TOO_MANY))
    servers = "".join(
        f"[tool.foldline.lsp.servers.a{number}]\ncommand = ['x']\nlanguages = ['c']\n"
        for number in range(TOO_MANY)
    )
    text = f"[tool.foldline.lsp]\nuse = [{names}]\n{servers}"
    (tmp_path / "pyproject.toml").write_text(text)
    compared = 0

    def compare(_: str, words: list[str], **__: object) -> list[str]:
        nonlocal compared
        compared += len(words)
        return []

    monkeypatch.setattr(difflib, "get_close_matches", compare)
    choice = configuration.read_configuration(tmp_path, trusted=False)
    assert len(choice.problems) == MOST_PROBLEMS + 1
    assert 0 < compared <= (MOST_PROBLEMS + 1) * 1_000


LISTS = st.lists(st.sampled_from(["codex", "vscode", "docs/*.md", "ty", "x", 1]), max_size=3)
VALUES = st.one_of(LISTS, st.sampled_from([0, 7, "o200k", "deny", "syntax", True]))
SERVER = st.fixed_dictionaries({}, optional={"command": LISTS, "languages": LISTS, "mine": VALUES})
TABLES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(
            ("tokens", "token-budget", "token-bugdet", "clients", "instructions", "store"), VALUES
        ),
        "severity": st.dictionaries(st.sampled_from(["long-summary", "long"]), VALUES),
        "preview": st.dictionaries(st.sampled_from(["network", "params", "parms"]), VALUES),
        "lsp": st.fixed_dictionaries(
            {},
            optional={
                **dict.fromkeys(("use", "disable", "outlines"), VALUES),
                "servers": st.dictionaries(st.sampled_from(["mine", "ty"]), SERVER | VALUES),
            },
        ),
    },
)


def read_all(root: Path, folder: str) -> str:
    """Everything that is read of a folder's settings, without the names of file and table."""
    file = root / folder / "a.py"
    every = (
        read_project_options(file, root),
        read_preview_options(file, root),
        *(configuration.read_configuration(file.parent, trusted=one) for one in (False, True)),
    )
    text = repr(every).replace(f"/{folder}", "/folder").replace("pyproject.toml", "foldline.toml")
    return text.replace("tool.foldline.", "")


@settings(max_examples=20, deadline=None)
@given(TABLES)
def test_both_files_have_the_same_keys(table: dict[str, Any]) -> None:
    with TemporaryDirectory() as name:
        root = Path(name)
        shared = {"tool": {"foldline": table}}
        for file, values in (("own/foldline.toml", table), ("shared/pyproject.toml", shared)):
            (root / file).parent.mkdir()
            (root / file).write_text(tomlkit.dumps(values))
        assert read_all(root, "own") == read_all(root, "shared")


def test_the_file_of_its_own_counts_and_the_other_beside_it_is_told(tmp_path: Path) -> None:
    def budget(file: str = "a.py") -> int | None:
        return read_project_options(tmp_path / file, tmp_path).table.token_budget

    shared, own = tmp_path / "pyproject.toml", tmp_path / "foldline.toml"
    shared.write_text("[tool.foldline]\ntoken-budget = 5\n[tool.foldline.preview]\nuse = 'x'\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/foldline.toml").write_text("token-budget = 7\n")
    assert (budget(), budget("inner/a.py")) == (5, 7)
    own.write_text("token-budget = 9\n")
    assert (budget(), budget("inner/a.py")) == (9, 7)
    assert read_preview_options(tmp_path / "a.py", tmp_path).table.use is None
    assert read_project_options(tmp_path / "a.py", tmp_path).problems == (
        f"{shared}: move [tool.foldline] into {own}: only that is read",
    )
    own.write_text("[tool.foldline]\ntoken-budget = 9\n")
    assert read_project_options(tmp_path / "a.py", tmp_path).problems[1:] == (
        f"{own}: leave the line [tool.foldline] out, here its keys stand alone",
    )
    own.write_text("token-budget = 9\n")
    shared.write_text("[tool.ruff")
    assert not read_project_options(tmp_path / "a.py", tmp_path).problems
    own.unlink()
    assert "pyproject.toml" in str(read_project_options(tmp_path / "a.py", tmp_path).problems)


@pytest.mark.parametrize(
    ("name", "near"),
    [("vscode", "'copilot'"), ("claude", "'claude-code'"), ("nano", "there are opencode, ")],
)
def test_a_wrong_client_is_told_with_near_ones(tmp_path: Path, name: str, near: str) -> None:
    (tmp_path / "foldline.toml").write_text(f"clients = ['codex', '{name}']\n")
    nearest = read_project_options(tmp_path / "a.py", tmp_path)
    (problem,) = nearest.problems
    assert f"foldline.toml: clients[1]: there is no client {name!r}; " in problem
    assert near in problem
    assert nearest.table.clients == ()
