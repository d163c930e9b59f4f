"""Reports code that isn't evaluated because it exceeds a budget."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.module_analysis import ModuleAnalysis


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
            place = partial(SourceSpan, analysis.file, statement.start, statement.end)
            yield LazyDiagnostic(Code.NOT_EVALUATED, message, place)
