"""Clones: decoupled, rewired, recursive."""

from typing import Self

from foldline.prompts import (
    Chapter,
    MarkdownSection,
    PromptTemplate,
    Section,
    SectionVisibility,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.dataclasses import FrozenDataclass


@FrozenDataclass()
class Params:
    words: list[str]


class Counter:
    """Stands for a session that a section is bound to."""

    def __init__(self) -> None:
        self.calls = 0
        self.sections: list[object] = []


class Bound(MarkdownSection[None]):
    """A section with a tool that works on the session it was given."""

    def __init__(self, *, session: Counter, bus: object = None) -> None:
        self.session = session
        self.bus = bus
        self.notes = ["a note"]
        super().__init__(
            title="Bound",
            key="bound",
            template="x",
            summary="s",
            visibility=self.look,
            enabled=self.exists,
            tools=[Tool[None, int](name="count", description="x", handler=self.count)],
        )
        self.bind_runtime(session=session)

    def bind_runtime(self, **kwargs: object) -> None:
        self.session.sections.append(self)

    def count(self, params: None, *, context: ToolContext) -> ToolResult[int]:
        self.session.calls += 1
        return ToolResult(value=self.session.calls)

    def look(self) -> SectionVisibility:
        return SectionVisibility.SUMMARY if self.session.calls else SectionVisibility.FULL

    def exists(self, params: None) -> bool:
        return self.session is not None


def call(section: Section[object]) -> object:
    return section.tools[0].handler(None, context=ToolContext()).value


def test_cl_01_cl_03_a_clone_works_on_the_runtime_it_is_given() -> None:
    old, new = Counter(), Counter()
    section = Bound(session=old)
    bus = object()
    cloned = section.clone(session=new, bus=bus)
    assert call(cloned) == 1
    assert (old.calls, new.calls) == (0, 1)
    assert (cloned.session, cloned.bus) == (new, bus)
    assert section.bus is None


def test_cl_03_selectors_that_are_methods_follow_the_clone() -> None:
    old, new = Counter(), Counter()
    section = Bound(session=old)
    cloned = section.clone(session=new)
    old.calls = 1
    assert section.visibility_for(None) is SectionVisibility.SUMMARY
    assert cloned.visibility_for(None) is SectionVisibility.FULL


def test_cl_02_a_clone_shares_nothing_mutable() -> None:
    child = MarkdownSection[None](title="C", key="c", template="x")
    section = MarkdownSection[Params](
        title="T", key="t", template="${words}", children=[child], default_params=Params(["a"])
    )
    cloned = section.clone()
    assert cloned.default_params is not section.default_params
    assert cloned.default_params is not None
    cloned.default_params.words.append("b")
    assert section.default_params == Params(["a"])
    assert cloned.children[0] is not child
    bound = Bound(session=Counter())
    twin = bound.clone()
    twin.notes.append("more")
    assert bound.notes == ["a note"]
    assert twin.tools[0] is not bound.tools[0]


def test_cl_02_a_clone_renders_the_same() -> None:
    section = MarkdownSection[Params](
        title="T", key="t", template="${words}", default_params=Params(["a"])
    )
    first = PromptTemplate(ns="n", key="k", sections=[section])
    second = PromptTemplate(ns="n", key="k", sections=[section.clone()])
    assert first.render().text == second.render().text
    assert type(section.clone()) is type(section)


def test_cl_04_children_are_cloned_with_the_same_keywords() -> None:
    old, new = Counter(), Counter()
    parent = MarkdownSection[None](title="P", key="p", template="x", children=[Bound(session=old)])
    cloned = parent.clone(session=new)
    call(cloned.children[0])
    assert (old.calls, new.calls) == (0, 1)


def test_cl_05_cl_06_a_chapter_is_cloned_with_everything_in_it() -> None:
    old, new = Counter(), Counter()
    chapter = Chapter[Params](
        key="c",
        title="C",
        description="about",
        sections=[Bound(session=old)],
        default_params=Params(["a"]),
        keywords=["k"],
    )
    cloned = chapter.clone(session=new)
    assert (cloned.key, cloned.title, cloned.description) == ("c", "C", "about")
    assert cloned.keywords == ("k",)
    assert cloned.default_params == Params(["a"])
    assert cloned.default_params is not chapter.default_params
    assert cloned.sections[0] is not chapter.sections[0]
    assert new.sections == [cloned.sections[0]]
    assert old.sections == [chapter.sections[0]]


def test_cl_07_a_clone_of_a_chapter_is_closed_again() -> None:
    inner = MarkdownSection[None](title="I", key="i", template="x")
    chapter = Chapter[None](key="c", title="C", sections=[inner])
    PromptTemplate(ns="n", key="k", chapters=[chapter]).expand_chapters()
    again = PromptTemplate(ns="n", key="k", chapters=[chapter.clone()])
    assert again.render().text == ""


def test_a_tool_that_closes_over_its_runtime_rewires_itself() -> None:
    class Counting(Tool[None, int]):
        def __init__(self, session: Counter) -> None:
            def count(params: None, *, context: ToolContext) -> ToolResult[int]:
                session.calls += 1
                return ToolResult(value=session.calls)

            super().__init__(name="count", description="x", handler=count)

        def clone(self, **kwargs: object) -> Self:
            session = kwargs["session"]
            assert isinstance(session, Counter)
            return type(self)(session)

    old, new = Counter(), Counter()
    section = MarkdownSection[None](title="T", key="t", template="x", tools=[Counting(old)])
    call(section.clone(session=new))
    assert (old.calls, new.calls) == (0, 1)
