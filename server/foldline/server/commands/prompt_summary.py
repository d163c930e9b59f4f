"""`foldline.server.prompt.summary`: a section's summary, and its sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldline.server.commands.prompt_read_section import Arguments, answer

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

__all__ = ["COMMAND", "Arguments", "handle"]

COMMAND = "foldline.server.prompt.summary"


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, Any]:
    return await answer(ls, arguments, "summary")
