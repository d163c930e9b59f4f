"""`foldline.server.prompt.undo`: undoes the last step of a preview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.undo"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Without a `sessionId` it is the preview last opened."""

    sessionId: str | None = None  # noqa: N815  # The name on the wire.


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    return await ls.previews.undo(arguments.sessionId)
