"""The user's task, as a dataclass and the section that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from foldline.prompts.cache.stability import PerRequest, Stability
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.sections.markdown import MarkdownSection
from foldline.prompts.specialise import argument, with_constructor
from foldline.prompts.wording import Wording


@FrozenDataclass()
class Task:
    """The user's request; subclass it for tasks with more fields.

    `expansion_instructions` is set by `dataclasses.replace` after sections were opened for the
    model; a new task has none.
    """

    __stability__: ClassVar[Stability] = PerRequest

    request: str = field(metadata={"description": "The user's request in natural language."})
    background: str | None = field(
        default=None,
        metadata={"description": "Additional context or background for the request."},
    )
    expansion_instructions: str | None = field(
        default=None,
        metadata={
            "description": (
                "Instructions injected after sections are expanded via progressive "
                "disclosure. Guides the model on how to proceed with newly visible content."
            ),
        },
    )


@dataclass(frozen=True, slots=True)
class TaskBlock:
    """A text that a task section derives from an optional field."""

    field: str
    sentence: str
    placeholder: str
    end: str = ""

    def text(self, value: str | None, wording: Wording) -> str:
        """Return the text for a value of the field; empty for None."""
        if not value:
            return ""
        return wording.text(self.sentence, **{self.placeholder: value}) + self.end


EXPANSION = "_expansion_block"
"""The placeholder of what a task is told once a section is opened."""

TASK_BLOCKS: Mapping[str, TaskBlock] = {
    EXPANSION: TaskBlock(
        "expansion_instructions", "expansion_context", "instructions", end="\n\n---\n\n"
    ),
    "_background_block": TaskBlock("background", "background", "background"),
}
"""The texts that a task section computes, by placeholder name."""

TaskT_co = TypeVar("TaskT_co", bound=Task, covariant=True)


@with_constructor
class TaskSection(MarkdownSection[TaskT_co]):
    """A section that shows a task: the request, its background, and its expansion context.

    >>> section = TaskSection[Task]()
    >>> print(section.render(Task(request="Review it.", background="It is urgent.")))
    Review it.
    <BLANKLINE>
    **Background:** It is urgent.

    Absent parts leave no blank lines. The two computed blocks are placeholders of the section; a
    task can't have fields with their names.
    """

    params_base: ClassVar[type | None] = Task
    has_wording: ClassVar[bool] = True
    derived_placeholders: ClassVar[tuple[str, ...]] = tuple(TASK_BLOCKS)

    title: str = "Task"
    key: str = "task"
    template: str = argument(
        default=f"${{{EXPANSION}}}${{request}}\n\n${{_background_block}}", init=False
    )

    def derive(self, params: TaskT_co) -> Mapping[str, str]:  # type: ignore[misc]  # The renderer passes the section's own type only.
        """Return the expansion block and the background block; empty if the task lacks them."""
        return {
            name: block.text(getattr(params, block.field), self.wording)
            for name, block in TASK_BLOCKS.items()
        }

    def _check_params(self) -> None:
        super()._check_params()
        self._check_sources(self.params_type, [block.field for block in TASK_BLOCKS.values()])

    def render_body(self, params: TaskT_co) -> Sequence[Segment]:  # type: ignore[misc]  # As above.
        """Return the request between its expansion context and its background."""
        return without_absent_end(super().render_body(params))


def without_absent_end(body: Sequence[Segment]) -> list[Segment]:
    """Return the body without the blank line before an absent block at its end."""
    segments = list(body)
    while segments and not segments[-1].text.strip("\n"):
        if segments[-1].kind not in (SegmentKind.DERIVED, SegmentKind.LITERAL):
            break
        segments.pop()
    return segments
