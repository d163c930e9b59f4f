"""The commands that take a preview alone: its steps, and its end."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldline.ide.previews.previews import Previews
    from foldline.server.server import FoldlineServer


@dataclass(frozen=True, slots=True)
class OfPreview:
    """Without a `sessionId` it is the preview last opened."""

    sessionId: str | None = None  # noqa: N815  # The name on the wire.


class PreviewCommand:
    """A command like the modules beside this one; `act` gets the previews and the preview's id."""

    Arguments = OfPreview

    def __init__(self, name: str, doc: str, act: Callable[[Previews, str | None], object]) -> None:
        self.COMMAND = f"foldline.server.prompt.{name}"
        self.__doc__ = f"`{self.COMMAND}`: {doc}."
        self._act = act

    async def handle(self, ls: FoldlineServer, arguments: OfPreview) -> object:
        """Act on the preview."""
        answer = self._act(ls.previews, arguments.sessionId)
        return await answer if isawaitable(answer) else answer


CLOSE = PreviewCommand("closePreview", "closes a preview", lambda all_, one: all_.close(one))
HISTORY = PreviewCommand("history", "the steps of a preview", lambda all_, one: all_.history(one))
RESET = PreviewCommand("reset", "undoes all steps of a preview", lambda all_, one: all_.reset(one))
UNDO = PreviewCommand("undo", "undoes the last step of a preview", lambda all_, one: all_.undo(one))
