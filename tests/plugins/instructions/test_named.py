"""References of a name list the instruction files and prompts that name it, as no uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foldline.agent.cli import main

if TYPE_CHECKING:
    from pathlib import Path

CODE = "class Cart:\n    def total(self): ...\n\n\nclass Bill:\n    def total(self): ...\n"
TEXT = "# Money\n\n## Sums\nUse `Cart.total()`; not `Bill.total`, `total` or `Cart`.\n"
PROMPT = (
    "from foldline.prompts import MarkdownSection, PromptTemplate\n\n"
    "PROMPT = PromptTemplate(name='p', sections=[\n"
    "    MarkdownSection(title='Data', key='data', template='See `Cart.total`.'),\n])\n"
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {"cart.py": CODE, "AGENTS.md": TEXT, "p.py": PROMPT, "README.md": TEXT}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Cart.total", "named in instructions: AGENTS.md 4 (money.sums); p.py 4"),
        ("Bill.total", "named in instructions: AGENTS.md 4 (money.sums)"),
        ("Cart", "named in instructions: AGENTS.md 4 (money.sums)"),
        ("Bill", None),
    ],
)
def test_references_say_which_instructions_name_it(
    name: str, expected: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["refs", name])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("in 1 file")
    assert [line for line in lines if line.startswith("named")] == [expected] * bool(expected)


def test_the_projects_patterns_decide_which_files_instruct(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = '[tool.foldline]\ninstructions = ["README.md", "!AGENTS.md"]\n'
    (root / "pyproject.toml").write_text(settings, encoding="utf-8")
    main(["refs", "Bill.total"])
    assert "named in instructions: README.md 4 (money.sums)" in capsys.readouterr().out
