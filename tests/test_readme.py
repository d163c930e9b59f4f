"""What the README says is so."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from foldline.agent.cli import main
from foldline.backends.lsp.configuration import read_configuration
from foldline.ide.render.options import read_preview_options

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.real
def test_the_gains_are_those_of_the_tour() -> None:
    done = subprocess.run(
        (sys.executable, "-m", "foldline.agent", "tour", "--json"),
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    prompt, _, tree, outline, symbol = json.loads(done.stdout)["steps"][:5]
    code = sum(step["bytes"] for step in (tree, outline, symbol)) / tree["whole"][0]
    folded = prompt["bytes"] / prompt["whole"][0]
    gains = f"-{1 - folded:.0%} on the example prompt, -{1 - code:.0%} on the way"
    said = re.sub(r"\s+", " ", README).replace("\N{MINUS SIGN}", "-")
    assert gains.replace("%", " %") in said


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
