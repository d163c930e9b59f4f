"""Tools and outputs as JSON for providers, including those without an adapter here."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import check_at_least
from foldline.prompts.tool_calls import described, parameters_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.prompts.layout.tree import Node
    from foldline.prompts.output.schema import JsonSchema, StrictSchema
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.tool import Tool

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


@FrozenDataclass()
class ToolSearch:
    """Sends the tools of open sections deferred where there are many; the model searches for them.

    The provider runs the search. Tools of folded sections aren't found: their section has to be
    opened first. The tools that open and read sections are always shown.

    >>> search = ToolSearch(keep=("look_up",))

    Args:
        beyond: The most tools of open sections that are all shown; with more, they are deferred.
        keep: Names of tools that are shown in any case, such as those that every answer needs.
        variant: How Anthropic's models search: `bm25` by words, `regex` by patterns. OpenAI's
            have one way.

    Raises:
        PromptConfigurationError: `beyond` is negative.
    """

    beyond: int = 10
    keep: tuple[str, ...] = ()
    variant: Literal["bm25", "regex"] = "bm25"

    def __post_init__(self) -> None:
        check_at_least(0, beyond=self.beyond)

    def deferred(self, rendered: RenderedPrompt[object]) -> Mapping[str, Namespace]:
        """Return the tools of a prompt that the model has to find, each with its section's name."""
        source = rendered._source  # noqa: SLF001 - Only the pass that rendered knows the sections.
        if source is None:
            return {}
        nodes = source.plan.by_path.values()
        owners = {tool.name: node for node in nodes for tool in node.section.tools}
        owned = [tool.name for tool in rendered.tools if tool.name in owners]
        if len(owned) <= self.beyond:
            return {}
        spaces: dict[str, Namespace] = {}
        found = {}
        for name in owned:
            if name not in self.keep:
                found[name] = _namespace(owners[name], spaces)
        return found


class Namespace(NamedTuple):
    """A section, as the group of its tools."""

    name: str
    """Its dotted key, as far as providers allow its characters."""
    title: str


def openai_tools(rendered: RenderedPrompt[object]) -> list[JsonSchema]:
    """Return the tools for OpenAI's Chat Completions API, LiteLLM and LangChain."""
    return [
        {
            "type": "function",
            "function": {"name": name, "description": description, "parameters": parameters},
        }
        for name, description, parameters in _tools(rendered)
    ]


def openai_responses_tools(
    rendered: RenderedPrompt[object], *, deferred: bool = False, search: ToolSearch | None = None
) -> list[JsonSchema]:
    """Return the tools for OpenAI's Responses API.

    Args:
        rendered: The prompt.
        deferred: Return those that opened sections bring later instead.
        search: Which tools the model has to find: deferred ones, a namespace for each section.
    """
    tools: list[JsonSchema] = [
        {
            "type": "function",
            "name": name,
            "description": description,
            "parameters": parameters,
            # Otherwise the API makes every parameter a required one.
            "strict": False,
        }
        for name, description, parameters in _tools(
            rendered, rendered.deferred_tools if deferred else None
        )
    ]
    spaces = {} if deferred or search is None else search.deferred(rendered)
    if not spaces:
        return tools
    shown = [tool for tool in tools if tool["name"] not in spaces]
    groups: dict[Namespace, list[JsonSchema]] = {}
    for tool in tools:
        if (space := spaces.get(str(tool["name"]))) is not None:
            groups.setdefault(space, []).append({**tool, "defer_loading": True})
    return [
        *shown,
        {"type": "tool_search"},
        *(_openai_namespace(space, found) for space, found in groups.items()),
    ]


def _openai_namespace(space: Namespace, tools: Sequence[JsonSchema]) -> JsonSchema:
    """Return a section's tools as a group, of which the model sees the name and description."""
    names = ", ".join(str(tool["name"]) for tool in tools)
    description = f"{space.title}: {names}"
    return {
        "type": "namespace",
        "name": space.name,
        "description": description,
        "tools": list(tools),
    }


def anthropic_tools(
    rendered: RenderedPrompt[object], *, search: ToolSearch | None = None
) -> list[JsonSchema]:
    """Return the tools for Anthropic's Messages API; deferred ones come last, marked as such.

    Args:
        rendered: The prompt.
        search: Which tools the model has to find.
    """
    tools, deferred = (
        [
            dict[str, object](name=name, description=description, input_schema=parameters)
            for name, description, parameters in _tools(rendered, chosen)
        ]
        for chosen in (None, rendered.deferred_tools)
    )
    spaces = {} if search is None else search.deferred(rendered)
    shown = [tool for tool in tools if tool["name"] not in spaces]
    if search is not None and spaces:
        name = f"tool_search_tool_{search.variant}"
        shown.append({"type": f"{name}_20251119", "name": name})
        deferred += [tool for tool in tools if tool["name"] in spaces]
    return [*shown, *({**tool, "defer_loading": True} for tool in deferred)]


def output_schema(rendered: RenderedPrompt[object]) -> StrictSchema | None:
    """Return the declared output for providers' strict modes; None for plain text.

    `allow_extra_keys` has no effect on it: strict modes don't support extra keys.
    """
    config = rendered.structured_output
    if config is None:
        return None
    return replace(config, allow_extra_keys=False).strict_schema


def allowed_name(text: str) -> str:
    """Return a text as a name that providers allow: letters, digits, `_` and `-`, at most 64."""
    return _NOT_IN_A_NAME.sub("_", text)[:64]


def _tools(
    rendered: RenderedPrompt[object], tools: Sequence[Tool[object, object]] | None = None
) -> list[tuple[str, str, JsonSchema]]:
    params = rendered.tool_param_descriptions
    return [
        (
            tool.name,
            described(tool, rendered.wording),
            parameters_schema(tool, params.get(tool.name)),
        )
        for tool in (rendered.tools if tools is None else tools)
    ]


def _namespace(node: Node, spaces: dict[str, Namespace]) -> Namespace:
    """Return the namespace of a section; `spaces` has those of others, by their dotted keys."""
    if node.dotted not in spaces:
        name = allowed_name(node.dotted)
        if any(other.name == name for other in spaces.values()):
            name = f"{name[:59]}_{len(spaces)}"
        spaces[node.dotted] = Namespace(name, node.section.title)
    return spaces[node.dotted]
