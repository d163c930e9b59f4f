"""An adapter and a section of one's own, and texts from a store."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Unpack

from foldline.prompts import MarkdownSection, OverridesStore, PromptTemplate, RenderedPrompt
from foldline.prompts.adapters import BaseAdapter, ModelExchange, ModelTurn
from foldline.prompts.deadline import Deadline
from foldline.prompts.runtime import (
    Cancellation,
    Conversation,
    DeveloperTurn,
    EvaluationKeywords,
    SystemTurn,
    ToolOutcome,
)


class Echo:
    def __init__(self, conversation: Conversation) -> None:
        self.said = conversation.turns[-1]

    def ask(
        self,
        *,
        deadline: Deadline | None,
        cancellation: Cancellation | None,
        on_text: Callable[[str], object] | None,
    ) -> ModelTurn:
        text = getattr(self.said, "text", "")
        if on_text is not None:
            on_text(text)
        return ModelTurn(text)

    def tell(self, outcomes: Sequence[ToolOutcome]) -> None:
        raise AssertionError(outcomes)

    def add(self, turn: SystemTurn | DeveloperTurn) -> None:
        raise AssertionError(turn)

    def revise(self, texts: Mapping[int, str]) -> None:
        raise AssertionError(texts)


class EchoAdapter(BaseAdapter):
    provider = "echo"

    def converse(
        self, rendered: RenderedPrompt[object], conversation: Conversation
    ) -> ModelExchange:
        return Echo(conversation)


class Today(MarkdownSection[None]):
    derived_placeholders = ("_day",)

    def __init__(self) -> None:
        super().__init__(title="Today", key="today", template="It is ${_day}.")

    def derive(self, params: None) -> Mapping[str, str]:
        return {"_day": "Monday"}


template = PromptTemplate(ns="shop", key="echo", sections=[Today()])


def ask(**options: Unpack[EvaluationKeywords]) -> str:
    return EchoAdapter().evaluate(template, **options).text


def main() -> str:
    with TemporaryDirectory() as folder:
        return ask(overrides=OverridesStore(Path(folder)), tag="de")


if __name__ == "__main__":
    assert main().endswith("It is Monday.")
