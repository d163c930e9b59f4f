"""`foldline.server.prompt.closeSections`: closes sections that a preview has opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.closeSections"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Without a `sessionId` it is the preview last opened; without keys, all that it opened."""

    section_keys: tuple[str, ...] | None = None
    chapters: tuple[str, ...] | None = None
    sessionId: str | None = None  # noqa: N815  # The name on the wire.


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    return await ls.previews.close_sections(
        arguments.sessionId, arguments.section_keys, arguments.chapters
    )
