"""One evaluation: requests, tool calls, openings, and the response at the end."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from foldline.prompts import errors, runtime
from foldline.prompts.adapters.context import ManagedConversation
from foldline.prompts.adapters.continued import Beginning, brings, shown
from foldline.prompts.adapters.protocol import CAPTURE, Evaluable, ModelExchange, ModelTurn
from foldline.prompts.context import Priority
from foldline.prompts.disclosure.opening import called_by_proxy, dispatched, opened_since, result_of
from foldline.prompts.layout.layout import OPEN_SECTIONS, READ_SECTION
from foldline.prompts.output.parsing import parse_output
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.roles import Role
from foldline.prompts.runtime import events
from foldline.prompts.runtime.bounded import check_bounds
from foldline.prompts.runtime.redaction import redacted
from foldline.prompts.runtime.response import NOTHING_USED
from foldline.prompts.thread import Exchange, Thread, ToolUse
from foldline.prompts.tool import Tool, ToolContext, ToolResult
from foldline.prompts.visibility import SectionPath, SectionVisibility

if TYPE_CHECKING:
    from foldline.prompts.adapters.base import BaseAdapter
    from foldline.prompts.adapters.disclosure import ExpansionLoop

OutputT = TypeVar("OutputT")


class Run(Generic[OutputT]):
    """One evaluation.

    Args:
        adapter: Talks to the model.
        prompt: What is evaluated, for tools.
        render: Renders it with these overrides in addition to the caller's.
        options: The arguments of the evaluation.
        goal: The text of the goal section.
        opener: Grants requests to open sections; without one, they are raised.

    Attributes:
        sent: The prompt as the first request has it, with the tools that are offered throughout.
        rendered: The prompt with all that was opened since.
    """

    def __init__(
        self,
        adapter: BaseAdapter,
        prompt: Evaluable[object],
        render: Callable[[Mapping[SectionPath, SectionVisibility]], RenderedPrompt[OutputT]],
        options: runtime.EvaluationOptions,
        *,
        goal: Callable[[RenderedPrompt[OutputT]], str],
        opener: ExpansionLoop[OutputT] | None,
    ) -> None:
        session = options.session
        self._adapter = adapter
        self._render = render
        self._options = options
        self._opener = opener
        self._session = session
        self._bus = session.bus if session is not None and options.bus is None else options.bus
        self._id = uuid.uuid4().hex
        self._turns = 0
        self._usage = NOTHING_USED
        self._outcomes: list[runtime.ToolOutcome] = []
        self._announce: Callable[[], None]
        conversation = options.conversation or runtime.Conversation()
        if conversation.turns and isinstance(conversation.turns[-1], runtime.AssistantTurn):
            raise errors.PromptConfigurationError(
                "The conversation ends with the model's answer; say what the user says next: "
                "conversation.user(…)."
            )
        self.rendered = render({})
        descriptor = self.rendered.descriptor
        self._ns = "" if descriptor is None else descriptor.ns
        self._key = "" if descriptor is None else descriptor.key
        self._begin(conversation)
        self._goal = goal(self.rendered)
        self._deadline = self.rendered.deadline if options.deadline is None else options.deadline
        self._context = ToolContext(
            prompt=prompt,
            rendered=self.rendered,
            session=session,
            bus=self._bus,
            deadline=self._deadline,
            evaluation_id=self._id,
            provider=adapter.provider,
        )

    def _begin(self, conversation: runtime.Conversation) -> None:
        """Decide what the first request shows and offers."""
        name, opener, means = f"{self._ns}/{self._key}", self._opener, self._adapter.appending
        if conversation.sent.prompt not in ("", name):
            # The model opened these sections of another prompt.
            conversation = replace(conversation, opened=())
        if opener is not None:
            conversation = conversation.open(opener.opened)
        self._overrides: dict[SectionPath, SectionVisibility] = dict.fromkeys(
            conversation.opened, SectionVisibility.FULL
        )
        if self._overrides:
            self.rendered = self._render(self._overrides)
        self._managed = self._manage(conversation)
        self.sent, self._conversation = Beginning(
            rendered=self.rendered,
            prompt=name,
            render=self._render,
            means=means,
            opens=conversation.appends if opener is None else opener.append,
            appends=opener is None or opener.append,
            handles=self._managed is not None and self._managed.handles,
        ).continued(conversation)
        self._means = means if self._conversation.appends else None
        tool_count = len(self.sent.tools)
        if self._managed is not None:
            self.sent = self._managed.offered(self.sent)
        self._handles = self.sent.tools[tool_count:]

    def execute(self) -> runtime.PromptResponse[OutputT]:
        """Ask the model until it answers.

        Raises:
            VisibilityExpansionRequired: The model asks for sections that can't be appended.
            PromptEvaluationError: The evaluation failed.
        """
        self._check("the start")
        overrides = dict(self._options.visibility_overrides or {})
        self._publish(events.PromptRendered, rendered=self.sent, visibility_overrides=overrides)
        try:
            return self._converse()
        except BaseException as error:
            self._publish(events.PromptStopped, error=error, turns=self._turns, usage=self._usage)
            raise

    def _converse(self) -> runtime.PromptResponse[OutputT]:
        self._revise()
        exchange = self._adapter.converse(self.sent, self._conversation)
        while True:
            turn = self._next_turn(exchange)
            self._conversation = self._conversation.add(self._said(turn))
            if not turn.tool_calls:
                break
            self._tell(exchange, self.call(turn.tool_calls))
        return self._response(turn, tuple(self._outcomes))

    def call(self, calls: Sequence[runtime.ToolCall]) -> tuple[runtime.ToolOutcome, ...]:
        """Run the calls of a message, in order.

        Raises:
            VisibilityExpansionRequired: The model asks for sections that can't be appended.
            PromptEvaluationError: A bound of the evaluation was reached.
        """
        return runtime.dispatch_tool_calls(
            [self._meant(call) for call in calls],
            self._tools(),
            context=replace(self._context, turn=self._turns, rendered=self.rendered),
            cancellation=self._options.cancellation,
            on_outcome=self._reported,
            on_expansion=None if self._opener is None else self._open,
        )

    def _tools(self) -> Sequence[Tool[object, object]]:
        """Return the tools that can be called now, with those offered for opening sections."""
        offered = {tool.name: tool for tool in self.sent.tools}
        names = [name for name in (OPEN_SECTIONS, READ_SECTION) if name in offered]
        proxies = [tool for name, tool in offered.items() if name == self._conversation.sent.proxy]
        return (*dispatched(self.rendered, names), *proxies, *self._handles)

    def _meant(self, call: runtime.ToolCall) -> runtime.ToolCall:
        """Return the call of the tool that is meant by a call of `call_tool`."""
        meant = called_by_proxy(call.name, call.arguments, self._conversation.sent.proxy)
        return call if meant is None else replace(call, name=meant[0], arguments=meant[1])

    def _open(
        self, call: runtime.ToolCall, request: errors.VisibilityExpansionRequired
    ) -> runtime.ToolOutcome:
        """Open sections by appending their text to the conversation.

        Raises:
            VisibilityExpansionRequired: Only rendering the prompt anew can show them.
            ExpansionLimitError: The model asked too often or for too much.
        """
        opener = self._opener
        assert opener is not None
        opener.publish = self._publish
        if self._means is None or not opener.append:
            opener.why = (
                "`opening` is 'render'"
                if not opener.append
                else f"the {self._adapter.provider} adapter can't append to what was sent"
                if self._adapter.appending is None
                else "the conversation began without the tools to append sections"
            )
            raise request
        full = {b.path for b in self.rendered.blocks if b.enabled and b.opened_by is None}
        if request.requested_overrides.keys() <= full:
            keys = ", ".join(map(repr, request.section_keys))
            return runtime.ToolOutcome(
                call, ToolResult(f"Already shown in full: {keys}.", success=False)
            )
        overrides = {**self._overrides, **request.requested_overrides}
        after = self._render(overrides)
        openings = opened_since(self._conversation.sent, after)
        if not isinstance(openings, str):
            openings = brings(openings, self._conversation.sent, called=True) or openings
        if isinstance(openings, str):
            opener.why = openings
            raise request
        opener.grant(request, appended=True)
        instructions = request.expansion_instructions or ""
        text, opened = result_of(openings, instructions, after, self._means)
        self.rendered, self._overrides = after, overrides
        self._conversation = shown(
            self._conversation.open(request.requested_overrides), after, opened
        )
        if self._managed is None:
            self._managed = self._manage(self._conversation)
        self._announce = partial(
            self._publish,
            events.SectionsOpened,
            section_keys=tuple(request.section_keys),
            reason=request.reason,
            appended=True,
            tools=tuple(tool.name for tool in opened.tools),
        )
        return runtime.ToolOutcome(call, ToolResult(text), opened=opened)

    def _reported(self, outcome: runtime.ToolOutcome) -> None:
        """Publish which sections a call opened, after the event of the call itself."""
        self._outcomes.append(outcome)
        if outcome.opened is not None:
            self._announce()

    def _said(self, turn: ModelTurn) -> runtime.AssistantTurn:
        return runtime.AssistantTurn(
            turn.text,
            tuple(
                runtime.CallMade(
                    call.id,
                    call.name,
                    call.arguments if isinstance(call.arguments, str) else dict(call.arguments),
                )
                for call in turn.tool_calls
            ),
            provider=self._adapter.provider,
            native=turn.native,
        )

    def _tell(self, exchange: ModelExchange, outcomes: Sequence[runtime.ToolOutcome]) -> None:
        """Add the results to the next request and to the conversation."""
        exchange.tell(outcomes)
        self._conversation = self._conversation.add(tool_turn(outcomes))
        for opened in (outcome.opened for outcome in outcomes if outcome.opened is not None):
            for role, text in opened.follow:
                make = runtime.SystemTurn if role is Role.SYSTEM else runtime.DeveloperTurn
                follow = make(text, sections=opened.paths)
                exchange.add(follow)
                self._conversation = self._conversation.add(follow)
        revised = self._revise()
        if revised:
            exchange.revise(revised)

    def _manage(self, conversation: runtime.Conversation) -> ManagedConversation | None:
        """Return the conversation under its policy; None without one."""
        policy = self._adapter.policy_for(self.rendered, self._options.context_policy)
        return ManagedConversation.under(policy, conversation, lambda: self._conversation)

    def _revise(self) -> Mapping[int, str]:
        """Apply the context policy, and return the results that change, by number."""
        if self._managed is None:
            return {}
        self._conversation, texts, savings = self._managed.revise()
        if texts:
            self._publish(
                events.ContextReplaced, turn=self._turns, results=tuple(texts), savings=savings
            )
        return texts

    def _next_turn(self, exchange: ModelExchange) -> ModelTurn:
        self._check("the conversation")
        if self._turns == self._adapter.max_turns:
            raise errors.PromptEvaluationError(
                f"The model gave no answer within {self._turns} messages, but kept calling tools; "
                "raise the adapter's `max_turns` if that is intended.",
                kind=errors.EvaluationFailure.TURN_LIMIT,
                provider=self._adapter.provider,
            )
        self._turns += 1
        started = time.monotonic()
        requested = getattr(self._adapter, "model", None)
        capturing = CAPTURE.set(self._capture)
        try:
            turn = exchange.ask(
                deadline=self._deadline,
                cancellation=self._options.cancellation,
                on_text=self._options.on_text,
            )
        except BaseException as error:
            self._publish(
                events.ModelFailed,
                turn=self._turns,
                error=error,
                requested_model=requested,
                seconds=time.monotonic() - started,
            )
            raise
        finally:
            CAPTURE.reset(capturing)
        self._usage += turn.usage
        self._publish(
            events.ModelAnswered,
            turn=self._turns,
            text=turn.text,
            tool_calls=tuple(call.name for call in turn.tool_calls),
            calls=turn.tool_calls,
            usage=turn.usage,
            model=turn.model,
            requested_model=requested,
            request_id=turn.request_id,
            seconds=time.monotonic() - started,
        )
        return turn

    def _capture(self, body: Mapping[str, object]) -> None:
        redact = self._options.capture_requests
        if redact is not None:
            self._publish(events.RequestSent, turn=self._turns, body=redacted(body, redact))

    def _check(self, what: str) -> None:
        check_bounds(
            what, self._deadline, self._options.cancellation, provider=self._adapter.provider
        )

    def _response(
        self, turn: ModelTurn, outcomes: tuple[runtime.ToolOutcome, ...]
    ) -> runtime.PromptResponse[OutputT]:
        text = turn.text
        output = None
        repairs: tuple[str, ...] = ()
        if self._options.parse_output and self.rendered.structured_output is not None:
            parsed = parse_output(text, self.rendered)
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
            if self._options.conversation is not None:
                self._session[runtime.Conversation].replace(self._conversation)
        self._publish(
            events.PromptExecuted, text=text, turns=self._turns, usage=self._usage, output=output
        )
        return runtime.PromptResponse(
            prompt_ns=self._ns,
            prompt_key=self._key,
            text=text,
            rendered=self.rendered,
            output=output,
            repairs=repairs,
            usage=self._usage,
            turns=self._turns,
            tool_outcomes=outcomes,
            provider=self._adapter.provider,
            model=turn.model,
            request_id=turn.request_id,
            conversation=self._conversation,
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


def tool_turn(outcomes: Sequence[runtime.ToolOutcome]) -> runtime.ToolTurn:
    """Return the results of a message's calls as a turn."""
    return runtime.ToolTurn(
        tuple(
            runtime.ToolAnswer(
                outcome.call.id,
                outcome.call.name,
                runtime.tool_text(outcome.result),
                outcome.result.success,
                () if outcome.opened is None else outcome.opened.references,
                summary=outcome.result.summary,
                priority=outcome.result.priority or Priority.MEDIUM,
                sections=() if outcome.opened is None else outcome.opened.paths,
            )
            for outcome in outcomes
        )
    )
