"""The evaluation that adapters share: open chapters, render, and run the requests."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, Unpack
from weakref import WeakKeyDictionary

from foldline.prompts import errors, refusals
from foldline.prompts.adapters.context import policy_of
from foldline.prompts.adapters.protocol import Evaluable, ModelExchange
from foldline.prompts.adapters.run import Run
from foldline.prompts.adapters.streaming import in_thread, streamed
from foldline.prompts.context import ContextPolicy
from foldline.prompts.disclosure.opening import Appending
from foldline.prompts.forms.field_forms import warn_author
from foldline.prompts.forms.segments import SegmentKind
from foldline.prompts.prompt import Prompt
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.runtime.conversation import Conversation
from foldline.prompts.runtime.options import EvaluationKeywords, EvaluationOptions
from foldline.prompts.runtime.response import PromptResponse
from foldline.prompts.template import PromptTemplate
from foldline.prompts.visibility import SectionPath, SectionVisibility, session_overrides

if TYPE_CHECKING:
    from foldline.prompts.adapters.disclosure import ExpansionLoop
    from foldline.prompts.runtime.session import Session

OutputT = TypeVar("OutputT")

DEFAULT_MAX_TURNS = 16


class BaseAdapter(ABC):
    """An evaluation except for the wire protocol; subclasses define `converse`.

    Args:
        max_turns: How many messages a model may need for one answer; a message that calls tools
            is one of them.
        context_policy: How much a conversation keeps of its tool results; if none is given, the
            policy that the prompt's tools bring.
        max_concurrency: How many of `aevaluate` run at once in an event loop; the others wait
            without a thread. None for no bound.
    """

    provider: str
    """The provider's name in events and errors."""

    def __init__(
        self,
        *,
        max_turns: int = DEFAULT_MAX_TURNS,
        context_policy: ContextPolicy | None = None,
        max_concurrency: int | None = None,
    ) -> None:
        errors.check_at_least(1, max_turns=max_turns, max_concurrency=max_concurrency)
        self.max_turns = max_turns
        self.context_policy = context_policy
        self.max_concurrency = max_concurrency
        self.slots = WeakKeyDictionary[object, object]()
        """The places for evaluations, by event loop."""

    @property
    def appending(self) -> Appending | None:
        """The means to open sections without a change of what was sent; None without any.

        `evaluate_with_disclosure` uses them.
        """
        return None

    @abstractmethod
    def converse(
        self, rendered: RenderedPrompt[object], conversation: Conversation
    ) -> ModelExchange:
        """Return a new exchange, whose `ask` sends the first request.

        Args:
            rendered: The prompt, for its tools and its output.
            conversation: All that was said so far, with the messages of the prompt.
        """

    def policy_for(
        self, rendered: RenderedPrompt[object], given: ContextPolicy | None
    ) -> ContextPolicy | None:
        """Return an evaluation's context policy: `given`, the adapter's, or its tools'."""
        return given or self.context_policy or policy_of(rendered)

    def evaluate(
        self,
        prompt: Evaluable[OutputT],
        *params: object,
        **options: Unpack[EvaluationKeywords],
    ) -> PromptResponse[OutputT]:
        """Send a prompt, run the model's tool calls, and return its answer.

        Each evaluation decides on chapters again, in a new template; the prompt itself doesn't
        change. The request has the tools and the output schema of the render.

        Args:
            prompt: A prompt, a template, or a rendered prompt, which is sent as is.
            params: Instances to bind for this evaluation only.
            options: The session, the conversation, limits and more: see `EvaluationOptions`.

        Raises:
            VisibilityExpansionRequired: The model asks to open sections; render again with them.
            PromptConfigurationError: The arguments don't fit the prompt.
            PromptEvaluationError: The evaluation failed; `kind` says why.
            OutputParseError: The answer doesn't fit the declared output.
        """
        settings = EvaluationOptions.of("evaluate", **options)
        return self.begin(prompt, *params, options=settings).execute()

    def begin(
        self,
        prompt: Evaluable[OutputT],
        *params: object,
        options: EvaluationOptions,
        opener: ExpansionLoop[OutputT] | None = None,
    ) -> Run[OutputT]:
        """Return an evaluation before its first request; its chapters are decided once.

        An `opener` grants requests that can be appended.
        """
        prepared = _prepared(prompt, *params, options=options)
        shown = dict(options.visibility_overrides or {})
        fit = options.fit

        def render(more: Mapping[SectionPath, SectionVisibility]) -> RenderedPrompt[OutputT]:
            sections = (
                {} if isinstance(prepared, RenderedPrompt) else prepared.template.plan.by_path
            )
            added = {path: visibility for path, visibility in more.items() if path in sections}
            nonlocal fit
            changed = replace(options, visibility_overrides=shown | added, fit=fit)
            rendered = _rendered(prepared, changed)
            # Nothing that was sent is folded later.
            fit = rendered.fitted
            return rendered

        return Run(
            self,
            prompt,
            render,
            options,
            goal=lambda rendered: _goal_text(rendered, options.goal_section_key),
            opener=opener,
        )

    stream = streamed(evaluate)
    """`evaluate` as a stream of what happens; see `EvaluationStream`."""

    aevaluate = in_thread(evaluate)
    """`evaluate` for asynchronous programs, each in a thread of its own.

    Cancelling the task cancels the evaluation: its request ends, with the connection.
    """


def render_for_evaluation(
    prompt: Evaluable[OutputT], *params: object, **options: Unpack[EvaluationKeywords]
) -> RenderedPrompt[OutputT]:
    """Return the rendered prompt that `evaluate` would send for these arguments.

    Raises:
        PromptConfigurationError: The arguments don't fit the prompt.
        PromptValidationError: A binding or an override doesn't fit the prompt.
        PromptRenderError: It can't be rendered with its parameters.
    """
    return rendered_with(
        prompt, *params, options=EvaluationOptions.of("render_for_evaluation", **options)
    )


def rendered_with(
    prompt: Evaluable[OutputT], *params: object, options: EvaluationOptions
) -> RenderedPrompt[OutputT]:
    """Return the rendered prompt that an evaluation with these options would send."""
    return _rendered(_prepared(prompt, *params, options=options), options)


def _rendered(
    prepared: Prompt[OutputT] | RenderedPrompt[OutputT], options: EvaluationOptions
) -> RenderedPrompt[OutputT]:
    if isinstance(prepared, RenderedPrompt):
        return prepared
    return prepared.render(
        visibility_overrides=options.visibility_overrides,
        session=options.session,
        deadline=options.deadline,
        fit=options.fit,
    )


def _prepared(
    prompt: Evaluable[OutputT], *params: object, options: EvaluationOptions
) -> Prompt[OutputT] | RenderedPrompt[OutputT]:
    """Return the prompt with its parameters and its chapters decided; a rendered one as it is."""
    if isinstance(prompt, RenderedPrompt):
        changes = (options.visibility_overrides, options.chapter_params, options.section_params)
        texts = (options.overrides, options.tag, options.wording, options.fit)
        if params or any(changes) or any(text is not None for text in texts):
            raise errors.PromptConfigurationError(
                "A rendered prompt is sent as is; give parameters and overrides to `render`, "
                "or evaluate the Prompt."
            )
        if options.goal_section_key is not None:
            _check_goal(prompt, options.goal_section_key)
        _check_openings(prompt, options.session)
        return prompt
    if isinstance(prompt, PromptTemplate):
        bound = Prompt(prompt)
    elif isinstance(prompt, Prompt):
        # A copy: these parameters are for this evaluation only.
        bound = copy.copy(prompt)
    else:
        raise errors.PromptConfigurationError(refusals.not_evaluable(repr(prompt)))
    return options.bind(bound, *params).expand_chapters(
        options.chapters_expansion_policy,
        chapter_params=options.chapter_params,
        goal_section_key=options.goal_section_key,
        classifier=options.intent_classifier,
        session=options.session,
        said=() if options.conversation is None else options.conversation.said,
    )


def _goal_text(rendered: RenderedPrompt[object], key: str | None) -> str:
    """The text of the goal section without its heading; empty where it isn't shown."""
    around = (SegmentKind.HEADING, SegmentKind.SUFFIX, SegmentKind.SEPARATOR)
    for block in rendered.blocks:
        if key in (block.dotted_key, block.key):
            return "".join(s.text for s in block.segments if s.kind not in around)
    return ""


def _check_openings(rendered: RenderedPrompt[object], session: Session | None) -> None:
    """Warn of sections that a session shows in another way than a prompt that is sent as is."""
    if (source := rendered._source) is None:  # noqa: SLF001 - It knows its overrides.
        return
    shown = {b.path: b.visibility for b in rendered.blocks if b.path not in source.overrides}
    wanted = session_overrides(session, source.plan.prompt)
    if lost := [".".join(p) for p in wanted if shown.get(p, wanted[p]) is not wanted[p]]:
        warn_author(
            f"A rendered prompt is sent as is, without what the session says of {', '.join(lost)}: "
            "give the session to `render`, or evaluate the Prompt.",
            RuntimeWarning,
        )


def _check_goal(rendered: RenderedPrompt[object], key: str) -> None:
    dotted = [".".join(block.path) for block in rendered.blocks]
    exact = [name for name in dotted if name == key]
    goals = exact or [
        name for name, block in zip(dotted, rendered.blocks, strict=True) if block.path[-1] == key
    ]
    if len(goals) == 1:
        return
    near = tuple(goals) or errors.near_names(key, dotted)
    raise errors.PromptConfigurationError(
        f"`goal_section_key` {key!r} "
        + (
            f"could mean {', '.join(map(repr, goals))}; give the dotted key."
            if goals
            else "names no section that the rendered prompt shows" + errors.did_you_mean(near, ".")
        ),
        near=near,
    )
