"""Token costs of prompts and sections in words, the same in every shell.

The number of a prompt is that of its text; tools and the output's schema are said apart. A
summarized section says what opening it adds. `~` marks a count that is estimated, or made from the
source where only running the prompt gives its text: see `approximation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.ide.render.render import Block, Tokens
    from foldline.ide.render.token_costs import Kept
    from foldline.ide.token_counter import TokenCounter

SUMMARIZED = "summarized"
MINUS = "\N{MINUS SIGN}"
_FROM_SOURCE = "Counted from the source: only running the prompt decides all of its text."
_ESTIMATED = "Estimated: install foldline[tokens] for exact counts."


def tokens(count: int, counter: TokenCounter, *, certain: bool = True) -> str:
    """Return `1,657 tokens`."""
    return f"{counter.format(count, certain=certain)} token{'' if count == 1 else 's'}"


def change(count: int) -> str:
    """Return a difference with its sign: `+12`."""
    return f"{MINUS if count < 0 else '+'}{abs(count):,}"


def if_opened(gain: int) -> str:
    """Return what opening a summarized section adds: `+269 if opened`."""
    return f"{change(gain)} if opened"


def section_cost(
    own: int,
    counter: TokenCounter,
    *,
    below: int | None = None,
    gain: int | None = None,
    certain: bool = True,
) -> str:
    """Return a section's cost: `94 tokens`, `52 tokens, 97 in all`, `59 tokens, +269 if opened`.

    Args:
        own: The tokens of its own text.
        counter: The counter that counted them.
        below: The tokens with those of the sections below it.
        gain: What opening it adds; None if it isn't summarized, or if that isn't known.
        certain: Whether running the prompt gives the text that was counted.
    """
    parts = [tokens(own, counter, certain=certain)]
    parts += [f"{below:,} in all"] if below not in (None, own) else []
    parts += [if_opened(gain)] if gain is not None else []
    return ", ".join(parts)


def gain_of(block: Block) -> int | None:
    """Return what opening a section adds; None if it isn't summarized."""
    costs = block.tokens
    if costs is None or costs.if_opened is None or not block.is_summarized:
        return None
    return costs.if_opened - costs.subtree


def totals(costs: Tokens, counter: TokenCounter) -> str:
    """Return a prompt's costs: `114 tokens · 158 tools · 245 output schema`."""
    parts = [tokens(costs.text, counter)]
    parts += [f"{costs.tools:,} tools"] if costs.tools else []
    parts += [f"{costs.output:,} output schema"] if costs.output else []
    return " · ".join(parts)


def cached(kept: Kept) -> str:
    """Return what a provider's cache keeps of the last version, tools included."""
    return f"{kept.cached:,} cached" if kept.tools else "0 cached: the tools changed"


def approximation(counter: TokenCounter, *, certain: bool) -> str:
    """Return what `~` means at a count; empty where there is none."""
    reasons = [] if counter.exact else [_ESTIMATED]
    reasons += [] if certain else [_FROM_SOURCE]
    return " ".join(reasons)
