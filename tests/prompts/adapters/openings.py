"""What the tests of openings share: providers by what they can do, and a tool."""

from __future__ import annotations

from typing import Any

from foldline.prompts import (
    SectionVisibility,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.adapters import Appending, BaseAdapter
from foldline.prompts.dataclasses import FrozenDataclass

from .wire.simulators import (
    AnthropicSimulator,
    OpenAIResponsesSimulator,
    OpenAISimulator,
)

FULL, SUMMARY = SectionVisibility.FULL, SectionVisibility.SUMMARY


class AddingSimulator(OpenAIResponsesSimulator):
    """OpenAI's Responses, with an adapter that brings tools later."""

    def adapter(self, **settings: Any) -> BaseAdapter:
        return super().adapter(appending=Appending("deferred", system=True), **settings)


WIRES = {
    "deferred tools": (AnthropicSimulator, "claude-sonnet-5"),
    "deferred tools, system messages": (AnthropicSimulator, "claude-opus-5-5"),
    "a model without either": (AnthropicSimulator, "claude-opus-4-1"),
    "chat completions": (OpenAISimulator, "gpt-5.6"),
    "responses": (OpenAIResponsesSimulator, "gpt-5.6"),
    "responses, added tools": (AddingSimulator, "gpt-5.6"),
}


@FrozenDataclass()
class Word:
    word: str = "nothing"


def tool(name: str) -> Tool[Word, str]:
    def handler(params: Word, *, context: ToolContext) -> ToolResult[str]:
        del context
        return ToolResult("", f"{name} heard {params.word}")

    return Tool[Word, str](name=name, description=f"The tool <{name}>.", handler=handler)
