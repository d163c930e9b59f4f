"""Token costs of prompts and sections in words, the same in every shell.

The number of a prompt is that of a request: its text, its tools and the output's schema. A
summarized section says what opening it costs. `~` marks a count that is estimated, or made from the
source where only running the prompt gives its text, `≥` one that lacks a part: see
`approximation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from foldline.ide.render.render import Block, IfOpened, Render
    from foldline.ide.token_counter import TokenCounter
    from foldline.prompts.cache.cache_plan import CachePlan

SUMMARIZED = "summarized"
MINUS = "\N{MINUS SIGN}"
_FROM_SOURCE = "Counted from the source: only running the prompt decides all of its text."
_MOST_NAMED = 3
_ESTIMATED = "Estimated: install foldline[tokens] for exact counts."


def tokens(
    count: int, counter: TokenCounter, *, certain: bool = True, partial: bool = False
) -> str:
    """Return `1,657 tokens`."""
    number = counter.format(count, certain=certain, partial=partial)
    return f"{number} token{'' if count == 1 else 's'}"


def change(count: int) -> str:
    """Return a difference with its sign: `+12`."""
    return f"{MINUS if count < 0 else '+'}{abs(count):,}"


def of_budget(used: int, limit: int, unit: str, *, exact: bool) -> str:
    """Return a cost against its limit: `4,255 of 3,000 tokens (1,255 over)`."""
    mark = "" if exact else "~"
    over = f" ({mark}{used - limit:,} over)" if used > limit else ""
    return f"{mark}{used:,} of {limit:,} {unit}{over}"


def changed(before: int, after: int) -> str:
    """Return how the cost of a request has changed: `+9 tokens with tools (272 → 281)`."""
    return f"{change(after - before)} tokens with tools ({before:,} → {after:,})"


def if_opened(cost: IfOpened, plan: Mapping[str, Any] | None = None, *, exact: bool = True) -> str:
    """Return what opening a summarized section costs: `+269 if opened`.

    If it changes the tools, that is said: `+38 if opened (+14 text, +24 tools)`. With the cache
    plan of the prompt, so is what isn't read from the cache then: `1,024 cached tokens read again`.
    """
    text = f"{'' if exact else '~'}{change(cost.total)} if opened"
    if cost.tools:
        text += f" ({change(cost.text)} text, {change(cost.tools)} tools)"
    if plan is not None and (again := read_again(cost, plan)):
        text += f", {again:,} cached tokens read again"
    return text


def read_again(cost: IfOpened, plan: Mapping[str, Any]) -> int:
    """Return the tokens in a provider's cache that opening a section has it read again."""
    at = cost.breakpoint
    cached: int = plan["cached"]
    return cached - (0 if at is None else plan["breakpoints"][at]["tokens"])


def section_cost(
    block: Block,
    counter: TokenCounter,
    *,
    plan: Mapping[str, Any] | None = None,
    certain: bool = True,
) -> str:
    """Return a section's cost: `94 tokens`, `52 tokens, 97 in all`, `59 tokens, +269 if opened`.

    With the prompt's cache `plan`, it says what opening it costs. It's `certain` if running the
    prompt gives what was counted.
    """
    cost = block.tokens
    assert cost is not None
    parts = [tokens(cost.own, counter, certain=certain)]
    if cost.subtree != cost.own:
        parts += [f"{counter.format(cost.subtree, certain=certain)} in all"]
    if plan is not None and cost.if_opened is not None:
        parts += [if_opened(cost.if_opened, plan, exact=counter.exact and certain)]
    return ", ".join(parts)


def preview(render: Render, counter: TokenCounter, *, certain: bool = True) -> str:
    """Return what is above a prompt: `Preview · 135 tokens · 1 summarized`."""
    counted = render.tokens
    total, partial = (counted.total, counted.lower_bound) if counted else (0, False)
    parts = ["Preview", tokens(total, counter, certain=certain, partial=partial)]
    if summarized := sum(block.is_summarized for block in render.blocks):
        parts.append(f"{summarized} {SUMMARIZED}")
    return " · ".join(parts)


def inlay(number: str, block: Block, counter: TokenCounter, *, certain: bool = True) -> str:
    """Return what is behind a section's title: `1.2. · 94 tokens, summarized`."""
    cost = section_cost(block, counter, certain=certain)
    summarized = f", {SUMMARIZED}" if block.is_summarized else ""
    return f"{number}. · {cost}{summarized}" if number else f"{cost}{summarized}"


def totals(
    text: int, tools: int, output: int, counter: TokenCounter, *, certain: bool, partial: bool
) -> tuple[str, ...]:
    """Return a request's cost and its parts: `272 tokens`, `Text: 114 tokens`, `Tools: …`."""
    total = tokens(text + tools + output, counter, certain=certain, partial=partial)
    if not tools and not output:
        return (total,)
    parts = {"Text": text, "Tools": tools, "Output schema": output}
    sentence = (
        f"{name}: {tokens(count, counter, certain=certain)}"
        for name, count in parts.items()
        if count
    )
    return (total, *sentence)


def cached(count: int, plan: CachePlan, different: Sequence[str]) -> str:
    """Return what a provider's cache keeps of the last version, or why that is nothing.

    It keeps `count` tokens; `different` is what has changed besides the text.
    """
    if count:
        return f"{count:,} tokens reusable from cache"
    if not plan.cached:
        from foldline.prompts.cache.cache_plan import too_short

        return too_short(plan.tokens, plan.rules.minimum_tokens)
    what = " and ".join(different) or "what the prompt begins with"
    return f"Nothing cached: {what} changed"


def approximation(counter: TokenCounter, *, certain: bool, unresolved: Sequence[str] = ()) -> str:
    """Return what `~` or `≥` means at a count; empty where there is none."""
    reasons = [] if counter.exact else [_ESTIMATED]
    if unresolved:
        reasons.append(f"Counted from the source, {without(unresolved)}.")
    elif not certain:
        reasons.append(_FROM_SOURCE)
    return " ".join(reasons)


def without(unresolved: Sequence[str]) -> str:
    """Return what a count lacks: `without the section `header`; --run counts that`."""
    return f"without {named(unresolved)}; --run counts that"


def named(unresolved: Sequence[str]) -> str:
    """Return what a count lacks, of much the first ones."""
    first, more = ", ".join(unresolved[:_MOST_NAMED]), len(unresolved) - _MOST_NAMED
    return f"{first} and {more} more" if more > 0 else first
