"""Chapters with parameters, opened by a function."""

from dataclasses import dataclass

from foldline.prompts import (
    Chapter,
    ChaptersExpansionPolicy,
    IntentQuery,
    MarkdownSection,
    PromptTemplate,
    Task,
    TaskSection,
)
from foldline.prompts.adapters import render_for_evaluation


@dataclass
class Market:
    country: str = "AT"


manual = PromptTemplate(
    ns="shop",
    key="manual",
    sections=[TaskSection[Task]()],
    chapters=[
        Chapter[Market](
            key="taxes",
            title="Taxes",
            description="What is paid where.",
            enabled=lambda market: market.country == "AT",
            sections=[
                MarkdownSection[Market](title="Rates", key="rates", template="In ${country}: 20 %.")
            ],
        )
    ],
)


def about(query: IntentQuery) -> bool:
    return query.chapter.key in query.goal


def main(request: str) -> str:
    rendered = render_for_evaluation(
        manual,
        Task(request),
        chapters_expansion_policy=ChaptersExpansionPolicy.INTENT_CLASSIFIER,
        goal_section_key="task",
        intent_classifier=about,
        chapter_params={"taxes": Market()},
    )
    return rendered.text


if __name__ == "__main__":
    assert "In AT: 20 %." in main("What taxes are there?")
    assert "In AT" not in main("Where is my tea?")
