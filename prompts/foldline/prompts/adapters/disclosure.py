"""The evaluation loop that opens the sections a model asks for, and evaluates again."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, Unpack

from foldline.prompts import errors
from foldline.prompts.adapters.base import BaseAdapter, rendered_with
from foldline.prompts.adapters.protocol import ProviderAdapter
from foldline.prompts.adapters.run import Run
from foldline.prompts.adapters.streaming import in_thread, streamed
from foldline.prompts.cache.tokens import estimated_tokens
from foldline.prompts.disclosure.retry import ExpansionBudget, apply_expansion, rebind_tasks
from foldline.prompts.prompt import Prompt
from foldline.prompts.runtime.events import SectionsOpened
from foldline.prompts.runtime.options import EvaluationKeywords, EvaluationOptions
from foldline.prompts.runtime.response import Expansion, PromptResponse
from foldline.prompts.template import PromptTemplate
from foldline.prompts.visibility import SectionPath, SectionVisibility

if TYPE_CHECKING:
    from foldline.prompts.runtime.session import SessionSnapshot

OutputT = TypeVar("OutputT")

DEFAULT_MAX_EXPANSIONS = 8


def evaluate_with_disclosure(
    adapter: ProviderAdapter,
    prompt: Prompt[OutputT] | PromptTemplate[OutputT],
    *params: object,
    max_expansions: int = DEFAULT_MAX_EXPANSIONS,
    expansion_budget: int | None = None,
    count_tokens: Callable[[str], int] = estimated_tokens,
    rollback_session: bool = False,
    on_expansion: Callable[[errors.VisibilityExpansionRequired], object] | None = None,
    opening: Literal["append", "render"] = "append",
    **options: Unpack[EvaluationKeywords],
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
        max_expansions: The number of requests that are granted.
        expansion_budget: Tokens by which the prompt may grow in total; None for no limit.
        count_tokens: Counts for the budget; the default is an estimate.
        rollback_session: Undo the tools' changes to the session when an evaluation ends in a
            request; one that goes on keeps them.
        on_expansion: Called with each request that is granted.
        opening: With `render`, the prompt is rendered anew for each request.
        options: See `EvaluationOptions`. The visibility overrides are those of the first
            evaluation, the deadline is that of all together, stored overrides are loaded once, and
            `on_text` also gets the text before a request for sections.

    Raises:
        ExpansionLimitError: The model asked too often or for too much; its cause is the request.
        PromptConfigurationError: The arguments don't fit the prompt.
        PromptEvaluationError: The evaluation failed; `kind` says why.
        OutputParseError: The answer doesn't fit the declared output.
    """
    loop = ExpansionLoop(
        prompt,
        *params,
        options=EvaluationOptions.of("evaluate_with_disclosure", **options),
        max_expansions=max_expansions,
        count_tokens=count_tokens,
        rollback=rollback_session,
        on_expansion=on_expansion,
        append=opening == "append",
        growth=expansion_budget,
    )
    return loop.run(adapter)


stream_with_disclosure = streamed(evaluate_with_disclosure)
"""The same as a stream of what happens, with the openings; see `EvaluationStream`."""

aevaluate_with_disclosure = in_thread(evaluate_with_disclosure)
"""The same for asynchronous programs, in a thread of its own; see `BaseAdapter.aevaluate`."""


class ExpansionLoop(Generic[OutputT]):
    """The evaluations of one call, and the sections that are open so far.

    The evaluation that runs asks it to `grant` what the model requests.

    Raises:
        PromptConfigurationError: The prompt can't be rendered again, or the arguments don't fit it.
    """

    def __init__(
        self,
        prompt: Prompt[OutputT] | PromptTemplate[OutputT],
        *params: object,
        options: EvaluationOptions,
        max_expansions: int,
        count_tokens: Callable[[str], int] = estimated_tokens,
        rollback: bool = False,
        on_expansion: Callable[[errors.VisibilityExpansionRequired], object] | None = None,
        append: bool = True,
        growth: int | None = None,
    ) -> None:
        if isinstance(prompt, PromptTemplate):
            prompt = prompt.bind()
        elif not isinstance(prompt, Prompt):
            raise errors.PromptConfigurationError(
                "Disclosure renders the prompt again; give a Prompt or a PromptTemplate, "
                f"not {prompt!r}."
            )
        self._prompt = options.bind(copy.copy(prompt), *params)
        # Don't bind the same values again.
        self._options = replace(
            options, section_params=None, overrides=None, tag=None, wording=None
        )
        self._overrides = dict(options.visibility_overrides or {})
        self._budget = ExpansionBudget(max_requests=max_expansions)
        self._count_tokens, self._rollback = count_tokens, rollback
        self._on_expansion = on_expansion
        self.append = append
        """False if the prompt is to be rendered anew in any case."""
        self.why = ""
        """The reason why the last request was raised instead of appended."""
        self.opened: list[SectionPath] = []
        """The sections that it granted so far."""
        self.publish: Callable[..., object] | None = None
        """Publishes an event of the evaluation that runs."""
        self._granted: list[Expansion] = []
        self._size = None if growth is None else self._tokens()
        self._allowed = None if self._size is None or growth is None else self._size + growth
        self._snapshot: SessionSnapshot | None = None

    def begin(self, adapter: BaseAdapter) -> Run[OutputT]:
        """Return the next evaluation before its first request."""
        return adapter.begin(self._prompt, options=self._visible(), opener=self)

    def run(self, adapter: ProviderAdapter) -> PromptResponse[OutputT]:
        """Evaluate until there is an answer."""
        session = self._options.session
        while True:
            if session is not None and self._rollback:
                self._snapshot = session.snapshot()
            try:
                response = self._evaluate(adapter)
            except errors.VisibilityExpansionRequired as request:
                self.grant(request, appended=False)
            else:
                return replace(response, expansions=tuple(self._granted))

    def grant(self, request: errors.VisibilityExpansionRequired, *, appended: bool) -> None:
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
                raise errors.ExpansionLimitError(
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
        if isinstance(adapter, BaseAdapter):
            return self.begin(adapter).execute()
        self.why = f"{type(adapter).__name__} isn't a BaseAdapter"
        options = self._visible()
        conversation = options.conversation
        if conversation is not None and self._granted:
            # Some adapters send a conversation that has begun without rendering the prompt again:
            # then the opened sections would be missing.
            opened = dict.fromkeys(conversation.opened, SectionVisibility.FULL) | self._overrides
            options = replace(
                options, conversation=conversation.restart(), visibility_overrides=opened
            )
        return adapter.evaluate(self._prompt, **options.keywords())

    def _visible(self) -> EvaluationOptions:
        """Return the options with the overrides so far, as a copy: openings don't change it."""
        return replace(self._options, visibility_overrides=dict(self._overrides))

    def _tokens(self) -> int:
        """Return the tokens of the prompt with the sections that are open."""
        return self._count_tokens(rendered_with(self._prompt, options=self._visible()).text)
