"""Valid modules that are written in unusual ways: no check takes one of them for a mistake."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.fixtures import files

from foldline.ide.analysis.project import Project
from foldline.ide.checks import Code, Severity, diagnostics
from foldline.ide.checks.costs import check_costs
from foldline.ide.token_counter import token_counter
from foldline.prompts import Prompt, PromptTemplate

_, FILES = files(Path(__file__).with_name("unusual.txt").read_text(encoding="utf-8"))
COUNTERS = (token_counter(exact=False), token_counter())
UNFINISHED: dict[str, Severity] = {Code.UNUSED_FIELD: Severity.OFF}


def found_in(text: str, *, opened: str | None = None) -> list[str]:
    """What is reported of a module, after another text of it if one is given."""
    project = Project()
    for version in (opened, text) if opened is not None else (text,):
        project.open("/w/module.py", version)
        analysis = project.analysis("/w/module.py")
        assert analysis is not None
        found = [
            f"{item.code}: {item.message}"
            for counter in COUNTERS
            for item in diagnostics(
                analysis, severities=UNFINISHED, more=check_costs(analysis, None, counter)
            )
        ]
    return found


def test_there_are_many_unusual_modules() -> None:
    assert len(FILES) >= 25


@pytest.mark.parametrize("name", FILES)
def test_an_unusual_module_works_and_nothing_is_reported_of_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    prompt = runpy.run_path(str(path))["T"]
    assert isinstance(prompt, (Prompt, PromptTemplate))
    prompt.render()
    assert found_in(FILES[name]) == []


# Half a comment silences nothing, and half a string is a comment.
@given(
    name=st.sampled_from(sorted({*FILES} - {"silenced.py", "directives.py"})),
    place=st.floats(0, 1),
    whole_before=st.booleans(),
    cut=st.booleans(),
)
# An indented block whose indent is one less: what it makes is evaluated as it was, and as it is.
@example(name="nested_scopes.py", place=0.36328125, whole_before=True, cut=False)
def test_nothing_is_reported_while_an_unusual_module_is_typed(
    name: str, place: float, whole_before: bool, cut: bool
) -> None:
    text = FILES[name]
    at = int(place * len(text))
    typed = text[:at] if cut else text[:at] + text[at + 1 :]
    try:
        ast.parse(typed)
    except SyntaxError:
        assert found_in(typed, opened=text if whole_before else None) == []
