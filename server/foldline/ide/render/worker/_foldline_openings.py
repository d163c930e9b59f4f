"""Computes the changes that opening each summarized section makes to a request."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from textwrap import shorten
from typing import Any

from foldline.prompts import Block, RenderedPrompt, SectionVisibility, Segment, SegmentKind, Task
from foldline.prompts.cache.cache_plan import stability_of_all
from foldline.prompts.disclosure.disclosure import (
    build_expansion_instructions,
    disclosure_param_descriptions,
    disclosure_tools,
)
from foldline.prompts.disclosure.retry import instructed
from foldline.prompts.errors import PromptError
from foldline.prompts.layout.fitting import forms
from foldline.prompts.layout.layout import Piece, assemble
from foldline.prompts.layout.rendering import RenderPass
from foldline.prompts.tool import Tool
from foldline.prompts.tool_calls import described, parameters_schema

FULL = SectionVisibility.FULL

Path = tuple[str, ...]
BUDGETS = {200_000: "200k", 32_000: "32k", 8_000: "8k"}


class Openings:
    """The openings of a render: only the blocks that they change are rendered again.

    These are the section's own, and those that show a task: it says which sections were opened, and
    the `reason`. `failed` are the sections that couldn't be rendered, and `written` returns a block
    as it's sent.
    """

    def __init__(
        self,
        rendered: RenderedPrompt[Any],
        reason: str,
        failed: Collection[Path],
        written: Callable[[Block], dict[str, object]],
    ) -> None:
        source = rendered._source  # noqa: SLF001 - Only the pass that rendered can open a section.
        assert source is not None
        self._rendered, self._source, self._reason = rendered, source, reason
        self._written = written
        self._blocks = blocks = rendered.blocks
        self._last = max((n for n, block in enumerate(blocks) if block.segments), default=-1)
        self._names = {tool.name for tool in rendered.tools}
        self._tasks = [
            index
            for index, block in enumerate(blocks)
            if block.path not in failed and self._shows_task(block.path)
        ]

    def stability(self, blocks: Sequence[Block] | None = None) -> str:
        """The stability of the list of tools, by default that of the render itself."""
        owners = (block for block in blocks or self._blocks if self._tools(block))
        return stability_of_all(
            self._rendered.stability_of(block).presence for block in owners
        ).name.lower()

    def fits(self) -> list[str]:
        """Return what `Fit` makes of the text at the budgets, in words, unless a summary fails."""
        labels = dict[str, str]()
        with suppress(PromptError):
            fitted = forms(self._source, self._blocks, [*BUDGETS])
            for (budget, label), form in zip(BUDGETS.items(), fitted, strict=True):
                parts = {"leaves out": form.left_out, "folds": form.folded}
                done = [f"{verb} {', '.join(map('.'.join, p))}" for verb, p in parts.items() if p]
                text = shorten("; ".join(done), 120, placeholder=" …")
                text = text if form.tokens <= budget else "even the smallest allowed form is larger"
                words = f"{text} (~{form.tokens:,} tokens)" if text else "everything fits"
                labels[words] = f"{label}, {labels[words]}" if words in labels else label
        return [f"{those}: {words}" for words, those in reversed(labels.items())]

    def opening(self, place: int) -> dict[str, object] | None:
        """Return what opening the block at `place` changes; None if it can't be shown open."""
        if self._blocks[place].opened_by is None:
            return None
        with suppress(PromptError):
            return self._opening(place)
        return None

    def _opening(self, opened: int) -> dict[str, object]:
        source = self._pass(self._blocks[opened])
        parts: list[dict[str, object]] = []
        shown: list[Block] = []
        end = 0
        for start in sorted({opened, *self._tasks}):
            if start < end:
                continue
            shown += self._blocks[end:start]
            end, blocks = self._part(source, start)
            shown += blocks
            if [b.segments for b in blocks] != [b.segments for b in self._blocks[start:end]]:
                parts.append({"start": start, "end": end, "blocks": [*map(self._written, blocks)]})
        shown += self._blocks[end:]
        own_tools = [
            tool
            for block in shown
            if block.enabled and block.visibility is FULL
            for tool in self._tools(block)
        ]
        names = {block.opened_by for block in shown if block.opened_by}
        tools = [*own_tools, *disclosure_tools(self._source, [], also=names)]
        added = [tool for tool in tools if tool.name not in self._names]
        return {
            "parts": parts,
            "tools": [tool.name for tool in tools],
            "added": [tool_json(tool, self._rendered) for tool in added],
            "stability": self.stability(shown),
        }

    def _pass(self, block: Block) -> RenderPass:
        """Return a render with the section open, and the tasks told so."""
        source = self._source
        instructions = build_expansion_instructions(
            (block.dotted_key,), self._reason, source.plan.wording
        )
        return RenderPass(
            source.plan,
            instructed(source.bindings, source.plan, instructions),
            overrides={**source.overrides, block.path: FULL},
            session=source.session,
            session_overrides=source.session_overrides,
        )

    def _part(self, source: RenderPass, start: int) -> tuple[int, Sequence[Block]]:
        """Return the end of the section at `start`, and the blocks in its place."""
        path, end = self._blocks[start].path, start + 1
        while end < len(self._blocks) and self._blocks[end].path[: len(path)] == path:
            end += 1
        node = source.plan.by_path[path]
        pieces = source.pieces([node])
        count = len(pieces)
        if end <= self._last:
            # Text behind them, so that the last one ends with the blank line in between.
            pieces.append(Piece(node, True, FULL, [Segment(SegmentKind.LITERAL, ".")]))
        return end, assemble(pieces)[1][:count]

    def _tools(self, block: Block) -> Sequence[Tool[object, object]]:
        return self._source.plan.by_path[block.path].section.tools

    def _shows_task(self, path: Path) -> bool:
        """Return True if a section shows a task."""
        value, _ = self._source.params(self._source.plan.by_path[path])
        return isinstance(value, Task)


def tool_json(tool: Tool[object, object], rendered: RenderedPrompt[Any]) -> dict[str, object]:
    """Return a tool as models are told of it."""
    wording, params = rendered.wording, rendered.tool_param_descriptions
    of_library = disclosure_param_descriptions(wording, [tool])
    return {
        "name": tool.name,
        "description": described(tool, wording),
        "schema": parameters_schema(tool, params.get(tool.name) or of_library.get(tool.name)),
    }
