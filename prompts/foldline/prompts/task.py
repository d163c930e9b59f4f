"""What the user wants, as a dataclass and the section that shows it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, TypeVar

from foldline.prompts.blocks import Segment, SegmentKind
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.markdown import MarkdownSection
from foldline.prompts.visibility import SectionVisibility, VisibilitySelector

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from foldline.prompts.section import Section
    from foldline.prompts.tool import Tool

__all__ = ["Task", "TaskSection"]


@FrozenDataclass()
class Task:
    """The user's intent; subclass it for tasks with more fields.

    `expansion_instructions` is filled by `dataclasses.replace` after the model had sections
    opened, and is gone again with the next fresh task.
    """

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


TaskT_co = TypeVar("TaskT_co", bound=Task, covariant=True)


class TaskSection(MarkdownSection[TaskT_co]):
    """A section that shows a task: the request, its background, and why it is asked again.

    >>> section = TaskSection[Task]()
    >>> print(section.render(Task(request="Review it.", background="It is urgent.")))
    Review it.
    <BLANKLINE>
    **Background:** It is urgent.

    Whatever is absent leaves no blank lines behind. The two computed blocks are placeholders of
    the section; a task may not have fields of their names.
    """

    derived_placeholders: ClassVar[tuple[str, ...]] = ("_expansion_block", "_background_block")

    def __init__(
        self,
        *,
        key: str = "task",
        title: str = "Task",
        summary: str | None = None,
        children: Sequence[Section[object]] = (),
        tools: Sequence[Tool[object, object]] = (),
        enabled: Callable[[TaskT_co], bool] | None = None,
        default_params: TaskT_co | None = None,
        accepts_overrides: bool = True,
        visibility: VisibilitySelector[TaskT_co] = SectionVisibility.FULL,
    ) -> None:
        super().__init__(
            title=title,
            key=key,
            template="${_expansion_block}${request}\n\n${_background_block}",
            summary=summary,
            children=children,
            tools=tools,
            enabled=enabled,
            default_params=default_params,
            accepts_overrides=accepts_overrides,
            visibility=visibility,
        )

    def derive(self, params: TaskT_co) -> Mapping[str, str]:  # type: ignore[misc]  # The renderer passes the section's own type only.
        """The expansion block and the background block; empty where the task has neither."""
        instructions = params.expansion_instructions
        background = params.background
        return {
            "_expansion_block": (
                f"**Expansion Context:** {instructions}\n\n---\n\n" if instructions else ""
            ),
            "_background_block": f"**Background:** {background}" if background else "",
        }

    def render_body(self, params: TaskT_co) -> Sequence[Segment]:  # type: ignore[misc]  # As above.
        """The request between its expansion context and its background."""
        segments = list(super().render_body(params))
        # A text that ends in an absent block would also end in the blank line before that block.
        while segments and not segments[-1].text.strip("\n"):
            if segments[-1].kind not in (SegmentKind.DERIVED, SegmentKind.LITERAL):
                break
            segments.pop()
        return segments
