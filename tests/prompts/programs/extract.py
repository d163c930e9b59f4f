"""A list of dataclasses as the answer, with what was repaired."""

from dataclasses import dataclass, field
from enum import StrEnum

from foldline.prompts import MarkdownSection, PromptTemplate, parse_output
from foldline.prompts.adapters import ScriptedAdapter
from foldline.prompts.errors import OutputParseError


class Mood(StrEnum):
    GLAD = "glad"
    CROSS = "cross"


@dataclass
class Review:
    mood: Mood
    stars: int = field(default=3, metadata={"description": "1 to 5"})


reviews = PromptTemplate[list[Review]](
    ns="shop",
    key="reviews",
    sections=[MarkdownSection[None](title="Task", key="task", template="List the reviews.")],
)


def stars(answer: str) -> int:
    response = ScriptedAdapter(lambda rendered, outcomes: answer).evaluate(reviews)
    return sum(review.stars for review in response.output or [])


def main() -> tuple[int, Mood]:
    try:
        stars("[{]")
    except OutputParseError as error:
        if error.json_path != "$":
            raise
    parsed = parse_output('[{"mood": "glad"},]', reviews.render())
    assert parsed.repairs == ("removed a trailing comma",)
    return stars('[{"mood": "cross", "stars": "4"}]'), parsed.value[0].mood


if __name__ == "__main__":
    assert main() == (4, Mood.GLAD)
