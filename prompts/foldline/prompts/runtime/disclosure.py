"""The evaluation loop that opens the sections a model asks for, and evaluates again."""

from __future__ import annotations

import copy
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypeVar

from foldline.prompts.errors import (
    ExpansionLimitError,
    PromptConfigurationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.expansion import ChaptersExpansionPolicy
from foldline.prompts.prompt import Prompt
from foldline.prompts.retry import ExpansionBudget, apply_expansion, rebind_tasks
from foldline.prompts.runtime.response import Expansion, PromptResponse
from foldline.prompts.template import PromptTemplate
from foldline.prompts.tokens import estimated_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foldline.prompts.adapters.protocol import ProviderAdapter
    from foldline.prompts.context import ContextPolicy
    from foldline.prompts.deadline import Deadline
    from foldline.prompts.intent import IntentClassifier
    from foldline.prompts.overrides import OverrideSource
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.runtime.bounded import Cancellation
    from foldline.prompts.runtime.events import EventBus
    from foldline.prompts.runtime.session import Session
    from foldline.prompts.visibility import SectionPath, SectionVisibility
    from foldline.prompts.wording import Wording

__all__ = ["estimated_tokens", "evaluate_with_disclosure"]

OutputT = TypeVar("OutputT")

DEFAULT_MAX_EXPANSIONS = 8


def evaluate_with_disclosure(
    adapter: ProviderAdapter,
    prompt: Prompt[OutputT] | PromptTemplate[OutputT],
    *params: object,
    session: Session | None = None,
    bus: EventBus | None = None,
    visibility_overrides: Mapping[SectionPath, SectionVisibility] | None = None,
    goal_section_key: str | None = None,
    chapters_expansion_policy: ChaptersExpansionPolicy = ChaptersExpansionPolicy.ALL_INCLUDED,
    parse_output: bool = True,
    deadline: Deadline | None = None,
    chapter_params: Mapping[str, object] | None = None,
    intent_classifier: IntentClassifier | None = None,
    cancellation: Cancellation | None = None,
    on_text: Callable[[str], object] | None = None,
    context_policy: ContextPolicy | None = None,
    max_expansions: int = DEFAULT_MAX_EXPANSIONS,
    expansion_budget: int | None = None,
    count_tokens: Callable[[str], int] = estimated_tokens,
    rollback_session: bool = False,
    on_expansion: Callable[[VisibilityExpansionRequired], object] | None = None,
    section_params: Mapping[str, object] | None = None,
    overrides: OverrideSource | None = None,
    tag: str | None = None,
    wording: Wording | None = None,
) -> PromptResponse[OutputT]:
    """Evaluate a prompt until the model answers, opening the sections that it asks for.

    Each request of the model is merged into the overrides and into the session, where it stays for
    later evaluations; bound tasks get its `expansion_instructions`; then the prompt is evaluated
    again. `prompt` and `visibility_overrides` don't change, and the instructions don't outlast the
    call.

    Args:
        adapter: The adapter that evaluates.
        prompt: A prompt or a template; a rendered prompt can't be rendered again.
        params: Instances to bind for these evaluations only.
        session: See `BaseAdapter.evaluate`, also for the other arguments up to `context_policy`.
        bus: As above.
        visibility_overrides: The overrides of the first evaluation.
        goal_section_key: As above.
        chapters_expansion_policy: As above.
        parse_output: As above.
        deadline: For all evaluations together.
        chapter_params: As above.
        intent_classifier: As above.
        cancellation: As above.
        on_text: As above; it also gets the text before a request for sections.
        context_policy: As above.
        max_expansions: The number of requests that are granted.
        expansion_budget: Tokens by which the prompt may grow in total; None for no limit.
        count_tokens: Counts for the budget; the default is an estimate.
        rollback_session: Undo the tools' changes to the session when an evaluation ends in a
            request.
        on_expansion: Called with each request that is granted.
        section_params: Instances to bind to single sections for these evaluations only.
        overrides: Stored overrides for these evaluations only; loaded once.
        tag: Their tag.
        wording: The library's own sentences for these evaluations only.

    Raises:
        ExpansionLimitError: The model asked too often or for too much; its cause is the request.
        PromptConfigurationError: The arguments don't fit the prompt.
        PromptEvaluationError: The evaluation failed; `kind` says why.
        OutputParseError: The answer doesn't fit the declared output.
    """
    if isinstance(prompt, PromptTemplate):
        prompt = prompt.bind()
    elif not isinstance(prompt, Prompt):
        raise PromptConfigurationError(
            "Disclosure renders the prompt again; give a Prompt or a PromptTemplate, "
            f"not {prompt!r}."
        )
    options = _EvaluationOptions(
        session=session,
        bus=bus,
        goal_section_key=goal_section_key,
        chapters_expansion_policy=chapters_expansion_policy,
        parse_output=parse_output,
        deadline=deadline,
        chapter_params=chapter_params,
        intent_classifier=intent_classifier,
        cancellation=cancellation,
        on_text=on_text,
        context_policy=context_policy,
    )
    bound = copy.copy(prompt).bind(
        *params, section_params=section_params, overrides=overrides, tag=tag, wording=wording
    )
    visible = dict(visibility_overrides or {})
    budget = ExpansionBudget(max_requests=max_expansions)
    granted: list[Expansion] = []

    def size() -> int:
        return count_tokens(options.render(bound, visible).text)

    allowed = before = None
    if expansion_budget is not None:
        before = size()
        allowed = before + expansion_budget
    while True:
        snapshot = session.snapshot() if session is not None and rollback_session else None
        try:
            response = options.evaluate(adapter, bound, visible)
        except VisibilityExpansionRequired as request:
            budget.spend(request)
            if session is not None and snapshot is not None:
                session.restore(snapshot)
            # Measured with the overrides alone: the session gets only granted requests.
            visible.update(request.requested_overrides)
            bound = rebind_tasks(bound, request)
            grown = None
            if before is not None and allowed is not None:
                after = size()
                if after > allowed:
                    raise ExpansionLimitError(
                        f"Opening {', '.join(map(repr, request.section_keys))} would make the "
                        f"prompt {after} tokens long; {allowed} are allowed.",
                    ) from request
                grown, before = after - before, after
            apply_expansion(request, session=session)
            granted.append(Expansion(request.section_keys, request.reason, grown))
            if on_expansion is not None:
                on_expansion(request)
        else:
            return replace(response, expansions=tuple(granted))


@dataclass(frozen=True, slots=True, kw_only=True)
class _EvaluationOptions:
    """The arguments of `BaseAdapter.evaluate` that stay the same for all evaluations of a loop."""

    session: Session | None
    bus: EventBus | None
    goal_section_key: str | None
    chapters_expansion_policy: ChaptersExpansionPolicy
    parse_output: bool
    deadline: Deadline | None
    chapter_params: Mapping[str, object] | None
    intent_classifier: IntentClassifier | None
    cancellation: Cancellation | None
    on_text: Callable[[str], object] | None
    context_policy: ContextPolicy | None

    def render(
        self,
        prompt: Prompt[OutputT],
        overrides: Mapping[SectionPath, SectionVisibility],
    ) -> RenderedPrompt[OutputT]:
        """Return what `evaluate` would send."""
        from foldline.prompts.adapters.base import render_for_evaluation

        return render_for_evaluation(
            prompt,
            session=self.session,
            visibility_overrides=overrides,
            goal_section_key=self.goal_section_key,
            chapters_expansion_policy=self.chapters_expansion_policy,
            chapter_params=self.chapter_params,
            intent_classifier=self.intent_classifier,
        )

    def evaluate(
        self,
        adapter: ProviderAdapter,
        prompt: Prompt[OutputT],
        overrides: Mapping[SectionPath, SectionVisibility],
    ) -> PromptResponse[OutputT]:
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        return adapter.evaluate(prompt, visibility_overrides=overrides, **options)
