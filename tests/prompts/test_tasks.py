"""Tasks: defaults, rendering with and without each part, rebinding."""

import dataclasses

import pytest

from foldline.prompts import (
    MarkdownSection,
    Prompt,
    PromptTemplate,
    SectionVisibility,
    SegmentKind,
    Task,
    TaskSection,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptValidationError

REQUEST = "Review the authentication module for security vulnerabilities."
BACKGROUND = "Follow-up to the Q4 security audit findings."
INSTRUCTIONS = (
    "Sections expanded: `reference-docs`. Reason: Need security guidelines. "
    "Continue with your task using the newly visible content."
)


@FrozenDataclass()
class CodeReviewTask(Task):
    files: tuple[str, ...] | None = None
    focus: str | None = None


TEMPLATE = PromptTemplate(
    ns="n",
    key="k",
    sections=[
        *(MarkdownSection[None](title=k, key=k, template="x") for k in "abcd"),
        TaskSection[CodeReviewTask](title="Task", key="review-task"),
    ],
)


def rendered(task: CodeReviewTask) -> str:
    text = TEMPLATE.render(task).text
    return text[text.index("## 5. ") :]


def test_a_task_has_described_fields_and_defaults() -> None:
    task = Task(request="r")
    assert (task.background, task.expansion_instructions) == (None, None)
    assert [f.name for f in dataclasses.fields(Task)] == [
        "request",
        "background",
        "expansion_instructions",
    ]
    assert all(f.metadata["description"] for f in dataclasses.fields(Task))
    with pytest.raises(dataclasses.FrozenInstanceError):
        task.request = "other"  # type: ignore[misc]


def test_tasks_are_subclassed_with_more_fields() -> None:
    task = CodeReviewTask(request="r", files=("a.py",))
    assert (task.files, task.focus, task.background) == (("a.py",), None, None)


def test_the_section_has_the_specified_defaults() -> None:
    section = TaskSection[CodeReviewTask]()
    assert (section.key, section.title) == ("task", "Task")
    assert isinstance(section, MarkdownSection)
    assert section.params_type is CodeReviewTask
    named = TaskSection[CodeReviewTask](title="Review Task", key="review-task")
    assert (named.key, named.title) == ("review-task", "Review Task")


def test_the_section_takes_tasks_only() -> None:
    @FrozenDataclass()
    class Who:
        request: str

    for make in (TaskSection[Who], TaskSection[None]):  # type: ignore[type-var]  # The errors.
        with pytest.raises(PromptValidationError, match="TaskSection takes Task or a subclass"):
            make()
    with pytest.raises(PromptValidationError, match=r"write `TaskSection\[Task\]\(…\)`"):
        PromptTemplate(ns="n", key="k", sections=[TaskSection()])


def test_the_template_is_as_specified_and_its_blocks_are_computed() -> None:
    section = TaskSection[Task]()
    assert section.template == "${_expansion_block}${request}\n\n${_background_block}"
    segments = section.render_body(Task(request="r", background="b"))
    assert [(s.kind, s.field) for s in segments if s.field] == [
        (SegmentKind.DERIVED, "_expansion_block"),
        (SegmentKind.PARAM, "request"),
        (SegmentKind.DERIVED, "_background_block"),
    ]


@pytest.mark.parametrize("name", ["_expansion_block", "_background_block"])
def test_a_task_may_not_have_fields_of_those_names(name: str) -> None:
    kind = dataclasses.make_dataclass(
        "Bad", [(name, str, "x")], bases=(Task,), frozen=True, slots=True
    )
    with pytest.raises(PromptValidationError, match="computes itself") as caught:
        TaskSection[kind]()  # type: ignore[valid-type]
    assert caught.value.placeholder == name


def test_a_first_render_is_as_specified() -> None:
    assert rendered(CodeReviewTask(request=REQUEST, background=BACKGROUND)) == (
        f"## 5. Task\n\n{REQUEST}\n\n**Background:** {BACKGROUND}"
    )


def test_a_render_after_expansion_is_as_specified() -> None:
    task = CodeReviewTask(
        request=REQUEST, background=BACKGROUND, expansion_instructions=INSTRUCTIONS
    )
    assert rendered(task) == (
        f"## 5. Task\n\n**Expansion Context:** {INSTRUCTIONS}\n\n---\n\n{REQUEST}\n\n"
        f"**Background:** {BACKGROUND}"
    )


@pytest.mark.parametrize("absent", [None, ""])
def test_what_is_absent_leaves_nothing_behind(absent: str | None) -> None:
    assert (
        rendered(CodeReviewTask(request=REQUEST, background=absent, expansion_instructions=absent))
        == f"## 5. Task\n\n{REQUEST}"
    )
    assert (
        rendered(
            CodeReviewTask(request=REQUEST, background=absent, expansion_instructions=INSTRUCTIONS)
        )
        == f"## 5. Task\n\n**Expansion Context:** {INSTRUCTIONS}\n\n---\n\n{REQUEST}"
    )


def test_the_users_own_blank_lines_are_kept() -> None:
    assert TaskSection[Task]().render(Task(request="one\n\n\ntwo\n")) == "one\n\n\ntwo\n"


def test_instructions_are_replaced_on_each_rebind_and_gone_afterwards() -> None:
    prompt = Prompt(TEMPLATE)
    task = CodeReviewTask(request=REQUEST)
    for instructions in ("First.", "Second."):
        task = dataclasses.replace(task, expansion_instructions=instructions)
        text = prompt.bind(task).render().text
        assert f"**Expansion Context:** {instructions}\n" in text
        assert text.count("Expansion Context") == 1
    fresh = prompt.bind(CodeReviewTask(request=REQUEST)).render().text
    assert "Expansion Context" not in fresh


def test_instructions_and_requests_are_literal_text() -> None:
    task = Task(request="${background} $$", background="$x", expansion_instructions="${request}")
    assert TaskSection[Task]().render(task) == (
        "**Expansion Context:** ${request}\n\n---\n\n${background} $$\n\n**Background:** $x"
    )


def test_a_task_section_can_be_summarized_like_any_other() -> None:
    section = TaskSection[Task](summary="About ${request}", visibility=SectionVisibility.SUMMARY)
    text = PromptTemplate(ns="n", key="k", sections=[section]).render(Task(request="it")).text
    assert text.startswith("## 1. Task\n\nAbout it\n\n---\n")
