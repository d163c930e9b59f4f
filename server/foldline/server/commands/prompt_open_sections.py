"""`foldline.server.prompt.openSections`: opens summarized sections, as a model does.

With a `sessionId` it opens them in that preview, and the `chapters`, which no tool opens. Without,
it answers what the prompt's own tool asks for and the prompt as it is rendered then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from foldline.ide.render import execution
from foldline.ide.render.jobs import open_sections
from foldline.ide.resolve import find_prompt
from foldline.server.commands.prompt_arguments import PromptArguments

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.openSections"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(PromptArguments):
    section_keys: tuple[str, ...] = ()
    reason: str = "Opened in the editor"


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    keys, reason = arguments.section_keys, arguments.reason
    session = arguments.sessionId
    if session is None:
        target = await find_prompt(ls.core, arguments.uri, arguments.name)
        action = open_sections(keys or None, reason)
        opened = await execution.open_sections(ls.core, target, action, arguments.options)
        return replace(opened, render=opened.render.with_spans())
    if not arguments.chapters:
        return await ls.previews.open_sections(session, keys, reason)
    state = await ls.previews.open_chapters(session, arguments.chapters, reason)
    return await ls.previews.open_sections(session, keys, reason) if keys else state
