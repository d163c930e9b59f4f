"""The tokens of a rendered prompt, and the part of it that a provider's cache keeps."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from foldline.ide.render.render import BlockTokens, Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.ide.analysis.module_analysis import PromptFacts
    from foldline.ide.render.render import Block, Location, Render, RenderedTool
    from foldline.ide.token_counter import TokenCounter
    from foldline.prompts.cache.cache_plan import CachePlan


@dataclass(frozen=True, slots=True)
class Kept:
    """The common prefix of two versions of a prompt, as a provider's cache compares them.

    Attributes:
        characters: Of the text.
        tokens: Of the blocks that are alike as a whole.
        tools: True if the tools are alike: providers read them before the text.
        cached: The tokens that a cache keeps: tools and blocks; none if the tools differ.
    """

    characters: int
    tokens: int
    tools: bool
    cached: int


def with_costs(
    render: Render,
    counter: TokenCounter,
    locations: Mapping[tuple[str, ...], Location | None] | None = None,
    known: Sequence[Block] = (),
) -> Render:
    """The render with the tokens of each block, each tool, and the whole.

    With `locations`, each block has its place in the source, too. A block that is as one of those
    `known` is that object. The sums are of blocks: a tokenizer may save a few where it reads across
    their borders. A section that couldn't be rendered costs nothing: no model gets its error.
    """
    # Not by path: in a prompt that isn't finished, two sections may have the same.
    own = [0 if block.error is not None else counter.count(block.text) for block in render.blocks]
    below = subtrees([block.path for block in render.blocks], own)
    before = {block.path: block for block in known}
    blocks = []
    for block, count, subtree in zip(render.blocks, own, below, strict=True):
        opened = block.opened_text
        if_opened = None if opened is None else counter.count(opened)
        tokens = BlockTokens(count, subtree, if_opened)
        location = block.location if locations is None else locations.get(block.path)
        last = before.get(block.path)
        if last is None or not last.is_of(block, tokens, location):
            last = replace(block, opened_text=None, tokens=tokens, location=location)
        blocks.append(last)
    tools = tuple([replace(tool, tokens=counter.count(_sent(tool))) for tool in render.tools])
    of_tools = sum(tool.tokens or 0 for tool in tools)
    output = render.output
    text = sum(own)
    of_output = 0 if output is None else counter.count(json.dumps(output.schema))
    total = text + of_tools + of_output
    return replace(
        render,
        blocks=tuple(blocks),
        tools=tools,
        cache=_cache_plan(render, counter).to_json(),
        tokens=Tokens(text, of_tools, of_output, total, counter.encoding, counter.exact),
    )


def subtrees(paths: Sequence[tuple[str, ...]], own: Sequence[int]) -> list[int]:
    """Return what each block costs with those behind it that are below it."""
    found = list(own)
    around: list[int] = []
    for place, path in enumerate(paths):
        while around and path[:-1][: len(paths[around[-1]])] != paths[around[-1]]:
            around.pop()
        for above in around:
            found[above] += own[place]
        around.append(place)
    return found


def spent(block: Block, unit: str) -> int:
    """The cost of a block without those below it, in `tokens` or UTF-8 `bytes`."""
    if block.error is not None:
        return 0
    if unit == "bytes":
        return len(block.text.encode("utf-8", "replace"))
    return block.own_tokens


def kept(
    before: Sequence[Block],
    after: Sequence[Block],
    tools_before: Sequence[RenderedTool],
    tools_after: Sequence[RenderedTool],
) -> Kept:
    """The common prefix of two versions of a prompt."""
    from foldline.ide.analysis.top_level import common_length

    old, new = "".join(b.text for b in before), "".join(b.text for b in after)
    characters = common_length(
        min(len(old), len(new)), lambda low, high: old[low:high] == new[low:high]
    )
    end = tokens = 0
    for block in after:
        end += len(block.text)
        if end > characters:
            break
        tokens += block.own_tokens
    tools = tuple(tools_before) == tuple(tools_after)
    cached = tokens + sum(tool.tokens or 0 for tool in tools_after) if tools else 0
    return Kept(characters, tokens, tools, cached)


def opened_costs(
    prompt: PromptFacts, counter: TokenCounter
) -> Mapping[tuple[str, ...], int | None]:
    """Return the tokens that opening each summarized section adds, by path; None if unknown."""
    return {path: found.gain(counter) for path, found in prompt.summarized.items()}


def _cache_plan(render: Render, counter: TokenCounter) -> CachePlan:
    """The part of the render that providers can keep between requests."""
    from foldline.prompts import Stability
    from foldline.prompts.cache.cache_plan import (
        TOOLS,
        BlockStability,
        CacheRules,
        UncountedSpan,
        planned,
        spans_of,
    )

    spans = [
        UncountedSpan(TOOLS, None, (), 0, 0, _sent(tool), Stability.CONSTANT)
        for tool in render.tools
    ]
    named = {stability.name.lower(): stability for stability in Stability}
    start = 0
    for block in render.blocks:
        found = BlockStability(
            named[block.stability], tuple([named[segment.stability] for segment in block.segments])
        )
        spans += spans_of(block.role, block.path, start, block.segments, found)
        start += len(block.text)
    return planned(
        spans,
        rules=CacheRules(),
        count_tokens=counter.count,
        goes_on=bool(render.tools),
    )


def _sent(tool: RenderedTool) -> str:
    """A tool as providers are sent it, apart from what each puts around it."""
    sent = {"name": tool.name, "description": tool.description, "schema": tool.schema}
    return json.dumps(sent, ensure_ascii=False)
