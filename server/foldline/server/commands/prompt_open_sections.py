"""`foldline.server.prompt.openSections`: opens summarised sections, as a model does.

With a `sessionId` it opens them in that preview; without, it answers what the prompt's own tool
asks for and the prompt as it is rendered then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from foldline.server.preview import prompts
from foldline.server.targets import find_prompt

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.openSections"


@dataclass(frozen=True, slots=True)
class Arguments:
    section_keys: tuple[str, ...] = ()
    reason: str = "Opened in the editor"
    uri: str | None = None
    name: str | None = None
    sessionId: str | None = None  # noqa: N815  # The name on the wire.
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    overrides: dict[str, str] = field(default_factory=dict)


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, Any]:
    if arguments.sessionId is not None:
        return await ls.previews.open_sections(
            ls, arguments.sessionId, arguments.section_keys, arguments.reason
        )
    target = await find_prompt(ls, arguments.uri, arguments.name)
    return await prompts.open_sections(
        ls,
        target,
        section_keys=arguments.section_keys,
        reason=arguments.reason,
        params=arguments.params,
        overrides=arguments.overrides,
    )
