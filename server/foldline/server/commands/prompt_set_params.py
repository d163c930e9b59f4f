"""`foldline.server.prompt.setParams`: shows a preview with other values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.setParams"


@dataclass(frozen=True, slots=True)
class Arguments:
    """`params`: fields by dataclass name. Without a `sessionId` it is the preview last opened."""

    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    sessionId: str | None = None  # noqa: N815  # The name on the wire.


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, Any]:
    return await ls.previews.set_params(ls, arguments.sessionId, arguments.params)
