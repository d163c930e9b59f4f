"""The loop's account of a conversation, to which a context policy is applied."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from foldline.prompts.context import READ_RESULT, Message, Priority, Role
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError, did_you_mean, near_names
from foldline.prompts.runtime.dispatch import tool_text
from foldline.prompts.tool import Tool, ToolContext, ToolResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.prompts.adapters.protocol import ModelTurn
    from foldline.prompts.context import ContextPolicy, Savings
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.runtime.dispatch import ToolCall, ToolOutcome

__all__ = ["ManagedConversation", "Revision", "policy_of"]

OutputT = TypeVar("OutputT")

_LABEL_LENGTH = 80


def policy_of(rendered: RenderedPrompt[object]) -> ContextPolicy | None:
    """The policy that the prompt's tools bring, the first one that has any."""
    return next((tool.context_policy for tool in rendered.tools if tool.context_policy), None)


@dataclass(frozen=True, slots=True)
class Revision:
    """Results that change before the next request.

    Attributes:
        texts: The new texts by number. The results of the conversation are numbered from 0 in the
            order in which they were given.
        savings: What that saves and costs; None if nothing changes.
    """

    texts: Mapping[int, str] = field(default_factory=dict)
    savings: Savings | None = None


@FrozenDataclass()
class ResultHandle:
    """The parameters of `read_result`."""

    handle: str = field(metadata={"description": "The handle that replaced the result."})


class ManagedConversation:
    """The messages so far, and those that the next request has.

    What the policy replaced or removed once stays so: a text that changes back and forth would
    cost a provider's prompt cache each time.
    """

    def __init__(self, policy: ContextPolicy, rendered: RenderedPrompt[object]) -> None:
        self._policy = policy
        self._messages = [Message(Role.USER, rendered.text)]
        self._results: list[str] = []
        self._places: list[int] = []

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

    def add(self, turn: ModelTurn, outcomes: Sequence[ToolOutcome]) -> None:
        """Add a message of the model and the results of its calls."""
        said = "".join((turn.text, *map(_arguments, turn.tool_calls)))
        self._messages.append(Message(Role.ASSISTANT, said))
        for outcome in outcomes:
            result = outcome.result
            text = tool_text(result)
            handle = None
            if self._policy.handles and outcome.call.name != READ_RESULT:
                handle = f"r{len(self._results) + 1}"
            self._results.append(text)
            self._places.append(len(self._messages))
            if outcome.opened is not None:
                # A part of the prompt: the model couldn't open it again.
                self._messages.append(Message(Role.SYSTEM, text))
                continue
            self._messages.append(
                Message(
                    Role.TOOL,
                    text,
                    outcome.call.name,
                    _label(outcome.call),
                    result.summary,
                    result.priority or Priority.MEDIUM,
                    handle,
                )
            )

    def revise(self) -> Revision:
        """Apply the policy, and return what changes before the next request."""
        managed = self._policy.apply(self._messages)
        if managed.messages == tuple(self._messages):
            return Revision()
        changed = {
            number: managed.messages[place].content
            for number, place in enumerate(self._places)
            if managed.messages[place] != self._messages[place]
        }
        self._messages = list(managed.messages)
        return Revision(changed, managed.savings)

    def _read_result(self, params: ResultHandle, *, context: ToolContext) -> ToolResult[str]:
        known = {f"r{number}": text for number, text in enumerate(self._results, start=1)}
        if params.handle not in known:
            near = near_names(params.handle, known)
            raise LookupError(f"There is no result {params.handle!r}{did_you_mean(near, '.')}")
        return ToolResult(value=known[params.handle], priority=Priority.LOW)


def _arguments(call: ToolCall) -> str:
    arguments = call.arguments
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _label(call: ToolCall) -> str:
    """The arguments of a call, short: a single one by its value, such as a path."""
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
