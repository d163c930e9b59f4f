"""The tools that show a model more of a prompt: `open_sections` and `read_section`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from foldline.prompts import errors
from foldline.prompts.layout.layout import OPEN_SECTIONS, READ_SECTION, Piece, assemble
from foldline.prompts.tool import Tool, ToolContext, ToolResult, ToolTelemetry
from foldline.prompts.visibility import SectionPath, SectionVisibility
from foldline.prompts.wording import ENGLISH, Wording

if TYPE_CHECKING:
    from foldline.prompts.layout.rendering import RenderPass
    from foldline.prompts.layout.tree import Node
    from foldline.prompts.rendered import RenderedPrompt

MAX_REASON_LENGTH = 256
"""The longest `reason` that `open_sections` accepts, in characters."""


@dataclass(slots=True, frozen=True)
class OpenSectionsParams:
    """Parameters for the open_sections tool."""

    section_keys: tuple[str, ...] = field(metadata={"description": ENGLISH.open_sections_keys})
    reason: str = field(metadata={"description": ENGLISH.open_sections_reason})


@dataclass(slots=True, frozen=True)
class ReadSectionParams:
    """Parameters for the read_section tool."""

    section_key: str = field(metadata={"description": ENGLISH.read_section_key})


def build_expansion_instructions(
    section_keys: Sequence[str], reason: str, wording: Wording = ENGLISH
) -> str:
    """Return the instructions that tell a model how to continue after sections were opened.

    >>> build_expansion_instructions(("docs",), "Need the API")  # doctest: +ELLIPSIS
    'Sections expanded: `docs`. Reason: Need the API. Continue with your task using ...'
    """
    keys = ", ".join(f"`{key}`" for key in section_keys)
    return wording.text("expansion_instructions", keys=keys, reason=reason)


def disclosure_tools(
    source: RenderPass, pieces: Sequence[Piece[Node]], *, also: Iterable[str] = ()
) -> list[Tool[object, object]]:
    """Return the disclosure tools that a render needs: none, one or both.

    Those of the names in `also` are among them, needed or not.
    """
    needed = set(also) | {
        piece.node.opened_by
        for piece in pieces
        if piece.enabled and piece.visibility is SectionVisibility.SUMMARY
    }
    disclosure = _Disclosure(source, pieces)
    wording = source.plan.wording
    tools: list[Tool[object, object]] = []
    if OPEN_SECTIONS in needed:
        tools.append(
            Tool[OpenSectionsParams, None](
                name=OPEN_SECTIONS,
                description=wording.open_sections,
                handler=disclosure.open_sections,
                accepts_overrides=False,
            )
        )
    if READ_SECTION in needed:
        tools.append(
            Tool[ReadSectionParams, str](
                name=READ_SECTION,
                description=wording.read_section,
                handler=disclosure.read_section,
                accepts_overrides=False,
            )
        )
    return tools


def disclosure_param_descriptions(
    wording: Wording, tools: Sequence[Tool[object, object]]
) -> Mapping[str, Mapping[str, str]]:
    """Return a wording's descriptions of these tools' parameters, by tool; none for English."""
    if wording is ENGLISH:
        return {}
    descriptions = {
        OPEN_SECTIONS: {
            "section_keys": wording.open_sections_keys,
            "reason": wording.open_sections_reason,
        },
        READ_SECTION: {"section_key": wording.read_section_key},
    }
    return {tool.name: descriptions[tool.name] for tool in tools}


def requested_expansion(
    rendered: RenderedPrompt[Any], section_keys: tuple[str, ...], reason: str
) -> errors.VisibilityExpansionRequired:
    """Return the request to open sections, also where a model is only offered `read_section`.

    Raises:
        ToolValidationError: Some keys can't be opened, or the reason is too long.
    """
    for tool in rendered.tools:
        disclosure = getattr(tool.handler, "__self__", None)
        if isinstance(disclosure, _Disclosure):
            return disclosure.request(section_keys, reason)
    named = ", ".join(map(repr, section_keys)) or "sections"
    raise errors.ToolValidationError(f"Cannot open {named}: no section is summarized")


def check_request(keys: Sequence[str], reason: str, summarized: Sequence[str]) -> None:
    """Return if a request to open sections is complete and short enough.

    Raises:
        ToolValidationError: It isn't.
    """
    if not keys:
        raise errors.ToolValidationError(
            f"`section_keys` is empty; name the sections to open: {', '.join(summarized)}."
        )
    if len(reason) > MAX_REASON_LENGTH:
        raise errors.ToolValidationError(
            f"`reason` has {len(reason)} characters; say it in at most {MAX_REASON_LENGTH}."
        )


def already_shown(dotted: str) -> str:
    """Return the reason why a section that is shown in full can't be opened."""
    return f"the section {dotted!r} is already shown in full"


class Refusals:
    """Collects the reasons why sections can't be opened."""

    __slots__ = ("_near", "sentences")

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self._near: dict[str, None] = {}

    def unknown(self, key: str, openable: Sequence[str]) -> None:
        """Add that there is no section `key`, with the names near it."""
        similar = errors.near_names(key, openable)
        self._near.update(dict.fromkeys(similar))
        self.sentences.append(
            f"there is no section {key!r}"
            + (f" (did you mean {' or '.join(map(repr, similar))}?)" if similar else "")
        )

    def check(self, summarized: Sequence[str]) -> None:
        """Return if there are no reasons.

        Raises:
            ToolValidationError: There are; it lists them and the `summarized` sections.
        """
        if self.sentences:
            raise errors.ToolValidationError(
                f"Cannot open: {'; '.join(self.sentences)}. "
                f"Summarized sections: {', '.join(summarized) or 'none'}.",
                near=self._near,
            )


class _Disclosure:
    """The handlers of both tools for one render."""

    __slots__ = ("_pieces", "_source")

    def __init__(self, source: RenderPass, pieces: Sequence[Piece[Node]]) -> None:
        self._source = source
        self._pieces = {piece.node.path: piece for piece in pieces}

    def open_sections(self, params: OpenSectionsParams, *, context: ToolContext | None) -> NoReturn:
        """Raise the request to open the sections.

        Raises:
            VisibilityExpansionRequired: All keys can be opened.
            ToolValidationError: Some keys can't be opened; the message lists them.
        """
        keys = params.section_keys
        if isinstance(keys, str):
            keys = (keys,)
        metadata = self._metadata(keys, params.reason)
        try:
            request = self.request(keys, params.reason)
        except errors.ToolValidationError as error:
            _announce(context, ToolTelemetry(OPEN_SECTIONS, params, metadata, error))
            raise
        _announce(context, ToolTelemetry(OPEN_SECTIONS, params, metadata))
        raise request

    def request(self, keys: tuple[str, ...], reason: str) -> errors.VisibilityExpansionRequired:
        """Return the request to open the sections.

        Raises:
            ToolValidationError: Some keys can't be opened, or the reason is too long.
        """
        check_request(keys, reason, self._summarized_keys())
        return errors.VisibilityExpansionRequired(
            requested_overrides=self._overrides(keys),
            reason=reason,
            section_keys=keys,
            expansion_instructions=build_expansion_instructions(
                keys, reason, self._source.plan.wording
            ),
            prompt=self._source.plan.prompt,
        )

    def read_section(
        self,
        params: ReadSectionParams,
        *,
        context: ToolContext | None,
    ) -> ToolResult[str]:
        """Return the full section as Markdown, without opening it.

        Raises:
            ToolValidationError: The key isn't that of a summarized section.
        """
        try:
            self._overrides((params.section_key,))
            node = self._source.plan.by_dotted[params.section_key]
            text, _ = assemble(self._source.pieces([node], opened=node))
        except errors.PromptError as error:
            _publish(context, READ_SECTION, params, ToolResult(str(error), success=False))
            raise
        wording = self._source.plan.wording
        result = ToolResult(wording.text("read_section_result", key=params.section_key), text)
        _publish(context, READ_SECTION, params, result)
        return result

    def _overrides(self, keys: Sequence[str]) -> dict[SectionPath, SectionVisibility]:
        overrides: dict[SectionPath, SectionVisibility] = {}
        refusals = Refusals()
        for key in keys:
            node = self._source.plan.by_dotted.get(key)
            if node is None:
                tops = map(self._source.plan.by_dotted.__getitem__, self._summarized_keys())
                refusals.unknown(key, [node.dotted for top in tops for node in top.walk()])
            elif refusal := self._refusal(node):
                refusals.sentences.append(refusal)
            else:
                overrides.update(dict.fromkeys(self._closed(node), SectionVisibility.FULL))
        refusals.check(self._summarized_keys())
        return overrides

    def _refusal(self, node: Node) -> str | None:
        """Return the reason why a section can't be opened; None if it can."""
        piece = self._pieces.get(node.path)
        if piece is not None:
            if not piece.enabled:
                return f"the section {node.dotted!r} is disabled"
            if piece.visibility is SectionVisibility.FULL:
                return already_shown(node.dotted)
            return None
        for ancestor in self._ancestry(node):
            above = self._pieces.get(ancestor.path)
            shown = self._source.is_shown(ancestor) if above is None else above.enabled
            if not shown:
                where = "" if ancestor is node else f", like all of {ancestor.dotted!r}"
                return f"the section {node.dotted!r} is disabled{where}"
        return None

    def _closed(self, node: Node) -> list[SectionPath]:
        """Return the paths of the section and of the summarized ancestors that hide it."""
        closed = []
        for ancestor in self._ancestry(node):
            piece = self._pieces.get(ancestor.path)
            if ancestor is node or (
                piece.visibility is SectionVisibility.SUMMARY
                if piece is not None
                else self._source.would_be_summarized(ancestor)
            ):
                closed.append(ancestor.path)
        return closed

    def _ancestry(self, node: Node) -> list[Node]:
        """Return the sections from the root down to `node`."""
        by_path = self._source.plan.by_path
        return [by_path[node.path[:end]] for end in range(1, len(node.path) + 1)]

    def _summarized_keys(self) -> list[str]:
        return [
            piece.node.dotted
            for piece in self._pieces.values()
            if piece.enabled and piece.visibility is SectionVisibility.SUMMARY
        ]

    def _metadata(self, keys: Sequence[str], reason: str) -> Mapping[str, object]:
        visible = {path: piece.visibility for path, piece in self._pieces.items() if piece.enabled}
        for path in list(visible):
            if visible[path] is SectionVisibility.SUMMARY:
                self._add_hidden(self._source.plan.by_path[path].children, visible)
        state = {
            node.dotted: visible[path].name
            for path, node in self._source.plan.by_path.items()
            if path in visible
        }
        return MappingProxyType(
            {
                "requested_sections": list(keys),
                "reason": reason,
                "current_visibility_state": MappingProxyType(state),
            }
        )

    def _add_hidden(
        self, nodes: Sequence[Node], visible: dict[SectionPath, SectionVisibility]
    ) -> None:
        """Add sections below a summarized one, with the visibility that they get in its place."""
        for node in nodes:
            try:
                if not self._source.is_shown(node):
                    continue
                summarized = self._source.would_be_summarized(node)
            except errors.PromptError:
                # Its own callables fail, which is for the render that shows it to say.
                continue
            visible[node.path] = SectionVisibility.SUMMARY if summarized else SectionVisibility.FULL
            self._add_hidden(node.children, visible)


def _announce(context: ToolContext | None, telemetry: ToolTelemetry) -> None:
    """Report a call that is about to raise."""
    if context is not None and context.telemetry is not None:
        context.telemetry(telemetry)
    error = telemetry.error
    result: ToolResult[object] = ToolResult(str(error or ""), success=error is None)
    _publish(context, telemetry.tool, telemetry.params, result, telemetry.metadata)


def _publish(
    context: ToolContext | None,
    name: str,
    params: object,
    result: ToolResult[Any],
    metadata: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Publish the event of a call that no dispatch publishes."""
    if context is not None and context.call_id is None:
        from foldline.prompts.runtime.events import publish_call

        publish_call(context, name, params, result, metadata)
