"""Sections: specialisation, selectors, texts."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import pytest

from foldline.prompts import (
    Chapter,
    MarkdownSection,
    PromptTemplate,
    Section,
    SectionVisibility,
    Segment,
    SegmentKind,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptRenderError, PromptValidationError

FULL, SUMMARY = SectionVisibility.FULL, SectionVisibility.SUMMARY
T = TypeVar("T")


@FrozenDataclass()
class Flag:
    on: bool = True
    word: str = "w"


@dataclass(frozen=True)
class Page(Generic[T]):
    item: T


def render(*sections: Section[object], params: tuple[object, ...] = ()) -> str:
    return PromptTemplate(ns="n", key="k", sections=sections).render(*params).text


def nothing(params: Flag, *, context: ToolContext) -> ToolResult[None]:
    return ToolResult()


def test_a_section_has_the_specified_attributes_with_their_defaults() -> None:
    section = MarkdownSection[Flag](title="T", key="t", template="x")
    assert (section.title, section.key) == ("T", "t")
    assert (section.children, section.tools) == ((), ())
    assert section.enabled is None
    assert section.default_params is None
    assert section.accepts_overrides is True
    assert section.visibility is FULL
    assert section.params_type is Flag


def test_a_section_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Section[None](title="T", key="t")  # type: ignore[abstract]


def test_a_section_of_ones_own_says_what_its_text_is() -> None:
    class Shout(Section[Flag]):
        def render_body(self, params: Flag) -> str:
            return params.word.upper()

        def render_summary(self, params: Flag) -> list[Segment]:
            return [Segment(SegmentKind.PARAM, params.word, "word")]

        @property
        def has_summary(self) -> bool:
            return True

    section = Shout(title="T", key="t")
    assert render(section, params=(Flag(word="hey"),)) == "## 1. T\n\nHEY"
    assert section.render(Flag(word="hey")) == "HEY"
    assert section.render(Flag(word="hey"), visibility=SUMMARY) == "hey"
    assert section.is_enabled(Flag())
    assert section.clone() is not section


def test_what_a_section_of_ones_own_raises_is_a_render_error_that_names_it() -> None:
    class Broken(Section[None]):
        def render_body(self, params: None) -> str:
            raise KeyError("lost")

    outer = MarkdownSection[None](
        title="O", key="o", template="", children=[Broken(title="B", key="b")]
    )
    with pytest.raises(PromptRenderError, match="lost") as caught:
        render(outer)
    assert caught.value.section_path == ("o", "b")


def test_enabled_decides_from_the_parameters() -> None:
    section = MarkdownSection[Flag](title="T", key="t", template="x", enabled=lambda p: p.on)
    assert render(section, params=(Flag(on=True),)) == "## 1. T\n\nx"
    assert render(section, params=(Flag(on=False),)) == ""
    assert MarkdownSection[Flag](title="T", key="t", template="x").is_enabled(Flag(on=False))


@pytest.mark.parametrize(
    "visibility",
    [
        SUMMARY,
        lambda params: SUMMARY if params.on else FULL,
        lambda: SUMMARY,
        lambda *, session: SUMMARY if session is None else FULL,
        lambda params, session: SUMMARY if session is None and params.on else FULL,
        functools.partial(lambda answer, params: answer, SUMMARY),
        lambda answer=SUMMARY: answer,
        lambda params=None: SUMMARY if params is not None else FULL,
    ],
)
def test_visibility_takes_every_specified_form(
    visibility: Callable[[Flag], SectionVisibility],
) -> None:
    section = MarkdownSection[Flag](
        title="T", key="t", template="x", summary="short", visibility=visibility
    )
    assert "short" in render(section)


def test_a_visibility_callable_sees_the_session_of_the_render() -> None:
    seen: list[object] = []

    def look(params: Flag, *, session: object | None) -> SectionVisibility:
        seen.append((params, session))
        return FULL

    section = MarkdownSection[Flag](title="T", key="t", template="x", visibility=look)
    marker = object()
    PromptTemplate(ns="n", key="k", sections=[section]).render(session=marker)
    assert seen == [(Flag(), marker)]


def test_a_visibility_callable_that_answers_something_else_is_a_render_error() -> None:
    section = MarkdownSection[None](
        title="T",
        key="t",
        template="x",
        visibility=lambda: "SUMMARY",  # type: ignore[arg-type]
    )
    with pytest.raises(PromptRenderError, match="SectionVisibility"):
        render(section)


@pytest.mark.parametrize("what", ["enabled", "visibility"])
def test_a_selector_that_raises_is_a_render_error_that_names_the_section(what: str) -> None:
    def explode() -> bool:
        raise RuntimeError("boom")

    section = MarkdownSection[None](title="T", key="t", template="x", **{what: explode})  # type: ignore[arg-type]
    outer = MarkdownSection[None](title="O", key="o", template="", children=[section])
    with pytest.raises(PromptRenderError, match=f"`{what}` raised RuntimeError: boom") as caught:
        render(outer)
    assert caught.value.section_path == ("o", "t")


def test_a_selector_that_asks_for_too_much_is_refused_at_construction() -> None:
    with pytest.raises(PromptValidationError, match="must take nothing or the parameters"):
        MarkdownSection[None](
            title="T",
            key="t",
            template="x",
            visibility=lambda a, b: FULL,  # type: ignore[arg-type]
        )
    with pytest.raises(PromptValidationError, match="must be a callable"):
        MarkdownSection[None](title="T", key="t", template="x", enabled=True)  # type: ignore[arg-type]
    with pytest.raises(PromptValidationError, match="a callable or a SectionVisibility, not None"):
        MarkdownSection[None](title="T", key="t", template="x", visibility=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [MarkdownSection[None], Tool[None, str]])
def test_sections_and_tools_are_no_parameters(kind: type) -> None:
    with pytest.raises(PromptValidationError, match="dataclass"):
        MarkdownSection[kind](title="T", key="t", template="x")  # type: ignore[valid-type]


@pytest.mark.parametrize(
    "make",
    [
        lambda: MarkdownSection(title="T", key="t", template="x"),
        lambda: MarkdownSection(title="T", key="t", template="${anything}"),
        lambda: Chapter(title="T", key="t"),
    ],
)
def test_an_unspecialised_section_is_refused_by_the_template(
    make: Callable[[], Section[object]],
) -> None:
    section = make()
    with pytest.raises(PromptValidationError, match=r"\[None\]") as caught:
        PromptTemplate(ns="n", key="k", sections=[section])
    assert caught.value.section_path == (section.key,)


def test_the_error_for_a_nested_unspecialised_section_has_its_path() -> None:
    inner: Section[object] = MarkdownSection(title="T", key="t", template="x")
    outer = MarkdownSection[None](title="O", key="o", template="", children=[inner])
    with pytest.raises(PromptValidationError) as caught:
        PromptTemplate(ns="n", key="k", sections=[outer])
    assert caught.value.section_path == ("o", "t")


@pytest.mark.parametrize("argument", [int, str, dict, "Flag"])
def test_only_dataclasses_and_none_specialise(argument: object) -> None:
    with pytest.raises(PromptValidationError):
        MarkdownSection[argument](title="T", key="t", template="x")  # type: ignore[valid-type]


def test_a_subclass_of_a_specialised_section_is_specialised() -> None:
    class Fixed(MarkdownSection[Flag]):
        def __init__(self) -> None:
            super().__init__(title="Fixed", key="fixed", template="${word}")

    class More(Fixed):
        pass

    assert render(More(), params=(Flag(word="z"),)) == "## 1. Fixed\n\nz"
    assert More().params_type is Flag


def test_a_generic_subclass_is_specialised_in_its_turn() -> None:
    other = TypeVar("other")
    params_co = TypeVar("params_co", covariant=True)

    class Mixed(MarkdownSection[params_co], Generic[other, params_co]):
        pass

    section = Mixed[int, Flag](title="T", key="t", template="${word}")
    assert section.params_type is Flag
    assert render(section) == "## 1. T\n\nw"


def test_a_generic_dataclass_can_be_given_with_or_without_its_argument() -> None:
    for kind in (Page[int], Page):
        section = MarkdownSection[kind](title="T", key="t", template="${item}")  # type: ignore[valid-type]
        assert section.params_type is Page
        assert render(section, params=(Page(5),)) == "## 1. T\n\n5"


def test_specialised_classes_are_cached_and_named_for_people() -> None:
    assert MarkdownSection[Flag] is MarkdownSection[Flag]
    assert MarkdownSection[Flag].__name__ == "MarkdownSection[Flag]"
    assert MarkdownSection[None].__name__ == "MarkdownSection[None]"
    assert len({MarkdownSection[Page[int]], MarkdownSection[Page[str]], MarkdownSection}) == 3


def test_accepts_overrides_is_kept_for_the_override_system() -> None:
    section = MarkdownSection[None](title="T", key="t", template="x", accepts_overrides=False)
    (described,) = PromptTemplate(ns="n", key="k", sections=[section]).descriptor.sections
    assert described.accepts_overrides is False


def test_a_template_is_dedented_stripped_and_substituted() -> None:
    section = MarkdownSection[Flag](
        title="T",
        key="t",
        template="""
            First ${word}
              indented $word

            last $$word
        """,
    )
    assert section.render(Flag()) == "First w\n  indented w\n\nlast $word"


def test_a_summary_is_a_template_and_checked_like_one() -> None:
    section = MarkdownSection[Flag](
        title="T", key="t", template="x", summary="  About ${word}. ", visibility=SUMMARY
    )
    assert "\n\nAbout w.\n\n---" in render(section)
    with pytest.raises(PromptValidationError, match="`summary`") as caught:
        MarkdownSection[Flag](title="T", key="t", template="x", summary="${wrod}")
    assert caught.value.placeholder == "wrod"


@pytest.mark.parametrize("summary", [None, "", "  \n "])
def test_summary_visibility_without_a_summary_text_is_refused(summary: str | None) -> None:
    with pytest.raises(PromptValidationError, match="no `summary` text"):
        MarkdownSection[None](title="T", key="t", template="x", summary=summary, visibility=SUMMARY)


def test_an_override_to_summary_without_a_summary_text_is_refused_at_render() -> None:
    section = MarkdownSection[None](title="T", key="t", template="x")
    made = PromptTemplate(ns="n", key="k", sections=[section])
    with pytest.raises(PromptValidationError, match="no `summary` text") as caught:
        made.render(visibility_overrides={("t",): SUMMARY})
    assert caught.value.section_path == ("t",)


def test_a_disabled_section_hides_its_children_and_tools() -> None:
    tool = Tool[Flag, None](name="go", description="Go.", handler=nothing)
    child = MarkdownSection[None](title="C", key="c", template="child", tools=[tool])
    section = MarkdownSection[Flag](
        title="T", key="t", template="x", children=[child], tools=[], enabled=lambda p: p.on
    )
    made = PromptTemplate(ns="n", key="k", sections=[section])
    off = made.render(Flag(on=False))
    assert (off.text, off.tools) == ("", ())
    assert [block.path for block in off.blocks] == [("t",)]
    assert made.render(Flag(on=True)).tools == (tool,)


def test_a_disabled_parent_spares_its_children_their_parameters() -> None:
    @FrozenDataclass()
    class Needed:
        x: str

    child = MarkdownSection[Needed](title="C", key="c", template="${x}")
    for section in (
        MarkdownSection[None](
            title="T", key="t", template="x", children=[child], enabled=lambda _: False
        ),
        MarkdownSection[None](
            title="T", key="t", template="x", children=[child], summary="s", visibility=SUMMARY
        ),
    ):
        render(section)


def test_a_summarized_section_shows_its_summary_and_not_its_tools() -> None:
    tool = Tool[Flag, None](name="go", description="Go.", handler=nothing)
    section = MarkdownSection[None](
        title="T", key="t", template="BODY", summary="short", visibility=SUMMARY, tools=[tool]
    )
    rendered = PromptTemplate(ns="n", key="k", sections=[section]).render()
    assert "BODY" not in rendered.text
    assert tool not in rendered.tools


def test_sections_are_the_same_inside_and_outside_of_a_chapter() -> None:
    section = MarkdownSection[Flag](title="T", key="t", template="${word}", enabled=lambda p: p.on)
    inside = PromptTemplate(
        ns="n", key="k", chapters=[Chapter[None](key="c", title="C", sections=[section])]
    ).expand_chapters()
    assert inside.render().text == render(section)


@pytest.mark.parametrize("title", ["", "  ", "two\nlines", "a\u2028b"])
def test_a_title_is_one_line(title: str) -> None:
    with pytest.raises(PromptValidationError, match="title"):
        MarkdownSection[None](title=title, key="t", template="x")


def test_default_params_must_be_of_the_sections_own_type() -> None:
    with pytest.raises(PromptValidationError, match="default_params"):
        MarkdownSection[Flag](title="T", key="t", template="x", default_params=Page(1))  # type: ignore[arg-type]


def test_rendering_a_section_alone_wants_its_own_parameters() -> None:
    section = MarkdownSection[Flag](title="T", key="t", template="${word}")
    with pytest.raises(PromptRenderError, match="renders with an instance of Flag"):
        section.render()
