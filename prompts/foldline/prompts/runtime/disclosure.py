"""The evaluation loop that opens the sections a model asks for, and evaluates again."""

from __future__ import annotations

import copy
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from foldline.prompts.cache.tokens import estimated_tokens
from foldline.prompts.disclosure.retry import ExpansionBudget, apply_expansion, rebind_tasks
from foldline.prompts.errors import (
    ExpansionLimitError,
    PromptConfigurationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.prompt import Prompt
from foldline.prompts.runtime.events import SectionsOpened
from foldline.prompts.runtime.options import EvaluationOptions
from foldline.prompts.runtime.response import Expansion, PromptResponse
from foldline.prompts.sections.expansion import ChaptersExpansionPolicy
from foldline.prompts.template import PromptTemplate
from foldline.prompts.visibility import SectionVisibility

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foldline.prompts.adapters.protocol import ProviderAdapter
    from foldline.prompts.context import ContextPolicy
    from foldline.prompts.deadline import Deadline
    from foldline.prompts.overrides.overrides import OverrideSource
    from foldline.prompts.runtime.bounded import Cancellation
    from foldline.prompts.runtime.conversation import Conversation
    from foldline.prompts.runtime.events import EventBus
    from foldline.prompts.runtime.session import Session, SessionSnapshot
    from foldline.prompts.sections.intent import IntentClassifier
    from foldline.prompts.visibility import SectionPath
    from foldline.prompts.wording import Wording

__all__ = ["evaluate_with_disclosure"]

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
    conversation: Conversation | None = None,
    max_expansions: int = DEFAULT_MAX_EXPANSIONS,
    expansion_budget: int | None = None,
    count_tokens: Callable[[str], int] = estimated_tokens,
    rollback_session: bool = False,
    on_expansion: Callable[[VisibilityExpansionRequired], object] | None = None,
    opening: Literal["append", "render"] = "append",
    section_params: Mapping[str, object] | None = None,
    overrides: OverrideSource | None = None,
    tag: str | None = None,
    wording: Wording | None = None,
) -> PromptResponse[OutputT]:
    """Evaluate a prompt until the model answers, opening the sections that it asks for.

    Each request of the model is merged into the overrides and into the session, where it stays for
    later evaluations. If the adapter's model can do it, the sections are appended: the result of
    the call has their text and the instructions on how to continue, the evaluation goes on, and the
    provider's cache keeps all that was sent. Otherwise, or if the opening changes another part of
    the prompt, the prompt is rendered anew and evaluated again, and bound tasks get the
    `expansion_instructions`. `PromptResponse.expansions` and the event `SectionsOpened` say which,
    and why. `prompt` and `visibility_overrides` don't change, and the instructions don't outlast
    the call.

    Args:
        adapter: The adapter that evaluates.
        prompt: A prompt or a template; a rendered prompt can't be rendered again.
        params: Instances to bind for these evaluations only.
        session: See `BaseAdapter.evaluate`, also for the other arguments up to `conversation`.
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
        conversation: As above.
        max_expansions: The number of requests that are granted.
        expansion_budget: Tokens by which the prompt may grow in total; None for no limit.
        count_tokens: Counts for the budget; the default is an estimate.
        rollback_session: Undo the tools' changes to the session when an evaluation ends in a
            request; one that goes on keeps them.
        on_expansion: Called with each request that is granted.
        opening: With `render`, the prompt is rendered anew for each request.
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
    loop = _Loop(
        copy.copy(prompt).bind(
            *params, section_params=section_params, overrides=overrides, tag=tag, wording=wording
        ),
        EvaluationOptions(
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
            conversation=conversation,
        ),
        dict(visibility_overrides or {}),
        ExpansionBudget(max_requests=max_expansions),
        count_tokens=count_tokens,
        rollback_session=rollback_session,
        on_expansion=on_expansion,
        opening=opening,
    )
    if expansion_budget is not None:
        loop.limit_growth(expansion_budget)
    return loop.run(adapter)


class _Loop(Generic[OutputT]):
    """The evaluations of one call, and the sections that are open so far."""

    def __init__(
        self,
        prompt: Prompt[OutputT],
        options: EvaluationOptions,
        overrides: dict[SectionPath, SectionVisibility],
        budget: ExpansionBudget,
        *,
        count_tokens: Callable[[str], int],
        rollback_session: bool,
        on_expansion: Callable[[VisibilityExpansionRequired], object] | None,
        opening: Literal["append", "render"],
    ) -> None:
        self.why = ""
        self.opened: list[SectionPath] = []
        self.publish: Callable[..., object] | None = None
        self._prompt = prompt
        self._options = options
        self._overrides = overrides
        self._budget = budget
        self._count_tokens = count_tokens
        self._rollback = rollback_session
        self._on_expansion = on_expansion
        self.append = opening == "append"
        self._granted: list[Expansion] = []
        self._size: int | None = None
        self._allowed: int | None = None
        self._snapshot: SessionSnapshot | None = None

    def limit_growth(self, tokens: int) -> None:
        """Let the prompt grow by at most so many tokens."""
        self._size = self._tokens()
        self._allowed = self._size + tokens

    def run(self, adapter: ProviderAdapter) -> PromptResponse[OutputT]:
        """Evaluate until there is an answer."""
        session = self._options.session
        while True:
            if session is not None and self._rollback:
                self._snapshot = session.snapshot()
            try:
                response = self._evaluate(adapter)
            except VisibilityExpansionRequired as request:
                self.grant(request, appended=False)
            else:
                return replace(response, expansions=tuple(self._granted))

    def grant(self, request: VisibilityExpansionRequired, *, appended: bool) -> None:
        """Open the sections of a request.

        Raises:
            ExpansionLimitError: The model asked too often or for too much.
        """
        session = self._options.session
        self._budget.spend(request)
        if session is not None and self._snapshot is not None and not appended:
            session.restore(self._snapshot)
        # Measured with the overrides alone: the session gets only granted requests.
        self._overrides.update(request.requested_overrides)
        if not appended:
            self._prompt = rebind_tasks(self._prompt, request)
        grown = None
        if self._size is not None and self._allowed is not None:
            after = self._tokens()
            if after > self._allowed:
                raise ExpansionLimitError(
                    f"Opening {', '.join(map(repr, request.section_keys))} would make the "
                    f"prompt {after} tokens long; {self._allowed} are allowed.",
                ) from request
            grown, self._size = after - self._size, after
        apply_expansion(request, session=session)
        self.opened += request.requested_overrides
        why = "" if appended else self.why
        self._granted.append(Expansion(request.section_keys, request.reason, grown, appended, why))
        if self.publish is not None and not appended:
            self.publish(
                SectionsOpened,
                section_keys=tuple(request.section_keys),
                reason=request.reason,
                appended=False,
                why=why,
            )
        if self._on_expansion is not None:
            self._on_expansion(request)

    def _evaluate(self, adapter: ProviderAdapter) -> PromptResponse[OutputT]:
        from foldline.prompts.adapters.base import BaseAdapter

        if isinstance(adapter, BaseAdapter):
            # A copy: what is opened meanwhile is known to the evaluation itself.
            return adapter.run(
                self._prompt,
                options=self._options,
                visibility_overrides=dict(self._overrides),
                opener=self,
            )
        self.why = f"{type(adapter).__name__} isn't a BaseAdapter"
        options = {
            field.name: getattr(self._options, field.name) for field in fields(self._options)
        }
        # What is bound already isn't bound again; adapters needn't know what isn't used.
        for name in ("conversation", "section_params", "overrides", "tag", "wording"):
            if options[name] is None:
                del options[name]
        overrides = self._overrides
        conversation = self._options.conversation
        if conversation is not None and self._granted:
            # It may send a conversation that has begun as it is.
            options["conversation"] = conversation.restart()
            overrides = dict.fromkeys(conversation.opened, SectionVisibility.FULL) | overrides
        return adapter.evaluate(self._prompt, visibility_overrides=overrides, **options)

    def _tokens(self) -> int:
        """Return the tokens of the prompt with the sections that are open."""
        from foldline.prompts.adapters.base import render_for_evaluation

        options = self._options
        rendered = render_for_evaluation(
            self._prompt,
            session=options.session,
            visibility_overrides=self._overrides,
            goal_section_key=options.goal_section_key,
            chapters_expansion_policy=options.chapters_expansion_policy,
            chapter_params=options.chapter_params,
            intent_classifier=options.intent_classifier,
            conversation=options.conversation,
        )
        return self._count_tokens(rendered.text)
