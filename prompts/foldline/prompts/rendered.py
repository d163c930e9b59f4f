"""The result of a render."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from foldline.prompts.errors import PromptValidationError, near_names
from foldline.prompts.layout import assemble

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.prompts.blocks import Block
    from foldline.prompts.deadline import Deadline
    from foldline.prompts.descriptor import PromptDescriptor
    from foldline.prompts.rendering import RenderPass
    from foldline.prompts.structured_output import StructuredOutputConfig
    from foldline.prompts.tool import Tool
    from foldline.prompts.visibility import SectionPath

__all__ = ["RenderedPrompt"]

OutputT_co = TypeVar("OutputT_co", covariant=True)

NO_DESCRIPTIONS: Mapping[str, Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RenderedPrompt(Generic[OutputT_co]):
    """A prompt as a model gets it: the text, the tools, the output that is expected.

    `blocks` says which section every stretch of the text belongs to and where it comes from.
    """

    text: str
    structured_output: StructuredOutputConfig | None = None
    deadline: Deadline | None = None
    descriptor: PromptDescriptor | None = None
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    # Made anew for each render, like what they work on: two equal renders have different ones.
    _tools: tuple[Tool[object, object], ...] = field(default=(), repr=False, compare=False)
    _tool_param_descriptions: Mapping[str, Mapping[str, str]] | None = field(
        default=None, repr=False, hash=False
    )
    _source: RenderPass | None = field(default=None, repr=False, compare=False)

    @property
    def tools(self) -> tuple[Tool[object, object], ...]:
        """The tools of the sections shown in full, then those that open summaries."""
        return self._tools

    @property
    def tool_param_descriptions(self) -> Mapping[str, Mapping[str, str]]:
        """Replaced descriptions of tool parameters, by tool name and parameter name."""
        return self._tool_param_descriptions or NO_DESCRIPTIONS

    @property
    def output_type(self) -> type | None:
        """The dataclass of the expected output, or of its items; None for plain text."""
        return None if self.structured_output is None else self.structured_output.output_type

    @property
    def container(self) -> Literal["object", "array"] | None:
        """Whether one object or an array of them is expected; None for plain text."""
        return None if self.structured_output is None else self.structured_output.container

    @property
    def allow_extra_keys(self) -> bool | None:
        """Whether unknown keys of the output are ignored; None for plain text."""
        return None if self.structured_output is None else self.structured_output.allow_extra_keys

    def if_opened(self, path: SectionPath) -> str:
        """What the section and those below it would render to if it were shown in full.

        The sections below keep the visibility that they have. A disabled section gives nothing.

        Raises:
            PromptValidationError: The prompt has no such section.
            PromptRenderError: A section that comes to light cannot be rendered.
        """
        source = self._source
        node = None if source is None else source.plan.by_path.get(tuple(path))
        if source is None or node is None:
            dotted = ".".join(path)
            near = () if source is None else near_names(dotted, source.plan.by_dotted)
            raise PromptValidationError(
                f"The prompt has no section {dotted!r}"
                + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "."),
                section_path=tuple(path),
                near=near,
            )
        text, _ = assemble(source.pieces([node], opened=node))
        return text
