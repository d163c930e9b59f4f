"""Lists as their source shows them: the same as executed, or not certain."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from foldline.ide.analysis import static_lists
from foldline.ide.analysis.project import Project
from foldline.ide.checks import Code, diagnostics
from foldline.prompts.errors import PromptError

if TYPE_CHECKING:
    from foldline.ide.analysis.module_analysis import PromptFacts
    from foldline.prompts import RenderedPrompt

HEAD = """
import os
import typing
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Annotated, Any, Generic, List, Literal, Optional, TypeVar, Union
from foldline.prompts import *

T = TypeVar("T")
A = TypeVar("A")

def unknown(value):
    return os.environ.get("FOLDLINE_NOT_SET", value)

@dataclass(frozen=True)
class Passage:
    text: str = "Some text."
    number: int = 1
    note: Annotated[str | None, or_else("-")] = None
    tags: Annotated[tuple[str, ...], bullets, or_else("no tags")] = ("a", "b\\nc")

@dataclass(frozen=True)
class Titled(Passage):
    title: str = "é"
    text: Annotated[str, xml("text")] = "Another form."

@dataclass(frozen=True)
class Upper(Passage):
    def __post_init__(self):
        object.__setattr__(self, "text", self.text.upper())

@dataclass(frozen=True)
class Found:
    query: str = "what?"
    passages: tuple[Passage, ...] | None = ()
    more: list[Passage] = field(default_factory=list)
    first: tuple[Passage, ...] = (Passage("Always.", 0), Titled())

@dataclass(frozen=True)
class Verdict:
    good: bool
    score: float = 0.5
    notes: tuple[str, ...] = ()
    best: Passage | None = None

@dataclass(frozen=True)
class Shots:
    shots: tuple[Example[object, object], ...] = (Example("a", "b"),)

class Passages(EachSection[A, Passage]):
    pass
"""


def prompt_of(source: str) -> PromptFacts:
    project = Project()
    project.open("/w/prompt.py", source)
    analysis = project.analysis("/w/prompt.py")
    assert analysis is not None
    return list(analysis.prompts)[-1]


def executed(source: str) -> RenderedPrompt[Any]:
    module: dict[str, Any] = {"__name__": __name__}
    exec(source, module)
    rendered: RenderedPrompt[Any] = module["p"].render()
    return rendered


def seldom(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """These values, some of which only running the code tells."""
    return st.builds(str.format, st.sampled_from(["{}"] * 19 + ["unknown({})"]), values)


TEXTS = st.sampled_from(
    ["'x'", "'Two\\nlines.'", "'$5 ${text}'", "''", "'é 🙂 ' 'word'", "'</output>'"]
)
PASSAGES = seldom(
    st.one_of(
        st.just("Passage()"),
        TEXTS.map("Passage({})".format),
        st.builds("Passage(number={}, text={})".format, st.integers(0, 99), TEXTS),
        TEXTS.map("Titled(note={})".format),
        st.sampled_from(["ONE", "Upper('x')", "replace_text()", "Passage(*['y'], number=3)"]),
    )
)
ROWS = seldom(
    st.builds(
        lambda items, row: row.format("".join(f"{item}, " for item in items)),
        st.lists(PASSAGES, max_size=5),
        st.sampled_from(["({})", "[{}]", "[*({}), *TWO]", "TWO + [{}]", "list(({}))"]),
    )
)
EXTRA = """
ONE = Passage(text="One of " "a kind", number=7)
TWO = [ONE, Passage("Two")]

def replace_text(text="made"):
    return Passage(text, note=text)
"""
TEMPLATES = [
    "${text}",
    "- ${number}: ${text}\n  (${note})",
    "${_number}",
    "same",
    "$$${number}",
    "x\n  ${tags}",
]
ARGUMENTS: dict[str, st.SearchStrategy[str]] = {
    "separator": seldom(st.sampled_from(["'\\n'", "''", "'\\n\\n---\\n\\n'"])),
    "empty": seldom(
        st.sampled_from(["''", "None", "'Nothing on ${query}.'", "'''\n    No $$\n    '''"])
    ),
    "more": seldom(
        st.sampled_from(["'+'", "None", "'${_left_out} of ${_total} on ${query}'", "''"])
    ),
    "max_items": seldom(st.sampled_from(["1", "2", "3", "None", "MOST"])),
    "budget": seldom(st.sampled_from(["1", "5", "8", "12", "None"])),
    "count_tokens": st.just("len"),
    "summary": st.just("'Of ${query}.'"),
    "visibility": st.just("SectionVisibility.FULL"),
    "enabled": st.just("lambda found: bool(found.query)"),
}


@st.composite
def arguments(draw: st.DrawFn, names: tuple[str, ...]) -> list[str]:
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=4))
    return [f"{name}={draw(ARGUMENTS[name])}" for name in chosen]


@st.composite
def each_sections(draw: st.DrawFn, key: str) -> str:
    made = draw(st.sampled_from(["EachSection[Found, Passage]", "Passages[Found]"]))
    items = draw(seldom(st.sampled_from(["'passages'", "'more'", "'first'"])) | ROWS)
    if items == "unknown('first')":
        items = "os.environ.get('FOLDLINE_NOT_SET', 'first')"
    template = draw(seldom(st.sampled_from(TEMPLATES).map(repr)))
    more = draw(arguments(tuple(ARGUMENTS)))
    written = [f"title={key!r}", f"key={key!r}", f"items={items}", f"template={template}", *more]
    changed = draw(st.sampled_from(["", "", ".clone(items='more')", ".clone(max_items=2)"]))
    return f"{made}({', '.join(written)}){changed}"


JSON = seldom(
    st.recursive(
        TEXTS
        | st.sampled_from(["3", "2.5", "True", "None", "ONE", "{'a': 1}", "[1, 'b']", "()", "{2}"]),
        lambda values: st.one_of(
            st.lists(values, max_size=2).map(lambda items: f"[{', '.join(items)}]"),
            values.map("{{'k': {}}}".format),
            values.map("Verdict(True, notes={})".format),
            values.map("Verdict(False, best={}, score=1)".format),
        ),
        max_leaves=4,
    )
)
EXAMPLES = st.one_of(
    st.builds("Example({}, {})".format, JSON, JSON),
    st.builds("Example({}, output={}, reasoning={})".format, JSON, JSON, TEXTS | st.just("None")),
    st.builds("Example[str, str](output={}, input={})".format, JSON, JSON),
)


@st.composite
def example_sections(draw: st.DrawFn, key: str) -> str:
    rows = st.lists(EXAMPLES, max_size=3).map(lambda items: f"[{', '.join(items)}]")
    items = draw(rows)
    names = ("separator", "max_items", "budget")
    written = [f"key={key!r}", *draw(arguments(names))]
    if draw(st.booleans()):
        written.append(
            "template='${_number} ${input} -> ${output} ${reasoning}${_reasoning_block}'"
        )
    if draw(st.booleans()):
        return f"ExamplesSection[Shots, object, object](items='shots', {', '.join(written)})"
    return f"ExamplesSection[None, object, object](items={items}, {', '.join(written)})"


@st.composite
def bound(draw: st.DrawFn) -> str:
    values = []
    if draw(st.booleans()):
        query = draw(st.sampled_from(["", "query='q', "]))
        names = draw(st.lists(st.sampled_from(["passages", "more", "first"]), unique=True))
        rows = "".join(f"{name}={draw(ROWS)}, " for name in names)
        values.append(draw(seldom(st.just(f"Found({query}{rows})"))))
    if draw(st.booleans()):
        shots = ", ".join(draw(st.lists(EXAMPLES, max_size=2)))
        values.append(f"Shots(shots=[{shots}])")
    if draw(st.booleans()):
        values.append(f"section_params={{'own': Found(passages={draw(ROWS)})}}")
    return ", ".join(values)


@given(
    st.lists(st.sampled_from([each_sections, example_sections]), min_size=1, max_size=3).flatmap(
        lambda kinds: st.tuples(*(kind(f"s{n}") for n, kind in enumerate(kinds)))
    ),
    bound(),
)
def test_lists_are_shown_as_they_render_or_are_not_certain(
    sections: tuple[str, ...], values: str
) -> None:
    takers = [
        f"MarkdownSection[{kind}](title='X', key='{kind.lower()}', template='')"
        for kind in ("Found", "Shots")
    ]
    takers.append(LIST.format("'passages'", "").replace('"t"', '"own"'))
    rows = "".join(f"    {section},\n" for section in (*sections, *takers))
    source = f"{HEAD}{EXTRA}MOST = 4\np = PromptTemplate(ns='n', key='k', sections=[\n{rows}])"
    source += f".bind({values})\n"
    rendered = executed(source)
    static = prompt_of(source).render
    event("exact" if static.exact else "certain" if static.certain else "open")
    if static.certain:
        assert [(b.path, b.number, str(b.visibility)) for b in static.blocks] == [
            (b.path, b.number, b.visibility.name) for b in rendered.blocks
        ]
    if static.exact:
        assert static.text == rendered.text
        assert [
            [(str(s.kind), s.text, s.field) for s in block.segments if s.text]
            for block in static.blocks
        ] == [
            [(s.kind.value, s.text, s.field) for s in block.segments if s.text]
            for block in rendered.blocks
        ]
    for one, other in zip(static.blocks, rendered.blocks, strict=True):
        if static.certain and all(segment.known for segment in one.segments):
            assert one.text == other.text


LIST = 'EachSection[Found, Passage](title="T", key="t", items={}, template="${{text}}!"{})'
ALL_KNOWN = [
    (LIST.format("'passages'", ""), "Found(passages=(ONE, ONE))", True),
    (LIST.format("'passages'", ""), "Found(passages=(ONE, unknown(ONE)))", False),
    (LIST.format("'passages'", ""), "Found(passages=unknown(()))", False),
    (LIST.format("'passages'", ""), "Found()", True),
    (LIST.format("'more'", ""), "Found()", True),
    (LIST.format("'more'", ""), "section_params={'t': Found(more=TWO)}", True),
    (LIST.format("'more'", ""), "Found(more=TWO), section_params={'t': unknown(Found())}", False),
    (LIST.format("'more'", ""), "wording=Wording(no_items='Nichts.')", False),
    (LIST.format("'first'", ""), "", True),
    (LIST.format("TWO", ", budget=3"), "", True),
    (LIST.format("TWO", ", budget=3, count_tokens=len"), "", False),
    (LIST.format("(ONE, unknown(ONE))", ", budget=3"), "", False),
    (LIST.format("(ONE, ONE, unknown(ONE))", ", budget=3, max_items=2"), "", True),
    (LIST.format("(ONE, ONE)", ", more=unknown('+')"), "", True),
    (LIST.format("(ONE, ONE)", ", more=unknown('+'), max_items=1"), "", False),
    (LIST.format("(unknown(ONE), ONE)", ", budget=3, max_items=1"), "", False),
    # The forms are those of the section's type.
    (LIST.format("(Titled(), Titled(text='x', tags=['y']))", ""), "", True),
    (LIST.format("(Titled(),)", "").replace("Passage]", "Titled]"), "", True),
    (LIST.format("(Titled(),)", "").replace("Passage]", "typing.cast(Any, Titled)]"), "", False),
    (LIST.format("[Passage(x) for x in 'ab']", ""), "", False),
    (LIST.format("(Upper('x'),)", ""), "", False),
    (LIST.format("TWO", ", **unknown({})"), "", False),
    ('ExamplesSection[None, str, object](items=[Example("a", {"k": [ONE, 1, None]})])', "", True),
    ('ExamplesSection[None, str, object](items=[Example("a", {2, 1})])', "", True),
    ('ExamplesSection[None, str, object](items=[Example("a", unknown(1))])', "", False),
    (
        'ExamplesSection[None, str, object](items=[Example("</input>", ["</output>"], '
        '"</reasoning>")])',
        "",
        True,
    ),
    (
        'ExamplesSection[None, str, str](items=[Example("</b>", "</a>")], '
        'template="<a>${input}!</a>${output}")',
        "",
        True,
    ),
]


@pytest.mark.parametrize(("section", "values", "exact"), ALL_KNOWN)
def test_what_is_known_is_exact_and_what_is_not_says_so(
    section: str, values: str, exact: bool
) -> None:
    source = (
        f"{HEAD}{EXTRA}p = PromptTemplate(ns='n', key='k', sections=[{section}]).bind({values})"
    )
    static = prompt_of(source).render
    assert static.exact is exact
    if exact:
        assert static.text == executed(source).text
        assert "!" in static.text or "None." in static.text or "<output>" in static.text


def test_an_unknown_list_shows_its_template_once_and_leaves_the_structure_certain() -> None:
    section = LIST.format("'passages'", "")
    source = (
        f"{HEAD}p = PromptTemplate(ns='n', key='k', sections=[{section}]).bind(Found('q', rest()))"
    )
    static = prompt_of(source.replace("rest()", "unknown(())")).render
    assert static.text == "## 1. T\n\n${text}!"
    assert static.certain
    assert not static.exact
    last = static.blocks[0].segments[-1]
    assert (last.text, last.field, last.known) == ("${text}!", "passages", False)


def test_a_few_lines_cannot_describe_more_than_memory_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(static_lists, "MOST", 10_000)
    lists = "".join(f"a{n + 1} = a{n} + a{n}\n" for n in range(12))
    section = LIST.format("a12", ", max_items=2")
    source = f"{HEAD}a0 = [Passage(), Passage()]\n{lists}"
    source += f"p = PromptTemplate(ns='n', key='k', sections=[{section}])"
    static = prompt_of(source).render
    assert not static.exact
    assert len(static.text) < 100


ANNOTATIONS = [
    "tuple[Passage, ...]",
    "tuple[Titled, Passage]",
    "'tuple[Passage, ...]'",
    "list['Passage']",
    "List[Passage]",
    "typing.Sequence[Passage]",
    "Sequence[Titled] | None",
    "Optional[Sequence[Titled]]",
    "Union[list[Passage], tuple[Passage, ...]]",
    "Annotated[list[Passage], 'form']",
    "list[Annotated[Passage, 'form']]",
    "list[Passage | Titled]",
    "list[T]",
    "list",
    "tuple",
    "Any",
    "object",
    "list[Any]",
    "list[object]",
    "Alias",
    "New",
    "Missing",
    "list[Missing]",
    "typing.Deque[Passage]",
    "str",
    "tuple[str, ...]",
    "list[Found]",
    "list[None]",
    "Passage",
    "dict[str, Passage]",
    "Mapping[str, Passage]",
    "set[Passage]",
    "frozenset[Passage]",
    "Iterable[Passage]",
    "Collection[Passage]",
    "Optional[str]",
    "Annotated[str, 'x']",
    "Literal['a']",
    "type[Passage]",
]


@pytest.mark.parametrize("annotation", ANNOTATIONS)
@pytest.mark.parametrize("item", ["Passage", "Titled"])
def test_only_fields_that_the_library_refuses_are_reported(annotation: str, item: str) -> None:
    source = f"""from __future__ import annotations
{HEAD}
Alias = list[Passage]
New = typing.NewType("New", list[Passage])
@dataclass
class Holder:
    xs: {annotation}
EachSection[Holder, {item}](title="T", key="t", items="xs", template="x")
"""
    project = Project()
    project.open("/w/prompt.py", source)
    analysis = project.analysis("/w/prompt.py")
    assert analysis is not None
    found = [item for item in diagnostics(analysis) if item.code is Code.ITEMS_FIELD]
    try:
        executed_module(source)
        refused = False
    except PromptError:
        refused = True
    assert not found or refused
    simple = annotation in ("str", "tuple[str, ...]", "dict[str, Passage]", "set[Passage]")
    assert bool(found) or not simple


def executed_module(source: str) -> None:
    module = ModuleType("holder")
    sys.modules["holder"] = module
    try:
        exec(source, module.__dict__)
    finally:
        del sys.modules["holder"]
