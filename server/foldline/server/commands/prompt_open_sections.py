"""`foldline.server.prompt.openSections`: opens summarized sections, as a model does.

With a `sessionId` it opens them in that preview; without, it answers what the prompt's own tool
asks for and the prompt as it is rendered then. `chapters` are opened in a preview, that one or the
last, as no tool does it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from foldline.ide.render import execution
from foldline.ide.render.jobs import open_sections
from foldline.ide.render.render_options import RenderOptions
from foldline.ide.resolve import find_prompt

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.openSections"


@dataclass(frozen=True, slots=True)
class Arguments:
    section_keys: tuple[str, ...] = ()
    chapters: tuple[str, ...] = ()
    reason: str = "Opened in the editor"
    uri: str | None = None
    name: str | None = None
    sessionId: str | None = None  # noqa: N815  # The name on the wire.
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    overrides: dict[str, str] = field(default_factory=dict)


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    keys, reason = arguments.section_keys, arguments.reason
    session = arguments.sessionId
    if session is None and not arguments.chapters:
        target = await find_prompt(ls.core, arguments.uri, arguments.name)
        options = RenderOptions(params=arguments.params, overrides=arguments.overrides)
        action = open_sections(keys or None, reason)
        opened = await execution.open_sections(ls.core, target, action, options)
        return replace(opened, render=opened.render.with_spans())
    if not arguments.chapters:
        return await ls.previews.open_sections(session, keys, reason)
    state = await ls.previews.open_chapters(session, arguments.chapters, reason)
    return await ls.previews.open_sections(session, keys, reason) if keys else state
