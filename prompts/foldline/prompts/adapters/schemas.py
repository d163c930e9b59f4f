"""Tools and outputs as JSON for providers, including those without an adapter here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from foldline.prompts.output.schema import JsonSchema, StrictSchema
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.tool import Tool
from foldline.prompts.tool_calls import described, parameters_schema

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


class ToolDefinition(NamedTuple):
    """A tool as a model gets it; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: JsonSchema


def openai_tools(rendered: RenderedPrompt[object]) -> list[JsonSchema]:
    """Return the tools for OpenAI's Chat Completions API, LiteLLM and LangChain."""
    return [{"type": "function", "function": tool._asdict()} for tool in tool_definitions(rendered)]


def openai_responses_tools(
    rendered: RenderedPrompt[object], *, deferred: bool = False
) -> list[JsonSchema]:
    """Return the tools for OpenAI's Responses API, or those that opened sections bring later."""
    return [
        {
            "type": "function",
            **tool._asdict(),
            # Otherwise the API makes every parameter a required one.
            "strict": False,
        }
        for tool in tool_definitions(rendered, rendered.deferred_tools if deferred else None)
    ]


def anthropic_tools(rendered: RenderedPrompt[object]) -> list[JsonSchema]:
    """Return the tools for Anthropic's Messages API; deferred ones come last, marked as such."""
    tools, deferred = (
        [
            dict[str, object](name=name, description=description, input_schema=parameters)
            for name, description, parameters in tool_definitions(rendered, chosen)
        ]
        for chosen in (None, rendered.deferred_tools)
    )
    return [*tools, *({**tool, "defer_loading": True} for tool in deferred)]


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


def tool_definitions(
    rendered: RenderedPrompt[object], tools: Sequence[Tool[object, object]] | None = None
) -> list[ToolDefinition]:
    """Return the definitions of a prompt's tools, or of these of them."""
    params = rendered.tool_param_descriptions
    return [
        ToolDefinition(
            tool.name,
            described(tool, rendered.wording),
            parameters_schema(tool, params.get(tool.name)),
        )
        for tool in (rendered.tools if tools is None else tools)
    ]
