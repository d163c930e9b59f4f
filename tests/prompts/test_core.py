"""The core in one story: build, bind, render, fold, unfold."""

from dataclasses import replace

import pytest

from foldline.prompts import (
    MarkdownSection,
    OpenSectionsParams,
    Prompt,
    PromptTemplate,
    ReadSectionParams,
    RenderedPrompt,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptValidationError, VisibilityExpansionRequired

SUMMARY = SectionVisibility.SUMMARY


@FrozenDataclass()
class Project:
    name: str


@FrozenDataclass()
class Query:
    text: str = ""


@FrozenDataclass()
class ReviewTask(Task):
    focus: str | None = None


def search(params: Query, *, context: ToolContext) -> ToolResult[str]:
    return ToolResult(value=params.text)


def never(_: None) -> bool:
    return False


TEMPLATE = PromptTemplate(
    ns="agents/reviewer",
    key="review",
    sections=[
        MarkdownSection[Project](title="Guide", key="guide", template="Review ${name} for $$0."),
        MarkdownSection[Project](
            title="Context",
            key="context",
            template="All about ${name}.",
            summary="${name} in short.",
            visibility=SUMMARY,
            children=[
                MarkdownSection[None](
                    title="Search",
                    key="search",
                    template="Search it.",
                    tools=[Tool[Query, str](name="search", description="Search.", handler=search)],
                ),
                MarkdownSection[None](title="Gone", key="gone", template="x", enabled=never),
            ],
        ),
        MarkdownSection[None](
            title="Docs", key="docs", template="Long.", summary="Short.", visibility=SUMMARY
        ),
        TaskSection[ReviewTask](title="Review Task", key="review-task"),
    ],
)

FOLDED = """\
## 1. Guide

Review foldline for $0.

## 2. Context

foldline in short.

---
[This section is summarized. Call `open_sections` with key "context" to view full content \
including subsections: search.]

## 3. Docs

Short.

---
[This section is summarized. To view full content, call `read_section` with key "docs".]

## 4. Review Task

Look at it."""

CONTEXT_OPEN = """\
## 2. Context

All about foldline.

### 2.1. Search

Search it."""


def folded() -> RenderedPrompt[None]:
    return TEMPLATE.render(Project("foldline"), ReviewTask(request="Look at it."))


def tool(rendered: RenderedPrompt[None], name: str) -> Tool[object, object]:
    (found,) = [tool for tool in rendered.tools if tool.name == name]
    return found


def test_a_folded_prompt_renders_as_specified() -> None:
    assert folded().text == FOLDED


def test_the_blocks_join_to_the_text_and_know_their_spans() -> None:
    rendered = folded()
    assert "".join(s.text for b in rendered.blocks for s in b.segments) == rendered.text
    for block in rendered.blocks:
        assert rendered.text[block.span.start : block.span.end] == block.text


def test_opening_ends_the_turn_and_the_retry_shows_the_section_and_its_tools() -> None:
    rendered = folded()
    assert [t.name for t in rendered.tools] == ["open_sections", "read_section"]
    with pytest.raises(VisibilityExpansionRequired) as caught:
        tool(rendered, "open_sections").handler(
            OpenSectionsParams(section_keys=("context",), reason="Need it"), context=ToolContext()
        )
    request = caught.value
    task = replace(
        ReviewTask(request="Look at it."), expansion_instructions=request.expansion_instructions
    )
    opened = (
        Prompt(TEMPLATE)
        .bind(Project("foldline"), task)
        .render(visibility_overrides=request.requested_overrides)
    )
    assert CONTEXT_OPEN in opened.text
    assert "**Expansion Context:** Sections expanded: `context`. Reason: Need it." in opened.text
    assert [t.name for t in opened.tools] == ["search", "read_section"]


def test_reading_gives_the_section_and_leaves_it_folded() -> None:
    rendered = folded()
    result = tool(rendered, "read_section").handler(
        ReadSectionParams(section_key="docs"), context=ToolContext()
    )
    assert result.success
    assert result.value == "## 3. Docs\n\nLong."
    assert folded().text == FOLDED


def test_a_summarized_block_tells_what_it_would_render_to() -> None:
    assert folded().if_opened(("context",)) == CONTEXT_OPEN


def test_a_placeholder_that_is_no_field_is_an_error_with_near_names() -> None:
    with pytest.raises(PromptValidationError) as caught:
        MarkdownSection[Project](title="Guide", key="guide", template="${nam}")
    error = caught.value
    assert (error.section_path, error.placeholder, error.dataclass_type, error.near) == (
        ("guide",),
        "nam",
        Project,
        ("name",),
    )
