"""The evaluation that adapters share: open chapters, render, request, run tools, parse."""

from __future__ import annotations

import copy
import json
import time
import uuid
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from foldline.prompts.adapters.context import ManagedConversation, policy_of
from foldline.prompts.blocks import SegmentKind
from foldline.prompts.errors import (
    EvaluationFailure,
    PromptConfigurationError,
    PromptEvaluationError,
    did_you_mean,
    near_names,
)
from foldline.prompts.expansion import ChaptersExpansionPolicy
from foldline.prompts.prompt import Prompt
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.runtime.bounded import check_bounds
from foldline.prompts.runtime.dispatch import dispatch_tool_calls
from foldline.prompts.runtime.events import (
    ContextReplaced,
    ModelAnswered,
    PromptExecuted,
    PromptRendered,
    PromptStopped,
)
from foldline.prompts.runtime.response import PromptResponse
from foldline.prompts.runtime.usage import NOTHING_USED
from foldline.prompts.template import PromptTemplate
from foldline.prompts.thread import Exchange, Thread, ToolUse
from foldline.prompts.tool import ToolContext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foldline.prompts.adapters.protocol import Conversation, Evaluable, ModelTurn
    from foldline.prompts.context import ContextPolicy
    from foldline.prompts.deadline import Deadline
    from foldline.prompts.intent import IntentClassifier
    from foldline.prompts.overrides import OverrideSource
    from foldline.prompts.runtime.bounded import Cancellation
    from foldline.prompts.runtime.dispatch import ToolOutcome
    from foldline.prompts.runtime.events import EventBus
    from foldline.prompts.runtime.session import Session
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

    @abstractmethod
    def converse(self, rendered: RenderedPrompt[object]) -> Conversation:
        """Return a new conversation that starts with this prompt; `ask` sends its first request."""

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
        if session is not None and bus is None:
            bus = session.bus
        rendered = render_for_evaluation(
            prompt,
            *params,
            session=session,
            visibility_overrides=visibility_overrides,
            goal_section_key=goal_section_key,
            chapters_expansion_policy=chapters_expansion_policy,
            deadline=deadline,
            chapter_params=chapter_params,
            intent_classifier=intent_classifier,
            section_params=section_params,
            overrides=overrides,
            tag=tag,
            wording=wording,
        )
        run = _Run(
            self,
            prompt,
            rendered,
            session=session,
            bus=bus,
            deadline=rendered.deadline if deadline is None else deadline,
            cancellation=cancellation,
            on_text=on_text,
            goal=_goal_text(rendered, goal_section_key),
            context_policy=self.policy_for(rendered, context_policy),
        )
        return run.execute(visibility_overrides or {}, parse_output=parse_output)


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
    if isinstance(prompt, RenderedPrompt):
        given = (params, visibility_overrides, chapter_params, section_params)
        if any(given) or not (overrides is None and tag is None and wording is None):
            raise PromptConfigurationError(
                "A rendered prompt is sent as is; give parameters and overrides to `render`, "
                "or evaluate the Prompt."
            )
        if goal_section_key is not None:
            _check_goal(prompt, goal_section_key)
        return prompt
    if isinstance(prompt, PromptTemplate):
        bound = Prompt(prompt)
    elif isinstance(prompt, Prompt):
        # A copy: these parameters are for this evaluation only.
        bound = copy.copy(prompt)
    else:
        raise PromptConfigurationError(
            f"evaluate() takes a Prompt, a PromptTemplate or a RenderedPrompt, not {prompt!r}."
        )
    bound.bind(
        *params, section_params=section_params, overrides=overrides, tag=tag, wording=wording
    )
    return bound.expand_chapters(
        chapters_expansion_policy,
        chapter_params=chapter_params,
        goal_section_key=goal_section_key,
        classifier=intent_classifier,
        session=session,
    ).render(visibility_overrides=visibility_overrides, session=session, deadline=deadline)


class _Run(Generic[OutputT]):
    """One evaluation."""

    def __init__(
        self,
        adapter: BaseAdapter,
        prompt: Evaluable[object],
        rendered: RenderedPrompt[OutputT],
        *,
        session: Session | None,
        bus: EventBus | None,
        deadline: Deadline | None,
        cancellation: Cancellation | None,
        on_text: Callable[[str], object] | None,
        goal: str,
        context_policy: ContextPolicy | None,
    ) -> None:
        self._goal = goal
        self._managed = (
            None if context_policy is None else ManagedConversation(context_policy, rendered)
        )
        if self._managed is not None:
            rendered = self._managed.offered(rendered)
        self._adapter = adapter
        self._rendered = rendered
        self._session = session
        self._bus = bus
        self._deadline = deadline
        self._cancellation = cancellation
        self._on_text = on_text
        self._id = uuid.uuid4().hex
        self._turns = 0
        self._usage = NOTHING_USED
        descriptor = rendered.descriptor
        self._ns = "" if descriptor is None else descriptor.ns
        self._key = "" if descriptor is None else descriptor.key
        self._context = ToolContext(
            prompt=prompt,
            rendered=rendered,
            session=session,
            bus=bus,
            deadline=deadline,
            evaluation_id=self._id,
            provider=adapter.provider,
        )

    def execute(
        self,
        overrides: Mapping[SectionPath, SectionVisibility],
        *,
        parse_output: bool,
    ) -> PromptResponse[OutputT]:
        self._check("the start")
        self._publish(PromptRendered, rendered=self._rendered, visibility_overrides=dict(overrides))
        try:
            return self._converse(parse_output=parse_output)
        except BaseException as error:
            self._publish(PromptStopped, error=error, turns=self._turns, usage=self._usage)
            raise

    def _converse(self, *, parse_output: bool) -> PromptResponse[OutputT]:
        conversation = self._adapter.converse(self._rendered)
        outcomes: list[ToolOutcome] = []
        while True:
            turn = self._next_turn(conversation)
            if not turn.tool_calls:
                break
            answers = dispatch_tool_calls(
                turn.tool_calls,
                self._rendered.tools,
                context=replace(self._context, turn=self._turns),
                cancellation=self._cancellation,
            )
            outcomes.extend(answers)
            conversation.tell(answers)
            if self._managed is not None:
                self._managed.add(turn, answers)
                self._revise(self._managed, conversation)
        return self._response(turn, tuple(outcomes), parse_output=parse_output)

    def _revise(self, managed: ManagedConversation, conversation: Conversation) -> None:
        revision = managed.revise()
        if revision.texts:
            conversation.revise(revision.texts)
            self._publish(
                ContextReplaced,
                turn=self._turns,
                results=tuple(revision.texts),
                savings=revision.savings,
            )

    def _next_turn(self, conversation: Conversation) -> ModelTurn:
        self._check("the conversation")
        if self._turns == self._adapter.max_turns:
            raise PromptEvaluationError(
                f"The model gave no answer within {self._turns} messages, but kept calling tools; "
                "raise the adapter's `max_turns` if that is intended.",
                kind=EvaluationFailure.TURN_LIMIT,
                provider=self._adapter.provider,
            )
        self._turns += 1
        started = time.monotonic()
        turn = conversation.ask(
            deadline=self._deadline, cancellation=self._cancellation, on_text=self._on_text
        )
        self._usage += turn.usage
        self._publish(
            ModelAnswered,
            turn=self._turns,
            text=turn.text,
            tool_calls=tuple(call.name for call in turn.tool_calls),
            usage=turn.usage,
            model=turn.model,
            requested_model=getattr(self._adapter, "model", None),
            request_id=turn.request_id,
            seconds=time.monotonic() - started,
        )
        return turn

    def _check(self, what: str) -> None:
        check_bounds(what, self._deadline, self._cancellation, provider=self._adapter.provider)

    def _response(
        self,
        turn: ModelTurn,
        outcomes: tuple[ToolOutcome, ...],
        *,
        parse_output: bool,
    ) -> PromptResponse[OutputT]:
        text = unwrapped(turn.text, self._rendered)
        output = None
        repairs: tuple[str, ...] = ()
        if parse_output and self._rendered.structured_output is not None:
            from foldline.prompts import parsing

            parsed = parsing.parse_output(text, self._rendered)
            output, repairs = parsed.value, parsed.repairs
        if self._session is not None:
            self._session[Thread].apply(
                Exchange(
                    prompt_ns=self._ns,
                    prompt_key=self._key,
                    goal=self._goal,
                    text=text,
                    tools=tuple(ToolUse(o.call.name, o.result.success) for o in outcomes),
                )
            )
        self._publish(
            PromptExecuted, text=text, turns=self._turns, usage=self._usage, output=output
        )
        return PromptResponse(
            prompt_ns=self._ns,
            prompt_key=self._key,
            text=text,
            rendered=self._rendered,
            output=output,
            repairs=repairs,
            usage=self._usage,
            turns=self._turns,
            tool_outcomes=outcomes,
            provider=self._adapter.provider,
            model=turn.model,
            request_id=turn.request_id,
        )

    def _publish(self, kind: Callable[..., object], **fields: object) -> None:
        if self._bus is None:
            return
        self._bus.publish(
            kind(
                prompt_ns=self._ns,
                prompt_key=self._key,
                evaluation_id=self._id,
                session_id=None if self._session is None else self._session.session_id,
                provider=self._adapter.provider,
                **fields,
            )
        )


def unwrapped(text: str, rendered: RenderedPrompt[object]) -> str:
    """Return the answer without the object that strict modes require around an array."""
    config = rendered.structured_output
    wrapper = None if config is None else config.strict_schema.wrapped_in
    if wrapper is None:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict) and value.keys() == {wrapper} and isinstance(value[wrapper], list):
        return json.dumps(value[wrapper], ensure_ascii=False)
    return text


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
