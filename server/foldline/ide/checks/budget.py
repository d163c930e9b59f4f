"""Checks that count tokens: of the number that a prompt renders to, and of folding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, at_node
from foldline.ide.checks.folding import check_folding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.token_counter import TokenCounter


def counted_checks(
    analysis: ModuleAnalysis, budget: int | None, counter: TokenCounter
) -> Iterator[LazyDiagnostic]:
    """Yield the diagnostics of all checks that count tokens."""
    yield from check_budget(analysis, budget, counter)
    yield from check_folding(analysis, counter)


def check_budget(
    analysis: ModuleAnalysis, budget: int | None, counter: TokenCounter
) -> Iterator[LazyDiagnostic]:
    """Yield the prompts that exceed `budget` tokens, as far as their source tells."""
    if budget is None:
        return
    for prompt in analysis.prompts:
        tokens = prompt.render.tokens(counter)
        if tokens > budget:
            yield LazyDiagnostic(
                Code.TOKEN_BUDGET,
                f"`{prompt.name.id}` renders to {counter.format(tokens)} tokens, "
                f"{counter.format(tokens - budget)} more than its budget of {budget:,}.",
                at_node(prompt.name),
            )
