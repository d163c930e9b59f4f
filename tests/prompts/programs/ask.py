"""A prompt with parameters, asked once."""

from dataclasses import dataclass
from typing import Annotated

from foldline.prompts import MarkdownSection, PromptTemplate, Task, TaskSection, joined
from foldline.prompts.adapters import ScriptedAdapter


@dataclass(frozen=True)
class Shop:
    name: str
    languages: Annotated[tuple[str, ...], joined(" and ")] = ("English",)


support = PromptTemplate(
    ns="shop",
    key="support",
    sections=[
        MarkdownSection[Shop](
            title="Shop",
            key="shop",
            template="${name} answers in ${languages}.",
            enabled=lambda shop: bool(shop.name),
        ),
        TaskSection[Task](),
    ],
)


def main() -> str:
    adapter = ScriptedAdapter(lambda rendered, _: rendered.text.splitlines()[2])
    return adapter.evaluate(support, Shop("Tea & Co"), Task("Where is my tea?")).text


if __name__ == "__main__":
    assert main() == "Tea & Co answers in English."
