"""The prompt of a code reviewer, with reference documentation that stays folded until needed.

What the model may need sometimes is a summary that it opens; what concerns only some reviews is a
chapter that an evaluation opens. The answer is a `Review`.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import ClassVar

from foldline.prompts import (
    Chapter,
    MarkdownSection,
    PromptTemplate,
    SectionVisibility,
    Stability,
    Stable,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolExample,
    ToolResult,
)
from foldline.prompts.dataclasses import FrozenDataclass


@FrozenDataclass()
class Project:
    """What is under review."""

    __stability__: ClassVar[Stability] = Stable

    project: str = "auth"
    language: str = "Python 3.11"


@FrozenDataclass()
class Workspace:
    """Where the code is, and what there is of it."""

    __stability__: ClassVar[Stability] = Stable

    root: str = "auth/"
    digest: str = (
        "9 modules: service (signing in and out), sessions (in memory), tokens (HMAC), passwords "
        "(PBKDF2), permissions (role guards), models, errors"
    )


@FrozenDataclass()
class CodeReviewTask(Task):
    """Task for code review requests."""

    files: tuple[str, ...] | None = field(
        default=None,
        metadata={"description": "Specific files to focus the review on."},
    )
    focus: str | None = field(
        default=None,
        metadata={"description": "Review focus such as 'security' or 'performance'."},
    )


@FrozenDataclass()
class Clearance:
    """What may be shown to the model that reviews."""

    internal: bool = False


class Severity(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@FrozenDataclass()
class Finding:
    path: str = field(metadata={"description": "The file, relative to the workspace."})
    line: int = field(metadata={"description": "The line, counted from 1."})
    severity: Severity
    problem: str = field(metadata={"description": "What is wrong, and why it matters."})
    remedy: str = field(metadata={"description": "How to mend it, in a sentence or two."})
    rule: str | None = field(
        default=None, metadata={"description": "The rule that is broken, such as 'S2'."}
    )


@FrozenDataclass()
class Review:
    """What the model answers."""

    summary: str = field(metadata={"description": "The verdict, in at most three sentences."})
    findings: tuple[Finding, ...] = ()


@FrozenDataclass()
class RuleParams:
    rule: str = field(metadata={"description": "The number of a rule, such as 'S2'."})


RULES = {
    "S1": "An attacker who measures how long == takes learns a secret byte by byte.",
    "S2": "Logs outlive the request and are read by people who must not know passwords.",
    "S3": "An answer that differs for unknown names tells which names exist.",
    "S4": "OWASP asks for 600,000 rounds of PBKDF2-SHA256; every older hash is to be renewed.",
    "S5": "A token made for one use must be refused for another, and after it was used.",
}


def explain_rule(params: RuleParams, *, context: ToolContext) -> ToolResult[str]:
    """Why a rule is there."""
    reason = RULES.get(params.rule.upper())
    if reason is None:
        known = ", ".join(RULES)
        return ToolResult(f"There is no rule {params.rule!r}; there are {known}.", None, False)
    return ToolResult(reason, reason)


@FrozenDataclass()
class PlanParams:
    steps: tuple[str, ...] = field(
        metadata={"description": "What to look at, in this order; at most seven steps."}
    )


def make_plan(params: PlanParams, *, context: ToolContext) -> ToolResult[str]:
    """The steps as a list to tick off."""
    if not 1 <= len(params.steps) <= 7:
        return ToolResult("A plan has one to seven steps; merge some.", None, False)
    plan = "\n".join(f"{number}. [ ] {step}" for number, step in enumerate(params.steps, 1))
    return ToolResult(f"The plan:\n{plan}", plan)


guidance = MarkdownSection[Project](
    title="Review Guidance",
    key="guidance",
    template="""
        You review ${project}, written in ${language}, for its maintainers.

        - Read the outline of a file before its symbols, and its symbols before the whole file.
        - Report what is wrong, where (`path:line`), why it matters and how to mend it.
        - Report nothing that a formatter or a type checker would find.
        - Say so when you are not sure. No finding is a good answer.
    """,
)

security_rules = MarkdownSection[None](
    title="Security Rules",
    key="security",
    template="""
        - **S1** Compare secrets, signatures and digests with `hmac.compare_digest`, never with
          `==`.
        - **S2** Passwords, tokens and session identifiers never reach a log, an exception's
          text or a `repr`. Log a fingerprint instead.
        - **S3** Sign-in and password reset answer alike, and as fast, whether or not a name
          exists.
        - **S4** Passwords are hashed with a slow function and today's cost; a hash made with a
          lower cost is renewed at the next sign-in.
        - **S5** A signed token says what it is for (`use`), and whoever reads it checks that. A
          reset token works once.
        - **S6** A session ends when its person's password or role changes. Its role is looked
          up, not remembered.
        - **S7** Attempts are counted per name and per address, atomically.
    """,
    tools=[
        Tool[RuleParams, str](
            name="explain_rule",
            description="Explains why a security rule is there, and what happens without it.",
            handler=explain_rule,
            examples=[ToolExample("Before citing a rule.", RuleParams("S2"), RULES["S2"])],
        )
    ],
)

async_rules = MarkdownSection[None](
    title="Asynchronous Code",
    key="async",
    summary="Locks, listeners, slow work and background tasks (A1-A4).",
    visibility=SectionVisibility.SUMMARY,
    template="""
        - **A1** Shared state is read and written under one lock, or in one step without `await`.
        - **A2** No lock is held while a listener, a callback or the network is awaited.
        - **A3** Slow work on the processor (hashing, compression) runs in a thread.
        - **A4** A background task is kept, cancelled and awaited by whoever started it.
    """,
)

style_rules = MarkdownSection[None](
    title="Style",
    key="style",
    summary="Documentation, errors, values, modules (Y1-Y4), and naming.",
    visibility=SectionVisibility.SUMMARY,
    template="""
        - **Y1** Public functions say what they return, what they raise, and in which unit.
        - **Y2** Errors of a package share one root, and carry fields rather than sentences.
        - **Y3** Values are frozen dataclasses; what changes has one owner.
        - **Y4** A module fits a screen or two, and has one reason to change.
    """,
    children=[
        MarkdownSection[None](
            title="Naming",
            key="naming",
            template="""
                Whole words, in the terms of the domain: `sign_in`, not `do_login_v2`. A boolean
                reads as a statement (`is_expired`), a function that acts as an order
                (`end_all_of`).
            """,
        ),
    ],
)

reference_docs = MarkdownSection[Project](
    title="Reference Documentation",
    key="reference-docs",
    template="The rules that ${project} agreed on. Cite them by number.",
    summary="The rules that ${project} agreed on: security (S1-S7), asynchronous code, style.",
    visibility=SectionVisibility.SUMMARY,
    children=[security_rules, async_rules, style_rules],
)

workspace = MarkdownSection[Workspace](
    title="Workspace",
    key="workspace",
    template="The code is below `${root}`. ${digest}.",
    children=[
        MarkdownSection[None](
            title="History",
            key="history",
            template="""
                - *March*: sessions moved from the database to memory, because reads were slow.
                  They are lost at a restart; that was agreed.
                - *June*: roles became numbers, so that a higher one includes a lower one.
                - *October*: the audit asked for rate limits and for constant-time comparison.
                  The limits are done (`AuthService.sign_in`), the comparison is not.
            """,
            summary="What changed in the last year, and what was agreed then.",
            visibility=SectionVisibility.SUMMARY,
        ),
    ],
)

planning = Chapter[None](
    key="planning",
    title="Planning",
    description="For reviews of more than a few files.",
    keywords=["whole", "module", "package", "all files"],
    sections=[
        MarkdownSection[None](
            title="Plan First",
            key="plan",
            template="""
                Call `make_plan` before you read any code: which files, in which order, and what
                you expect to find in each. Change the plan when what you read says so.
            """,
            tools=[
                Tool[PlanParams, str](
                    name="make_plan",
                    description="Writes down the steps of the review and gives them back.",
                    handler=make_plan,
                )
            ],
        ),
    ],
)

performance = Chapter[None](
    key="performance",
    title="Performance",
    description="Budgets, and how they are measured.",
    keywords=["slow", "latency", "speed", "memory"],
    sections=[
        MarkdownSection[Project](
            title="Budgets",
            key="budgets",
            template="""
                Signing in to ${project} takes at most 400 ms, nearly all of it for the hash;
                every other call takes at most 5 ms. A session costs at most 1 KB.
            """,
        ),
    ],
)

incidents = Chapter[Clearance](
    key="incidents",
    title="Past incidents",
    description="Confidential: for models that run in our own network.",
    keywords=["incident", "breach", "attack", "vulnerability"],
    enabled=lambda clearance: clearance.internal,
    sections=[
        MarkdownSection[None](
            title="Incidents",
            key="incidents-of-the-year",
            template="""
                - *February*: reset tokens were accepted as session tokens for two days.
                - *July*: a debug log held passwords in the clear; it was read by a contractor.
            """,
        ),
    ],
)

template = PromptTemplate[Review](
    ns="examples/code-reviewer",
    key="review",
    name="code_reviewer",
    sections=[
        guidance,
        reference_docs,
        workspace,
        TaskSection[CodeReviewTask](title="Review Task", key="review-task"),
    ],
    chapters=[planning, performance, incidents],
)

reviewer = template.bind(
    CodeReviewTask(
        request="Review the authentication module for security vulnerabilities.",
        background="Follow-up to the Q4 security audit findings.",
        focus="security",
    )
)
