"""`foldline.server.prompt.summary`: a section folded: its summary, and its sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from foldline.server.preview import prompts
from foldline.server.targets import find_prompt

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.summary"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Without a `section_key` it is the first summarised section."""

    section_key: str | None = None
    uri: str | None = None
    name: str | None = None
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    overrides: dict[str, str] = field(default_factory=dict)


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, Any]:
    target = await find_prompt(ls, arguments.uri, arguments.name)
    return await prompts.summary(
        ls,
        target,
        section_key=arguments.section_key,
        params=arguments.params,
        overrides=arguments.overrides,
    )
