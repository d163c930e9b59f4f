"""The reviewer: one session, one prompt, as many reviews as are asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from code_reviewer.planning import Plan
from code_reviewer.prompt import GOAL, build_template
from code_reviewer.workspace import WorkspaceDigest, digest_of
from foldline.ide import Workspace
from foldline.prompts import ChaptersExpansionPolicy, Deadline
from foldline.prompts.adapters import ProviderAdapter
from foldline.prompts.errors import VisibilityExpansionRequired
from foldline.prompts.runtime import PromptResponse, Session, evaluate_with_disclosure
from reviewer_prompt import CodeReviewTask, Review


class CodeReviewer:
    """Reviews the code below `root`.

    What the model had opened stays open for the next review of the same session; its plan stays
    too. Chapters open for the reviews that are about them. Everything that happens is published on
    the session's bus.
    """

    def __init__(
        self,
        root: Path,
        adapter: ProviderAdapter,
        *,
        folder: str = "auth",
        session: Session | None = None,
        on_expansion: Callable[[VisibilityExpansionRequired], object] | None = None,
    ) -> None:
        self.session = Session() if session is None else session
        self.session[WorkspaceDigest].replace(digest_of(root, folder))
        self._adapter = adapter
        self._on_expansion = on_expansion
        self._template = build_template(self.session, Workspace.at(root))

    def review(
        self, task: CodeReviewTask, *, deadline: Deadline | None = None
    ) -> PromptResponse[Review]:
        """The model's review, after everything it wanted to see was opened for it."""
        self.session[Plan].replace(self.session[Plan].state.begin())
        return evaluate_with_disclosure(
            self._adapter,
            self._template,
            task,
            session=self.session,
            goal_section_key=GOAL,
            chapters_expansion_policy=ChaptersExpansionPolicy.INTENT_CLASSIFIER,
            deadline=deadline,
            on_expansion=self._on_expansion,
        )
