"""Counts the tokens of a request with a prompt; nothing else does.

A request costs its text, its tools and the output's schema. Each is counted as it's sent, apart
from what a provider puts around it, and a section that couldn't be rendered costs nothing: no model
gets its error. The sums are of blocks: a tokenizer may save a few where it reads across borders.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from foldline.backends.formatting.budget import size_of
from foldline.ide import cost_texts
from foldline.ide import render as rendering
from foldline.ide.render.render import (
    Block,
    BlockTokens,
    Kept,
    Location,
    Render,
    RenderedTool,
    Tokens,
)
from foldline.ide.token_counter import TokenCounter, token_counter


def with_costs(
    render: Render,
    counter: TokenCounter,
    locations: Mapping[tuple[str, ...], Location | None] | None = None,
    known: Sequence[Block] = (),
    *,
    certain: bool = True,
    unresolved: tuple[str, ...] = (),
    partial: bool = False,
) -> Render:
    """The render with the tokens of each block, each tool, and the whole.

    With `locations`, each block has its place in the source, too. A block that is as one of those
    `known` is that object. Unless it's `certain` that a model gets this, the totals have a `~`, or
    a `≥` where it's `partial`: it gets more. What isn't counted is named by `unresolved`.
    """
    # Not by path: in a prompt that isn't finished, two sections may have the same.
    own_costs = [
        0 if block.error is not None else counter.count(block.written) for block in render.blocks
    ]
    below = subtrees([block.path for block in render.blocks], own_costs)
    tools = tuple([replace(tool, tokens=counter.count(sent(tool))) for tool in render.tools])
    render = replace(render, tools=tools)
    request = rendering.Request(render, counter)
    before = {block.path: block for block in known}
    blocks = []
    for block, count, subtree in zip(render.blocks, own_costs, below, strict=True):
        opening = block.opening
        if_opened = None if opening is None else request.if_opened(opening, own_costs)
        tokens = BlockTokens(count, subtree, if_opened)
        location = block.location if locations is None else locations.get(block.path)
        last = before.get(block.path)
        if last is None or not last.is_of(block, tokens, location):
            last = replace(block, opening=None, tokens=tokens, location=location)
        blocks.append(last)
    text, of_tools = sum(own_costs), sum(tool.tokens or 0 for tool in tools)
    of_output = 0 if render.output is None else counter.count(json.dumps(render.output.schema))
    total = text + of_tools + of_output
    words = cost_texts.totals(text, of_tools, of_output, counter, certain=certain, partial=partial)
    return replace(
        render,
        blocks=tuple(blocks),
        cache=request.plan.to_json(),
        tokens=Tokens(
            text,
            of_tools,
            of_output,
            total,
            counter.encoding,
            counter.exact,
            words,
            partial,
            unresolved,
        ),
    )


def subtrees(paths: Sequence[tuple[str, ...]], own: Sequence[int]) -> list[int]:
    """Return what each block costs with those behind it that are below it."""
    totals = list(own)
    around: list[int] = []
    for index, path in enumerate(paths):
        while around and path[:-1][: len(paths[around[-1]])] != paths[around[-1]]:
            around.pop()
        for above in around:
            totals[above] += own[index]
        around.append(index)
    return totals


def spent(block: Block, unit: str) -> int:
    """The cost of a block without those below it, in `tokens` or UTF-8 `bytes`."""
    if block.error is not None:
        return 0
    return size_of(block.text) if unit == "bytes" else block.own_tokens


def besides_text(render: Render, unit: str) -> Iterator[tuple[str, int]]:
    """Yield what the tools and the output's schema cost, in `tokens` or UTF-8 `bytes`."""
    from foldline.prompts.cache.cache_plan import OUTPUT, TOOLS

    count = size_of if unit == "bytes" else counter_of(render).count
    yield TOOLS, sum(count(sent(tool)) for tool in render.tools)
    if render.output is not None:
        yield OUTPUT, count(json.dumps(render.output.schema))


def kept(before: Render, after: Render) -> Kept:
    """The part of one version of a prompt that a provider's cache keeps for another."""
    from foldline.ide.analysis.top_level import common_length

    counter = counter_of(before)
    old, new = ("".join([block.text for block in render.blocks]) for render in (before, after))
    characters = common_length(
        min(len(old), len(new)), lambda low, high: old[low:high] == new[low:high]
    )
    request, now = rendering.Request(before, counter), rendering.Request(after, counter)
    index = request.plan.kept_before(*rendering.common_beginning(request.spans, now.spans))
    cached = 0 if index is None else request.plan.breakpoints[index].tokens
    changed = [
        name
        for name, one, other in (
            ("the output schema", before.output, after.output),
            ("the tool list", before.tools, after.tools),
        )
        if one != other
    ]
    words = cost_texts.cached(cached, request.plan, changed)
    return Kept(characters, not changed, cached, words)


def counter_of(render: Render) -> TokenCounter:
    """The counter that counted a render."""
    counted = render.tokens
    return token_counter(counted.encoding, exact=counted.exact) if counted else token_counter()


def sent(tool: RenderedTool) -> str:
    """A tool as providers are sent it, apart from what each puts around it."""
    sent = {"name": tool.name, "description": tool.description, "schema": tool.schema}
    return json.dumps(sent, ensure_ascii=False)
