"""What opening each summarized section changes of a request."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from foldline.prompts import Block, RenderedPrompt, SectionVisibility, Segment, SegmentKind, Task
from foldline.prompts.cache.cache_plan import stability_of_all
from foldline.prompts.disclosure.disclosure import (
    build_expansion_instructions,
    disclosure_param_descriptions,
    disclosure_tools,
)
from foldline.prompts.errors import PromptError
from foldline.prompts.layout.layout import Piece, assemble
from foldline.prompts.layout.rendering import RenderPass
from foldline.prompts.tool import Tool
from foldline.prompts.tool_calls import described, parameters_schema

FULL = SectionVisibility.FULL

Path = tuple[str, ...]


class _Part(NamedTuple):
    """The blocks in place of those from `start` to `end`."""

    start: int
    end: int
    blocks: Sequence[Block]


class Openings:
    """The openings of a render: of all that they change, only that is rendered again.

    Args:
        rendered: The prompt.
        reason: Why a section is opened, as the prompt's tasks are told.
        failed: The sections that couldn't be rendered.
        written: Returns a block as it's sent.
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
            place
            for place, block in enumerate(blocks)
            if block.path not in failed and self._is_told(block.path)
        ]
        # The blocks that concern the tools.
        self._tooled = [
            (place, block)
            for place, block in enumerate(blocks)
            if block.opened_by or self._tools(block)
        ]

    def stability(self) -> str:
        """How often the list of tools changes."""
        return self._stability([block for _, block in self._tooled])

    def of(self, place: int) -> dict[str, object] | None:
        """Return what opening the block at `place` changes; None if it can't be shown open."""
        if self._blocks[place].opened_by is None:
            return None
        with suppress(PromptError):
            return self._opening(place)
        return None

    def _opening(self, opened: int) -> dict[str, object]:
        source = self._pass(self._blocks[opened])
        parts: list[_Part] = []
        for place in sorted({opened, *self._tasks}):
            if not parts or place >= parts[-1].end:
                parts.append(self._part(source, place))
        tooled = [
            (place, block)
            for place, block in self._tooled
            if not any(part.start <= place < part.end for part in parts)
        ]
        tooled += [(part.start, block) for part in parts for block in part.blocks]
        tooled.sort(key=lambda item: item[0])
        shown = [block for _, block in tooled]
        own = [
            tool
            for block in shown
            if block.enabled and block.visibility is FULL
            for tool in self._tools(block)
        ]
        names = {block.opened_by for block in shown if block.opened_by}
        tools = [*own, *disclosure_tools(self._source, [], also=names)]
        return {
            "parts": [
                {"id": "/".join(self._blocks[start].path), "blocks": [*map(self._sent, blocks)]}
                for start, end, blocks in parts
                if [b.segments for b in blocks] != [b.segments for b in self._blocks[start:end]]
            ],
            "tools": [tool.name for tool in tools],
            "added": [
                tool_json(tool, self._rendered) for tool in tools if tool.name not in self._names
            ],
            "stability": self._stability(shown),
        }

    def _pass(self, block: Block) -> RenderPass:
        """Return a render with the section open, and the tasks told so."""
        source, wording = self._source, self._source.plan.wording
        told = build_expansion_instructions((block.dotted_key,), self._reason, wording)

        def instructed(value: object) -> object:
            if isinstance(value, Task):
                return replace(value, expansion_instructions=told)
            return value

        bound = source.bindings
        return RenderPass(
            source.plan,
            replace(
                bound,
                by_type={kind: instructed(value) for kind, value in bound.by_type.items()},
                by_section={key: instructed(value) for key, value in bound.by_section.items()},
            ),
            overrides={**source.overrides, block.path: FULL},
            session=source.session,
            session_overrides=source.session_overrides,
        )

    def _part(self, source: RenderPass, start: int) -> _Part:
        path, end = self._blocks[start].path, start + 1
        while end < len(self._blocks) and self._blocks[end].path[: len(path)] == path:
            end += 1
        node = source.plan.by_path[path]
        pieces = source.pieces([node])
        if end > self._last:
            return _Part(start, end, assemble(pieces)[1])
        # A blank line separates them from what follows.
        follows = Piece(node, True, FULL, [Segment(SegmentKind.LITERAL, ".")])
        return _Part(start, end, assemble([*pieces, follows])[1][:-1])

    def _sent(self, block: Block) -> dict[str, object]:
        written = self._written(block)
        return {name: written[name] for name in ("path", "role", "segments", "stability")}

    def _stability(self, blocks: Sequence[Block]) -> str:
        owners = (block for block in blocks if self._tools(block))
        found = (self._rendered.stability_of(block).presence for block in owners)
        return stability_of_all(found).name.lower()

    def _tools(self, block: Block) -> Sequence[Tool[object, object]]:
        return self._source.plan.by_path[block.path].section.tools

    def _is_told(self, path: Path) -> bool:
        """Return True if a section shows a task that is bound."""
        node, bound = self._source.plan.by_path[path], self._source.bindings
        value = bound.by_section.get(node.dotted)
        if value is None and node.params_type is not None:
            value = bound.by_type.get(node.params_type)
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
