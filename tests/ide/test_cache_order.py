"""The check of what stands in front of what could be cached, and its fix."""

import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.agent.scan import scan
from foldline.ide.analysis.stability import static_plan
from foldline.ide.checks import Code, Diagnostic, diagnostics
from foldline.ide.checks.costs import check_costs
from foldline.ide.token_counter import token_counter

HEAD = """\
from dataclasses import dataclass
from typing import Annotated, ClassVar

from foldline.prompts import (
    EachSection, Example, ExamplesSection, MarkdownSection, PerRequest, PerSession, PromptTemplate,
    Stability, Stable, Task, TaskSection
)


@dataclass(frozen=True)
class Clock:
    now: Annotated[str, PerRequest] = "noon"
    zone: str = "UTC"
    city: Annotated[str, Stability.SESSION] = "Bern"


@dataclass(frozen=True)
class Account:
    __stability__: ClassVar[Stability] = PerSession

    plan: str = "free"
    region: Annotated[str, Stable] = "eu"


@dataclass(frozen=True)
class Trial(Account):
    left: int = 3


"""
LISTS = """\
@dataclass(frozen=True)
class Passage:
    text: str = "t"


@dataclass(frozen=True)
class Found:
    passages: Annotated[tuple[Passage, ...], PerRequest] = (Passage(), Passage())
    others: tuple[Passage, ...] = (Passage(),)


"""
EACH = [
    f'{made}, title="T", key="KEY")'
    for made in (
        'EachSection[Found, Passage](items="passages", template="${_number} ${text}"',
        'EachSection[Found, Passage](items="others", template="${text}", max_items=1',
        'EachSection[None, Passage](items=[Passage()], template="${_number}"',
        'ExamplesSection[None, str, str](items=[Example("a", "b")]',
    )
]
LONG = "Read every line before you judge it. " * 150
COUNTER = token_counter(exact=False)


def prompt(*sections: str) -> str:
    listed = "".join(f"    {section},\n" for section in sections)
    return f'{HEAD}{LISTS}prompt = PromptTemplate(ns="a", key="b", sections=[\n{listed}])\n'


def section(params: str, key: str, template: str, more: str = "") -> str:
    return f'MarkdownSection[{params}](title="T", key="{key}", template="{template}"{more})'


CLOCK = section("Clock", "clock", "It is ${now}.")
RULES = section("None", "rules", LONG)


def found_in(folder: Path, source: str) -> list[Diagnostic]:
    file = folder / "prompt.py"
    file.write_text(source)
    [analysis] = scan([str(file)]).analyses()
    found = diagnostics(analysis, more=check_costs(analysis, None, COUNTER))
    return [item for item in found if item.code == Code.CACHE_ORDER]


def test_a_value_of_each_request_in_front_of_what_stays_is_found_and_moved(tmp_path: Path) -> None:
    source = prompt(CLOCK, RULES, section("None", "end", "Be kind."))
    [found] = found_in(tmp_path, source)
    assert found.message.startswith("`now` changes with each request, so no cache keeps the ~1,396")
    assert source[found.place.start : found.place.end] == '"clock"'
    [fix] = found.fixes
    assert fix.title == "Move the section behind `end`"
    [change] = fix.changes
    mended = source[: change.place.start] + change.text + source[change.place.end :]
    assert mended == prompt(RULES, section("None", "end", "Be kind."), CLOCK)
    assert found_in(tmp_path, mended) == []


@pytest.mark.parametrize(
    "sections",
    [
        (RULES, CLOCK),
        (section("Clock", "zone", "${zone}"), RULES),
        (section("Account", "region", "${region}"), RULES),
        (CLOCK, section("None", "short", LONG[:900])),
        ("TaskSection[Task]()", section("None", "end", "Be kind.")),
        (section("Clock", "a", "${now}", ", enabled=lambda _: True"), section("None", "b", "c")),
    ],
)
def test_what_costs_nothing_is_not_found(tmp_path: Path, sections: tuple[str, ...]) -> None:
    assert found_in(tmp_path, prompt(*sections)) == []


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (section("Account", "plan", "${plan}"), "`plan` changes with each session"),
        (section("Trial", "left", "${left}"), "`left` changes with each session"),
        ("TaskSection[Task]()", "`request` changes with each request"),
        (section("Clock", "both", "${city}, ${now}"), "`city` changes with each session"),
    ],
)
def test_each_way_to_declare_it_counts(tmp_path: Path, first: str, message: str) -> None:
    assert found_in(tmp_path, prompt(first, RULES))[0].message.startswith(message)


@pytest.mark.parametrize(
    "source",
    [
        prompt(CLOCK, RULES).replace(f"{CLOCK},", f"{CLOCK},  # First, as people read it."),
        prompt(CLOCK, RULES).replace("sections=[", "system=[").replace("]\n)", ")"),
        prompt(section("Clock", "clock", "It is ${now}. " + LONG)),
        HEAD + f'SECTIONS = ({CLOCK},)\nprompt = PromptTemplate(ns="a", key="b", '
        f"sections=[*SECTIONS, {RULES}])\n",
    ],
    ids=["comment", "system", "inside", "elsewhere"],
)
def test_a_move_that_would_lose_something_is_not_offered(tmp_path: Path, source: str) -> None:
    for found in found_in(tmp_path, source):
        assert all("#" not in change.text for fix in found.fixes for change in fix.changes)


FIELDS = {
    "Clock": ["now", "zone", "city"],
    "Account": ["plan", "region"],
    "Trial": ["left", "plan"],
}


@st.composite
def sections(draw: st.DrawFn) -> str:
    params = draw(st.sampled_from([*FIELDS, "None"]))
    names = draw(st.lists(st.sampled_from(FIELDS.get(params, [""])), max_size=3))
    texts = [f"${{{name}}} and" if name else "so" for name in names]
    more = draw(st.sampled_from(["", ", enabled=lambda: True", ', summary="s"']))
    return section(
        params, "KEY", " ".join([*texts, draw(st.sampled_from(["", "end", LONG]))]), more
    )


@given(st.lists(sections() | st.sampled_from(EACH), min_size=1, max_size=4), st.booleans())
def test_the_source_tells_what_running_it_does(
    tmp_path: Path, rows: list[str], with_task: bool
) -> None:
    rows = [row.replace("KEY", f"k{number}") for number, row in enumerate(rows)]
    source = prompt(*rows, *["TaskSection[Task](default_params=Task('Go.'))"] * with_task)
    file = tmp_path / "prompt.py"
    file.write_text(source)
    [analysis] = scan([str(file)]).analyses()
    [facts] = analysis.prompts
    executed = runpy.run_path(str(file))["prompt"].bind().render()
    plan = executed.cache_plan(count_tokens=COUNTER.count, goes_on=False)
    assert static_plan(facts.render, COUNTER) == plan
