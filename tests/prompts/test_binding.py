"""Parameters for single sections, by key, beside those bound by type."""

import threading

import pytest

from foldline.prompts import (
    Chapter,
    IntentQuery,
    MarkdownSection,
    Prompt,
    PromptTemplate,
    ReadSectionParams,
    SectionVisibility,
    SegmentKind,
    Task,
    TaskSection,
    rebind_tasks,
)
from foldline.prompts.adapters.scripted import ScriptedAdapter
from foldline.prompts.adapters.transcript import ScriptedCall, ScriptedTurn, Transcript
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import (
    PromptConfigurationError,
    PromptRenderError,
    PromptValidationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.runtime import evaluate_with_disclosure
from foldline.prompts.runtime.session import Session


@FrozenDataclass()
class Document:
    title: str
    year: int = 2020


@FrozenDataclass(slots=False)
class Book(Document):
    pages: int = 1


def document(
    key: str, *children: MarkdownSection[Document], summary: str | None = None
) -> MarkdownSection[Document]:
    return MarkdownSection[Document](
        title=key,
        key=key,
        template="${title} of ${year}",
        summary=summary,
        children=children,
        visibility=SectionVisibility.FULL if summary is None else SectionVisibility.SUMMARY,
    )


def static(key: str) -> MarkdownSection[None]:
    return MarkdownSection[None](title=key, key=key, template="x")


TWO = PromptTemplate(ns="n", key="k", sections=[document("old"), document("new"), static("s")])
NESTED = PromptTemplate(
    ns="n", key="nested", sections=[document("outer", document("inner")), document("x.y")]
)


def bodies(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_two_sections_of_one_dataclass_have_their_own_values() -> None:
    prompt = TWO.bind(section_params={"old": Document("A", 1), "new": Document("B", 2)})
    assert bodies(prompt.render().text) == ["A of 1", "B of 2", "x"]


def test_the_others_of_that_type_have_what_is_bound_by_type() -> None:
    prompt = Prompt(TWO).bind(Document("A"), section_params={"new": Document("B")})
    assert bodies(prompt.render().text) == ["A of 2020", "B of 2020", "x"]
    assert prompt.params == (Document("A"),)
    assert prompt.section_params == {"new": Document("B")}


def test_values_by_key_are_replaced_by_key_and_stay_otherwise() -> None:
    prompt = TWO.bind(section_params={"old": Document("A"), "new": Document("B")})
    prompt.bind(Document("type"), section_params={"new": Document("C")})
    assert bodies(prompt.render().text)[:2] == ["A of 2020", "C of 2020"]


def test_values_of_one_render_leave_the_prompt_as_it_was() -> None:
    prompt = TWO.bind(Document("A"))
    text = prompt.render(section_params={"new": Document("B")}).text
    assert bodies(text)[:2] == ["A of 2020", "B of 2020"]
    assert bodies(prompt.render().text)[:2] == ["A of 2020", "A of 2020"]
    assert TWO.render(Document("A"), section_params={"new": Document("B")}).text == text


def test_children_are_sections_of_their_own() -> None:
    rendered = NESTED.render(
        Document("T"),
        section_params={"outer": Document("O"), "outer.inner": Document("I")},
    )
    assert bodies(rendered.text) == ["O of 2020", "I of 2020", "T of 2020"]
    only_outer = NESTED.render(Document("T"), section_params={"outer": Document("O")})
    assert bodies(only_outer.text) == ["O of 2020", "T of 2020", "T of 2020"]


def test_a_key_with_a_dot_is_one_key() -> None:
    rendered = NESTED.render(Document("T"), section_params={"x.y": Document("D")})
    assert bodies(rendered.text)[-1] == "D of 2020"


def test_the_text_counts_as_bound() -> None:
    block = TWO.render(Document("A"), section_params={"old": Document("B")}).blocks[0]
    kinds = {segment.kind for segment in block.segments}
    assert SegmentKind.PARAM in kinds
    assert SegmentKind.DEFAULT not in kinds


def test_enabled_and_visibility_are_asked_with_the_values_of_the_section() -> None:
    seen: list[tuple[str, str]] = []

    def note(key: str, document: Document) -> bool:
        seen.append((key, document.title))
        return document.year > 2000

    def section(key: str) -> MarkdownSection[Document]:
        return MarkdownSection[Document](
            title=key, key=key, template="${title}", enabled=lambda d: note(key, d)
        )

    template = PromptTemplate(ns="n", key="k", sections=[section("a"), section("b")])
    rendered = template.render(Document("T"), section_params={"b": Document("B", 1999)})
    assert bodies(rendered.text) == ["T"]
    assert seen == [("a", "T"), ("b", "B")]


def test_reading_and_opening_show_the_values_of_the_section() -> None:
    template = PromptTemplate(
        ns="n",
        key="k",
        sections=[document("a", document("in"), summary="${title}!"), document("b", summary="s")],
        disclosure="auto",
    )
    rendered = template.render(Document("T"), section_params={"a": Document("A")})
    assert "A!" in rendered.text
    (tool,) = rendered.tools
    result = tool.handler(ReadSectionParams("a"), context=None)  # type: ignore[arg-type]
    assert "A of 2020" in str(result.value)
    assert "T of 2020" in str(result.value)
    assert "A of 2020" in rendered.if_opened(("a",))


# What is refused


@pytest.mark.parametrize(
    ("params", "words", "near"),
    [
        ({"odl": Document("A")}, "there is no section 'odl'; did you mean 'old'?", ("old",)),
        ({"zzz": Document("A")}, "there is no section 'zzz'.", ()),
        ({("old",): Document("A")}, r"write the key 'old' instead of the path \('old',\)", ()),
        ({"s": Document("A")}, "Section 's' takes no parameters", ()),
        ({"old": Task("x")}, "Section 'old' takes an instance of Document, not Task.", None),
        ({"old": {"title": "x"}}, "takes an instance of Document, not {'title': 'x'}", None),
        ({"old": Document}, "takes an instance of Document, not Document", None),
        ({"old": Book("x")}, "Book is a subclass of Document, and the section 'old' takes", None),
        (Document("A"), "maps the dotted keys of sections to instances", ()),
        ([("old", Document("A"))], "maps the dotted keys of sections to instances", ()),
    ],
)
def test_what_fits_no_section_is_refused_at_once(
    params: object, words: str, near: tuple[str, ...] | None
) -> None:
    prompt = Prompt(TWO)
    with pytest.raises(PromptValidationError, match=words) as caught:
        prompt.bind(Document("kept out"), section_params=params)  # type: ignore[arg-type]
    if near is not None:
        assert caught.value.near == near
    # Nothing of the call is bound.
    assert (prompt.params, prompt.section_params) == ((), {})
    with pytest.raises(PromptValidationError, match=words):
        TWO.render(section_params=params)  # type: ignore[arg-type]


def test_the_last_part_of_a_key_is_answered_with_the_whole() -> None:
    with pytest.raises(PromptValidationError, match=r"did you mean 'outer.inner'\?"):
        NESTED.bind(section_params={"inner": Document("I")})


def test_a_misspelt_keyword_of_bind_is_answered_with_those_it_has() -> None:
    with pytest.raises(PromptValidationError, match="did you mean 'section_params'"):
        TWO.bind(section_param={})  # type: ignore[arg-type]
    with pytest.raises(PromptValidationError, match=r"bind an instance: bind\(Document\(title=…"):
        TWO.bind(title="A")  # type: ignore[arg-type]


def test_a_section_without_values_of_its_own_still_needs_some() -> None:
    with pytest.raises(PromptRenderError, match="Section 'new' needs parameters"):
        TWO.render(section_params={"old": Document("A")})


def test_twice_in_one_call_says_how_to_bind_them_apart() -> None:
    with pytest.raises(PromptValidationError, match="single sections with `section_params`"):
        TWO.render(Document("A"), Document("B"))


# Chapters


def with_chapter() -> PromptTemplate[None]:
    inside = Chapter[None](key="more", title="More", sections=[document("in")])
    return PromptTemplate(ns="n", key="k", sections=[document("a"), inside])


def test_a_section_in_a_closed_chapter_can_be_bound_and_shows_it_when_it_opens() -> None:
    prompt = with_chapter().bind(Document("T"), section_params={"in": Document("I")})
    assert bodies(prompt.render().text) == ["T of 2020"]
    expanded = prompt.expand_chapters()
    assert bodies(expanded.render().text) == ["T of 2020", "I of 2020"]
    assert expanded.section_params == {"in": Document("I")}
    none = prompt.expand_chapters(only=())
    assert bodies(none.bind(section_params={"in": Document("J")}).render().text) == ["T of 2020"]


def test_a_chapter_has_chapter_params() -> None:
    with pytest.raises(PromptValidationError, match=r"is a chapter; .* `chapter_params`"):
        with_chapter().bind(section_params={"more": Document("I")})


def test_the_goal_section_has_its_own_values() -> None:
    goals: list[str] = []

    def note(query: IntentQuery) -> bool:
        goals.append(query.goal)
        return True

    template = with_chapter()
    template.expand_chapters(
        "intent_classifier",
        params=[Document("T")],
        section_params={"a": Document("goal")},
        goal_section_key="a",
        classifier=note,
    )
    assert goals == ["goal of 2020"]


# Evaluation


def test_evaluate_binds_for_one_evaluation() -> None:
    adapter = ScriptedAdapter(Transcript.of([ScriptedTurn("one")]))
    prompt = TWO.bind(Document("T"))
    response = adapter.evaluate(prompt, section_params={"new": Document("N")})
    assert bodies(response.rendered.text)[:2] == ["T of 2020", "N of 2020"]
    assert prompt.section_params == {}
    with pytest.raises(PromptConfigurationError, match="sent as is"):
        adapter.evaluate(prompt.render(), section_params={"new": Document("N")})


def test_bound_tasks_get_their_instructions_also_by_key() -> None:
    template = PromptTemplate(
        ns="n", key="k", sections=[TaskSection[Task](key="one"), TaskSection[Task](key="two")]
    )
    prompt = template.bind(Task("A"), section_params={"two": Task("B", background="b")})
    request = VisibilityExpansionRequired(
        requested_overrides={}, reason="r", section_keys=(), expansion_instructions="Go on."
    )
    again = rebind_tasks(prompt, request)
    assert again.params == (Task("A", expansion_instructions="Go on."),)
    assert again.section_params["two"] == Task("B", "b", "Go on.")


def test_the_loop_keeps_values_by_key_over_its_evaluations() -> None:
    template = PromptTemplate(
        ns="n", key="k", sections=[document("a", summary="s"), document("b")], disclosure="open"
    )
    opening = ScriptedCall("open_sections", {"section_keys": ["a"], "reason": "r"})
    script = Transcript.of([ScriptedTurn(tool_calls=(opening,))], [ScriptedTurn("done")])
    adapter = ScriptedAdapter(script)
    response = evaluate_with_disclosure(
        adapter, template, Document("T"), section_params={"a": Document("A")}, session=Session()
    )
    assert bodies(response.rendered.text) == ["A of 2020", "T of 2020"]


def test_templates_are_shared_by_threads_that_bind_by_key() -> None:
    texts: dict[int, str] = {}

    def render(number: int) -> None:
        for _ in range(20):
            texts[number] = TWO.render(
                Document("T"), section_params={"new": Document(str(number))}
            ).text

    threads = [threading.Thread(target=render, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [bodies(texts[number])[1] for number in range(4)] == [f"{n} of 2020" for n in range(4)]
