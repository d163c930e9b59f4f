"""The whole prompt: guidance, digest, folded references, planning, workspace, task, chapters."""

from __future__ import annotations

from code_reviewer.planning import PlanningStrategy, PlanningToolsSection
from code_reviewer.scope import files, focus
from code_reviewer.workspace import WorkspaceDigestSection, with_reading
from foldline.agent import code_tools
from foldline.ide import Workspace
from foldline.prompts import PromptTemplate, TaskSection
from foldline.prompts.runtime import Session
from reviewer_prompt import (
    CodeReviewTask,
    Review,
    guidance,
    incidents,
    performance,
    reference_docs,
    workspace,
)

GOAL = "review-task"
"""The section by which an evaluation decides about the chapters."""


def build_template(session: Session, opened: Workspace) -> PromptTemplate[Review]:
    """The reviewer's prompt, bound to a session and to the code that it reads."""
    return PromptTemplate[Review](
        ns="examples/code-reviewer",
        key="review-code",
        name="code_reviewer",
        # The same for every review of this code, so that providers keep it.
        system=(
            guidance.clone(),
            WorkspaceDigestSection(session=session),
            reference_docs.clone(),
            with_reading(workspace, code_tools(opened)),
        ),
        sections=(
            PlanningToolsSection(session=session, strategy=PlanningStrategy.PLAN_ACT_REFLECT),
            TaskSection[CodeReviewTask](
                title="Review Task", key=GOAL, children=(focus.clone(), files.clone())
            ),
        ),
        chapters=(performance.clone(), incidents.clone()),
    )
