"""Lists, forms of values, and few-shot examples."""

from dataclasses import dataclass
from typing import Annotated

from foldline.prompts import (
    EachSection,
    Example,
    ExamplesSection,
    MarkdownSection,
    PromptTemplate,
    bullets,
    joined,
    limit,
    or_else,
    xml,
)


@dataclass(frozen=True)
class Tea:
    name: str
    origins: Annotated[tuple[str, ...], joined(" and ")] = ()


@dataclass(frozen=True)
class Menu:
    teas: tuple[Tea, ...]
    rules: Annotated[list[str], bullets]
    note: Annotated[str | None, or_else("none"), limit(tokens=20), xml("note")] = None


@dataclass
class Label:
    text: str


menu = PromptTemplate[Label](
    ns="shop",
    key="menu",
    sections=[
        MarkdownSection[Menu](title="Rules", key="rules", template="${rules}\n\n${note}"),
        EachSection[Menu, Tea](
            title="Teas", key="teas", items="teas", template="- ${name} from ${origins}"
        ),
        ExamplesSection[None, str, Label](items=[Example("Assam", Label("strong"))]),
    ],
)


def main() -> str:
    teas = (Tea("Assam", ("India",)), Tea("Blend", ("Kenya", "Ceylon")))
    return menu.bind(Menu(teas, ["Warm the pot."])).render().text


if __name__ == "__main__":
    assert "- Blend from Kenya and Ceylon" in main()
