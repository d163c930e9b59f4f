"""Texts with long runs of one character: in time that grows with their square, hours each."""

from __future__ import annotations

import pytest

from foldline.ide.analysis.project import Project
from foldline.ide.checks import diagnostics
from foldline.ide.features import completion
from foldline.ide.features.completion import completions

FILE = "/w/prompt.py"
PROMPT = '''\
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate
@dataclass
class P:
    name: str
T = PromptTemplate[P](ns="n", key="t", sections=[
    MarkdownSection[P](title="A", key="a", template="""
TEXT"""),
])
'''


@pytest.mark.parametrize("run", ["$", "a.", "a[", "`", "x", "(", "a=", "a, "])
def test_proposals_at_the_end_of_a_long_line(run: str) -> None:
    project = Project()
    text = f"x = 1\n{run * (900_000 // len(run))}!"
    project.open(FILE, text)
    analysis = project.analysis(FILE)
    assert analysis is not None
    assert completions(analysis, len(text)) == ()


@pytest.mark.parametrize("before", ["a" * 500_000, "a." * 250_000, "a[b, " * 100_000, "a, "])
@pytest.mark.parametrize("brackets", ["(", "[ ", "](", "{"])
def test_the_call_around_many_brackets(
    before: str, brackets: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "_FARTHEST_CALL", 1 << 30)
    text = before + brackets * 2_000
    assert completion.call_before(text, len(text)) is None


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("x = pkg.Tool[P, list[Q]](name=", ("pkg.Tool", "P, list[Q]")),
        ("made().Tool[P](name=", ("Tool", "P")),
        ("f(1.5, Tool[P](a=(b)", ("Tool", "P")),
        ("Tool[P](a(", ("Tool", "P")),
    ],
)
def test_the_call_that_is_open(text: str, call: tuple[str, str]) -> None:
    found = completion.call_before(text, len(text))
    assert found is not None
    assert found.groups() == call


@pytest.mark.parametrize("run", ["`", "`x", "f'", "~", "` ``", "<!--", "<pre>"])
def test_another_template_language_beside_a_long_run(run: str) -> None:
    project = Project()
    long = run * (200_000 // len(run))
    project.open(FILE, PROMPT.replace("TEXT", f"{{{{ name }}}} {long}\n{long}"))
    analysis = project.analysis(FILE)
    assert analysis is not None
    found = [item.code for item in diagnostics(analysis)]
    assert "foreign-template-syntax" in found
