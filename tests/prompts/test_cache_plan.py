"""What of a prompt can be cached, from the types of its parameters."""

from dataclasses import field
from typing import Annotated, Any, ClassVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.prompts import (
    EachSection,
    MarkdownSection,
    PromptTemplate,
    Section,
    Task,
    TaskSection,
)
from foldline.prompts.cache.cache_plan import (
    Breakpoint,
    CachePlan,
    CacheRules,
    MisplacedValue,
    UncountedSpan,
    common_beginning,
    planned,
)
from foldline.prompts.cache.stability import (
    PerRequest,
    PerSession,
    Stability,
    Stable,
    of_fields,
    of_type,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.rendered import RenderedPrompt

LONG = "Read every line before you judge it. " * 200


@FrozenDataclass()
class User:
    name: Annotated[str, PerSession]
    asked_at: Annotated[str, PerRequest]
    region: Annotated[str, Stable] = "eu"
    note: str = ""


@FrozenDataclass()
class Account:
    __stability__: ClassVar[Stability] = PerSession

    plan: str = "free"
    balance: Annotated[int, PerRequest] = 0


def section(key: str, template: str, **others: object) -> Section[object]:
    return MarkdownSection[User](title=key.title(), key=key, template=template, **others)  # type: ignore[arg-type]


def rendered(*sections: Section[object]) -> RenderedPrompt[None]:
    template = PromptTemplate[None](ns="t", key="t", sections=sections)
    known = template.plan.known_types
    return template.bind(
        *[p for p in (User("Ada", "noon"), Task("Go.")) if type(p) in known]
    ).render()


def cache_plan(prompt: RenderedPrompt[None], **arguments: Any) -> CachePlan:
    return prompt.cache_plan(**arguments)


def words(text: str) -> int:
    return len(text.split())


def test_a_field_declares_how_often_it_changes_and_its_dataclass_for_the_others() -> None:
    assert of_fields(User) == {
        "name": Stability.SESSION,
        "asked_at": Stability.REQUEST,
        "region": Stability.DEPLOYMENT,
        "note": Stability.UNKNOWN,
    }
    assert of_fields(Account) == {"plan": Stability.SESSION, "balance": Stability.REQUEST}
    assert of_type(Task) == Stability.REQUEST
    assert of_type(None) == Stability.UNKNOWN


def test_the_spans_are_the_text_in_order() -> None:
    prompt = rendered(
        section("a", f"{LONG}Hi ${{name}} in ${{region}}!"), section("b", "${note} at ${asked_at}")
    )
    plan = cache_plan(prompt)
    assert "".join(prompt.text[span.start : span.end] for span in plan.spans) == prompt.text
    shown = [(span.dotted_key, span.fields, span.stability.name) for span in plan.spans]
    assert shown == [
        ("a", (), "CONSTANT"),
        ("a", ("name",), "SESSION"),
        ("a", (), "CONSTANT"),
        ("a", ("region",), "DEPLOYMENT"),
        ("a", (), "CONSTANT"),
        ("b", (), "CONSTANT"),
        ("b", ("note",), "UNKNOWN"),
        ("b", (), "CONSTANT"),
        ("b", ("asked_at",), "REQUEST"),
    ]
    assert [span.prefix.name for span in plan.spans] == [
        "CONSTANT",
        *["SESSION"] * 5,
        *["UNKNOWN"] * 2,
        "REQUEST",
    ]


def test_breakpoints_end_the_stable_part_and_that_of_a_session() -> None:
    prompt = rendered(section("a", LONG), section("b", "${name}"), TaskSection[Task]())
    plan = prompt.cache_plan(count_tokens=words, rules=CacheRules(minimum_tokens=1_000))
    stable = 3 + 1_400 + 3
    session = stable + 1 + 3
    assert plan.breakpoints == (
        Breakpoint(1, "user", prompt.text.index("Ada"), stable, Stability.CONSTANT, kept=True),
        Breakpoint(4, "user", prompt.text.index("Go."), session, Stability.SESSION, kept=True),
    )


def test_what_goes_on_is_kept_whole() -> None:
    prompt = rendered(section("a", LONG), TaskSection[Task]())
    once = cache_plan(prompt, count_tokens=words).breakpoints
    again = cache_plan(prompt, count_tokens=words, goes_on=True).breakpoints
    assert again[:-1] == once
    assert again[-1].tokens == words(prompt.text)


@pytest.mark.parametrize(("limit", "kept"), [(0, [False, False]), (1, [True, False])])
def test_no_more_breakpoints_than_the_provider_takes(limit: int, kept: list[bool]) -> None:
    plan = cache_plan(rendered(section("a", LONG + "${name}${note}")), rules=CacheRules(limit))
    assert [mark.kept for mark in plan.breakpoints] == kept


def test_a_short_prefix_is_said_to_be_too_short() -> None:
    plan = cache_plan(rendered(section("a", "Hi ${name}!")))
    assert [mark.kept for mark in plan.breakpoints] == [False, False]
    assert "Too short to cache (2 of at least 1,024 tokens)" in str(plan)


def test_tools_come_first() -> None:
    plan = cache_plan(rendered(section("a", LONG)), tools=[{"name": "x"}], count_tokens=words)
    assert (plan.spans[0].part, plan.spans[0].tokens, plan.spans[0].stability) == ("tools", 2, 0)


def test_a_condition_is_as_stable_as_what_it_may_read() -> None:
    plan = cache_plan(
        rendered(
            section("a", "Text.", enabled=lambda params: bool(params.note)), section("b", LONG)
        )
    )
    assert [(span.dotted_key, span.stability.name, span.tokens > 0) for span in plan.spans] == [
        ("a", "REQUEST", False),
        ("b", "CONSTANT", True),
    ]
    assert plan.breakpoints == ()


def test_a_value_in_front_of_what_is_stable_is_misplaced() -> None:
    plan = cache_plan(
        rendered(section("a", "It is ${asked_at}."), section("b", LONG)), count_tokens=words
    )
    assert list(plan.misplaced()) == [
        MisplacedValue(("a",), ("asked_at",), Stability.REQUEST, 1 + 3 + 1_400)
    ]


TOO_SHORT = "Too short to cache (3 of at least 1,024 tokens)"
WHOLE = "Can be cached: 1,406 tokens in every request"
HINT = "1,403 tokens behind a (note), which doesn't declare how often it changes"


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ((section("a", "${note}"), section("b", LONG)), f"{TOO_SHORT}; {HINT}"),
        (
            (section("b", LONG), section("a", "${note}"), section("c", LONG)),
            f"Can be cached: 1,406 tokens in every request; {HINT}",
        ),
        (
            (section("b", LONG), section("a", "${note}")),
            "Can be cached: 1,406 tokens in every request",
        ),
        ((section("a", "${note}"), section("b", LONG[:1_000])), TOO_SHORT),
    ],
)
def test_the_sentence_names_a_value_that_declares_nothing_in_front_of_much(
    sections: tuple[Section[object], ...], said: str
) -> None:
    template = PromptTemplate[None](ns="t", key="t", sections=sections)
    prompt = template.render(User("Ada", "noon", note="Careful."))
    assert cache_plan(prompt, count_tokens=words).sentence == said


@pytest.mark.parametrize(
    "template",
    [
        "${note}",  # Nobody declared it.
        "${region}",  # As stable as it gets.
        "Nothing.",
    ],
)
def test_other_values_in_front_are_not(template: str) -> None:
    plan = cache_plan(rendered(section("a", template), section("b", LONG)))
    assert list(plan.misplaced()) == []


def test_a_value_behind_what_is_stable_is_not_misplaced() -> None:
    plan = cache_plan(rendered(section("b", LONG), section("a", "${asked_at} ${name}")))
    assert list(plan.misplaced()) == []


def test_a_prompt_too_short_to_be_cached_has_nothing_misplaced() -> None:
    plan = cache_plan(rendered(section("a", "${asked_at}"), section("b", LONG[:1_000])))
    assert list(plan.misplaced()) == []


def test_the_plan_reads_as_a_table() -> None:
    plan = cache_plan(
        rendered(section("a", LONG), section("b", "${name}"), TaskSection[Task]()),
        count_tokens=words,
    )
    assert str(plan).splitlines() == [
        "a                 1,403 tokens  constant; re-read if changed: 1,411",
        "b                     3 tokens  constant; re-read if changed: 8",
        "── Cache breakpoint here: stays the same in every request",
        "b (name)              1 tokens  per session; re-read if changed: 5",
        "task                  3 tokens  constant; re-read if changed: 4",
        "── Cache breakpoint here: stays the same in every request of a session",
        "task (request)        1 tokens  per request; re-read if changed: 1",
    ]


@FrozenDataclass()
class Counted:
    words: tuple[User, ...] = field(init=False, default=())


def test_a_list_that_no_argument_gives_is_unknown() -> None:
    section = EachSection[Counted, User](
        title="A", key="a", items="words", template="${name}", empty=LONG
    )
    prompt = PromptTemplate[None](ns="t", key="t", sections=[section]).render()
    assert [span.stability for span in prompt.cache_plan().spans] == [Stability.CONSTANT]
    assert prompt.stability_of(prompt.blocks[0]).segments[-1] == Stability.CONSTANT


def span(stability: Stability, text: str = "one ") -> UncountedSpan:
    return UncountedSpan("user", ("a",), (), 0, 0, text, stability)


SPANS = st.lists(
    st.builds(
        span,
        st.sampled_from(Stability),
        st.sampled_from(("one ", "two ")),
    ),
    max_size=4,
)


@given(SPANS, SPANS, SPANS)
@example([span(Stability.CONSTANT)], [span(Stability.SESSION)], [span(Stability.DEPLOYMENT)])
def test_what_another_request_reads_ends_at_a_breakpoint_of_both(
    common: list[UncountedSpan], one: list[UncountedSpan], other: list[UncountedSpan]
) -> None:
    rules = CacheRules(minimum_tokens=1)
    sent, later = [*common, *one], [*common, *other]
    plans = [
        planned(spans, rules=rules, count_tokens=words, goes_on=False) for spans in (sent, later)
    ]
    same, following = common_beginning(sent, later)
    assert sent[:same] == later[:same]
    ends = {mark.after for mark in plans[1].breakpoints}
    read = [
        mark.tokens
        for mark in plans[0].breakpoints
        if mark.kept and mark.after < same and mark.after in ends
    ]
    found = plans[0].kept_before(same, following)
    kept = 0 if found is None else plans[0].breakpoints[found].tokens
    assert kept == max(read, default=0)
