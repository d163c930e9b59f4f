"""What a request with a prompt costs, in tokens: the one place that counts it.

A request costs its text, its tools and the output's schema. Each is counted as it's sent, apart
from what a provider puts around it, and a section that couldn't be rendered costs nothing: no model
gets its error. The sums are of blocks: a tokenizer may save a few where it reads across borders.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

from foldline.ide import cost_texts
from foldline.ide.render.render import BlockTokens, IfOpened, Tokens
from foldline.ide.token_counter import token_counter
from foldline.prompts import Stability
from foldline.prompts.cache.cache_plan import (
    OUTPUT,
    TOOLS,
    BlockStability,
    CacheRules,
    UncountedSpan,
    common_beginning,
    planned,
    span_of_schema,
    spans_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from foldline.ide.render.render import (
        Block,
        Location,
        OpenedBlock,
        Opening,
        Output,
        Render,
        RenderedTool,
    )
    from foldline.ide.token_counter import TokenCounter
    from foldline.prompts.cache.cache_plan import CachePlan

_STABILITIES = {stability.name.lower(): stability for stability in Stability}


@dataclass(frozen=True, slots=True)
class Kept:
    """What a provider's cache keeps of the last version of a prompt.

    Attributes:
        characters: Of the text that both begin with.
        tools: True if the tools and the output's schema are alike: providers read them before the
            text.
        cached: The tokens of this version that are read from the cache.
        words: That, or why there are none, for people.
    """

    characters: int
    tools: bool
    cached: int
    words: str


def with_costs(
    render: Render,
    counter: TokenCounter,
    locations: Mapping[tuple[str, ...], Location | None] | None = None,
    known: Sequence[Block] = (),
) -> Render:
    """The render with the tokens of each block, each tool, and the whole.

    With `locations`, each block has its place in the source, too. A block that is as one of those
    `known` is that object.
    """
    # Not by path: in a prompt that isn't finished, two sections may have the same.
    own = [0 if block.error is not None else counter.count(block.text) for block in render.blocks]
    below = subtrees([block.path for block in render.blocks], own)
    tools = tuple([replace(tool, tokens=counter.count(sent(tool))) for tool in render.tools])
    render = replace(render, tools=tools)
    request = _Request(render, counter)
    before = {block.path: block for block in known}
    blocks = []
    for block, count, subtree in zip(render.blocks, own, below, strict=True):
        opening = block.opening
        if_opened = None if opening is None else request.if_opened(opening, own)
        tokens = BlockTokens(count, subtree, if_opened)
        location = block.location if locations is None else locations.get(block.path)
        last = before.get(block.path)
        if last is None or not last.is_of(block, tokens, location):
            last = replace(block, opening=None, tokens=tokens, location=location)
        blocks.append(last)
    return replace(
        render,
        blocks=tuple(blocks),
        cache=request.plan.to_json(),
        tokens=of_request(sum(own), tools, render.output, counter),
    )


def of_request(
    text: int,
    tools: Sequence[RenderedTool],
    output: Output | None,
    counter: TokenCounter,
    *,
    certain: bool = True,
) -> Tokens:
    """Return the tokens of a request; `text` are those of its text."""
    of_tools = sum(counter.count(sent(tool)) for tool in tools)
    of_output = 0 if output is None else counter.count(json.dumps(output.schema))
    total = text + of_tools + of_output
    words = cost_texts.totals(text, of_tools, of_output, counter, certain=certain)
    return Tokens(text, of_tools, of_output, total, counter.encoding, counter.exact, words)


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
    return bytes_of(block.text) if unit == "bytes" else block.own_tokens


def besides_text(render: Render, unit: str) -> Iterator[tuple[str, int]]:
    """Yield what the tools and the output's schema cost, in `tokens` or UTF-8 `bytes`."""
    count = bytes_of if unit == "bytes" else counter_of(render).count
    yield TOOLS, sum(count(sent(tool)) for tool in render.tools)
    if render.output is not None:
        yield OUTPUT, count(json.dumps(render.output.schema))


def bytes_of(text: str) -> int:
    """The size of a text in UTF-8 bytes."""
    return len(text.encode("utf-8", "replace"))


def kept(before: Render, after: Render) -> Kept:
    """What a provider's cache keeps of one version of a prompt for another one."""
    from foldline.ide.analysis.top_level import common_length

    counter = counter_of(before)

    old, new = ("".join([block.text for block in render.blocks]) for render in (before, after))
    characters = common_length(
        min(len(old), len(new)), lambda low, high: old[low:high] == new[low:high]
    )
    request, now = _Request(before, counter), _Request(after, counter)
    place = request.plan.kept_before(*common_beginning(request.spans, now.spans))
    cached = 0 if place is None else request.plan.breakpoints[place].tokens
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


class _Request:
    """A request in the order of the wire, with its cache plan."""

    def __init__(self, render: Render, counter: TokenCounter) -> None:
        self._render, self._counter = render, counter
        self._tools = {tool.name: tool for tool in render.tools}
        self._places = {block.id: place for place, block in enumerate(render.blocks)}
        self.spans = [] if render.output is None else [span_of_schema(render.output.schema)]
        stability = _STABILITIES[render.tools_stability]
        self.spans += [
            UncountedSpan(TOOLS, None, (), 0, 0, sent(tool), stability) for tool in render.tools
        ]
        # Where the spans and the text of each block begin.
        self._first, self._starts = [len(self.spans)], [0]
        for block in render.blocks:
            self.spans += _spans(block, self._starts[-1])
            self._first.append(len(self.spans))
            self._starts.append(self._starts[-1] + len(block.text))

    @cached_property
    def plan(self) -> CachePlan:
        return planned(
            self.spans,
            rules=CacheRules(),
            count_tokens=self._counter.count,
            goes_on=bool(self._render.tools),
        )

    def if_opened(self, opening: Opening, own: Sequence[int]) -> IfOpened:
        """Return what the request costs more once a section is open; `own` is by block."""
        count, text = self._counter.count, 0
        for part in opening.parts:
            start, end = self._replaced(part.id)
            text += sum(count(block.text) for block in part.blocks) - sum(own[start:end])
        costs = {tool.name: tool.tokens or 0 for tool in self._render.tools}
        added = {tool.name: count(sent(tool)) for tool in opening.added}
        tools = sum(added.get(name, 0) or costs[name] for name in opening.tools)
        tools -= sum(costs.values())
        return IfOpened(text, tools, text + tools, self._kept(opening))

    def _kept(self, opening: Opening) -> int | None:
        """Return the breakpoint up to which the request is read from the cache after opening."""
        alike = [*opening.tools] == [tool.name for tool in self._render.tools]
        if not alike or opening.stability != self._render.tools_stability or not self.plan.cached:
            return None
        if not opening.parts:
            return self.plan.kept_before(len(self.spans), None)
        part = opening.parts[0]
        start, end = self._replaced(part.id)
        offset, new = self._starts[start], list[UncountedSpan]()
        for block in part.blocks:
            new += _spans(block, offset)
            offset += len(block.text)
        first, behind = self._first[start], islice(self.spans, self._first[end], None)
        return self.plan.kept_before(*common_beginning(self.spans, chain(new, behind), first))

    def _replaced(self, id_: str) -> tuple[int, int]:
        """Return where the block of this id, and those below it, begin and end."""
        start = self._places[id_]
        end, blocks = start + 1, self._render.blocks
        while end < len(blocks) and blocks[end].id.startswith(f"{id_}/"):
            end += 1
        return start, end


def _spans(block: Block | OpenedBlock, start: int) -> Iterator[UncountedSpan]:
    found = BlockStability(
        _STABILITIES[block.stability],
        tuple([_STABILITIES[segment.stability] for segment in block.segments]),
    )
    return spans_of(block.role, block.path, start, block.segments, found)


def sent(tool: RenderedTool) -> str:
    """A tool as providers are sent it, apart from what each puts around it."""
    sent = {"name": tool.name, "description": tool.description, "schema": tool.schema}
    return json.dumps(sent, ensure_ascii=False)
