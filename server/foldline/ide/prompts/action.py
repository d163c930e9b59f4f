"""An action on prompts: a frozen dataclass that each shell offers under one name.

Its fields are the arguments, with their documentation and bounds, the first line of its docstring
is its help, and its class arguments say which shells have it.
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from foldline.ide.errors import NoPreview
from foldline.ide.prompts.request import RenderMode
from foldline.ide.render.render import Render
from foldline.ide.resolve import resolve
from foldline.records import record

if TYPE_CHECKING:
    from foldline.ide.previews.previews import Previews
    from foldline.ide.prompts.request import PromptRef, View
    from foldline.ide.sources.source import PromptSource
    from foldline.ide.workspace import Workspace

AnswerT = TypeVar("AnswerT")

PREVIEW = ("sessionId",)
PROMPT = ("uri", "name")
EITHER = (*PROMPT, *PREVIEW)
RENDERED = ("uri", "name", "params", "overrides", "chapters", "sessionId")
"""What a command takes to say which prompt or preview is meant, and how it's rendered."""

NOT_SHOWN = Render(name="", text="")
"""What a prompt without a preview shows."""


@record(kw_only=True)
class Names:
    """An action's name, which is its class's, and the shells that offer it.

    `OpenSections` is the command `foldline.server.prompt.openSections`, the page's event
    `openSections`, the tool `open_sections` and the option `--open-sections`. A last `Prompt` is
    left out: the command of `RenderPrompt` is `foldline.server.prompt.render`.

    Attributes:
        camel: The name on the wire: `openSections`.
        snake: The name for models and workers: `open_sections`.
        takes: What its command takes to say what it's about; empty if there is no command.
        event: The page sends it.
        description: What models read of the tool; empty if there is none.
        safe: It runs none of the prompt's own tools.
        of_sets: Parameter sets give its values: as no prompt's text names it, models aren't told
            of the tool, and it needs none of the prompt's arguments.
        option: `foldline preview` has it; for changes.
    """

    camel: str
    snake: str
    takes: tuple[str, ...] = ()
    event: bool = False
    description: str = ""
    safe: bool = True
    of_sets: bool = False
    option: bool = False


class Action(Generic[AnswerT]):
    """Something that is done to a prompt, or to a preview."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]
    names: ClassVar[Names]

    def __init_subclass__(cls, **shells: Any) -> None:
        # A dataclass with slots is made a second time, without the arguments of its class.
        if "names" not in vars(cls):
            first, *others = re.findall("[A-Z][a-z]*", cls.__name__.removesuffix("Prompt"))
            camel, snake = "".join((first.lower(), *others)), "_".join((first, *others)).lower()
            cls.names = Names(camel=camel, snake=snake, **shells)

    def prefers_preview(self, uri: str | None, *, any_open: bool) -> bool:
        """True if it's about the last preview where no preview is named, but perhaps a `uri`."""
        return False

    async def on_prompt(self, workspace: Workspace, ref: PromptRef) -> AnswerT:
        """Perform it on a prompt without a preview."""
        raise NoPreview("This needs a preview: open one with prompt.preview")

    async def on_preview(self, previews: Previews, session_id: str | None) -> AnswerT:
        """Perform it on a preview, the last one if None."""
        raise NotImplementedError


class Change(Action[Any]):
    """An action that gives a preview another view, as a step that can be undone.

    Of a prompt without a preview, it answers the render with that view.
    """

    __slots__ = ()

    def changed(self, view: View, shown: Render) -> View:
        """Return the view after it; `shown` is what a preview shows."""
        raise NotImplementedError

    @property
    def needs_trust(self) -> bool:
        """True if without executing the prompt it would change nothing of what is shown."""
        return False

    async def on_prompt(self, workspace: Workspace, ref: PromptRef) -> Any:
        view = self.changed(ref.view, NOT_SHOWN)
        return await (await resolve(workspace, ref)).render(view)

    async def on_preview(self, previews: Previews, session_id: str | None) -> Any:
        preview = previews.find(session_id)
        if self.needs_trust:
            previews.workspace.require_trust()
        return await previews.move(
            preview, lambda: [*preview.steps, self.changed(preview.options, preview.render)]
        )


class Query(Action[AnswerT]):
    """An action that answers something about a prompt; of a preview, with its values.

    Attributes:
        answers: What a worker answers, to which the fields are arguments.
    """

    __slots__ = ()
    answers: ClassVar[type[Any]]

    async def answer(self, source: PromptSource, view: View) -> AnswerT:
        arguments = {one.name: getattr(self, one.name) for one in fields(self)}
        action = {"action": self.names.snake, "opened": view.pending, **arguments}
        answer: AnswerT = await source.answer(view, self.answers, action)
        return answer

    async def on_prompt(self, workspace: Workspace, ref: PromptRef) -> AnswerT:
        return await self.answer(await resolve(workspace, ref), ref.view)

    async def on_preview(self, previews: Previews, session_id: str | None) -> AnswerT:
        preview = previews.find(session_id)
        ref = preview.ref(RenderMode(of_preview=True))
        source = await resolve(previews.workspace, ref)
        return await self.answer(source, preview.options)
