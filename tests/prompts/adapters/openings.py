"""What the tests of openings share: providers by what they can do, and a tool."""

from __future__ import annotations

from foldline.prompts import (
    SectionVisibility,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.dataclasses import FrozenDataclass

from .wire.simulators import (
    AnthropicSimulator,
    OpenAIResponsesSimulator,
    OpenAISimulator,
)

FULL, SUMMARY = SectionVisibility.FULL, SectionVisibility.SUMMARY

WIRES = {
    "deferred tools": (AnthropicSimulator, "claude-sonnet-5"),
    "deferred tools, system messages": (AnthropicSimulator, "claude-opus-5-5"),
    "a model without either": (AnthropicSimulator, "claude-opus-4-1"),
    "chat completions": (OpenAISimulator, "gpt-5.6"),
    "responses": (OpenAIResponsesSimulator, "gpt-5.6"),
}


@FrozenDataclass()
class Word:
    word: str = "nothing"


def tool(name: str) -> Tool[Word, str]:
    def handler(params: Word, *, context: ToolContext) -> ToolResult[str]:
        del context
        return ToolResult("", f"{name} heard {params.word}")

    return Tool[Word, str](name=name, description=f"The tool <{name}>.", handler=handler)
