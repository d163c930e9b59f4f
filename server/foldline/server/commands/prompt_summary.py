"""`foldline.server.prompt.summary`: a section's summary, and its sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.render.jobs import summarize_section
from foldline.server.commands.prompt_read_section import Arguments, answer

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

__all__ = ["COMMAND", "Arguments", "handle"]

COMMAND = "foldline.server.prompt.summary"


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    return await answer(ls, arguments, summarize_section(arguments.section_key))
