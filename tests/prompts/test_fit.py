"""Prompts that are made to fit: against every form that they may have, and in evaluations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from types import ModuleType

import pytest

from foldline.prompts import (
    ENGLISH,
    Fit,
    FrozenDataclass,
    MarkdownSection,
    PromptTemplate,
    RenderedPrompt,
    SectionPath,
    SectionVisibility,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.adapters import (
    Appending,
    ScriptedAdapter,
    ScriptedCall,
    ScriptedTurn,
    Transcript,
)
from foldline.prompts.cache.tokens import estimated_tokens
from foldline.prompts.errors import (
    PromptConfigurationError,
    PromptRenderError,
    PromptValidationError,
)
from foldline.prompts.layout.fitting import forms
from foldline.prompts.runtime import Conversation, evaluate_with_disclosure
from foldline.prompts.testing import assert_sets

FULL, SUMMARY = SectionVisibility.FULL, SectionVisibility.SUMMARY
LARGEST = 5
"""The most sections of a random prompt."""


@FrozenDataclass()
class Value:
    text: str = "A value."


@dataclass(frozen=True)
class Shape:
    """A section as data; `form` is how it's shown."""

    key: str
    body: str
    summary: str | None
    fit: str
    priority: str
    children: tuple[Shape, ...]
    form: str = "full"

    def section(self) -> MarkdownSection[Value]:
        return MarkdownSection[Value](
            title=self.key,
            key=self.key,
            template=f"{self.body} ${{text}}",
            summary=self.summary,
            visibility=SUMMARY if self.form == "folded" else FULL,
            enabled=(lambda _: False) if self.form == "gone" else None,
            fit=self.fit,  # type: ignore[arg-type]
            priority=self.priority,
            children=[child.section() for child in self.children],
        )

    @property
    def is_kept(self) -> bool:
        return self.fit == "keep" or any(child.is_kept for child in self.children)

    def walk(self) -> Iterator[Shape]:
        yield self
        for child in self.children:
            yield from child.walk()

    def forms(self) -> Iterator[Shape]:
        """Every form that the section may have, those of the sections inside included."""
        for children in product(*(child.forms() for child in self.children)):
            yield replace(self, children=children)
        if not self.is_kept:
            if self.summary is not None:
                yield replace(self, form="folded")
            if self.fit == "drop":
                yield replace(self, form="gone")


def shape(random_: random.Random, key: str, depth: int = 0) -> Shape:
    count = random_.choice((0, 0, 1, 2, 3)) if depth < 2 else 0
    return Shape(
        key,
        "x" * random_.choice((0, 5, 60, 400)),
        random_.choice((None, "Short.", "Short.", "s" * 90)),
        random_.choice(("keep", "fold", "fold", "drop", "drop")),
        random_.choice(("low", "medium", "high")),
        tuple(shape(random_, f"{key}{number}", depth + 1) for number in range(count)),
    )


def shapes_of(random_: random.Random) -> tuple[Shape, ...]:
    """Return sections that can't have too many forms to render each."""
    while True:
        shapes = tuple(shape(random_, f"s{number}") for number in range(random_.randint(1, 3)))
        if sum(1 for one in shapes for _ in one.walk()) <= LARGEST:
            return shapes


def template_of(shapes: tuple[Shape, ...]) -> PromptTemplate[None]:
    return PromptTemplate(ns="t", key="t", sections=[one.section() for one in shapes])


def smallest(shapes: tuple[Shape, ...], value: Value) -> int:
    """The tokens of the smallest form, by rendering every one."""
    line = f"\n\n{ENGLISH.fitted}"
    texts = [
        (forms == shapes, template_of(forms).render(value).text)
        for forms in product(*(one.forms() for one in shapes))
    ]
    return min(estimated_tokens(text + line * bool(text and not same)) for same, text in texts)


def full_sections(rendered: RenderedPrompt[None]) -> set[SectionPath]:
    return {b.path for b in rendered.blocks if b.enabled and b.visibility is FULL}


def check(seed: int) -> None:
    random_ = random.Random(seed)
    shapes = shapes_of(random_)
    value = Value("v" * random_.choice((0, 20, 300)))
    prompt = template_of(shapes).bind(value)
    whole = prompt.render().text
    most = estimated_tokens(whole)
    least = smallest(shapes, value)
    before: RenderedPrompt[None] | None = None
    budgets = sorted({max(1, b) for b in (least, most, *random_.sample(range(1, 999), 12))})
    source = prompt.render()._source
    assert source is not None
    in_one_pass = [*forms(source, prompt.render().blocks, budgets[::-1])][::-1]
    for budget, form in zip(budgets, in_one_pass, strict=True):
        if budget < least:
            assert form.tokens == least
            with pytest.raises(PromptRenderError, match=rf"has {least:,} tokens"):
                prompt.render(fit=Fit(budget))
            continue
        rendered = prompt.render(fit=Fit(budget))
        fitted = rendered.fitted
        assert fitted is not None
        assert fitted == form
        assert fitted.tokens == estimated_tokens(rendered.text) <= budget
        assert (
            rendered.text == prompt.render(fit=Fit(budget)).text == prompt.render(fit=fitted).text
        )
        summarized = {b.path for b in rendered.blocks if b.enabled and b.visibility is SUMMARY}
        assert summarized == {*fitted.folded}
        changed = [b for b in rendered.blocks if b.path in (*fitted.folded, *fitted.left_out)]
        assert bool(changed) is (most > budget)
        assert rendered.text.endswith(ENGLISH.fitted) is bool(changed and rendered.text)
        if changed:
            # What is before the first change stays in a provider's cache.
            start = rendered.text[: changed[0].span.start].removesuffix(ENGLISH.fitted)
            assert whole.startswith(start.rstrip())
        else:
            assert rendered.text == whole
        if before is not None and before.fitted is not None:
            assert before.fitted.tokens <= fitted.tokens
            gone = {*before.fitted.left_out}
            assert all(any(p[:n] in gone for n in range(9)) for p in fitted.left_out)
            assert full_sections(before) <= full_sections(rendered)
        before = rendered


@pytest.mark.parametrize(
    ("first", "count"), [(0, 60), pytest.param(1000, 1000, marks=pytest.mark.slow)]
)
def test_a_prompt_fits_whenever_one_of_its_forms_does_and_a_larger_budget_never_shows_less(
    first: int, count: int
) -> None:
    for seed in range(first, first + count):
        check(seed)


def section(key: str, **arguments: object) -> MarkdownSection[None]:
    arguments = {"summary": f"About {key}."} | arguments
    return MarkdownSection[None](
        title=key.title(),
        key=key,
        template=f"<{key}> " + "x" * 400,
        **arguments,  # type: ignore[arg-type]
    )


def prompt_of(*sections: MarkdownSection[None]) -> PromptTemplate[None]:
    return PromptTemplate(ns="t", key="t", sections=sections)


def test_the_lowest_priority_folds_first_and_of_one_priority_the_last() -> None:
    low = section("low", priority="low")
    template = prompt_of(section("first"), low, section("second"), section("high", priority="high"))
    folded = []
    for tokens in (430, 380, 340, 240, 160):
        fitted = template.render(fit=Fit(tokens)).fitted
        assert fitted is not None
        assert fitted.left_out == ()
        folded.append([".".join(path) for path in fitted.folded])
    assert folded == [
        [],
        ["low"],
        ["low", "second"],
        ["first", "low", "second"],
        ["first", "low", "second", "high"],
    ]


def test_a_section_is_as_important_as_the_most_important_one_inside() -> None:
    vital = section("vital", priority="high")
    template = prompt_of(section("a", children=[vital], priority="low"), section("b"))
    fitted = template.render(fit=Fit(300)).fitted
    assert fitted is not None
    assert fitted.folded == (("b",),)


def test_what_is_kept_keeps_what_is_around_it() -> None:
    kept = section("kept", fit="keep")
    template = prompt_of(section("a", children=[kept], fit="drop"), section("b"))
    with pytest.raises(PromptRenderError, match=r"fit='drop'"):
        template.render(fit=Fit(200))
    assert "<kept>" in template.render(fit=Fit(300)).text


def test_a_section_whose_summary_is_longer_than_what_can_stay_of_it_never_folds() -> None:
    inside = [section("b", summary=None, fit="drop"), section("c", summary="C.")]
    around = MarkdownSection[None](
        title="A", key="a", template="Short.", summary="s" * 300, children=inside
    )
    folded, left_out = (prompt_of(around).render(fit=Fit(n)).fitted for n in (170, 150))
    assert folded is not None
    assert left_out is not None
    assert (folded.folded, folded.left_out) == ((("a", "c"),), ())
    assert (left_out.folded, left_out.left_out) == ((("a", "c"),), (("a", "b"),))


def test_what_was_opened_stays_open_whatever_the_budget_is() -> None:
    template = prompt_of(section("a", children=[section("b", fit="drop")]), section("c"))
    opened: dict[SectionPath, SectionVisibility] = {("a", "b"): FULL}
    rendered = template.render(fit=Fit(1), visibility_overrides=opened)
    assert full_sections(rendered) == {("a",), ("a", "b")}
    assert rendered.fitted is not None
    assert rendered.fitted.tokens == estimated_tokens(rendered.text) > 1


def test_a_fitted_prompt_is_rendered_so_again_but_for_what_is_opened() -> None:
    template = prompt_of(section("a", fit="keep"), section("b", summary=None, fit="drop"))
    fitted = template.render(fit=Fit(150)).fitted
    assert fitted is not None
    assert fitted.left_out == (("b",),)
    opened = template.render(fit=fitted, visibility_overrides={("b",): FULL})
    assert full_sections(opened) == {("a",), ("b",)}


def test_a_counter_of_tokens_counts_one_section_at_a_time() -> None:
    template = prompt_of(section("a"), section("b"))
    counted: list[str] = []

    def words(text: str) -> int:
        counted.append(text)
        return len(text.split())

    rendered = template.render(fit=Fit(30, words))
    assert rendered.fitted is not None
    assert rendered.fitted.folded == ()
    assert not any("<a>" in text and "<b>" in text for text in counted)


class Unwritable:
    def __str__(self) -> str:
        raise ZeroDivisionError


def test_a_summary_that_cannot_be_written_does_not_fold_where_errors_are_shown() -> None:
    broken = MarkdownSection[Value](
        title="Broken", key="broken", template="x" * 400, summary="${text}", priority="low"
    )
    prompt = prompt_of(section("a"), broken).bind(Value(Unwritable()))  # type: ignore[arg-type]
    with pytest.raises(PromptRenderError, match="ZeroDivisionError"):
        prompt.render(fit=Fit(150))
    fitted = prompt.render(fit=Fit(150), on_error=lambda path, error: str(error)).fitted
    assert fitted is not None
    assert fitted.folded == (("a",),)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"priority": "urgent"},
            "`priority` is 'high' or 'medium' or 'low', not 'urgent'",
        ),
        ({"fit": "cut"}, "`fit` is 'keep' or 'fold' or 'drop', not 'cut'"),
    ],
)
def test_a_wrong_word_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(PromptValidationError, match=message):
        section("a", **arguments)


def test_a_budget_is_a_fit() -> None:
    for tokens in (0, -1, None, "8k", float("nan")):
        with pytest.raises(PromptConfigurationError, match="`tokens` must be 1 or more"):
            Fit(tokens)  # type: ignore[arg-type]
    with pytest.raises(PromptValidationError, match=r"such as Fit\(tokens=8000\), not 8000"):
        prompt_of(section("a")).render(fit=8000)  # type: ignore[arg-type]
    with pytest.raises(PromptConfigurationError, match=r"such as Fit\(tokens=8000\), not 8000"):
        ScriptedAdapter(Transcript(())).evaluate(
            prompt_of(section("a")),
            fit=8000,  # type: ignore[arg-type]
        )


def tool_of(name: str) -> Tool[None, str]:
    def handler(params: None, *, context: ToolContext) -> ToolResult[str]:
        return ToolResult("", name)

    return Tool[None, str](name=name, description="A tool.", handler=handler)


EVALUATED = prompt_of(
    section("a"), section("c"), section("b", tools=[tool_of("search")], priority="low")
)


@pytest.mark.parametrize("appending", [Appending(), None])
def test_a_model_opens_what_was_folded_and_it_stays_open(appending: Appending | None) -> None:
    seen: list[str] = []

    def model(rendered: RenderedPrompt[object], *_: object) -> ScriptedTurn:
        seen.append(rendered.text)
        if len(seen) > 1:
            return ScriptedTurn("Done.")
        arguments = {"section_keys": ["b"], "reason": "I need it."}
        return ScriptedTurn(tool_calls=(ScriptedCall("open_sections", arguments),))

    adapter = ScriptedAdapter(model, appending=appending)
    conversation = Conversation().user("Go on.")
    response = evaluate_with_disclosure(adapter, EVALUATED, fit=Fit(310), conversation=conversation)
    assert "<b>" not in seen[0]
    assert [expansion.appended for expansion in response.expansions] == [appending is not None]
    shown = {".".join(path) for path in full_sections(response.rendered)}
    if appending is not None:
        # Nothing that was sent is folded for it.
        assert shown == {"a", "b", "c"}
        result = str(response.conversation)
        assert result.count("<b>") == 1
        assert result.count(ENGLISH.fitted) == 1
        later = evaluate_with_disclosure(
            adapter,
            EVALUATED,
            fit=Fit(310),
            conversation=response.conversation.user("And now?"),
        )
        turns = response.conversation.turns
        assert later.conversation.turns[: len(turns)] == turns
    else:
        assert shown == {"a", "b"}


def test_parameter_sets_are_rendered_to_fit() -> None:
    module = ModuleType("prompts_of_a_test")
    template = PromptTemplate[None](
        ns="t",
        key="t",
        sections=[
            MarkdownSection[Value](title="V", key="v", template="${text}", summary="A value.")
        ],
    )

    def preview_long() -> Value:
        return Value("v" * 4000)

    def preview_short() -> Value:
        return Value()

    vars(module).update(t=template, preview_long=preview_long, preview_short=preview_short)
    rendered = assert_sets(module, "t", 4000, fit=Fit(200))
    folded = {name: one.fitted.folded for name, one in rendered.items() if one.fitted is not None}
    assert folded == {"long": (("v",),), "short": ()}
