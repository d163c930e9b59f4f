"""The result of a render."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from foldline.prompts.cache.tokens import estimated_tokens
from foldline.prompts.errors import PromptValidationError
from foldline.prompts.layout.blocks import Block, PromptMessage, messages_of
from foldline.prompts.layout.fitting import Fitted
from foldline.prompts.layout.layout import assemble
from foldline.prompts.layout.rendering import RenderPass
from foldline.prompts.output.structured_output import StructuredOutputConfig
from foldline.prompts.tool import Tool
from foldline.prompts.visibility import SectionPath
from foldline.prompts.wording import ENGLISH, Wording

if TYPE_CHECKING:
    from foldline.prompts.cache.cache_plan import BlockStability, CachePlan, CacheRules
    from foldline.prompts.deadline import Deadline
    from foldline.prompts.descriptor import ChapterDescriptor, PromptDescriptor
    from foldline.prompts.layout.tree import Node
    from foldline.prompts.overrides.overrides import OverrideIssue

OutputT_co = TypeVar("OutputT_co", covariant=True)

NO_DESCRIPTIONS: Mapping[str, Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RenderedPrompt(Generic[OutputT_co]):
    """A prompt as sent to a model: text, tools and the expected output.

    `blocks` maps each span of the text to its section and source.
    """

    text: str
    structured_output: StructuredOutputConfig | None = None
    deadline: Deadline | None = None
    descriptor: PromptDescriptor | None = None
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    # The tools belong to one render: equal renders have different ones.
    _tools: tuple[Tool[object, object], ...] = field(default=(), repr=False, compare=False)
    _tool_param_descriptions: Mapping[str, Mapping[str, str]] | None = field(
        default=None, repr=False, hash=False
    )
    _source: RenderPass | None = field(default=None, repr=False, compare=False)
    _deferred: tuple[Tool[object, object], ...] = field(default=(), repr=False, compare=False)

    override_issues: tuple[OverrideIssue, ...] = field(default=(), repr=False, compare=False)
    """Stored overrides that weren't applied as they are, with reasons."""
    fitted: Fitted | None = field(default=None, repr=False)
    """How the text was made to fit; None if it was rendered without `fit`."""

    def __str__(self) -> str:
        return self.text

    @property
    def messages(self) -> tuple[PromptMessage, ...]:
        """The text as messages: system, developer, user; without the roles that show no text."""
        return messages_of(self.text, self.blocks)

    @property
    def closed_chapters(self) -> tuple[ChapterDescriptor, ...]:
        """The chapters that this render leaves out, and that an evaluation may open."""
        if self._source is None or self.descriptor is None:
            return ()
        closed = self._source.plan.closed
        return tuple(one for one in self.descriptor.chapters if one.key in closed)

    @property
    def _sections(self) -> Mapping[SectionPath, Node]:
        """All sections of the prompt, shown or not; empty where it wasn't rendered."""
        return {} if self._source is None else self._source.plan.by_path

    @property
    def wording(self) -> Wording:
        """The library's own sentences in this prompt."""
        return ENGLISH if self._source is None else self._source.plan.wording

    @property
    def tools(self) -> tuple[Tool[object, object], ...]:
        """The tools of the sections shown in full, then the disclosure tools."""
        return self._tools

    @property
    def deferred_tools(self) -> tuple[Tool[object, object], ...]:
        """Tools of folded sections that are sent without being shown to the model yet."""
        return self._deferred

    @property
    def tool_param_descriptions(self) -> Mapping[str, Mapping[str, str]]:
        """Overridden descriptions of tool parameters, by tool name and parameter name."""
        return self._tool_param_descriptions or NO_DESCRIPTIONS

    @property
    def output_type(self) -> type | None:
        """The dataclass of the expected output, or of its items; None for plain text."""
        return None if self.structured_output is None else self.structured_output.output_type

    @property
    def container(self) -> Literal["object", "array"] | None:
        """`object` or `array`, as the expected output; None for plain text."""
        return None if self.structured_output is None else self.structured_output.container

    @property
    def allow_extra_keys(self) -> bool | None:
        """True if unknown keys of the output are ignored; None for plain text."""
        return None if self.structured_output is None else self.structured_output.allow_extra_keys

    def cache_plan(
        self,
        *,
        rules: CacheRules | None = None,
        count_tokens: Callable[[str], int] | None = None,
        tools: Sequence[Mapping[str, object]] = (),
        goes_on: bool | None = None,
    ) -> CachePlan:
        """Return the cache plan: the prefix that a provider can keep, and its breakpoints.

        Args:
            rules: Those of the provider and the model; the defaults fit most.
            count_tokens: Counts the tokens of a text; an estimate by default.
            tools: The definitions of the tools, as they are sent.
            goes_on: Whether more requests will follow with the same beginning, as they do where a
                model calls tools; by default whether there are tools.
        """
        from foldline.prompts.cache.cache_plan import CacheRules, planned, spans_to_send

        return planned(
            list(spans_to_send(self, self._sections, tools)),
            rules=rules or CacheRules(),
            count_tokens=count_tokens or estimated_tokens,
            goes_on=bool(self.tools) if goes_on is None else goes_on,
        )

    def stability_of(self, block: Block) -> BlockStability:
        """Return the stability of one of `blocks` between requests, as declared by types."""
        from foldline.prompts.cache.cache_plan import block_stability

        return block_stability(block, self._sections.get(block.path))

    def if_opened(self, path: SectionPath) -> str:
        """Return the text of a section and those below it, with the section shown in full.

        The sections below keep their visibility. A disabled section has an empty text.

        Raises:
            PromptValidationError: The prompt has no such section.
            PromptRenderError: A section that becomes visible can't be rendered.
        """
        source, node = self._source, self._sections.get(tuple(path))
        if source is None or node is None:
            dotted = ".".join(path)
            raise PromptValidationError.unknown(
                f"The prompt has no section {dotted!r}",
                dotted,
                map(".".join, self._sections),
                section_path=tuple(path),
            )
        text, _ = assemble(source.pieces([node], opened=node))
        return text
