"""The whole prompt: guidance, digest, folded references, planning, workspace, task."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from code_reviewer.planning import PlanningStrategy, PlanningToolsSection
from code_reviewer.workspace import WorkspaceDigestSection, WorkspaceTools, with_tools
from foldline.backends import SmartFileAccess
from foldline.prompts import PromptTemplate, TaskSection
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.runtime import Session
from reviewer_prompt import CodeReviewTask, guidance, reference_docs, workspace


@FrozenDataclass()
class Finding:
    """One thing that is wrong."""

    path: str = field(metadata={"description": "The file, relative to the workspace."})
    line: int = field(metadata={"description": "The line, from 1."})
    severity: Literal["high", "medium", "low"]
    problem: str = field(metadata={"description": "What is wrong, and why it matters."})
    remedy: str = field(metadata={"description": "How to mend it."})
    rule: str | None = field(
        default=None, metadata={"description": "The number of the rule, such as 'S1'."}
    )


@FrozenDataclass()
class Review:
    """What the reviewer says."""

    summary: str = field(metadata={"description": "The verdict in one or two sentences."})
    findings: tuple[Finding, ...] = field(metadata={"description": "The worst first."})


def build_template(session: Session, access: SmartFileAccess) -> PromptTemplate[Review]:
    """The reviewer's prompt, bound to a session and to the code that it reads."""
    return PromptTemplate[Review](
        ns="examples/code-reviewer",
        key="review-code",
        name="code_reviewer",
        sections=(
            guidance.clone(),
            WorkspaceDigestSection(session=session),
            reference_docs.clone(),
            PlanningToolsSection(session=session, strategy=PlanningStrategy.PLAN_ACT_REFLECT),
            with_tools(workspace, WorkspaceTools(access).all()),
            TaskSection[CodeReviewTask](title="Review Task", key="review-task"),
        ),
    )
