"""The tools by which a model sees more of a prompt: `open_sections` and `read_section`."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

from foldline.prompts.errors import (
    ToolValidationError,
    VisibilityExpansionRequired,
    near_names,
)
from foldline.prompts.layout import OPEN_SECTIONS, READ_SECTION, assemble
from foldline.prompts.tool import Tool, ToolContext, ToolResult, ToolTelemetry
from foldline.prompts.visibility import SectionVisibility

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.prompts.layout import Piece
    from foldline.prompts.rendering import RenderPass
    from foldline.prompts.tree import Node
    from foldline.prompts.visibility import SectionPath

__all__ = [
    "MAX_REASON_LENGTH",
    "OpenSectionsParams",
    "ReadSectionParams",
    "build_expansion_instructions",
]

MAX_REASON_LENGTH = 256
"""The longest `reason`, in characters, that `open_sections` takes."""


@dataclass(slots=True, frozen=True)
class OpenSectionsParams:
    """Parameters for the open_sections tool."""

    section_keys: tuple[str, ...] = field(
        metadata={
            "description": (
                "Section keys to open. Each key identifies a summarized section. "
                "Use the keys shown in section summaries. Nested sections use "
                "dot notation (e.g., 'parent.child')."
            ),
        },
    )
    reason: str = field(
        metadata={
            "description": (
                "Brief explanation of why these sections need to be expanded. "
                "Helps the caller understand the model's information needs."
            ),
        },
    )


@dataclass(slots=True, frozen=True)
class ReadSectionParams:
    """Parameters for the read_section tool."""

    section_key: str = field(
        metadata={
            "description": (
                "The key of the summarized section to read, as shown in its summary. "
                "Nested sections use dot notation (e.g., 'parent.child')."
            ),
        },
    )


def build_expansion_instructions(section_keys: Sequence[str], reason: str) -> str:
    """What tells a model, after sections were opened for it, how to go on.

    >>> build_expansion_instructions(("docs",), "Need the API")  # doctest: +ELLIPSIS
    'Sections expanded: `docs`. Reason: Need the API. Continue with your task using ...'
    """
    keys = ", ".join(f"`{key}`" for key in section_keys)
    return (
        f"Sections expanded: {keys}. "
        f"Reason: {reason}. "
        "Continue with your task using the newly visible content."
    )


def disclosure_tools(
    source: RenderPass, pieces: Sequence[Piece[Node]]
) -> list[Tool[object, object]]:
    """The disclosure tools that this render needs: none, one or both."""
    needed = {
        piece.node.opened_by
        for piece in pieces
        if piece.enabled and piece.visibility is SectionVisibility.SUMMARY
    }
    disclosure = _Disclosure(source, pieces)
    tools: list[Tool[object, object]] = []
    if OPEN_SECTIONS in needed:
        tools.append(
            Tool[OpenSectionsParams, None](
                name=OPEN_SECTIONS,
                description=(
                    "Open summarized sections of this prompt to see their full content and get "
                    "their tools. The turn ends and starts again with the sections open."
                ),
                handler=disclosure.open_sections,
                accepts_overrides=False,
            )
        )
    if READ_SECTION in needed:
        tools.append(
            Tool[ReadSectionParams, str](
                name=READ_SECTION,
                description=(
                    "Read the full content of a summarized section of this prompt. "
                    "The section stays summarized."
                ),
                handler=disclosure.read_section,
                accepts_overrides=False,
            )
        )
    return tools


class _Disclosure:
    """The handlers of both tools for one render."""

    __slots__ = ("_pieces", "_source")

    def __init__(self, source: RenderPass, pieces: Sequence[Piece[Node]]) -> None:
        self._source = source
        self._pieces = {piece.node.path: piece for piece in pieces}

    def open_sections(self, params: OpenSectionsParams, *, context: ToolContext) -> NoReturn:
        """Raise the request to open the sections; never return.

        Raises:
            VisibilityExpansionRequired: Always, unless a key cannot be opened.
            ToolValidationError: A key names nothing that can be opened; all such are listed.
        """
        keys = params.section_keys
        if isinstance(keys, str):
            keys = (keys,)
        if not keys:
            raise ToolValidationError(
                "`section_keys` is empty; name the sections to open: "
                f"{', '.join(self._summarised_keys())}."
            )
        if len(params.reason) > MAX_REASON_LENGTH:
            raise ToolValidationError(
                f"`reason` has {len(params.reason)} characters; "
                f"say it in at most {MAX_REASON_LENGTH}."
            )
        overrides = self._overrides(keys)
        if context.telemetry is not None:
            context.telemetry(ToolTelemetry(OPEN_SECTIONS, params, self._metadata(params)))
        raise VisibilityExpansionRequired(
            requested_overrides=overrides,
            reason=params.reason,
            section_keys=keys,
            expansion_instructions=build_expansion_instructions(keys, params.reason),
        )

    def read_section(
        self,
        params: ReadSectionParams,
        *,
        context: ToolContext,
    ) -> ToolResult[str]:
        """The section in full as Markdown; what is shown does not change.

        Raises:
            ToolValidationError: The key names no summarised section.
        """
        self._overrides((params.section_key,))
        node = self._source.plan.by_dotted[params.section_key]
        text, _ = assemble(self._source.pieces([node], opened=node))
        return ToolResult(
            message=f"The full content of section {params.section_key!r}.", value=text
        )

    def _overrides(self, keys: Sequence[str]) -> dict[SectionPath, SectionVisibility]:
        overrides: dict[SectionPath, SectionVisibility] = {}
        refusals: list[str] = []
        near: dict[str, None] = {}
        for key in keys:
            node = self._source.plan.by_dotted.get(key)
            if node is None:
                similar = near_names(key, self._openable_keys())
                near.update(dict.fromkeys(similar))
                refusals.append(
                    f"there is no section {key!r}"
                    + (f", did you mean {' or '.join(map(repr, similar))}?" if similar else "")
                )
            elif refusal := self._refusal(node):
                refusals.append(refusal)
            else:
                overrides.update(dict.fromkeys(self._closed(node), SectionVisibility.FULL))
        if refusals:
            available = ", ".join(self._summarised_keys())
            raise ToolValidationError(
                f"Cannot open: {'; '.join(refusals)}. Summarized sections: {available}.",
                near=near,
            )
        return overrides

    def _refusal(self, node: Node) -> str | None:
        """Why a section cannot be opened; None if it can."""
        piece = self._pieces.get(node.path)
        if piece is not None:
            if not piece.enabled:
                return f"the section {node.dotted!r} is disabled"
            if piece.visibility is SectionVisibility.FULL:
                return f"the section {node.dotted!r} is already shown in full"
            return None
        for ancestor in self._ancestry(node):
            above = self._pieces.get(ancestor.path)
            shown = self._source.is_shown(ancestor) if above is None else above.enabled
            if not shown:
                where = "" if ancestor is node else f", like all of {ancestor.dotted!r}"
                return f"the section {node.dotted!r} is disabled{where}"
        return None

    def _closed(self, node: Node) -> list[SectionPath]:
        """The section and those summarised ancestors that keep it from being shown."""
        closed = []
        for ancestor in self._ancestry(node):
            piece = self._pieces.get(ancestor.path)
            if ancestor is node or (
                piece.visibility is SectionVisibility.SUMMARY
                if piece is not None
                else self._source.would_be_summarised(ancestor)
            ):
                closed.append(ancestor.path)
        return closed

    def _ancestry(self, node: Node) -> list[Node]:
        """From the root section down to the section itself."""
        by_path = self._source.plan.by_path
        return [by_path[node.path[:end]] for end in range(1, len(node.path) + 1)]

    def _summarised_keys(self) -> list[str]:
        return [
            piece.node.dotted
            for piece in self._pieces.values()
            if piece.enabled and piece.visibility is SectionVisibility.SUMMARY
        ]

    def _openable_keys(self) -> list[str]:
        return [
            node.dotted
            for key in self._summarised_keys()
            for node in self._source.plan.by_dotted[key].walk()
        ]

    def _metadata(self, params: OpenSectionsParams) -> Mapping[str, object]:
        return MappingProxyType(
            {
                "requested_sections": tuple(params.section_keys),
                "reason": params.reason,
                "current_visibility_state": MappingProxyType(
                    {
                        piece.node.dotted: piece.visibility.name
                        for piece in self._pieces.values()
                        if piece.enabled
                    }
                ),
            }
        )
