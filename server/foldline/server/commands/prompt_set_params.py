"""`foldline.server.prompt.setParams`: shows a preview with other values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.setParams"


@dataclass(frozen=True, slots=True)
class Arguments:
    """What to show; without a `sessionId` in the preview last opened.

    Attributes:
        params: Fields by dataclass name, in place of those that were set before.
        parameter_set: The name of a parameter set, or `none`.
    """

    params: dict[str, dict[str, Any]] | None = None
    parameter_set: str | None = None
    sessionId: str | None = None  # noqa: N815  # The name on the wire.


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, Any]:
    """Without anything to set it takes back the values that were."""
    params = arguments.params
    if params is None and arguments.parameter_set is None:
        params = {}
    return await ls.previews.set_params(ls, arguments.sessionId, params, arguments.parameter_set)
