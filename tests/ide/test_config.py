"""What a hostile project sets is told in a few short sentences."""

import difflib
from pathlib import Path

import pytest

from foldline.backends.errors import LONGEST_MESSAGE, MOST_PROBLEMS
from foldline.backends.lsp import configuration
from foldline.ide.config import read_project_options

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
