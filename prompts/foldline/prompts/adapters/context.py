"""The loop's account of a conversation, to which a context policy is applied."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from foldline.prompts.context import Message, Priority, Role
from foldline.prompts.runtime.dispatch import tool_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.prompts.adapters.protocol import ModelTurn
    from foldline.prompts.context import ContextPolicy
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.runtime.dispatch import ToolCall, ToolOutcome

__all__ = ["ManagedConversation", "policy_of"]

_LABEL_LENGTH = 80
_NOTHING: Mapping[int, str] = {}


def policy_of(rendered: RenderedPrompt[object]) -> ContextPolicy | None:
    """The policy that the prompt's tools bring, the first one that has any."""
    return next((tool.context_policy for tool in rendered.tools if tool.context_policy), None)


class ManagedConversation:
    """The messages so far, and those that the next request has.

    What the policy replaced or removed once stays so: a text that changes back and forth would
    cost a provider's prompt cache each time.
    """

    def __init__(self, policy: ContextPolicy, rendered: RenderedPrompt[object]) -> None:
        self._policy = policy
        self._messages = [Message(Role.USER, rendered.text)]

    def add(self, turn: ModelTurn, outcomes: Sequence[ToolOutcome]) -> None:
        """Add a message of the model and the results of its calls."""
        said = "".join((turn.text, *map(_arguments, turn.tool_calls)))
        self._messages.append(Message(Role.ASSISTANT, said))
        for outcome in outcomes:
            result = outcome.result
            self._messages.append(
                Message(
                    Role.TOOL,
                    tool_text(result),
                    outcome.call.name,
                    _label(outcome.call),
                    result.summary,
                    result.priority or Priority.MEDIUM,
                )
            )

    def revisions(self) -> Mapping[int, str]:
        """The results that change before the next request: new texts by number.

        The results of the conversation are numbered from 0 in the order in which they were given.
        """
        managed = self._policy.apply(self._messages).messages
        if managed == tuple(self._messages):
            return _NOTHING
        results = [place for place, m in enumerate(self._messages) if m.role is Role.TOOL]
        changed = {
            number: managed[place].content
            for number, place in enumerate(results)
            if managed[place] != self._messages[place]
        }
        self._messages = list(managed)
        return changed


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
