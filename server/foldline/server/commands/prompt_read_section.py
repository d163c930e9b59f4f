"""`foldline.server.prompt.readSection`: a section's text, without opening it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from foldline.ide.render import execution
from foldline.ide.render.jobs import read_section
from foldline.ide.render.render_options import RenderOptions
from foldline.ide.resolve import find_prompt

if TYPE_CHECKING:
    from foldline.ide.render.jobs import Action
    from foldline.ide.render.render import AnswerT
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.readSection"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Without a `section_key` it is the first summarized section.

    With a `sessionId` the values and the open sections are those of that preview.
    """

    section_key: str | None = None
    uri: str | None = None
    name: str | None = None
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    overrides: dict[str, str] = field(default_factory=dict)
    sessionId: str | None = None  # noqa: N815  # The name on the wire.


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    return await answer(ls, arguments, read_section(arguments.section_key))


async def answer(ls: FoldlineServer, arguments: Arguments, action: Action[AnswerT]) -> AnswerT:
    """The answer of `action` about the section that `arguments` name."""
    if arguments.sessionId is not None:
        return await ls.previews.execute(arguments.sessionId, action)
    target = await find_prompt(ls.core, arguments.uri, arguments.name)
    options = RenderOptions(params=arguments.params, overrides=arguments.overrides)
    return await execution.execute(ls.core, target, action, options)
