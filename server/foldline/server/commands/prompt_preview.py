"""`foldline.server.prompt.preview`: shows a prompt, and keeps it up to date until it is closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.preview"


@dataclass(frozen=True, slots=True)
class Arguments:
    uri: str | None = None
    name: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    return await ls.previews.open(arguments.uri, arguments.name)
