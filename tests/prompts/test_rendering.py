"""Rendering: the text, its blocks, and what a rendered prompt tells about itself."""

import concurrent.futures
import dataclasses
from collections.abc import Callable

import pytest

from foldline.prompts import (
    Block,
    Deadline,
    Heading,
    MarkdownSection,
    Prompt,
    PromptTemplate,
    RenderedPrompt,
    Section,
    SectionPath,
    SectionVisibility,
    SegmentKind,
    Tool,
    ToolContext,
    ToolResult,
    undotted_heading,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptError, PromptRenderError, PromptValidationError

FULL, SUMMARY = SectionVisibility.FULL, SectionVisibility.SUMMARY


@FrozenDataclass()
class Value:
    value: object = "v"


def section(
    key: str,
    template: str = "body",
    *children: Section[object],
    summary: str | None = None,
    on: bool = True,
) -> MarkdownSection[Value]:
    return MarkdownSection[Value](
        title=key.upper(),
        key=key,
        template=template,
        children=children,
        summary=summary,
        enabled=lambda _: on,
    )


def template(*sections: Section[object]) -> PromptTemplate[None]:
    return PromptTemplate(ns="n", key="k", sections=sections)


def by_path(rendered: RenderedPrompt[None]) -> dict[tuple[str, ...], Block]:
    return {block.path: block for block in rendered.blocks}


def test_the_tree_is_walked_depth_first_in_declaration_order() -> None:
    made = template(section("a", "1", section("b", "2", section("c", "3"))), section("d", "4"))
    assert [block.path for block in made.render().blocks] == [
        ("a",),
        ("a", "b"),
        ("a", "b", "c"),
        ("d",),
    ]


def test_a_prompt_renders_what_is_bound_now() -> None:
    prompt = Prompt(template(section("a", "${value}")))
    assert prompt.bind(Value("one")).render().text.endswith("one")
    assert prompt.bind(Value("two")).render().text.endswith("two")


def test_headings_are_numbered_and_deepen_by_one_mark() -> None:
    deep = section("e", "x")
    for key in "dcba":
        deep = section(key, "", deep)
    made = template(section("first"), deep)
    assert made.render().text == (
        "## 1. FIRST\n\nbody\n\n## 2. A\n\n### 2.1. B\n\n#### 2.1.1. C\n\n"
        "##### 2.1.1.1. D\n\n###### 2.1.1.1.1. E\n\nx"
    )


def test_the_undotted_form_and_forms_of_ones_own_are_a_hook_away() -> None:
    parts = [section("a", "x", section("b", "y"))]
    undotted = PromptTemplate(ns="n", key="k", sections=parts, heading=undotted_heading)
    assert undotted.render().text == "## 1 A\n\nx\n\n### 1.1 B\n\ny"

    def own(heading: Heading) -> str:
        return "" if heading.depth else f"<{'.'.join(heading.path)}>"

    assert PromptTemplate(ns="n", key="k", sections=parts, heading=own).render().text == (
        "<a>\n\nx\n\ny"
    )


def test_a_heading_form_that_gives_no_line_is_refused_at_construction() -> None:
    def broken(heading: Heading) -> str:
        raise KeyError(heading.title)

    for form, words in ((broken, "raised KeyError"), (lambda _: "two\nlines", "one line")):
        with pytest.raises(PromptValidationError, match=words) as caught:
            PromptTemplate(ns="n", key="k", sections=[section("a")], heading=form)
        assert caught.value.section_path == ("a",)


def test_numbers_are_places_in_the_template_and_never_change() -> None:
    made = template(
        section("a", "x", on=False), section("b", "x", section("c", on=False), section("d"))
    )
    rendered = made.render()
    assert rendered.text == "## 2. B\n\nx\n\n### 2.2. D\n\nbody"
    assert [(block.number, block.enabled) for block in rendered.blocks] == [
        ("1", False),
        ("2", True),
        ("2.1", False),
        ("2.2", True),
    ]


def test_an_empty_body_gives_the_heading_alone() -> None:
    made = template(section("a", "${value}"), section("b", ""), section("c", "x"))
    assert made.render(Value("")).text == "## 1. A\n\n## 2. B\n\n## 3. C\n\nx"
    assert made.render(Value(" \n ")).text == "## 1. A\n\n## 2. B\n\n## 3. C\n\nx"


def test_a_template_without_sections_renders_to_nothing() -> None:
    rendered = template().render()
    assert (rendered.text, rendered.blocks, rendered.tools) == ("", (), ())


def test_the_same_parameters_and_visibility_give_the_same_text() -> None:
    made = template(section("a", "${value}", section("b", summary="s")))
    first = made.render(Value("x"), visibility_overrides={("a", "b"): SUMMARY})
    second = made.render(Value("x"), visibility_overrides={("a", "b"): SUMMARY})
    assert (first.text, first.blocks) == (second.text, second.blocks)
    assert first == second
    assert hash(first) == hash(second)
    assert first != made.render(Value("x"))


def test_many_threads_can_render_one_template() -> None:
    made = template(*(section(f"s{i}", "${value} " * 5, summary="s") for i in range(20)))

    def work(number: int) -> bool:
        mine = f"value-{number}"
        overrides: dict[SectionPath, SectionVisibility] = {(f"s{number % 20}",): SUMMARY}
        rendered = made.render(Value(mine), visibility_overrides=overrides)
        return rendered.text.count(mine) == 95 and rendered.text.count("value-") == 95

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


def test_a_rendered_prompt_is_frozen_and_needs_only_its_text() -> None:
    rendered: RenderedPrompt[None] = RenderedPrompt(text="hello")
    assert (rendered.structured_output, rendered.deadline, rendered.descriptor) == (None,) * 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        rendered.text = "other"  # type: ignore[misc]


def test_a_deadline_travels_with_the_rendered_prompt() -> None:
    deadline = Deadline.after(60)
    assert template(section("a")).render(deadline=deadline).deadline is deadline
    assert 0 < deadline.remaining <= 60
    assert not deadline.expired
    assert Deadline(at=0.0).expired


def test_the_properties_follow_the_declared_output() -> None:
    plain = template(section("a")).render()
    assert (plain.output_type, plain.container, plain.allow_extra_keys) == (None, None, None)
    assert plain.tools == ()
    assert dict(plain.tool_param_descriptions) == {}
    listed = PromptTemplate[list[Value]](ns="n", key="k", allow_extra_keys=True).render()
    assert (listed.output_type, listed.container, listed.allow_extra_keys) == (Value, "array", True)


def test_a_value_that_is_no_text_is_a_render_error_with_its_place() -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    made = template(section("a", "x", section("b", "${value}")))
    with pytest.raises(PromptRenderError, match="no words") as caught:
        made.render(Value(Broken()))
    error = caught.value
    assert (error.section_path, error.placeholder, error.dataclass_type) == (
        ("a", "b"),
        "value",
        Value,
    )


def test_user_tools_come_first_and_the_librarys_last() -> None:
    def handler(params: None, *, context: ToolContext) -> ToolResult[None]:
        return ToolResult()

    def tool(name: str) -> Tool[None, None]:
        return Tool[None, None](name=name, description="x", handler=handler)

    def tooled(key: str, visibility: SectionVisibility, *names: str) -> MarkdownSection[None]:
        return MarkdownSection[None](
            title=key,
            key=key,
            template="x",
            summary="s",
            visibility=visibility,
            tools=[tool(name) for name in names],
        )

    made = template(
        tooled("a", SUMMARY, "hidden"),
        tooled("b", FULL, "one", "two"),
        tooled("c", SUMMARY),
        tooled("d", FULL, "three"),
    )
    assert [t.name for t in made.render().tools] == [
        "one",
        "two",
        "three",
        "open_sections",
        "read_section",
    ]


def test_children_of_a_summarized_section_are_no_blocks() -> None:
    made = template(section("a", "x", section("b"), summary="s"))
    rendered = made.render(visibility_overrides={("a",): SUMMARY})
    assert [block.path for block in rendered.blocks] == [("a",)]


def test_blocks_join_to_the_text_to_the_character() -> None:
    made = template(
        section("a", "héllo ${value} 🎉"), section("b", on=False), section("c", summary="s")
    )
    rendered = made.render(Value("wörld\n\n"), visibility_overrides={("c",): SUMMARY})
    assert "".join(s.text for b in rendered.blocks for s in b.segments) == rendered.text
    end = 0
    for block in rendered.blocks:
        assert block.span.start == end
        end = block.span.end
        assert rendered.text[block.span.start : block.span.end] == block.text
    assert end == len(rendered.text)


def test_segments_tell_where_each_stretch_comes_from() -> None:
    @FrozenDataclass()
    class Other:
        other: int = 7

    made = PromptTemplate(
        ns="n",
        key="k",
        sections=[
            section("a", "Say ${value}, $$1"),
            MarkdownSection[Other](
                title="B", key="b", template="n=${other}", summary="s${other}", visibility=SUMMARY
            ),
        ],
    )
    first, second = made.render(Value("hi")).blocks
    assert [(s.kind.value, s.text, s.field) for s in first.segments] == [
        ("heading", "## 1. A", None),
        ("separator", "\n\n", None),
        ("literal", "Say ", None),
        ("param", "hi", "value"),
        ("literal", ", $1", None),
        ("separator", "\n\n", None),
    ]
    assert [(s.kind.value, s.text) for s in second.segments] == [
        ("heading", "## 2. B"),
        ("separator", "\n\n"),
        ("literal", "s"),
        ("default", "7"),
        (
            "suffix",
            "\n\n---\n[This section is summarized. To view full content, "
            'call `read_section` with key "b".]',
        ),
    ]
    assert second.opened_by == "read_section"
    assert first.opened_by is None


def test_a_block_knows_its_place_and_state() -> None:
    made = template(section("a", "x", section("b", summary="s")))
    block = by_path(made.render(visibility_overrides={("a", "b"): SUMMARY}))["a", "b"]
    assert (block.key, block.dotted_key, block.number, block.title, block.depth) == (
        "b",
        "a.b",
        "1.1",
        "B",
        1,
    )
    assert (block.visibility, block.enabled, len(block.span)) == (SUMMARY, True, len(block.text))


def test_a_disabled_block_is_an_empty_span_at_its_place() -> None:
    made = template(section("a", on=False), section("b"), section("c", on=False), section("d"))
    blocks = by_path(made.render())
    assert (blocks["a",].span.start, blocks["a",].span.end) == (0, 0)
    assert blocks["c",].span.start == blocks["c",].span.end == blocks["d",].span.start
    assert blocks["c",].segments == ()


def test_the_last_block_has_no_separator_even_before_a_disabled_one() -> None:
    rendered = template(section("a"), section("b", on=False)).render()
    assert rendered.text == "## 1. A\n\nbody"
    assert rendered.blocks[0].segments[-1].kind is SegmentKind.LITERAL
    assert rendered.blocks[1].span.start == len(rendered.text)


def test_a_summarized_block_tells_what_it_would_render_to_if_opened() -> None:
    inner = section("b", "inner ${value}", summary="in short")
    made = template(section("a", "outer", inner, section("c", on=False), summary="short"))
    overrides = {("a",): SUMMARY, ("a", "b"): SUMMARY}
    rendered = made.render(Value("z"), visibility_overrides=overrides)
    assert rendered.if_opened(("a",)) == (
        "## 1. A\n\nouter\n\n### 1.1. B\n\nin short\n\n---\n[This section is summarized. "
        'To view full content, call `read_section` with key "a.b".]'
    )
    assert rendered.if_opened(("a", "b")) == "### 1.1. B\n\ninner z"
    assert rendered.if_opened(("a", "c")) == ""
    with pytest.raises(PromptValidationError) as caught:
        rendered.if_opened(("a", "bb"))
    assert caught.value.near == ("a.b",)


def test_the_pipeline_asks_enabled_then_visibility_then_substitutes() -> None:
    asked: list[str] = []

    class Loud:
        def __str__(self) -> str:
            asked.append("text")
            return "loud"

    def note(what: str, answer: bool | SectionVisibility) -> Callable[[Value], object]:
        def selector(params: Value) -> object:
            asked.append(what)
            return answer

        return selector

    def run(enabled: bool, visibility: SectionVisibility) -> list[str]:
        asked.clear()
        made = MarkdownSection[Value](
            title="A",
            key="a",
            template="${value}",
            summary="short",
            enabled=note("enabled", enabled),  # type: ignore[arg-type]
            visibility=note("visibility", visibility),  # type: ignore[arg-type]
        )
        template(made).render(Value(Loud()))
        return list(asked)

    assert run(False, FULL) == ["enabled"]
    assert run(True, SUMMARY) == ["enabled", "visibility"]
    assert run(True, FULL) == ["enabled", "visibility", "text"]


def test_an_override_for_a_path_that_does_not_exist_is_refused_with_near_names() -> None:
    made = template(section("context", "x", section("examples")))
    with pytest.raises(PromptValidationError, match="matches no section") as caught:
        made.render(visibility_overrides={("context", "example"): FULL})
    assert caught.value.near[0] == "context.examples"
    with pytest.raises(PromptValidationError, match=r"write \('context',\)\."):
        made.render(visibility_overrides={"context": FULL})  # type: ignore[dict-item]
    with pytest.raises(PromptValidationError, match=r"write \('context', 'examples'\)\."):
        made.render(visibility_overrides={"context.examples": FULL})  # type: ignore[dict-item]
    with pytest.raises(PromptValidationError, match="SectionVisibility"):
        made.render(visibility_overrides={("context",): "FULL"})  # type: ignore[dict-item]


def raising(_: Value) -> bool:
    raise KeyError("missing")


FAILING: dict[str, Callable[[], Section[object]]] = {
    "its body": lambda: Broken(title="B", key="b", children=[section("c", "inside")]),
    "`enabled`": lambda: MarkdownSection[Value](
        title="B", key="b", template="x", enabled=raising, children=[section("c", "inside")]
    ),
    "its visibility": lambda: MarkdownSection[Value](
        title="B",
        key="b",
        template="x",
        summary="s",
        visibility=lambda _: raising(Value()),  # type: ignore[arg-type]
        children=[section("c", "inside")],
    ),
    "its parameters": lambda: MarkdownSection[Needed](
        title="B", key="b", template="${needed}", children=[section("c", "inside")]
    ),
}


@FrozenDataclass()
class Needed:
    needed: str


class Broken(Section[Value]):
    def render_body(self, params: Value) -> str:
        raise KeyError("missing")

    def render_summary(self, params: Value) -> str:
        raise KeyError("missing")


@pytest.mark.parametrize("case", FAILING)
def test_the_sections_around_one_that_fails_are_rendered_where_a_handler_says_so(
    case: str,
) -> None:
    made = template(section("a", "before"), FAILING[case](), section("d", "after"))
    with pytest.raises(PromptRenderError):
        made.render()
    told: list[tuple[tuple[str, ...], str]] = []

    def handle(path: SectionPath, error: PromptError) -> str:
        told.append((path, type(error).__name__))
        return "[failed]"

    rendered = made.render(on_error=handle)
    assert told == [(("b",), "PromptRenderError")]
    assert rendered.text == (
        "## 1. A\n\nbefore\n\n## 2. B\n\n[failed]\n\n### 2.1. C\n\ninside\n\n## 3. D\n\nafter"
    )
    (failed,) = (block for block in rendered.blocks if block.path == ("b",))
    assert [segment.kind for segment in failed.segments if segment.text == "[failed]"] == [
        SegmentKind.ERROR
    ]


def test_a_summary_that_fails_stays_a_summary_and_can_be_opened() -> None:
    summarized = Broken(title="B", key="b", visibility=SUMMARY, children=[section("c", "inside")])
    rendered = template(summarized).render(on_error=lambda path, error: "[failed]")
    assert [(block.path, block.visibility) for block in rendered.blocks] == [(("b",), SUMMARY)]
    assert [tool.name for tool in rendered.tools] == ["read_section"]
    with pytest.raises(PromptRenderError):
        rendered.if_opened(("b",))


def test_what_is_wrong_with_the_request_raises_in_spite_of_a_handler() -> None:
    with pytest.raises(PromptValidationError):
        template(section("a")).render(
            visibility_overrides={("nowhere",): FULL}, on_error=lambda path, error: ""
        )


def test_overrides_that_are_no_mapping_are_refused() -> None:
    made = PromptTemplate(ns="n", key="k")
    with pytest.raises(PromptValidationError, match="is a mapping of paths to visibilities"):
        made.render(visibility_overrides=[(("a",), SUMMARY)])  # type: ignore[arg-type]
