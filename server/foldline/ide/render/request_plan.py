"""A request with a prompt in the order of the wire, with its cache plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, islice

from foldline.ide.render.render import Block, IfOpened, Opening, Render
from foldline.ide.render.token_costs import sent
from foldline.ide.token_counter import TokenCounter
from foldline.prompts import Stability
from foldline.prompts.cache.cache_plan import (
    TOOLS,
    BlockStability,
    CachePlan,
    CacheRules,
    UncountedSpan,
    common_beginning,
    planned,
    span_of_schema,
    spans_of,
)

__all__ = ["Request", "common_beginning"]

_STABILITIES = {stability.name.lower(): stability for stability in Stability}


class Request:
    """A request in the order of the wire, with its cache plan."""

    def __init__(self, render: Render, counter: TokenCounter) -> None:
        self._render, self._counter = render, counter
        self.spans = [] if render.output is None else [span_of_schema(render.output.schema)]
        stability = _STABILITIES[render.tools_stability]
        self.spans += [
            UncountedSpan(TOOLS, None, (), 0, 0, sent(tool), stability) for tool in render.tools
        ]
        # Where the spans of each block begin.
        self._first, start = [len(self.spans)], 0
        for block in render.blocks:
            self.spans += _spans(block, start)
            self._first.append(len(self.spans))
            start += len(block.text)

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
        count = self._counter.count
        text = sum(count(block.text) for part in opening.parts for block in part.blocks)
        text -= sum(sum(own[part.start : part.end]) for part in opening.parts)
        before = {tool.name: tool.tokens or 0 for tool in self._render.tools}
        costs = before | {tool.name: count(sent(tool)) for tool in opening.added}
        tools = sum(costs[name] for name in opening.tools) - sum(before.values())
        return IfOpened(text, tools, text + tools, self._kept(opening))

    def _kept(self, opening: Opening) -> int | None:
        """Return the breakpoint up to which the request is read from the cache after opening."""
        alike = [*opening.tools] == [tool.name for tool in self._render.tools]
        if not alike or opening.stability != self._render.tools_stability or not self.plan.cached:
            return None
        if not opening.parts:
            return self.plan.kept_before(len(self.spans), None)
        part = opening.parts[0]
        new = chain.from_iterable(_spans(block, 0) for block in part.blocks)
        behind = islice(self.spans, self._first[part.end], None)
        first = self._first[part.start]
        return self.plan.kept_before(*common_beginning(self.spans, chain(new, behind), first))


def _spans(block: Block, start: int) -> Iterator[UncountedSpan]:
    if block.error is not None:
        return iter(())
    found = BlockStability(
        _STABILITIES[block.stability],
        tuple([_STABILITIES[segment.stability] for segment in block.segments]),
    )
    return spans_of(block.role, block.path, start, block.segments, found)
