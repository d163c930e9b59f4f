"""Checks that say what was left unknown because it is too much."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.diagnostic import Code, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.module_analysis import ModuleAnalysis


def check_evaluated(analysis: ModuleAnalysis) -> Iterator[Finding]:
    """A file that isn't read, and the statements that describe more than is worked out."""
    if analysis.refused:
        message = f"Prompts of this file are not shown: {analysis.refused}."
        yield Finding(Code.NOT_EVALUATED, message, lambda: SourceSpan(analysis.file, 0, 0))
    analysis.module  # noqa: B018 - What it costs to show the prompts counts, too.
    for statement in analysis.statements:
        if analysis.evaluator.memory.of(statement.anchor).exceeded:
            message = (
                "This describes more text or more sections than a file of this size should; what "
                "is left out shows as unknown until the prompt is run."
            )
            place = partial(SourceSpan, analysis.file, statement.start, statement.end)
            yield Finding(Code.NOT_EVALUATED, message, place)
