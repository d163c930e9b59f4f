"""The actions on prompts as commands: the editor's focus says which prompt is meant."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from foldline.ide.prompts.actions import Diff
from foldline.ide.prompts.arguments import action_of, arguments_of
from foldline.ide.prompts.perform import perform
from foldline.ide.prompts.request import PromptRef, View
from foldline.ide.render.render import Answer
from foldline.ide.structuring import unstructured
from foldline.records import record

if TYPE_CHECKING:
    from foldline.ide.prompts.action import Action
    from foldline.server.server import FoldlineServer


@record(kw_only=True)
class CommandSubject:
    """The subject of a command: a preview, or a prompt and how it's rendered.

    Attributes:
        uri: The document.
        name: The prompt's variable, or `ns/key`.
        params: Fields by dataclass name or section key.
        overrides: `FULL` or `SUMMARY` by section key.
        chapters: The chapters that are open, as far as the prompt lets them; without it all, as
            `evaluate` opens them by default.
        sessionId: A preview, whose values, sections and chapters are taken instead; for a command
            about previews alone, the last one if it is left out.
    """

    uri: str | None = None
    name: str | None = None
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    overrides: dict[str, str] = field(default_factory=dict)
    chapters: tuple[str, ...] | None = None
    sessionId: str | None = None  # noqa: N815  # The name on the wire.


class PromptCommand:
    """An action as a command, with what modules of commands have."""

    def __init__(self, action: type[Action[Any]]) -> None:
        self.COMMAND = f"foldline.server.prompt.{action.names.camel}"
        about = action.__doc__ or ""
        self.__doc__ = f"`{self.COMMAND}`: {about[:1].lower()}{about[1:]}"
        self._action = action

    @cached_property
    def Arguments(self) -> type[Any]:  # noqa: N802  # As in the modules of commands.
        """The class of the command's arguments, made when it's first needed."""
        return arguments_of(self._action, CommandSubject, self._action.names.takes)

    async def handle(self, ls: FoldlineServer, arguments: Any) -> object:
        """Perform the action on the prompt or the preview that the arguments name."""
        values = {name: getattr(arguments, name) for name in self.Arguments.__dataclass_fields__}
        action = action_of(self._action, values)
        subject = self._subject(ls, action, values)
        answer = await perform(ls.core, subject, action)
        if isinstance(answer, Answer):
            return answer.with_spans()
        of_versions = isinstance(action, Diff) and action.revision is None
        if of_versions and not isinstance(subject, PromptRef):
            session = ls.core.previews.find(subject).session_id
            return {"sessionId": session, **unstructured(answer)}
        return answer

    def _subject(
        self, ls: FoldlineServer, action: Action[Any], values: dict[str, Any]
    ) -> PromptRef | str | None:
        session: str | None = values.get("sessionId")
        if session is not None or "uri" not in values:
            return session
        uri = values["uri"]
        if action.prefers_preview(uri, any_open=bool(ls.core.previews.all)):
            return None
        chapters = values.get("chapters")
        view = View(
            params=values.get("params", {}),
            overrides=values.get("overrides", {}),
            chapters=None if chapters is None else frozenset(chapters),
        )
        return PromptRef(uri=uri, name=values["name"], view=view)
