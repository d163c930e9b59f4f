"""What the README says is so."""

import re
from pathlib import Path
from struct import unpack

import pytest

from foldline.agent.cli import main
from foldline.backends.lsp.configuration import read_configuration
from foldline.ide.render.options import read_preview_options

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SAID = re.sub(r"\s+", " ", README)


FIRST_SCREEN = README.partition("\n## ")[0]


def test_the_number_on_the_first_screen_is_that_of_the_benchmark() -> None:
    page = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    link = "docs/benchmarks.md#what-an-engineers-questions-cost"
    row = r"^\| all: 60 questions \| \*\*([\d,]+) B\*\*.* rg ([\d,]+) B \|$"
    schemas = r"^\| all, with schemas and instructions once a repository \| ([\d,]+) B"
    counts = [*re.findall(row, page, re.MULTILINE)[0], *re.findall(schemas, page, re.MULTILINE)]
    asked, rg, whole = (round(int(count.replace(",", "")) / 1000) for count in counts)
    cost = f"{asked} KB ({whole} KB with the tools' schemas), against {rg} KB with ripgrep"
    assert f"questions about code cost a model {cost}: [where foldline loses]({link})" in SAID


@pytest.mark.parametrize("editor", ["neovim", "vscode"])
def test_the_page_of_an_editor_says_what_is_measured(editor: str) -> None:
    page = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    row = r"^\| completion after a key, many small prompts \| ([\d.]+) ms .* pylsp ([\d.]+) ms \|$"
    own, pylsp = (round(float(time)) for time in re.findall(row, page, re.MULTILINE)[0])
    said = " ".join((ROOT / f"editors/{editor}/README.md").read_text(encoding="utf-8").split())
    cost = f"completion comes {own} ms after a key, pylsp's after {pylsp} ms"
    assert f"{cost}; with 200 sections [ty is faster](" in said


def test_the_extension_shows_the_same_picture() -> None:
    picture = (ROOT / "editors/vscode/media/preview.png").read_bytes()
    assert picture == (ROOT / "docs/images/browser-preview.png").read_bytes()


def test_the_first_screen_has_one_command_and_one_picture_that_moves() -> None:
    assert len(README.split()) <= 780
    assert re.findall(r"^\$ ", FIRST_SCREEN, re.MULTILINE) == ["$ "]
    (picture,) = re.findall(r"!\[.+\]\((.+)\)", FIRST_SCREEN)
    moving = (ROOT / picture).read_bytes()
    assert unpack(">II", moving.partition(b"acTL")[2][:8]) == (5, 3)
    assert len(moving) <= 130_000


@pytest.mark.parametrize("page", ["AGENTS.md", "docs/architecture.md"])
def test_every_path_of_the_architecture_exists(page: str) -> None:
    tops = "docs|tests|prompts|backends|server|plugins|editors|examples"
    text = (ROOT / page).read_text(encoding="utf-8")
    paths = re.findall(rf"`((?:{tops})/[\w/.]*)`", text)
    assert paths
    for path in paths:
        assert (ROOT / path).exists() or any(ROOT.glob(f"*/foldline/{path}")), path


def test_our_own_instructions_are_short_and_nothing_is_wrong_with_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["check", "AGENTS.md"]) == 0
    assert capsys.readouterr().out == "1 file: no diagnostics\n"
    assert len((ROOT / "AGENTS.md").read_text(encoding="utf-8").split()) <= 250


SETTINGS = [
    pytest.param(table, id=f"{page.name}-{number}")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for number, table in enumerate(
        re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    )
    if "[tool.foldline" in table
]


@pytest.mark.parametrize("table", SETTINGS)
@pytest.mark.parametrize("verb", ["check", "tokens"])
def test_what_a_project_may_set_is_understood_by_every_verb(
    verb: str,
    table: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main([verb]) == 0, capsys.readouterr().err
    assert read_configuration(tmp_path, trusted=True).problems == ()
    assert read_preview_options(tmp_path / "prompt.py", tmp_path).problems == ()


def test_there_are_settings_to_understand() -> None:
    assert len(SETTINGS) >= 3
