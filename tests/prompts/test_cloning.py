"""Clones: decoupled, rewired, recursive."""

import gc
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import count
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, NoneType
from typing import Annotated, Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import (
    Chapter,
    ForeignSyntaxWarning,
    MarkdownSection,
    PromptTemplate,
    Section,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolResult,
    joined,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptValidationError
from foldline.prompts.forms.templating import CompiledTemplate


@FrozenDataclass()
class Params:
    words: Annotated[list[str], joined(" ")]


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


def test_a_clone_works_on_the_runtime_it_is_given() -> None:
    old, new = Counter(), Counter()
    section = Bound(session=old)
    bus = object()
    cloned = section.clone(session=new, bus=bus)
    assert call(cloned) == 1
    assert (old.calls, new.calls) == (0, 1)
    assert (cloned.session, cloned.bus) == (new, bus)
    assert section.bus is None


def test_selectors_that_are_methods_follow_the_clone() -> None:
    old, new = Counter(), Counter()
    section = Bound(session=old)
    cloned = section.clone(session=new)
    old.calls = 1
    assert section.visibility_for(None) is SectionVisibility.SUMMARY
    assert cloned.visibility_for(None) is SectionVisibility.FULL


def test_a_clone_shares_nothing_mutable() -> None:
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


class Notes:
    def __init__(self, *noted: object) -> None:
        self.noted = noted

    def tell(self) -> object:
        return self.noted


class Owner(MarkdownSection[None]):
    """A section with attributes of any kind, whose handlers descendants may have."""

    def __init__(self, key: str, attributes: list[object], **others: Any) -> None:
        self.session: object = "old"
        self.held = attributes
        self.notes = Notes(*attributes)
        self.back = {"me": self, "how": self.handle}
        super().__init__(title=key, key=key, template="x", **others)

    def handle(self, params: None, *, context: ToolContext) -> ToolResult[object]:
        self.held.append("called")
        return ToolResult(value=self)


class Keeping(Tool[None, object]):
    def __init__(self, name: str, handler: Any) -> None:
        self.kept = [name]
        super().__init__(name=name, description="x", handler=handler)


def grown(depth: int, values: list[object], names: Iterator[int]) -> Owner:
    """A section whose descendants' tools are methods of any section around them."""
    sections = [Owner(f"s{next(names)}", values)]
    for _ in range(depth):
        owner = sections[-1]
        handlers = [one for around in sections for one in (around.handle, partial(around.handle))]
        tools = [Keeping(f"t{next(names)}", handler) for handler in handlers]
        inner = MarkdownSection[None](
            title="I", key=f"i{next(names)}", template="x", tools=tools, enabled=lambda _: True
        )
        deeper = Owner(f"s{next(names)}", values)
        vars(owner)["children"] = (inner, deeper)
        sections.append(deeper)
    return sections[0]


ATOMS = (type, ModuleType, FunctionType, BuiltinFunctionType, CompiledTemplate, Enum, NoneType)
FIXED = (str, int, float, bytes, tuple, frozenset, MethodType, partial)


def reached(start: object) -> dict[int, object]:
    """All objects that can be changed and reached from one, by identity."""
    found: dict[int, object] = {}
    waiting = [start]
    while waiting:
        one = waiting.pop()
        if id(one) not in found and not isinstance(one, ATOMS):
            found[id(one)] = one
            waiting.extend(gc.get_referents(one))
    return {key: one for key, one in found.items() if not isinstance(one, FIXED)}


@dataclass(slots=True)
class Slotted:
    held: object


VALUES = st.recursive(
    st.integers() | st.builds(bytearray) | st.sampled_from([0] * 9 + [threading.Lock()]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).flatmap(
            lambda items: st.sampled_from([items, tuple(items), deque(items)])
        ),
        st.dictionaries(st.text(max_size=1), inner),
        st.builds(Slotted, inner),
        st.builds(partial, st.just(print), inner),
        st.builds(Notes, inner).flatmap(lambda notes: st.sampled_from([notes, notes.tell])),
    ),
    max_leaves=5,
)


@given(st.integers(1, 4), st.lists(VALUES, max_size=3))
def test_a_clone_of_any_tree_shares_no_object_or_is_refused(
    depth: int, values: list[object]
) -> None:
    section = grown(depth, values, count())
    before = reached(section)
    try:
        twin = section.clone(session="new")
    except PromptValidationError:
        assert any(isinstance(one, type(threading.Lock())) for one in before.values())
        return
    after = reached(twin)
    assert [after[key] for key in before.keys() & after.keys()] == []
    owners = [one for one in after.values() if isinstance(one, Owner)]
    assert {one.session for one in owners} == {"new"}
    tools = [one for one in after.values() if isinstance(one, Tool)]
    assert all(tool.handler(None, context=ToolContext()).value in owners for tool in tools)
    assert "called" not in section.held


class Gate(MarkdownSection[None]):
    """A section whose switch decides for its child."""

    is_open = True

    def __init__(self) -> None:
        child = MarkdownSection[None](title="C", key="c", template="x", enabled=self.decide)
        super().__init__(title="P", key="p", template="x", enabled=self.decide, children=[child])

    def decide(self, _: None) -> bool:
        return self.is_open


def test_a_selector_that_is_a_method_of_a_section_around_asks_the_copy() -> None:
    section = Gate()
    twin = section.clone()
    twin.is_open = False
    asked = [one.is_enabled(None) for top in (section, twin) for one in (top, *top.children)]
    assert asked == [True, True, False, False]


def test_what_cannot_be_copied_is_refused_by_name() -> None:
    section = Owner("a", [])
    vars(section)["deps"] = {"lock": threading.Lock()}
    with pytest.raises(PromptValidationError, match=r"'a': `clone` .* `deps` can't be copied"):
        section.clone()
    assert vars(section.clone(deps="given"))["deps"] == "given"


def test_a_clone_renders_the_same() -> None:
    section = MarkdownSection[Params](
        title="T", key="t", template="${words}", default_params=Params(["a"])
    )
    first = PromptTemplate(ns="n", key="k", sections=[section])
    second = PromptTemplate(ns="n", key="k", sections=[section.clone()])
    assert first.render().text == second.render().text
    assert type(section.clone()) is type(section)


def test_children_are_cloned_with_the_same_keywords() -> None:
    old, new = Counter(), Counter()
    parent = MarkdownSection[None](title="P", key="p", template="x", children=[Bound(session=old)])
    cloned = parent.clone(session=new)
    call(cloned.children[0])
    assert (old.calls, new.calls) == (0, 1)


def test_a_chapter_is_cloned_with_everything_in_it() -> None:
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


def test_a_clone_of_a_chapter_is_closed_again() -> None:
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


GREETING = MarkdownSection[Params](
    title="Greeting",
    key="greeting",
    template="Say ${words}.",
    summary="Says something.",
    children=[MarkdownSection[None](title="Inner", key="inner", template="Inside.")],
    tools=[
        Tool[None, None](
            name="wave", description="Waves.", handler=lambda params, *, context: ToolResult("~")
        )
    ],
)


def text_of(section: Section[object]) -> str:
    return PromptTemplate(ns="n", key="k", sections=[section]).render(Params(["a"])).text


def test_a_clone_takes_the_constructors_arguments() -> None:
    other = MarkdownSection[None](title="Other", key="other", template="Elsewhere.")
    tool = GREETING.tools[0].clone(name="nod", description=" Nods. ")
    assert (tool.name, tool.description) == ("nod", "Nods.")
    twin = GREETING.clone(
        title="Hello",
        key="hello",
        template="Shout ${words}!",
        children=[other],
        tools=[tool],
        default_params=Params(["b"]),
    )
    assert text_of(twin) == "## 1. Hello\n\nShout a!\n\n### 1.1. Other\n\nElsewhere."
    assert [tool.name for tool in twin.tools] == ["nod"]
    assert twin.children[0] is not other
    assert twin.render() == "Shout b!"
    folded = GREETING.clone(visibility=SectionVisibility.SUMMARY, summary="Speaks.")
    assert "Speaks." in text_of(folded)
    assert text_of(GREETING.clone(enabled=lambda params: False)) == ""
    assert "Say a." in text_of(GREETING)
    chapter = Chapter[None](key="c", title="C", sections=[GREETING], keywords=["one"])
    moved = chapter.clone(sections=[other], keywords="two", description="Why.")
    assert [section.key for section in moved.sections] == ["other"]
    assert (moved.keywords, moved.description) == (("two",), "Why.")
    for make in (chapter.clone, partial(Chapter[None], key="c", title="C")):
        assert make(keywords="two").keywords == ("two",)
        with pytest.raises(PromptValidationError, match="keywords are given as a list or tuple"):
            make(keywords=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("visibility", SectionVisibility.SUMMARY),
        ("children", [GREETING]),
        ("tools", GREETING.tools),
        ("accepts_overrides", False),
    ],
)
def test_what_no_chapter_takes_is_refused_of_its_clone(name: str, value: object) -> None:
    chapter = Chapter[None](key="c", title="C", sections=[GREETING])
    instead = "it takes key, title, description, sections, enabled"
    with pytest.raises(PromptValidationError, match=f"no use for '{name}'; {instead}"):
        chapter.clone(**{name: value})
    outer = Chapter[None](key="o", title="O", sections=[chapter])
    with pytest.raises(PromptValidationError, match=f"'o': `clone` has no use for '{name}'"):
        outer.clone(**{name: value})


def test_an_attribute_of_the_class_gets_the_runtime_object() -> None:
    class Noting(MarkdownSection[None]):
        session: object = None
        notes: object = None

    class Store(Tool[None, None]):
        store: object = None

        @property
        def bus(self) -> str:
            return "its own"

    store = Store(
        name="save", description="Saves.", handler=lambda params, *, context: ToolResult("~")
    )
    section = Noting(title="A", key="a", template="x", tools=[store])
    twin = section.clone(session="new", bus="b", notes="n", store="s")
    assert (twin.session, twin.notes) == ("new", "n")
    (tool,) = twin.tools
    assert isinstance(tool, Store)
    assert (tool.store, tool.bus) == ("s", "its own")
    assert (section.session, section.notes, store.store) == (None, None, None)


def test_a_container_is_replaced_by_the_runtime_object_of_its_name() -> None:
    class Noting(MarkdownSection[None]):
        def __init__(self) -> None:
            self.notes = ["old"]
            super().__init__(title="A", key="a", template="x")

    assert Noting().clone(notes=["new"]).notes == ["new"]
    assert Noting().clone().notes == ["old"]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {"titel": "A"},
            "'greeting': `clone` has no use for 'titel'; did you mean 'title'",
        ),
        ({"handler": print}, "`clone` has no use for 'handler'"),
        ({"key": "Bad Key"}, "Section key 'Bad Key' must be"),
        ({"title": "B\nC"}, "`title` must be one line"),
        ({"template": "Bye ${wrds}"}, r"`\$\{wrds\}` of `template` isn't a field of Params"),
        ({"template": None}, "`template` must be a string"),
        ({"summary": "", "visibility": SectionVisibility.SUMMARY}, "but no `summary` text"),
        ({"default_params": "b"}, "`default_params` must be an instance of Params"),
        ({"children": [None]}, "Leave a section out with its `enabled`"),
        ({"children": GREETING}, "sections are given as a list or tuple"),
        ({"tools": GREETING.tools[0]}, "tools are given as a list or tuple"),
        ({"enabled": True}, "`enabled` must be a callable"),
    ],
)
def test_a_clones_arguments_are_checked(keywords: dict[str, object], message: str) -> None:
    with pytest.raises(PromptValidationError, match=message):
        GREETING.clone(**keywords)


def test_a_clone_of_a_tool_is_checked() -> None:
    tool = GREETING.tools[0]
    for keywords, message in (
        ({"name": "Bad Name"}, "must be 1 to 64 characters"),
        ({"descripton": "x"}, "Tool 'wave': `clone` has no use for 'descripton'; did you mean"),
        ({"handler": lambda: None}, r"is called as `handler\(params, context=context\)`"),
    ):
        with pytest.raises(PromptValidationError, match=message):
            tool.clone(**keywords)
    assert tool.clone(session=None, bus=None).name == "wave"


def test_runtime_objects_reach_only_what_uses_them() -> None:
    class Stored(Tool[None, None]):
        def __init__(self, store: object) -> None:
            self.store = store
            super().__init__(name="save", description="Saves.", handler=self.save)

        def save(self, params: None, *, context: ToolContext) -> ToolResult[None]:
            return ToolResult(str(self.store))

    section = MarkdownSection[None](title="A", key="a", template="x", tools=[Stored("old")])
    outer = MarkdownSection[None](title="B", key="b", template="y", children=[section, GREETING])
    (twin, greeting) = outer.clone(store="new").children
    assert vars(twin.tools[0])["store"] == "new"
    assert "store" not in vars(greeting)
    with pytest.raises(PromptValidationError, match="no use for 'store'"):
        GREETING.clone(store="new")


@pytest.mark.parametrize("section", [GREETING, TaskSection[Task]()])
def test_sections_cannot_be_changed(section: Section[object]) -> None:
    for name in ("template", "title", "children", "visibility"):
        with pytest.raises(AttributeError, match=rf"`clone\({name}=…\)` returns a copy"):
            setattr(section, name, "x")


def test_a_clone_warns_of_no_text_that_was_warned_of_before() -> None:
    with pytest.warns(ForeignSyntaxWarning):
        section = MarkdownSection[Params](title="A", key="a", template="{words}", summary="s")
    section.clone(title="B", summary="t")
    with pytest.warns(ForeignSyntaxWarning, match="'b'"):
        section.clone(key="b")
