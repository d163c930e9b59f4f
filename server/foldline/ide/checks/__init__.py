"""Diagnostics of prompts, found without running anything.

No finding is ever based on a guess: what only running the code would tell is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.checks.diagnostic import (
    Change,
    Code,
    Diagnostic,
    Finding,
    Fix,
    Related,
    Severity,
    default_severity,
)
from foldline.ide.checks.evaluated import check_evaluated
from foldline.ide.checks.fields import check_fields
from foldline.ide.checks.prompts import check_call
from foldline.ide.checks.sections import (
    check_section,
    check_summary_size,
    check_text,
)
from foldline.ide.checks.templates import check_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from foldline.ide.analysis.model import SourceSpan
    from foldline.ide.analysis.module_analysis import ModuleAnalysis, StatementFacts

__all__ = [
    "Change",
    "Code",
    "Diagnostic",
    "Finding",
    "Fix",
    "Related",
    "Severity",
    "default_severity",
    "diagnostics",
]


def diagnostics(
    analysis: ModuleAnalysis,
    *,
    severities: Mapping[str, Severity] | None = None,
    more: Iterable[Finding] = (),
) -> tuple[Diagnostic, ...]:
    """What is wrong with the prompts of a file, in the order of the text.

    Statements that do not parse just now are left out: their author is at work on them.

    Args:
        analysis: The file.
        severities: Severities by code where they are not the defaults.
        more: Findings of checks that need more than the file.
    """
    memory = analysis.evaluator.memory
    found: list[Finding] = []
    for facts in analysis.facts:
        if facts.statement.broken:
            continue

        def check(facts: StatementFacts = facts) -> tuple[Finding, ...]:
            return tuple(_statement(facts, analysis))

        findings = memory.fact(facts.statement.anchor, "findings", check)
        if findings and not _rests_on_damage(facts, analysis):
            found.extend(findings)
    if not any(statement.broken for statement in analysis.statements):
        found.extend(check_fields(analysis))
    found.extend(check_evaluated(analysis))
    found.extend(more)
    broken = [
        (statement.start, statement.end) for statement in analysis.statements if statement.broken
    ]
    result: dict[tuple[Code, int, int], Diagnostic] = {}
    for finding in found:
        severity = (severities or {}).get(finding.code, default_severity(finding.code))
        place = finding.place_in(analysis.file) if severity is not Severity.OFF else None
        if place is None:
            continue
        if any(low <= place.start < high for low, high in broken):
            continue
        key = (finding.code, place.start, place.end)
        if key not in result:
            result[key] = _diagnostic(finding, severity, place)
    return tuple(
        sorted(result.values(), key=lambda diagnostic: (diagnostic.place, diagnostic.code))
    )


def _rests_on_damage(facts: StatementFacts, analysis: ModuleAnalysis) -> bool:
    """Whether something that a statement is about is being typed elsewhere."""
    used = analysis.evaluator.memory.of(facts.statement.anchor).used
    damaged = {
        file: analysis.evaluator.modules.damaged(file) for file in {file for file, _ in used}
    }
    return any(name in damaged[file] for file, name in used)


def _statement(facts: StatementFacts, analysis: ModuleAnalysis) -> Iterator[Finding]:
    evaluator = analysis.evaluator
    checked: set[int] = set()
    for section in facts.sections:
        checked.add(id(section))
        yield from check_section(section)
    for text in facts.texts:
        if id(text.section) not in checked:
            checked.add(id(text.section))
            yield from check_section(text.section)
        yield from check_text(text)
    yield from check_summary_size(facts.texts)
    for template in facts.templates:
        yield from check_template(template, evaluator)
    for call in facts.calls:
        yield from check_call(call, evaluator)


def _diagnostic(finding: Finding, severity: Severity, place: SourceSpan) -> Diagnostic:
    fixes = (repair() for repair in finding.repairs)
    related = [(where(), message) for where, message in finding.related]
    written = finding.place()
    if written is not None and written.file != place.file:
        related.append((written, "It is written here."))
    return Diagnostic(
        code=finding.code,
        severity=severity,
        message=finding.message,
        place=place,
        fixes=tuple(fix for fix in fixes if fix is not None),
        related=tuple(Related(where, message) for where, message in related if where is not None),
        unnecessary=finding.unnecessary,
    )
