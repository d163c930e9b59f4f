"""`foldline.server.prompt.readSection`: a section's text, without opening it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from foldline.server import execute as prompts
from foldline.server.resolve import find_prompt

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.readSection"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Without a `section_key` it is the first summarized section."""

    section_key: str | None = None
    uri: str | None = None
    name: str | None = None
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    overrides: dict[str, str] = field(default_factory=dict)


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, Any]:
    return await answer(ls, arguments, "read")


async def answer(
    ls: FoldlineServer, arguments: Arguments, action: Literal["read", "summary"]
) -> dict[str, Any]:
    """What `action` tells of the section that `arguments` name."""
    target = await find_prompt(ls, arguments.uri, arguments.name)
    return await prompts.ask_section(
        ls,
        target,
        action,
        section_key=arguments.section_key,
        params=arguments.params,
        overrides=arguments.overrides,
    )
