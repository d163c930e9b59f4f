"""The evaluation that adapters share: open chapters, render, and run the requests."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar

from foldline.prompts import refusals
from foldline.prompts.adapters.context import policy_of
from foldline.prompts.adapters.run import Run
from foldline.prompts.errors import PromptConfigurationError, did_you_mean, near_names
from foldline.prompts.layout.blocks import SegmentKind
from foldline.prompts.prompt import Prompt
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.runtime.bounded import in_thread
from foldline.prompts.runtime.options import EvaluationOptions
from foldline.prompts.sections.expansion import ChaptersExpansionPolicy
from foldline.prompts.template import PromptTemplate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foldline.prompts.adapters.protocol import Evaluable, ModelExchange
    from foldline.prompts.context import ContextPolicy
    from foldline.prompts.deadline import Deadline
    from foldline.prompts.disclosure.opening import Appending
    from foldline.prompts.overrides.overrides import OverrideSource
    from foldline.prompts.runtime.bounded import Cancellation
    from foldline.prompts.runtime.conversation import Conversation
    from foldline.prompts.runtime.events import EventBus
    from foldline.prompts.runtime.options import Opener
    from foldline.prompts.runtime.response import PromptResponse
    from foldline.prompts.runtime.session import Session
    from foldline.prompts.sections.intent import IntentClassifier
    from foldline.prompts.visibility import SectionPath, SectionVisibility
    from foldline.prompts.wording import Wording

__all__ = ["BaseAdapter", "render_for_evaluation"]

OutputT = TypeVar("OutputT")

DEFAULT_MAX_TURNS = 16


class BaseAdapter(ABC):
    """An evaluation except for the wire protocol; subclasses define `converse`.

    Args:
        max_turns: How many messages a model may need for one answer; a message that calls tools
            is one of them.
        context_policy: How much a conversation keeps of its tool results; if none is given, the
            policy that the prompt's tools bring.
    """

    provider: str
    """The provider's name in events and errors."""

    def __init__(
        self, *, max_turns: int = DEFAULT_MAX_TURNS, context_policy: ContextPolicy | None = None
    ) -> None:
        if max_turns < 1:
            raise PromptConfigurationError("`max_turns` must be at least 1.")
        self.max_turns = max_turns
        self.context_policy = context_policy

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
        """Return the context policy of an evaluation for which that one was given."""
        return given or self.context_policy or policy_of(rendered)

    def evaluate(
        self,
        prompt: Evaluable[OutputT],
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
        section_params: Mapping[str, object] | None = None,
        overrides: OverrideSource | None = None,
        tag: str | None = None,
        wording: Wording | None = None,
    ) -> PromptResponse[OutputT]:
        """Send a prompt, run the model's tool calls, and return its answer.

        Each evaluation decides on chapters again, in a new template; the prompt itself doesn't
        change. The request has the tools and the output schema of the render.

        Args:
            prompt: A prompt, a template, or a rendered prompt, which is sent as is.
            params: Instances to bind for this evaluation only.
            session: Passed to tools; explicit visibility overrides take precedence over its own.
            bus: The bus for events; the session's by default.
            visibility_overrides: Sections to show in full or summarized.
            goal_section_key: The section with the user's goal.
            chapters_expansion_policy: The policy that opens chapters.
            parse_output: Parse the structured output.
            deadline: The deadline; by default that of a rendered prompt.
            chapter_params: Parameters of chapters, by key.
            intent_classifier: Replaces the default classifier.
            cancellation: Anything with `is_set()`, such as a `threading.Event`.
            on_text: Called in the caller's thread with each piece of the model's text as it
                arrives. Without it, answers aren't streamed.
            context_policy: How much the conversation keeps of its tool results, in place of the
                adapter's policy.
            conversation: What was said before, to which the prompt's messages are added. If one has
                begun, what the prompt shows now and didn't then is appended, or the beginning is
                rendered anew. The response has the conversation with all that was said since; so
                has the session.
            section_params: Instances to bind to single sections for this evaluation only, by dotted
                key.
            overrides: Stored overrides for this evaluation only; see `Prompt.bind`. Those that
                aren't applied are in the answer's `rendered.override_issues`.
            tag: Their tag; also without `overrides`, for those that are bound.
            wording: The library's own sentences for this evaluation only.

        Raises:
            VisibilityExpansionRequired: The model asks to open sections; render again with them.
            PromptConfigurationError: The arguments don't fit the prompt.
            PromptEvaluationError: The evaluation failed; `kind` says why.
            OutputParseError: The answer doesn't fit the declared output.
        """
        options = EvaluationOptions(
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
            section_params=section_params,
            overrides=overrides,
            tag=tag,
            wording=wording,
        )
        return self.run(prompt, *params, options=options, visibility_overrides=visibility_overrides)

    def run(
        self,
        prompt: Evaluable[OutputT],
        *params: object,
        options: EvaluationOptions,
        visibility_overrides: Mapping[SectionPath, SectionVisibility] | None = None,
        opener: Opener | None = None,
    ) -> PromptResponse[OutputT]:
        """Evaluate as `evaluate` does; an `opener` grants requests that can be appended.

        Chapters are decided once.
        """
        prepared = _prepared(prompt, *params, options=options, visible=visibility_overrides)
        shown = dict(visibility_overrides or {})

        def render(more: Mapping[SectionPath, SectionVisibility]) -> RenderedPrompt[OutputT]:
            if isinstance(prepared, RenderedPrompt):
                return prepared
            known = prepared.template.plan.by_path
            return prepared.render(
                visibility_overrides=shown | {p: v for p, v in more.items() if p in known},
                session=options.session,
                deadline=options.deadline,
            )

        return Run(
            self,
            prompt,
            render,
            options,
            goal=lambda rendered: _goal_text(rendered, options.goal_section_key),
            opener=opener,
        ).execute(shown)

    aevaluate = in_thread(evaluate)
    """`evaluate` in a thread, for asynchronous programs; cancelling the task cancels it."""


def render_for_evaluation(
    prompt: Evaluable[OutputT],
    *params: object,
    session: Session | None = None,
    visibility_overrides: Mapping[SectionPath, SectionVisibility] | None = None,
    goal_section_key: str | None = None,
    chapters_expansion_policy: ChaptersExpansionPolicy = ChaptersExpansionPolicy.ALL_INCLUDED,
    deadline: Deadline | None = None,
    chapter_params: Mapping[str, object] | None = None,
    intent_classifier: IntentClassifier | None = None,
    conversation: Conversation | None = None,
    section_params: Mapping[str, object] | None = None,
    overrides: OverrideSource | None = None,
    tag: str | None = None,
    wording: Wording | None = None,
) -> RenderedPrompt[OutputT]:
    """Return the rendered prompt that `evaluate` would send for these arguments.

    Raises:
        PromptConfigurationError: The arguments don't fit the prompt.
        PromptValidationError: A binding or an override doesn't fit the prompt.
        PromptRenderError: It can't be rendered with its parameters.
    """
    prepared = _prepared(
        prompt,
        *params,
        visible=visibility_overrides,
        options=EvaluationOptions(
            session=session,
            goal_section_key=goal_section_key,
            chapters_expansion_policy=chapters_expansion_policy,
            chapter_params=chapter_params,
            intent_classifier=intent_classifier,
            conversation=conversation,
            section_params=section_params,
            overrides=overrides,
            tag=tag,
            wording=wording,
        ),
    )
    if isinstance(prepared, RenderedPrompt):
        return prepared
    return prepared.render(
        visibility_overrides=visibility_overrides, session=session, deadline=deadline
    )


def _prepared(
    prompt: Evaluable[OutputT],
    *params: object,
    options: EvaluationOptions,
    visible: Mapping[SectionPath, SectionVisibility] | None,
) -> Prompt[OutputT] | RenderedPrompt[OutputT]:
    """Return the prompt with its parameters and its chapters decided; a rendered one as it is."""
    if isinstance(prompt, RenderedPrompt):
        given = (params, visible, options.chapter_params, options.section_params)
        if any(given) or not (
            options.overrides is None and options.tag is None and options.wording is None
        ):
            raise PromptConfigurationError(
                "A rendered prompt is sent as is; give parameters and overrides to `render`, "
                "or evaluate the Prompt."
            )
        if options.goal_section_key is not None:
            _check_goal(prompt, options.goal_section_key)
        return prompt
    if isinstance(prompt, PromptTemplate):
        bound = Prompt(prompt)
    elif isinstance(prompt, Prompt):
        # A copy: these parameters are for this evaluation only.
        bound = copy.copy(prompt)
    else:
        raise PromptConfigurationError(refusals.not_evaluable(repr(prompt)))
    bound.bind(
        *params,
        section_params=options.section_params,
        overrides=options.overrides,
        tag=options.tag,
        wording=options.wording,
    )
    return bound.expand_chapters(
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


def _check_goal(rendered: RenderedPrompt[object], key: str) -> None:
    dotted = [".".join(block.path) for block in rendered.blocks]
    exact = [name for name in dotted if name == key]
    found = exact or [
        name for name, block in zip(dotted, rendered.blocks, strict=True) if block.path[-1] == key
    ]
    if len(found) == 1:
        return
    near = tuple(found) or near_names(key, dotted)
    raise PromptConfigurationError(
        f"`goal_section_key` {key!r} "
        + (
            f"could mean {', '.join(map(repr, found))}; give the dotted key."
            if found
            else "names no section that the rendered prompt shows" + did_you_mean(near, ".")
        ),
        near=near,
    )
