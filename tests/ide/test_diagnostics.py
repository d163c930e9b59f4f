"""Every diagnostic where it belongs and nowhere else, in all ways that clients write and count."""

# ruff: noqa: E501 - a fixture reads best as its author would write it.

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types
from tests.fixtures import cases

from foldline.ide.checks import Code, Severity, default_severity
from foldline.server.diagnostic_items import SOURCE
from foldline.server.features import diagnostic

from .editor_fixture import WAYS, Way, set_up

if TYPE_CHECKING:
    from foldline.ide.workspace import Workspace

    from .conftest import Fixtures
    from .editor_fixture import EditorFixture

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
    Severity.HINT: types.DiagnosticSeverity.Hint,
}


CASES = cases(Path(__file__).with_name("diagnostics.txt"))


def found_in(editor: EditorFixture) -> list[types.Diagnostic]:
    report = editor.ask(diagnostic, types.DocumentDiagnosticParams)
    return list(report.items)


def check_diagnostics(
    fixtures: Fixtures, workspace: Workspace, source: str, way: Way, about: str
) -> None:
    editor = set_up(workspace, source, way)
    spans = []
    for item in found_in(editor):
        assert item.source == SOURCE
        assert item.severity == SEVERITIES[default_severity(Code(str(item.code)))]
        assert item.message.endswith((".", "?"))
        # The fixtures' own head declares fields that few of them use, and their names say little.
        if item.code not in (Code.UNUSED_FIELD, Code.DUPLICATE_PROMPT) or about == item.code:
            spans.append((*editor.span(item.range), str(item.code)))
    assert fixtures.render(editor.written.fixture, spans) == source.partition("#- ")[0]


ELSEWHERE = {
    Code.SYNTAX_ERROR,
    Code.TOKEN_BUDGET,
    Code.UNPROVEN_BUDGET,
    Code.CACHE_ORDER,
    Code.DEAD_IMPORT,
    Code.NOT_EVALUATED,
    Code.SWITCHED_OFF_INSTRUCTIONS,
    Code.EMPTY_SECTION,
    Code.FRONT_MATTER,
    Code.REPEATED_SECTION,
    Code.SECTION_DRIFT,
    Code.STALE_REFERENCE,
    Code.UNKNOWN_FRONT_MATTER,
}
"""Codes whose cases are no short fixtures of a prompt: below, and in the tests of instruction files."""


@pytest.mark.parametrize("title", CASES)
def test_a_mistake_is_found_and_nothing_else(
    fixtures: Fixtures, workspace: Workspace, title: str
) -> None:
    for way in WAYS:
        check_diagnostics(fixtures, workspace, CASES[title], way, title.partition(":")[0])


def test_every_code_has_cases_that_are_found_and_cases_that_are_not() -> None:
    for code in set(Code) - ELSEWHERE:
        about = [case for title, case in CASES.items() if title.startswith(f"{code}:")]
        found = [case for case in about if f"^ {code}\n" in case]
        assert len(found) >= 2, code
        assert len(about) - len(found) >= 2, code


@pytest.mark.parametrize("code", sorted(set(Code) - ELSEWHERE))
def test_every_code_can_be_turned_off_and_down(workspace: Workspace, code: Code) -> None:
    source = next(case for case in CASES.values() if f"^ {code}\n" in case)
    editor = set_up(workspace, source)
    for severity, expected in (("hint", types.DiagnosticSeverity.Hint), ("off", None)):
        assert editor.server.core.set_client_options({"severity": {str(code): severity}}) == ()
        found = {item.severity for item in found_in(editor) if item.code == code}
        assert found == ({expected} if expected is not None else set())


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_prompt_over_its_budget_is_told_at_its_name(
    fixtures: Fixtures, workspace: Workspace, way: Way
) -> None:
    source = """
SMALL = PromptTemplate(ns="a", key="b", sections=[MarkdownSection[None](title="T", key="k", template="t")])
LARGE = PromptTemplate(ns="a", key="c", sections=[MarkdownSection[None](title="T", key="k", template="🎉 A text of more than ten tokens, as far as anybody can count them.")])
^^^^^ token-budget
PART = PromptTemplate(ns="a", key="d", sections=[*more(), MarkdownSection[None](title="T", key="k", template="t")])
^^^^ unproven-budget
"""
    editor = set_up(workspace, source, way)
    editor.server.core.set_client_options({"tokenBudget": 10})
    budgets = {Code.TOKEN_BUDGET, Code.UNPROVEN_BUDGET}
    spans = [
        (*editor.span(item.range), str(item.code))
        for item in found_in(editor)
        if item.code in budgets
    ]
    assert fixtures.render(editor.written.fixture, spans) == source
    editor.server.core.set_client_options({"tokenBudget": None})
    assert not any(item.code in budgets for item in found_in(editor))
