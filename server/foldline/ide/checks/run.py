"""The run of all checks over a file: every check is called from here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.analysis.module_analysis import ModuleAnalysis, StatementFacts
from foldline.ide.analysis.placeholders import texts_of
from foldline.ide.analysis.values import SectionValue, kept
from foldline.ide.checks.calls import check_assignments, check_calls
from foldline.ide.checks.codes import Code, Severity, default_severity
from foldline.ide.checks.diagnostic import Diagnostic, LazyDiagnostic, Related
from foldline.ide.checks.sections import (
    check_overrides,
    check_section,
    check_summary_size,
    check_text,
)
from foldline.ide.checks.silencing import Silencer
from foldline.ide.checks.templates import check_prompt_names, check_template
from foldline.ide.checks.texts import check_fields, check_foreign_syntax, check_forms, check_list


def diagnostics(
    analysis: ModuleAnalysis,
    *,
    severities: Mapping[str, Severity] | None = None,
    more: Iterable[LazyDiagnostic] = (),
    known: dict[str, tuple[SourceSpan, int]] | None = None,
    of_plugins: Iterable[Diagnostic] = (),
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a file's prompts, in source order.

    Statements that don't parse are left out: their author is still typing. `severities` differ from
    the defaults, and `more` are of checks that need more than the file. The places of prompts in
    other files are `known` by `ns/key`; the file's own are added. Comments silence what is
    `of_plugins`, too.
    """
    memo, silencer = analysis.evaluator.memo, Silencer(analysis)
    reported: list[LazyDiagnostic] = []
    withheld: list[LazyDiagnostic] = []
    for facts in analysis.facts:
        if facts.statement.broken:
            continue
        check = partial(_statement, facts, analysis)
        of_statement = memo.facts(facts.statement.anchor, "diagnostics", check)
        if of_statement:
            (withheld if _uses_damaged_names(facts, analysis) else reported).extend(of_statement)
    sound = not any(statement.broken for statement in analysis.statements)
    if sound:
        reported.extend(check_fields(analysis))
        reported.extend(check_prompt_names(analysis, {} if known is None else known))
    reported.extend(check_evaluated(analysis))
    reported.extend(check_overrides(analysis))
    reported.extend(more)
    broken = [
        (statement.start, statement.end) for statement in analysis.statements if statement.broken
    ]
    configured = severities or {}
    levels = {code: configured.get(code, default_severity(code)) for code in Code}
    result: dict[tuple[str, int, int], Diagnostic] = {}
    for lazy in reported:
        severity = levels[lazy.code]
        span = lazy.place_in(analysis.file) if severity is not Severity.OFF else None
        if span is None:
            continue
        # A node that was deleted from a broken statement is at the statement's end.
        if any(low <= span.start < high or span.start == span.end == high for low, high in broken):
            continue
        key = (lazy.code, span.start, span.end)
        if key not in result and not silencer.silences(lazy.code, span):
            result[key] = located(lazy, severity, span)
    result.update(
        ((one.code, one.place.start, one.place.end), one)
        for one in of_plugins
        if not silencer.silences(one.code, one.place)
    )
    shown = tuple(result.values())
    evaluated = analysis.statements and all(one.code is not Code.NOT_EVALUATED for one in reported)
    if sound and evaluated:
        for lazy in withheld:
            span = lazy.place_in(analysis.file)
            if span is not None:
                silencer.silences(lazy.code, span)
        unused = silencer.unused(levels, shown)
        shown += tuple(one for one in unused if not silencer.silences(one.code, one.place))
    return tuple(sorted(shown, key=lambda diagnostic: (diagnostic.place, diagnostic.code)))


def _uses_damaged_names(facts: StatementFacts, analysis: ModuleAnalysis) -> bool:
    """Return True if a name that the statement uses is defined only in unparsable text."""
    used = analysis.evaluator.memo.bucket(facts.statement.anchor).used
    damaged = {
        file: analysis.evaluator.modules.damaged(file) for file in {file for file, _ in used}
    }
    return any(name in damaged[file] for file, name in used)


def _statement(facts: StatementFacts, analysis: ModuleAnalysis) -> Iterator[LazyDiagnostic]:
    evaluator = analysis.evaluator
    sections = {id(section): section for section in facts.sections}
    sections.update((id(text.section), text.section) for text in facts.texts)
    for section in sections.values():
        yield from kept(section, "diagnostics", _of_section)
    for template in facts.templates:
        yield from check_template(template)
    yield from check_calls(facts.calls, evaluator)
    yield from check_assignments(facts.statement.nodes, analysis.scope, evaluator)


def _of_section(section: SectionValue) -> tuple[LazyDiagnostic, ...]:
    texts = tuple(texts_of(section))
    of_texts = (
        diagnostic
        for text in texts
        for diagnostic in (*check_text(text), *check_foreign_syntax(text), *check_forms(text))
    )
    return (
        *check_section(section),
        *of_texts,
        *check_summary_size(texts),
        *check_list(section, texts),
    )


def located(lazy: LazyDiagnostic, severity: Severity, place: SourceSpan) -> Diagnostic:
    """Return a diagnostic at a place, with its fixes."""
    fixes = (repair() for repair in lazy.repairs)
    related = [(where(), message) for where, message in lazy.related]
    written = lazy.place()
    if written is not None and written.file != place.file:
        related.append((written, "It is written here."))
    return Diagnostic(
        code=lazy.code,
        severity=severity,
        message=lazy.message,
        place=place,
        fixes=tuple(fix for fix in fixes if fix is not None),
        related=tuple(Related(where, message) for where, message in related if where is not None),
        unnecessary=lazy.unnecessary,
    )


def check_evaluated(analysis: ModuleAnalysis) -> Iterator[LazyDiagnostic]:
    """Report a file that isn't parsed, and statements that exceed their evaluation budget."""
    if analysis.refused:
        message = f"Prompts of this file are not shown: {analysis.refused}."
        yield LazyDiagnostic(Code.NOT_EVALUATED, message, lambda: SourceSpan(analysis.file, 0, 0))
    # Showing the prompts counts towards the budget.
    list(analysis.prompts)
    for statement in analysis.statements:
        if analysis.evaluator.memo.bucket(statement.anchor).exceeded:
            message = (
                "This statement describes more text or sections than a file of this size should. "
                "The rest shows as unknown until the prompt is run."
            )
            location = partial(SourceSpan, analysis.file, statement.start, statement.end)
            yield LazyDiagnostic(Code.NOT_EVALUATED, message, location)
