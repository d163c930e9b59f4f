"""Answers that are still being written: each beginning is a valid beginning of the whole."""

import dataclasses
import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from foldline.prompts import (
    MarkdownSection,
    PartialOutput,
    PromptTemplate,
    parse_partial_output,
    parse_structured_output,
)


class Mood(Enum):
    GOOD = "good"
    GOODISH = "goodish"


@dataclass(frozen=True)
class Step:
    title: str
    minutes: int = 5
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    name: str
    first: Step
    steps: list[Step]
    by_day: dict[str, list[str]]
    anything: object
    pair: tuple[str, list[int]]
    kinds: frozenset[str]
    child: "Plan | None" = None
    due: date | None = None
    mood: Mood = Mood.GOOD
    size: Literal["s", "small"] | int = "s"
    more: Mapping[str, float] = field(default_factory=lambda: {"default": 1.5})
    language: str = "en"
    last: Step = Step("default", 7)
    place: str | None = "home"


@dataclass(frozen=True)
class Count:
    what: str
    count: int


@dataclass(frozen=True)
class Noted:
    text: str
    more: dict[str, str]
    note: str = "none"


TEXTS = ["", "a", "go\n", 'say "x"', "back\\slash", "é😀", "😀", "{[,:]}", "12", "null", "\\u00e9"]


class Answers:
    """Random answers, by their type, as JSON values."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        return "".join(self.random.choices(TEXTS, k=self.random.randint(0, 2)))

    def some(self, make: Any) -> list[Any]:
        return [make() for _ in range(self.random.randint(0, 2))]

    def step(self) -> dict[str, object]:
        step: dict[str, object] = {"title": self.text()}
        if self.random.random() < 0.5:
            step |= {"minutes": self.random.choice([5, 12, 120, None])}
        if self.random.random() < 0.5:
            step |= {"notes": self.some(self.text)}
        return self.shuffled(step)

    def plan(self, depth: int = 0) -> dict[str, object]:
        plan: dict[str, object] = {
            "name": self.text(),
            "first": self.step(),
            "steps": self.some(self.step),
            "by_day": {f"{self.text()}{n}": self.some(self.text) for n in range(2)},
            "anything": self.random.choice([None, 1.5, "text", [{"a": [True, "x"]}], {}]),
            "pair": [self.text(), self.some(lambda: self.random.randint(-20, 200))],
            "kinds": sorted({*self.some(self.text)}),
        }
        optional: dict[str, object] = {
            "child": self.plan(depth + 1) if depth < 1 and self.random.random() < 0.3 else None,
            "due": self.random.choice([None, "2026-11-29"]),
            "mood": self.random.choice(["good", "goodish"]),
            "size": self.random.choice(["s", "small", 3, 30]),
            "more": {"a": 1.25, "b": -3e2},
            "language": self.text(),
            "last": self.step(),
            "place": self.text(),
        }
        kept = {key: item for key, item in optional.items() if self.random.random() < 0.5}
        return self.shuffled(plan | kept)

    def shuffled(self, value: dict[str, object]) -> dict[str, object]:
        keys = self.random.sample([*value], len(value))
        return {key: value[key] for key in keys}

    def written(self, value: object) -> str:
        indent, ascii_only = self.random.choice([None, 1]), self.random.random() < 0.5
        before, after = self.random.choice(
            [("", ""), ("\n ", "\n"), ("```json\n", "\n```"), ("<think>{[</think>\n", "")]
        )
        return before + json.dumps(value, indent=indent, ensure_ascii=ascii_only) + after


DEFAULTS: dict[str, object] = {"minutes": 5, "mood": Mood.GOOD, "size": "s"}
"""Fields of types without an empty value, which have their default until they come."""


def begins(part: object, whole: object) -> bool:
    """Whether a value is a beginning of another one; None stands for what hasn't come."""
    if part is None or part == whole:
        return True
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    if isinstance(part, frozenset) and isinstance(whole, frozenset):
        return part <= whole
    if isinstance(part, (list, tuple)) and isinstance(whole, (list, tuple)):
        pairs = list(zip(part, whole, strict=False))
        return len(part) <= len(whole) and all(begins(p, w) for p, w in pairs)
    if isinstance(part, dict) and isinstance(whole, dict):
        same_keys = [*part] == [*whole][: len(part)]
        return same_keys and all(begins(item, whole[key]) for key, item in part.items())
    if dataclasses.is_dataclass(part) and type(part) is type(whole):
        fields = {f.name: getattr(part, f.name) for f in dataclasses.fields(part)}
        return all(
            begins(value, getattr(whole, name)) or (name in DEFAULTS and value == DEFAULTS[name])
            for name, value in fields.items()
        )
    return False


def rendered(kind: Any) -> Any:
    section = MarkdownSection[None](title="T", key="t", template="Plan.")
    return PromptTemplate[kind](ns="t", key="partial", sections=[section]).render()


PLAN, COUNTS = rendered(Plan), rendered(list[Count])


def check(text: str, prompt: Any) -> list[object]:
    """Each beginning of a text is parsed to a beginning of what follows; returns the values."""
    whole = parse_structured_output(text, prompt)
    values: list[object] = []
    for end in range(len(text) + 1):
        parsed = parse_partial_output(text[:end], prompt)
        if parsed is None:
            assert not values, f"nothing after something, at {text[:end]!r}"
            continue
        assert begins(parsed.value, whole), text[:end]
        if values:
            assert begins(values[-1], parsed.value), text[:end]
        if not values or values[-1] != parsed.value:
            values.append(parsed.value)
    assert values[-1] == whole
    return values


@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 60), marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_every_beginning_of_an_answer_is_a_beginning_of_the_whole(seeds: range) -> None:
    for seed in seeds:
        answers = Answers(seed)
        assert check(answers.written(answers.plan()), PLAN)


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_array_grows_by_whole_items_where_a_number_is_missing(wrapped: bool) -> None:
    items = [{"what": "soup", "count": 12}, {"what": "tea", "count": 1}]
    values = check(json.dumps({"items": items} if wrapped else items), COUNTS)
    assert values == [[], [Count("soup", 12)], [Count("soup", 12), Count("tea", 1)]]


def test_texts_and_arrays_are_as_far_as_they_have_come() -> None:
    def parsed(text: str) -> PartialOutput[list[Step]] | None:
        return parse_partial_output(text, rendered(list[Step]))

    assert parsed('[{"title": "Bo') == PartialOutput([Step("Bo")])
    assert parsed('[{"title": "Boil"') == PartialOutput([Step("Boil")])
    assert parsed('[{"title": "Boil", "minutes": 1') == PartialOutput([Step("Boil")])
    at = '[{"title": "Boil", "minutes": 12, "notes": ["hot", "st'
    assert parsed(at) == PartialOutput([Step("Boil", 12, ("hot", "st"))])
    assert parsed("[{") == PartialOutput([Step("")])
    assert parsed("[") == PartialOutput([])
    assert parsed("") is None
    assert parse_partial_output('{"text": "x", "more": {}}', rendered(Noted)) == PartialOutput(
        Noted("x", {}, "none")
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('"a\\', "a"),
        ('"a\\u00', "a"),
        ('"a\\ud83d', "a"),
        ('"a\\ud83d\\ude', "a"),
        ('"a\\ud83d\\ude00', "a😀"),
        ('"a\\\\', "a\\"),
        ('"a\\"', 'a"'),
    ],
)
def test_half_an_escape_waits_for_its_other_half(text: str, shown: str) -> None:
    parsed = parse_partial_output('{"title": ' + text, rendered(Step))
    assert parsed == PartialOutput(Step(shown))


@pytest.mark.parametrize(
    "text",
    [
        "Here it is: [",
        "[1] says so",
        '{"title": }',
        '{"title": "a\nb',
        '{"titel": "x"',
        '{"title": NaN, ',
        '{"title": "x", "minutes": "many",',
        '{1: "x"',
        '{"title": "x", "notes": ["a", ],',
        "[" * 100_000,
    ],
)
def test_what_fits_nothing_is_no_answer(text: str) -> None:
    assert parse_partial_output(text, rendered(Step)) is None


class Guest(BaseModel):
    name: Annotated[str, Field(min_length=2)]
    table: int = Field(default=1, alias="at")


def test_a_model_refuses_what_its_rules_refuse() -> None:
    text = '{"at": 3, "name": "Ann"}'
    values = [parse_partial_output(text[:end], rendered(Guest)) for end in range(len(text) + 1)]
    names = [value.value.name for value in values if value is not None]
    assert names == ["An", "Ann", "Ann", "Ann"]


def test_each_type_that_a_text_can_be_read_as_waits_for_its_end() -> None:
    @dataclass
    class When:
        due: date = date(2026, 1, 1)
        mood: Mood = Mood.GOODISH
        size: Literal["s", "small"] = "small"
        either: str | int = 0

    text = '{"due": "2026-11-29", "mood": "good", "size": "s", "either": "12"}'
    kind = rendered(When)
    seen = {repr(p.value) for e in range(len(text)) if (p := parse_partial_output(text[:e], kind))}
    assert {match for one in seen for match in re.findall(r"either='?(\w+)", one)} == {"0", "12"}
    assert len(seen) == 5
