"""A plan that the model writes and follows: tools, state and section in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum
from typing import ClassVar

from foldline.prompts import (
    MarkdownSection,
    PerSession,
    Stability,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.runtime import SectionsOpened, Session


class PlanningStrategy(StrEnum):
    """How the model is told to work."""

    PLAN_ACT_REFLECT = "plan_act_reflect"
    """Plan first, act step by step, and look at the plan again after each step."""
    ACT = "act"
    """Plan only if the task needs it."""


@FrozenDataclass()
class Step:
    title: str
    done: bool = False


@FrozenDataclass()
class Plan:
    """The plan of a session.

    Args:
        steps: The steps as they are now.
        shown: The steps as they were when the conversation began, as its prompt shows them.
    """

    __stability__: ClassVar[Stability] = PerSession

    steps: tuple[Step, ...] = ()
    shown: tuple[Step, ...] = ()

    def begin(self) -> Plan:
        """The plan of a new conversation, whose prompt shows the steps as they are now."""
        return replace(self, shown=self.steps)


@FrozenDataclass()
class MakePlan:
    steps: tuple[str, ...] = field(metadata={"description": "What to do, in order, 2 to 8 steps."})


@FrozenDataclass()
class FinishStep:
    step: int = field(metadata={"description": "The number of the step that is done, from 1."})


def made(plan: Plan, event: MakePlan) -> Plan:
    return replace(plan, steps=tuple(Step(title) for title in event.steps))


def finished(plan: Plan, event: FinishStep) -> Plan:
    steps = list(plan.steps)
    steps[event.step - 1] = replace(steps[event.step - 1], done=True)
    return replace(plan, steps=tuple(steps))


def opened(plan: Plan, event: SectionsOpened) -> Plan:
    # A prompt that is rendered anew begins a conversation without the tools' earlier results.
    return plan if event.appended else plan.begin()


GUIDANCE = {
    PlanningStrategy.PLAN_ACT_REFLECT: (
        "Write a plan before you read code. After each step mark it as done, and ask yourself "
        "whether the rest of the plan still makes sense."
    ),
    PlanningStrategy.ACT: "Write a plan if the task has more than one part.",
}


class PlanningToolsSection(MarkdownSection[Plan]):
    """Tells the model how to plan, gives it the tools, and shows the plan.

    The text shows the plan as it was when the conversation began, so that it stays as it was sent,
    and providers keep it. The tools' results show each change.
    """

    derived_placeholders: ClassVar[tuple[str, ...]] = ("_plan",)

    def __init__(
        self, *, session: Session, strategy: PlanningStrategy = PlanningStrategy.PLAN_ACT_REFLECT
    ) -> None:
        self.session = session
        super().__init__(
            title="Planning",
            key="planning",
            template=f"{GUIDANCE[strategy]}\n\n${{_plan}}",
            # Its type says how often the text changes; the plan itself is the session's.
            default_params=Plan(),
            tools=[
                Tool[MakePlan, None](
                    name="make_plan",
                    description="Writes the plan, in place of an earlier one.",
                    handler=self.make_plan,
                ),
                Tool[FinishStep, None](
                    name="finish_step",
                    description="Marks one step of the plan as done.",
                    handler=self.finish_step,
                ),
            ],
        )
        self.bind_runtime()

    def bind_runtime(self, **_: object) -> None:
        """Have the session, which may be another after cloning, keep the plan."""
        self.session.register(Plan, MakePlan, made)
        self.session.register(Plan, FinishStep, finished)
        self.session.register(Plan, SectionsOpened, opened)

    def derive(self, params: Plan) -> Mapping[str, str]:
        """The plan as it was when the conversation began."""
        return {"_plan": listed(self.session[Plan].state.shown) or "There is no plan yet."}

    def make_plan(self, params: MakePlan, *, context: ToolContext) -> ToolResult[None]:
        """Keep the plan."""
        if not 2 <= len(params.steps) <= 8:
            return ToolResult("A plan has 2 to 8 steps.", success=False)
        return ToolResult(listed(self.session[Plan].apply(params).steps))

    def finish_step(self, params: FinishStep, *, context: ToolContext) -> ToolResult[None]:
        """Mark a step."""
        steps = self.session[Plan].state.steps
        if not 1 <= params.step <= len(steps):
            return ToolResult(f"There are the steps 1 to {len(steps)}.", success=False)
        return ToolResult(listed(self.session[Plan].apply(params).steps))


def listed(steps: tuple[Step, ...]) -> str:
    """The steps as a numbered list, what is done ticked off."""
    return "\n".join(
        f"{number}. [{'x' if step.done else ' '}] {step.title}"
        for number, step in enumerate(steps, start=1)
    )
