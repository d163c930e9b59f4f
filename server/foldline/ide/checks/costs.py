"""Checks that count tokens: of the number that a prompt renders to, of folding, of caching."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.checks.cache_order import check_cache_order
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, at_node
from foldline.ide.checks.folding import check_folding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.token_counter import TokenCounter


def check_costs(
    analysis: ModuleAnalysis, budget: int | None, counter: TokenCounter
) -> Iterator[LazyDiagnostic]:
    """Yield the diagnostics of all checks that count tokens."""
    yield from _check_budget(analysis, budget, counter)
    yield from check_folding(analysis, counter)
    yield from check_cache_order(analysis, counter)


def _check_budget(
    analysis: ModuleAnalysis, budget: int | None, counter: TokenCounter
) -> Iterator[LazyDiagnostic]:
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
