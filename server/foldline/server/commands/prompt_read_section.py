"""`foldline.server.prompt.readSection`: a section's text, without opening it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.ide.render import execution
from foldline.ide.render.jobs import read_section
from foldline.ide.resolve import find_prompt
from foldline.server.commands.prompt_arguments import PromptArguments

if TYPE_CHECKING:
    from foldline.ide.render.jobs import Action
    from foldline.ide.render.render import AnswerT
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.readSection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments(PromptArguments):
    """Without a `section_key` it is the first summarized section."""

    section_key: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    return await answer(ls, arguments, read_section(arguments.section_key))


async def answer(ls: FoldlineServer, arguments: Arguments, action: Action[AnswerT]) -> AnswerT:
    """The answer of `action` about the section that `arguments` name."""
    if arguments.sessionId is not None:
        return await ls.previews.execute(arguments.sessionId, action)
    target = await find_prompt(ls.core, arguments.uri, arguments.name)
    return await execution.execute(ls.core, target, action, arguments.options)
