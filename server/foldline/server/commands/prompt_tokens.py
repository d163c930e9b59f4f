"""`foldline.server.prompt.tokens`: token counts of a prompt and its sections, from source alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.ide.render.static import static_tokens
from foldline.ide.resolve import find_prompt

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.tokens"


@dataclass(frozen=True, slots=True)
class Arguments:
    uri: str | None = None
    name: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    target = await find_prompt(ls.core, arguments.uri, arguments.name)
    return await static_tokens(ls.core, target)
