"""A prompt's request as its source shows it: its text, its tools and the output's schema."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import MISSING, dataclass, make_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, cast

from foldline.ide.analysis.field_types import hint_of
from foldline.ide.analysis.model import Visibility
from foldline.ide.analysis.params import dataclass_of
from foldline.ide.analysis.stability import block_stability
from foldline.ide.analysis.static_render import SummarizedBlock, render, render_opened
from foldline.ide.analysis.values import (
    ClassValue,
    External,
    Nothing,
    PromptValue,
    Specialised,
    Text,
    ToolValue,
    kept,
)
from foldline.ide.prompts.request import IN_EDITOR
from foldline.ide.render.render import (
    STATIC,
    Block,
    OpenedBlock,
    Opening,
    Output,
    Render,
    RenderedTool,
    Replaced,
    Segment,
)
from foldline.ide.render.token_costs import with_costs
from foldline.prompts import (
    MarkdownSection,
    PromptTemplate,
    SectionVisibility,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.disclosure.disclosure import build_expansion_instructions
from foldline.prompts.errors import PromptError
from foldline.prompts.output.schema import schema_of
from foldline.prompts.output.structured_output import declared_output
from foldline.prompts.sections.task import TASK_BLOCKS
from foldline.prompts.tool_calls import described, parameters_schema
from foldline.prompts.wording import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.module_analysis import PromptFacts
    from foldline.ide.analysis.static_render import StaticBlock
    from foldline.ide.analysis.values import TemplateValue, Value
    from foldline.ide.token_counter import TokenCounter

_NO_PARAMETERS = {
    "type": "object",
    "properties": {},
    "required": [],
    "additionalProperties": False,
}
_UNKNOWN = make_dataclass("Unknown", ())


@dataclass(frozen=True, slots=True)
class StaticRequest:
    """A request as the source shows it.

    Attributes:
        render: The prompt; `costed` has counted its tokens.
        exact: True if running the prompt gives this very request.
        is_partial: True if running it gives more text.
        openings: The sections of which the source shows what opening them changes, with True if
            that is certain.
    """

    render: Render
    exact: bool
    is_partial: bool
    openings: Mapping[tuple[str, ...], bool]

    def block(self, path: tuple[str, ...]) -> Block:
        """The first block of that path."""
        return next(block for block in self.render.blocks if block.path == path)


def costed(prompt: PromptFacts, counter: TokenCounter) -> StaticRequest:
    """Return the request of a prompt with its tokens; computed once in its value's lifetime."""

    def make(value: TemplateValue | PromptValue) -> StaticRequest:
        found = request_of(value, prompt.analysis.evaluator)
        return replace(found, render=with_costs(found.render, counter, certain=found.exact))

    return kept(prompt.value, f"costs by {counter.encoding} {counter.exact}", make)


def request_of(
    prompt: TemplateValue | PromptValue,
    evaluator: Evaluator,
    overrides: Mapping[tuple[str, ...], Visibility] | None = None,
) -> StaticRequest:
    """Return the request of a prompt, its tokens not counted yet."""
    template = prompt.template if isinstance(prompt, PromptValue) else prompt
    shown = render(prompt, overrides)
    folded = [block for block in shown.blocks if block.visibility is Visibility.SUMMARY]
    behind = {
        block.path: SummarizedBlock(block, opened)
        for block, opened in zip(folded, render_opened(prompt, folded, overrides), strict=True)
    }
    definitions = _Definitions(evaluator)
    tools = definitions.of(shown.blocks)
    names = {tool.name for tool in tools}
    tooled = [block for block in shown.blocks if block.opened_by or block.section.tools.items]
    tasks = [
        block
        for block in shown.blocks
        if isinstance(prompt, PromptValue) and block.section.kind == "task"
    ]
    openings = {}
    for path, one in behind.items():
        if not one.is_known:
            continue
        after = definitions.of(
            inner for block in tooled for inner in (one.opened if block is one.block else [block])
        )
        changed = {path: tuple(map(_opened, one.opened))}
        for task in tasks:
            if task.path[: len(path)] != path and path[: len(task.path)] != task.path:
                below = [b for b in shown.blocks if b.path[: len(task.path)] == task.path][1:]
                changed[task.path] = (_told(task, path), *map(_opened, below))
        openings[path] = Opening(
            tuple(
                Replaced("/".join(block.path), changed[block.path])
                for block in shown.blocks
                if block.path in changed
            ),
            tuple(tool.name for tool in after),
            tuple(tool for tool in after if tool.name not in names),
        )
    output, known = _output(template, evaluator)
    known = known and definitions.known and shown.exact
    return StaticRequest(
        Render(
            name="",
            text=shown.text,
            blocks=_with_own_ids(
                replace(_block(block), opening=openings.get(block.path)) for block in shown.blocks
            ),
            tools=tools,
            output=output,
            fidelity=STATIC,
            certain=shown.certain,
        ),
        known,
        shown.is_partial,
        # Only running the code tells which tasks are bound.
        {path: known and not tasks and behind[path].exact for path in openings},
    )


class _Definitions:
    """The definitions of tools, as far as the source shows them.

    Attributes:
        known: True if all those that were asked for are certainly right.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.known = True
        self._evaluator = evaluator
        self._found: dict[int, RenderedTool] = {}

    def of(self, blocks: Iterable[StaticBlock]) -> tuple[RenderedTool, ...]:
        """Return the tools that a request with these blocks has."""
        own: list[RenderedTool] = []
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
                    own.append(self._tool(item.value))
        return (*own, *(tool for name, tool in _disclosing().items() if name in names))

    def _tool(self, tool: ToolValue) -> RenderedTool:
        if id(tool) not in self._found:
            argument = tool.arguments.get("description")
            told = argument.value.known if argument and isinstance(argument.value, Text) else None
            schema: Mapping[str, object] = _NO_PARAMETERS
            if not isinstance(tool.params, Nothing):
                kind, known = _stand_in(self._evaluator, tool.params)
                self.known = self.known and known
                schema = schema_of(kind)
            self.known = (
                self.known and None not in (told, tool.name) and not tool.arguments.get("examples")
            )
            self._found[id(tool)] = RenderedTool(tool.name or "", told or "", schema)
        return self._found[id(tool)]


@cache
def _disclosing() -> Mapping[str, RenderedTool]:
    """The library's own tools, by name, in the order in which they are sent."""

    def handler(params: None, *, context: ToolContext) -> ToolResult[str]:
        raise NotImplementedError

    tool = Tool[None, str](name="a", description="A tool.", handler=handler)
    sections = [
        MarkdownSection[None](
            title="A",
            key=key,
            template="",
            summary="A",
            visibility=SectionVisibility.SUMMARY,
            tools=tools,
        )
        for key, tools in (("a", [tool]), ("b", []))
    ]
    rendered = PromptTemplate[None](ns="a", key="a", sections=sections).render()
    return {
        one.name: RenderedTool(one.name, described(one), parameters_schema(one))
        for one in rendered.tools
    }


def _output(template: TemplateValue, evaluator: Evaluator) -> tuple[Output | None, bool]:
    """Return the schema that a template asks for, and True if it's certainly right."""
    if template.output is None or isinstance(template.output, Nothing):
        return None, not template.opaque
    kind, known = _stand_in(evaluator, template.output)
    try:
        output = declared_output(kind, allow_extra_keys=False)
    except PromptError:
        return None, False
    if output is None:
        return None, False
    known = known and "allow_extra_keys" not in template.arguments
    return Output(output.output_type.__name__, output.container, output.schema), known


def _stand_in(evaluator: Evaluator, value: Value | None) -> tuple[object, bool]:
    """Return a type with the schema of a dataclass, or of a list of one; True if it's certain."""
    if isinstance(value, Specialised):
        is_list = isinstance(value.origin, External) and value.origin.dotted == "builtins.list"
        if is_list and value.arguments:
            item, known = _stand_in(evaluator, value.arguments[0])
            return cast("object", list[item]), known  # type: ignore[valid-type]  # Built at run time.
        return _stand_in(evaluator, value.origin)[0], False
    if not isinstance(value, ClassValue):
        return _UNKNOWN, False
    found = dataclass_of(evaluator, value)
    known = found.complete and found.is_dataclass is True and not found.model
    fields = []
    for field in found.fields:
        hint, sure = (str, False) if field.hint is None else hint_of(evaluator, *field.hint)
        try:
            schema_of(hint)
        except PromptError:
            hint, sure = str, False
        known = known and sure
        about = {"description": field.description} if field.description else {}
        default = None if field.has_default else MISSING
        fields.append((field.id, hint, dataclasses.field(default=default, metadata=about)))
    return make_dataclass(found.name, fields, kw_only=True), known


def _with_own_ids(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Return the blocks with an id each: while typing, two sections may have the same key."""
    seen: Counter[str] = Counter()
    made = []
    for block in blocks:
        seen[block.id] += 1
        times = seen[block.id]
        made.append(block if times == 1 else replace(block, id=f"{block.id}~{times}"))
    return tuple(made)


def _block(block: StaticBlock) -> Block:
    opened = _opened(block)
    return Block(
        id="/".join(block.path),
        path=block.path,
        key=".".join(block.path),
        number=block.number,
        title=block.title,
        depth=block.depth,
        visibility=block.visibility,
        enabled=True,
        text=block.text,
        segments=opened.segments,
        role=opened.role,
        stability=opened.stability,
    )


def _told(task: StaticBlock, path: tuple[str, ...]) -> OpenedBlock:
    """Return a task's block once it's told that a section was opened."""
    instructions = build_expansion_instructions((".".join(path),), IN_EDITOR)
    text = TASK_BLOCKS["_expansion_block"].text(instructions, ENGLISH)
    block = _opened(task)
    # Behind the heading and the blank line after it.
    place = 2 * (block.segments[0].kind == "heading")
    told = Segment("derived", text, None)
    return replace(block, segments=(*block.segments[:place], told, *block.segments[place:]))


def _opened(block: StaticBlock) -> OpenedBlock:
    stability = block_stability(block)
    return OpenedBlock(
        block.path,
        block.role.value,
        tuple(
            Segment(segment.kind, segment.text, segment.field, own.name.lower(), segment.known)
            for segment, own in zip(block.segments, stability.segments, strict=True)
        ),
        stability.presence.name.lower(),
    )
