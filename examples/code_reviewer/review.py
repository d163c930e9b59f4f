"""The loop around the reviewer's prompt: what the model asks to see is opened for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.prompts import ChaptersExpansionPolicy, ExpansionBudget
from foldline.prompts.errors import OutputParseError, VisibilityExpansionRequired
from reviewer_prompt import CodeReviewTask, Review, template

if TYPE_CHECKING:
    from foldline.prompts import SectionPath, SectionVisibility
    from foldline.prompts.adapters import ProviderAdapter


class Reviewer:
    """Reviews on request. What was opened once stays open for the next request.

    Args:
        adapter: Who asks a model.
        max_expansions: How often the model may have sections opened for one request.
    """

    def __init__(self, adapter: ProviderAdapter, *, max_expansions: int = 4) -> None:
        self.adapter = adapter
        self.prompt = template.bind()
        self.visibility_overrides: dict[SectionPath, SectionVisibility] = {}
        self._max_expansions = max_expansions

    def review(self, request: str, *, background: str | None = None) -> Review:
        """What the model finds.

        Raises:
            PromptEvaluationError: There is no answer, or the model wanted too much opened.
        """
        task = CodeReviewTask(request=request, background=background)
        bound = self.prompt.bind(task)
        budget = ExpansionBudget(max_requests=self._max_expansions)
        while True:
            try:
                response = self.adapter.evaluate(
                    bound,
                    visibility_overrides=self.visibility_overrides,
                    goal_section_key="review-task",
                    chapters_expansion_policy=ChaptersExpansionPolicy.INTENT_CLASSIFIER,
                )
            except VisibilityExpansionRequired as expansion:
                budget.spend(expansion)
                self.visibility_overrides.update(expansion.requested_overrides)
                task = replace(task, expansion_instructions=expansion.expansion_instructions)
                bound = self.prompt.bind(task)
            else:
                if response.output is None:
                    raise OutputParseError("The model gave no review.")
                return response.output
