"""A context policy, applied to all that a conversation has."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import Self, TypeVar

from foldline.prompts import runtime
from foldline.prompts.context import READ_RESULT, ContextPolicy, Message, Priority, Role, Savings
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError, did_you_mean, near_names
from foldline.prompts.forms.json_values import json_text
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.tool import Tool, ToolContext, ToolResult

OutputT = TypeVar("OutputT")

_LABEL_LENGTH = 80


def policy_of(rendered: RenderedPrompt[object]) -> ContextPolicy | None:
    """The policy that the prompt's tools bring, the first one that has any."""
    return next((tool.context_policy for tool in rendered.tools if tool.context_policy), None)


@FrozenDataclass()
class ResultHandle:
    """The parameters of `read_result`."""

    handle: str = field(metadata={"description": "The handle that replaced the result."})


class ManagedConversation:
    """A context policy over all results of a conversation, those of earlier evaluations included.

    What the policy replaced or removed once stays so, as the conversation has it: a text that
    changes back and forth would cost a provider's prompt cache each time.
    """

    def __init__(self, policy: ContextPolicy, current: Callable[[], runtime.Conversation]) -> None:
        self._policy = policy
        self._current = current

    @classmethod
    def under(
        cls,
        policy: ContextPolicy | None,
        conversation: runtime.Conversation,
        current: Callable[[], runtime.Conversation],
    ) -> Self | None:
        """Return a conversation under its policy; None if nothing is or was replaced in it.

        What an earlier evaluation replaced can be read, whatever the policy is now.
        """
        if any(answer.handle for answer in _answers(conversation)):
            policy = replace(policy or ContextPolicy(keep_turns=None), handles=True)
        return None if policy is None else cls(policy, current)

    @property
    def handles(self) -> bool:
        """True if the model can read what was replaced."""
        return self._policy.handles

    def offered(self, rendered: RenderedPrompt[OutputT]) -> RenderedPrompt[OutputT]:
        """Return the prompt with the tool that reads replaced results, if the policy has handles.

        Raises:
            PromptConfigurationError: The prompt has a tool of that name itself.
        """
        if not self._policy.handles:
            return rendered
        if any(tool.name == READ_RESULT for tool in rendered.tools):
            raise PromptConfigurationError(
                f"The prompt has a tool {READ_RESULT!r} itself; rename it, or use a context policy "
                "without `handles`."
            )
        tool = Tool[ResultHandle, str](
            name=READ_RESULT,
            description="Returns an earlier tool result that was shortened or removed, in full.",
            handler=self._read_result,
        )
        return replace(rendered, _tools=(*rendered.tools, tool))

    def revise(self) -> tuple[runtime.Conversation, Mapping[int, str], Savings | None]:
        """Apply the policy, and return the conversation of the next request.

        Also return the new texts of the results that change, numbered from 0 in the order in which
        the conversation got them, and what that saves and costs.
        """
        conversation = self._current()
        messages = list(self._messages(conversation))
        managed = self._policy.apply(message for message, _ in messages)
        indices = [index for index, (_, answer) in enumerate(messages) if answer is not None]
        changed = {
            number: managed.messages[index]
            for number, index in enumerate(indices)
            if managed.messages[index] != messages[index][0]
        }
        if not changed:
            return conversation, {}, None
        numbers = itertools.count()
        turns = [
            runtime.ToolTurn(tuple(_replaced(a, changed.get(next(numbers))) for a in turn.answers))
            if isinstance(turn, runtime.ToolTurn)
            else turn
            for turn in conversation.turns
        ]
        texts = {number: message.content for number, message in changed.items()}
        return replace(conversation, turns=tuple(turns)), texts, managed.savings

    def _messages(
        self, conversation: runtime.Conversation
    ) -> Iterator[tuple[Message, runtime.ToolAnswer | None]]:
        """Yield the messages of a conversation, results with their answers."""
        labels: dict[str, str] = {}
        handles = [int(a.handle[1:]) for a in _answers(conversation) if a.handle]
        free = itertools.count(max(handles, default=0) + 1)
        for turn in conversation.turns:
            match turn:
                case runtime.UserTurn():
                    yield Message(Role.USER, turn.text), None
                case runtime.AssistantTurn():
                    labels |= {call.id: label_of(call) for call in turn.calls}
                    output = turn.text + "".join(json_text(call.arguments) for call in turn.calls)
                    yield Message(Role.ASSISTANT, output), None
                case runtime.ToolTurn():
                    for answer in turn.answers:
                        handle = answer.handle or f"r{next(free)}"
                        yield self._result(answer, labels, handle), answer
                case _:
                    yield Message(Role.SYSTEM, turn.text), None

    def _result(
        self, answer: runtime.ToolAnswer, labels: Mapping[str, str], handle: str
    ) -> Message:
        if answer.sections:
            # A part of the prompt: the model couldn't open it again.
            return Message(Role.SYSTEM, answer.text)
        handles = self._policy.handles and answer.name != READ_RESULT
        return Message(
            Role.TOOL,
            answer.text,
            answer.name,
            labels.get(answer.call_id, ""),
            answer.summary,
            answer.priority,
            handle if handles else None,
        )

    def _read_result(self, params: ResultHandle, *, context: ToolContext) -> ToolResult[str]:
        del context
        results = {a.handle: a.full for a in _answers(self._current()) if a.handle}
        if params.handle not in results:
            near = near_names(params.handle, results)
            raise LookupError(f"There is no result {params.handle!r}{did_you_mean(near, '.')}")
        return ToolResult(value=results[params.handle], priority=Priority.LOW)


def _answers(conversation: runtime.Conversation) -> Iterator[runtime.ToolAnswer]:
    for turn in conversation.turns:
        if isinstance(turn, runtime.ToolTurn):
            yield from turn.answers


def _replaced(answer: runtime.ToolAnswer, message: Message | None) -> runtime.ToolAnswer:
    if message is None:
        return answer
    if message.handle is None:
        return replace(answer, text=message.content)
    full = answer.text if answer.full is None else answer.full
    return replace(answer, text=message.content, full=full, handle=message.handle)


def label_of(call: runtime.CallMade) -> str:
    """Return the arguments of a call, short: a single one by its value, such as a path."""
    arguments: object = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return ""
    if not isinstance(arguments, dict) or not arguments:
        return ""
    values = [*arguments.values()]
    if len(values) == 1 and isinstance(values[0], str):
        text = values[0]
    else:
        text = json.dumps(arguments, ensure_ascii=False)
    return text if len(text) <= _LABEL_LENGTH else f"{text[: _LABEL_LENGTH - 1]}…"
