"""What holds for every template, every parameter and every mix of visibility."""

import textwrap
from dataclasses import dataclass
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import (
    MarkdownSection,
    OpenSectionsParams,
    PromptTemplate,
    RenderedPrompt,
    Section,
    SectionPath,
    SectionVisibility,
    SegmentKind,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import VisibilityExpansionRequired

FULL, SUMMARY = SectionVisibility.FULL, SectionVisibility.SUMMARY


@FrozenDataclass()
class Params:
    first: str = "one"
    second: str = "two"
    off: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Shape:
    """A section as data, so that one shape can become several templates."""

    key: str
    body: str
    summary: str
    summarized: bool
    tool: bool
    children: tuple["Shape", ...]


# Anything that can be in a string, with what a template engine might trip over made likely.
TEXT = st.text(
    st.one_of(
        st.sampled_from("${}$\\%#`'\" \n\r\t<>&"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=30,
)
PARTS = st.sampled_from(
    ["plain ", "${first}", "$second. ", "${second} ", "$$", "{{x}} ", "é🎉 ", "\n\n", "  - item\n"]
)


def body(mark: str) -> st.SearchStrategy[str]:
    return st.lists(PARTS, max_size=6).map(lambda parts: f"{mark}{''.join(parts)}{mark}")


@st.composite
def shapes(draw: st.DrawFn, path: str, depth: int) -> Shape:
    # Wide at the top and narrow below, or trees grow too large to shrink.
    size = draw(st.integers(0, max(0, 4 - depth) if depth < 4 else 0))
    return Shape(
        key=path.rpartition(".")[2],
        body=draw(body(f"<BODY {path}>")),
        summary=draw(body(f"<SUMMARY {path}>")),
        summarized=draw(st.booleans()),
        tool=draw(st.booleans()),
        children=tuple(draw(shapes(f"{path}.s{i}", depth + 1)) for i in range(size)),
    )


TREES = st.integers(1, 3).flatmap(
    lambda size: st.tuples(*(shapes(f"s{i}", 1) for i in range(size)))
)


def handler(params: Params, *, context: ToolContext) -> ToolResult[None]:
    return ToolResult()


def section(shape: Shape, parent: str = "") -> MarkdownSection[Params]:
    dotted = f"{parent}.{shape.key}" if parent else shape.key
    tool = Tool[None, None](
        name=dotted.replace(".", "-"),
        description="x",
        handler=lambda params, *, context: ToolResult(),
    )
    return MarkdownSection[Params](
        title=f"Title {dotted}",
        key=shape.key,
        template=shape.body,
        summary=shape.summary,
        visibility=SUMMARY if shape.summarized else FULL,
        enabled=lambda params: dotted not in params.off,
        tools=[tool] if shape.tool else [],
        children=[section(child, dotted) for child in shape.children],
    )


def template(tree: tuple[Shape, ...], disclosure: str = "auto") -> PromptTemplate[None]:
    sections: list[Section[object]] = [section(shape) for shape in tree]
    return PromptTemplate(ns="n", key="k", sections=sections, disclosure=disclosure)  # type: ignore[arg-type]


@st.composite
def cases(
    draw: st.DrawFn,
) -> tuple[PromptTemplate[None], Params, dict[SectionPath, SectionVisibility]]:
    """A template, parameters that disable some sections, and overrides for some."""
    made = template(draw(TREES))
    paths = list(made.plan.by_path)
    some = st.lists(st.sampled_from(paths), unique=True)
    params = Params(
        first=draw(TEXT),
        second=draw(TEXT),
        off=frozenset(".".join(path) for path in draw(some)),
    )
    visibilities = st.sampled_from(SectionVisibility)
    return made, params, {path: draw(visibilities) for path in draw(some)}


Case = tuple[PromptTemplate[None], Params, dict[SectionPath, SectionVisibility]]


@given(cases())
def test_blocks_join_to_the_text_and_their_spans_tile_it(case: Case) -> None:
    made, params, overrides = case
    rendered = made.render(params, visibility_overrides=overrides)
    assert "".join(s.text for b in rendered.blocks for s in b.segments) == rendered.text
    position = 0
    for block in rendered.blocks:
        assert block.span.start == position
        position = block.span.end
        assert rendered.text[block.span.start : block.span.end] == block.text
        assert block.enabled or len(block.span) == 0
    assert position == len(rendered.text)


@given(cases())
def test_numbers_follow_the_template_whatever_is_shown(case: Case) -> None:
    made, params, overrides = case
    expected = {
        path: ".".join(str(int(key.removeprefix("s")) + 1) for key in path)
        for path in made.plan.by_path
    }
    for block in made.render(params, visibility_overrides=overrides).blocks:
        assert block.number == expected[block.path]
        assert block.depth == len(block.path) - 1
        if block.enabled:
            marks = "#" * (len(block.path) + 1)
            assert block.text.startswith(f"{marks} {block.number}. {block.title}")


@given(cases())
def test_a_summarized_section_shows_nothing_of_its_body_or_below(case: Case) -> None:
    made, _, overrides = case
    rendered = made.render(visibility_overrides=overrides)
    for block in rendered.blocks:
        if block.enabled and block.visibility is SUMMARY:
            assert f"<BODY {block.dotted_key}>" not in rendered.text
            assert f"<BODY {block.dotted_key}." not in rendered.text
            assert f"<SUMMARY {block.dotted_key}." not in rendered.text
            assert f"<SUMMARY {block.dotted_key}>" in rendered.text


@given(cases())
def test_a_disabled_section_shows_nothing_at_all(case: Case) -> None:
    made, params, overrides = case
    rendered = made.render(Params(off=params.off), visibility_overrides=overrides)
    names = {tool.name for tool in rendered.tools}
    for key in params.off:
        assert f"<BODY {key}" not in rendered.text
        assert f"<SUMMARY {key}" not in rendered.text
        assert not any(name == key.replace(".", "-") for name in names)


@given(cases())
def test_render_is_a_pure_function(case: Case) -> None:
    made, params, overrides = case
    before = dict(overrides)
    first = made.render(params, visibility_overrides=overrides)
    for path in made.plan.by_path:
        first.if_opened(path)
    second = made.render(params, visibility_overrides=overrides)
    assert (first.text, first.blocks) == (second.text, second.blocks)
    assert [tool.name for tool in first.tools] == [tool.name for tool in second.tools]
    assert overrides == before


@given(cases())
def test_what_a_section_would_be_if_opened_is_what_it_is_once_opened(case: Case) -> None:
    made, params, overrides = case
    rendered = made.render(params, visibility_overrides=overrides)
    for block in rendered.blocks:
        if block.enabled and block.visibility is SUMMARY:
            opened = made.render(params, visibility_overrides={**overrides, block.path: FULL})
            below = [b.text for b in opened.blocks if b.path[: len(block.path)] == block.path]
            # The last of them may be followed by the blank line before the next section.
            assert "".join(below).removesuffix("\n\n") == rendered.if_opened(
                block.path
            ).removesuffix("\n\n")


def request(rendered: RenderedPrompt[None], *keys: str) -> dict[SectionPath, SectionVisibility]:
    (tool,) = [tool for tool in rendered.tools if tool.name == "open_sections"]
    with pytest.raises(VisibilityExpansionRequired) as caught:
        tool.handler(OpenSectionsParams(keys, "why"), context=ToolContext())
    return dict(caught.value.requested_overrides)


@given(TREES, st.data())
def test_opening_one_by_one_or_all_at_once_gives_the_same_text(
    tree: tuple[Shape, ...], data: st.DataObject
) -> None:
    made = template(tree, "open")
    start = made.render()
    closed = [b for b in start.blocks if b.visibility is SUMMARY]
    if not closed:
        return
    # Anything that is summarized or below a summary can be asked for.
    openable = [
        ".".join(path)
        for path in made.plan.by_path
        if any(path[: len(block.path)] == block.path for block in closed)
    ]
    wanted = data.draw(st.lists(st.sampled_from(openable), unique=True, min_size=1))
    at_once = made.render(visibility_overrides=request(start, *wanted))
    overrides: dict[SectionPath, SectionVisibility] = {}
    for key in wanted:
        now = made.render(visibility_overrides=overrides)
        shown = {b.dotted_key: b.visibility for b in now.blocks}
        if shown.get(key) is not FULL:
            overrides.update(request(now, key))
    one_by_one = made.render(visibility_overrides=overrides)
    assert {b.path for b in one_by_one.blocks} == {b.path for b in at_once.blocks}
    assert one_by_one.text == at_once.text
    for key in wanted:
        assert f"<BODY {key}>" in at_once.text


@given(st.lists(PARTS, max_size=12).map("".join), TEXT, TEXT)
def test_a_body_is_what_string_template_makes_of_it(source: str, first: str, second: str) -> None:
    made = MarkdownSection[Params](title="T", key="t", template=source)
    expected = Template(textwrap.dedent(source).strip()).substitute(first=first, second=second)
    assert made.render(Params(first, second)) == expected


@given(TEXT, TEXT)
def test_values_are_inserted_as_they_are_and_never_read_as_templates(
    first: str, second: str
) -> None:
    made = MarkdownSection[Params](title="T", key="t", template="a${first}b${second}c$$d{e}")
    rendered = PromptTemplate(ns="n", key="k", sections=[made]).render(Params(first, second))
    assert rendered.text == f"## 1. T\n\na{first}b{second}c$d{{e}}"
    values = [s.text for s in rendered.blocks[0].segments if s.kind is SegmentKind.PARAM]
    assert values == [first, second]


@given(TEXT)
def test_any_text_survives_escaping(text: str) -> None:
    made = MarkdownSection[None](title="T", key="t", template=text.replace("$", "$$"))
    assert made.render() == textwrap.dedent(text).strip()


@given(cases())
def test_every_suffix_names_a_tool_that_is_there(case: Case) -> None:
    made, params, overrides = case
    rendered = made.render(params, visibility_overrides=overrides)
    names = {tool.name for tool in rendered.tools}
    needed = {block.opened_by for block in rendered.blocks if block.opened_by}
    assert needed == names & {"open_sections", "read_section"}
    for block in rendered.blocks:
        if block.opened_by:
            told = [s.text for s in block.segments if s.kind is SegmentKind.SUFFIX]
            assert len(told) == 1
            assert f'`{block.opened_by}` with key "{block.dotted_key}"' in told[0]
            assert block.segments[-1].kind in (SegmentKind.SUFFIX, SegmentKind.SEPARATOR)
