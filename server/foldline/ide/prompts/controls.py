"""Actions of a user on a preview in the page, by events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from foldline.ide.errors import ArgumentsError
from foldline.ide.previews.state import PreviewState
from foldline.ide.prompts.action import Action
from foldline.ide.prompts.actions import ACTIONS
from foldline.ide.prompts.arguments import action_of, arguments_of, key_argument
from foldline.ide.prompts.perform import perform
from foldline.ide.structuring import structure
from foldline.ide.workspace import Workspace
from foldline.records import record


@record(kw_only=True)
class Event:
    """Base of events: its name, and the section, chapter or set that is selected."""

    action: str
    key: str = ""


class Controls:
    """The controls of one preview; `reason` is why they open sections where a user says none."""

    def __init__(
        self,
        workspace: Workspace,
        session_id: str,
        reason: str,
        actions: Iterable[type[Action[Any]]] = ACTIONS,
    ) -> None:
        self._workspace = workspace
        self._session_id = session_id
        self._reason = reason
        self._actions = {one.names.camel: one for one in actions if one.names.event}

    def read(self, event: object) -> Action[Any]:
        """Return the action of an event: its name, a selected `key`, and further arguments.

        Raises:
            ArgumentsError: There is no such event, or it takes other arguments.
        """
        if not isinstance(event, Mapping) or event.get("action") not in self._actions:
            raise ArgumentsError({"action": f"expected one of {', '.join(self._actions)}"})
        action: Any = self._actions[event["action"]]
        arguments = structure(event, _arguments(action))
        values = {one.name: getattr(arguments, one.name) for one in fields(arguments)}
        if "key" in event and (key := key_argument(action)) is not None:
            values[key.name] = (arguments.key,) if key.kind is tuple else arguments.key
        if "reason" in values:
            values["reason"] = event.get("reason") or self._reason
        return action_of(action, values)

    async def perform(self, action: Action[Any]) -> object:
        """Perform an action; None for one that changes the preview, which tells its watchers."""
        answer = await perform(self._workspace, self._session_id, action)
        return None if isinstance(answer, PreviewState) else answer


@cache
def _arguments(action: Any) -> type[Any]:
    key = key_argument(action)
    return arguments_of(action, Event, ("action", "key"), without=(key.name,) if key else ())
