"""Check for values that keep a provider from caching what stands behind them."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.stability import declares_changes, static_plan
from foldline.ide.analysis.values import SectionValue
from foldline.ide.checks.diagnostic import Change, Code, Fix, LazyDiagnostic, at_argument, at_node
from foldline.prompts import Stability

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.module_analysis import ModuleAnalysis, PromptFacts
    from foldline.ide.analysis.values import Items
    from foldline.ide.token_counter import TokenCounter
    from foldline.prompts.cache.cache_plan import CachePlan, MisplacedValue

# Nothing else may stand between sections that change places, such as a comment.
_COMMA = re.compile(r"\s*,\s*")
_OFTEN = {Stability.SESSION: "each session", Stability.REQUEST: "each request"}


def check_cache_order(analysis: ModuleAnalysis, counter: TokenCounter) -> Iterator[LazyDiagnostic]:
    """Yield the values that change more often than what stands behind them."""
    for prompt in analysis.prompts:
        if not declares_changes(prompt.template):
            continue
        plan = static_plan(prompt.render, counter)
        for value in plan.misplaced():
            block = prompt.render.block(value.path)
            if block is not None:
                section = block.section
                key = section.arguments.get("key")
                yield LazyDiagnostic(
                    Code.CACHE_ORDER,
                    _message(value, counter),
                    at_argument(key) if key and key.name else at_node(section.class_node),
                    (partial(_moved, prompt, plan, value),),
                    instead=at_node(prompt.name),
                )


def _message(value: MisplacedValue, counter: TokenCounter) -> str:
    what = " and ".join(f"`{name}`" for name in value.fields) or "The section"
    return (
        f"{what} change{'' if len(value.fields) > 1 else 's'} with {_OFTEN[value.stability]}, so "
        f"no cache keeps the {counter.format(value.tokens)} tokens behind it that change less "
        "often: move the section behind them."
    )


def _moved(prompt: PromptFacts, plan: CachePlan, value: MisplacedValue) -> Fix | None:
    """The fix that moves the section's root behind the last one that changes less often."""
    root = value.path[:1]
    last = next(
        span.path[:1]
        for span in reversed(plan.spans)
        if span.path is not None and span.stability < value.stability
    )
    spans = _spans(prompt.template.rows, root[0], last[0])
    text = prompt.analysis.text
    between = [text[one.end : other.start] for one, other in pairwise(spans)]
    if any(span.file != prompt.analysis.file for span in spans) or not between:
        return None
    if not all(map(_COMMA.fullmatch, between)):
        return None
    sources = [text[span.start : span.end] for span in (*spans[1:], spans[0])]
    moved = sources[0] + "".join(map("".join, zip(between, sources[1:], strict=True)))
    place = SourceSpan(prompt.analysis.file, spans[0].start, spans[-1].end)
    return Fix(f"Move the section behind `{last[0]}`", (Change(place, moved),))


def _spans(rows: Items, first: str, last: str) -> list[SourceSpan]:
    """The places of the root sections from `first` to `last`; none if they aren't all known."""
    keys = [item.value.key if isinstance(item.value, SectionValue) else "" for item in rows.items]
    if not rows.complete or first not in keys or last not in keys:
        return []
    return [span_of(item.node) for item in rows.items[keys.index(first) : keys.index(last) + 1]]
