"""A prompt's request as its source shows it: its text, its tools and the output's schema."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, make_dataclass, replace
from functools import cache

from foldline.ide.analysis.evaluator import Evaluator
from foldline.ide.analysis.field_types import hint_of
from foldline.ide.analysis.model import Visibility
from foldline.ide.analysis.module_analysis import PromptFacts
from foldline.ide.analysis.params import dataclass_of
from foldline.ide.analysis.stability import block_stability
from foldline.ide.analysis.static_render import StaticBlock, SummarizedBlock, render, render_opened
from foldline.ide.analysis.syntax import ClassDefinition
from foldline.ide.analysis.values import (
    ClassValue,
    External,
    Nothing,
    PromptValue,
    Specialised,
    TemplateValue,
    ToolValue,
    Value,
    kept,
)
from foldline.ide.prompts.request import IN_EDITOR
from foldline.ide.render.render import (
    STATIC,
    Block,
    Location,
    Opening,
    Output,
    Render,
    RenderedTool,
    Replaced,
    Segment,
)
from foldline.ide.render.token_costs import with_costs
from foldline.ide.token_counter import TokenCounter
from foldline.prompts import PromptTemplate
from foldline.prompts.disclosure.disclosure import build_expansion_instructions, disclosure_tools
from foldline.prompts.errors import PromptError
from foldline.prompts.layout.layout import OPEN_SECTIONS, READ_SECTION
from foldline.prompts.output.schema import schema_of
from foldline.prompts.output.structured_output import declared_output
from foldline.prompts.sections.task import TASK_BLOCKS
from foldline.prompts.tool_calls import described, parameters_schema
from foldline.prompts.wording import ENGLISH
from foldline.records import record

_UNKNOWN = make_dataclass("Unknown", ())


@record
class StaticRequest:
    """A request as the source shows it.

    Attributes:
        render: The prompt; `costed` has counted its tokens.
        exact: True if running the prompt gives this very request.
        unresolved: What isn't among it, as the source names it.
        is_partial: True if running it gives more than was counted: nothing of it is optional.
        places: The places of the blocks by their keys, with True if running the prompt gives what
            is said of their cost.
    """

    render: Render
    exact: bool
    unresolved: tuple[str, ...]
    is_partial: bool
    places: Mapping[str, tuple[int, bool]]

    def section(self, key: str) -> tuple[Block, bool] | None:
        """Return a section, and True if its cost is certain; None if there is none."""
        placed, certain = self.places.get(key, (None, False))
        return None if placed is None else (self.render.blocks[placed], certain)


def costed(prompt: PromptFacts, counter: TokenCounter) -> StaticRequest:
    """Return the request of a prompt with its tokens; computed once in its value's lifetime."""

    def make(value: TemplateValue | PromptValue) -> StaticRequest:
        request = request_of(value, prompt.analysis.evaluator)
        return replace(request, render=costs_of(request, counter))

    return kept(prompt.value, f"costs by {counter.encoding} {counter.exact}", make)


def costs_of(
    request: StaticRequest,
    counter: TokenCounter,
    locations: Mapping[tuple[str, ...], Location | None] | None = None,
) -> Render:
    """Return a request's render with its tokens and, with `locations`, places in the source."""
    return with_costs(
        request.render,
        counter,
        locations,
        certain=request.exact,
        unresolved=request.unresolved,
        partial=request.is_partial,
    )


def request_of(
    prompt: TemplateValue | PromptValue,
    evaluator: Evaluator,
    overrides: Mapping[tuple[str, ...], Visibility | None] | None = None,
) -> StaticRequest:
    """Return the request of a prompt, its tokens not counted yet."""
    template = prompt.template
    shown = render(prompt, overrides)
    summarized = [block for block in shown.blocks if block.visibility is Visibility.SUMMARY]
    behind = render_opened(prompt, summarized, overrides)
    source = _Source(evaluator)
    tooled = [
        (index, block)
        for index, block in enumerate(shown.blocks)
        if block.opened_by or block.section.tools.items or not block.section.tools.complete
    ]
    tools = source.tools(block for _, block in tooled)
    tasks = {
        index: block
        for index, block in enumerate(shown.blocks)
        if isinstance(prompt, PromptValue) and block.section.kind == "task"
    }
    blocks: list[Block] = []
    sure: list[bool] = []
    times = Counter[tuple[str, ...]]()
    for index, block in enumerate(shown.blocks):
        times[block.path] += 1
        request_block = _block(block)
        if times[block.path] > 1:
            # While typing, two sections may have the same key.
            request_block = replace(request_block, id=f"{request_block.id}~{times[block.path]}")
        folded = SummarizedBlock(block, next(behind) if block.visibility == "SUMMARY" else ())
        if folded.opened and folded.is_known:
            before = [one for at, one in tooled if at < index]
            below = [one for at, one in tooled if at > index]
            after = source.tools((*before, *folded.opened, *below))
            instructions = build_expansion_instructions((".".join(block.path),), IN_EDITOR)
            words = TASK_BLOCKS["_expansion_block"].text(instructions, ENGLISH)
            told = Segment("derived", words, None)
            changed = {task: [_block(tasks[task], told)] for task in tasks}
            changed[index] = [*map(_block, folded.opened)]
            opening = Opening(
                tuple(Replaced(at, at + 1, tuple(new)) for at, new in sorted(changed.items())),
                tuple(tool.name for tool in after),
                tuple(tool for tool in after if tool not in tools),
            )
            request_block = replace(request_block, opening=opening)
        blocks.append(request_block)
        # Only running the code tells which tasks are bound.
        sure.append(block.exact and (request_block.opening is None or (folded.exact and not tasks)))
    output = source.output(template)
    exact = source.known and shown.exact
    unresolved = [*shown.unresolved, *source.unresolved]
    unresolved += [f"the chapter `{key}`, which code may open" for key in shown.undecided]
    if prompt.maybe or template.maybe:
        unresolved.append("what overrides, or other code, make of the prompt")
    unresolved += shown.made_by_code
    return StaticRequest(
        Render(
            name="",
            text=shown.text,
            blocks=tuple(blocks),
            tools=tools,
            output=output,
            fidelity=STATIC,
            fits=("only running the prompt decides",),
            certain=shown.certain and not unresolved,
        ),
        exact,
        tuple(dict.fromkeys(unresolved)),
        bool(unresolved) and not shown.has_optional,
        {
            blocks[index].key: (index, sure[index] and (exact or blocks[index].opening is None))
            for index in reversed(range(len(blocks)))
        },
    )


class _Source:
    """Tools and types as far as the source shows them.

    Attributes:
        known: True if all those that were asked for are certainly right.
        unresolved: What isn't known of them.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.known = True
        self.unresolved: list[str] = []
        self._evaluator = evaluator
        self._tools: dict[int, RenderedTool] = {}
        self._around: list[ClassDefinition] = []

    def tools(self, blocks: Iterable[StaticBlock]) -> tuple[RenderedTool, ...]:
        """Return the tools that a request with these blocks has."""
        section_tools: list[RenderedTool] = []
        names: set[str | None] = set()
        for block in blocks:
            names.add(block.opened_by)
            if block.visibility is Visibility.SUMMARY:
                continue
            tools = block.section.tools
            self.known = self.known and tools.complete
            for item in tools.items:
                self.known = self.known and not item.maybe and isinstance(item.value, ToolValue)
                if isinstance(item.value, ToolValue):
                    section_tools.append(self._tool(item.value))
        return (*section_tools, *(tool for tool in _disclosing() if tool.name in names))

    def output(self, template: TemplateValue) -> Output | None:
        """Return the schema that a template asks for."""
        kind = None if template.output is None else self._type(template.output)
        self.known = self.known and not (
            template.opaque or "allow_extra_keys" in template.arguments
        )
        try:
            output = declared_output(kind, allow_extra_keys=False)
        except PromptError:
            self.known, output = False, None
        if template.output is not None and kind is _UNKNOWN:
            self.unresolved.append("the answer's type")
        if output is None:
            return None
        return Output(output.output_type.__name__, output.container, output.schema)

    def _tool(self, tool: ToolValue) -> RenderedTool:
        if id(tool) not in self._tools:
            name, told = tool.known("name"), tool.known("description")
            if None in (told, name) or tool.arguments.get("examples"):
                self.known = False
                self.unresolved.append(f"parts of the tool `{name or '?'}`")
            kind = None if tool.params is None else self._type(tool.params)
            if kind is _UNKNOWN:
                self.unresolved.append(f"parameters of the tool `{name or '?'}`")
            schema = schema_of(_UNKNOWN if kind is None else kind)
            self._tools[id(tool)] = RenderedTool(name or "", told or "", schema)
        return self._tools[id(tool)]

    def _type(self, value: Value) -> object:
        """Return a type with the schema of a dataclass, or of a list of one."""
        match value:
            case Nothing():
                return None
            case ClassValue():
                return self._dataclass(value)
            case Specialised(origin=External(dotted="builtins.list"), arguments=(item, *_)):
                return list[self._type(item)]  # type: ignore[misc]  # Built at run time.
        self.known = False
        return self._type(value.origin) if isinstance(value, Specialised) else _UNKNOWN

    def _dataclass(self, value: ClassValue) -> type:
        """Return a dataclass with the schema of one in the source; its fields may hold others."""
        dataclass = dataclass_of(self._evaluator, value)
        if value.definition in self._around:
            self.known = False  # A type that holds itself.
            return _UNKNOWN
        self._around.append(value.definition)
        fields = []
        is_certain = dataclass.complete and dataclass.is_dataclass is True and not dataclass.model
        for field in dataclass.fields:
            hint, sure = (
                (str, False)
                if field.hint is None
                else hint_of(self._evaluator, *field.hint, self._dataclass)
            )
            try:
                schema_of(hint)
            except PromptError:
                hint, sure = str, False
            is_certain = is_certain and sure
            about = {"description": field.description} if field.description else {}
            default = None if field.has_default else MISSING
            fields.append((field.id, hint, dataclasses.field(default=default, metadata=about)))
        self._around.pop()
        self.known = self.known and is_certain
        return make_dataclass(dataclass.name, fields, kw_only=True)


@cache
def _disclosing() -> tuple[RenderedTool, ...]:
    """The library's own tools, in the order in which they are sent."""
    source = PromptTemplate[None](ns="a", key="a", sections=[]).render()._source  # noqa: SLF001
    assert source is not None
    return tuple(
        RenderedTool(tool.name, described(tool), parameters_schema(tool))
        for tool in disclosure_tools(source, [], also=(OPEN_SECTIONS, READ_SECTION))
    )


def _block(block: StaticBlock, told: Segment | None = None) -> Block:
    """Return a block, that of a task with what it's told when a section is opened."""
    stability = block_stability(block)
    segments = [
        Segment(segment.kind, segment.text, segment.field, of_segment.name.lower(), segment.known)
        for segment, of_segment in zip(block.segments, stability.segments, strict=True)
    ]
    if told is not None:
        # Behind the heading and the blank line after it.
        segments.insert(2 * (segments[0].kind == "heading"), told)
    return Block(
        id="/".join(block.path),
        path=block.path,
        key=".".join(block.path),
        number=block.number,
        title=block.title,
        depth=block.depth,
        visibility=block.visibility,
        enabled=True,
        text="".join(segment.text for segment in segments),
        segments=tuple(segments),
        role=block.role.value,
        stability=stability.presence.name.lower(),
    )
