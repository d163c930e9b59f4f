"""`foldline.server.prompt.serve`: a preview as a web page on the loopback.

Nothing listens before this is called. The address opens once; another call gives another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.records import record

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.serve"


@record
class Arguments:
    """Without a `sessionId` a preview starts; without any argument it is the one last opened."""

    sessionId: str | None = None  # noqa: N815  # The name on the wire.
    uri: str | None = None
    name: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, str]:
    session_id, previews = arguments.sessionId, ls.core.previews
    named = arguments.uri is not None or arguments.name is not None
    if session_id is None and (named or not previews.all):
        session_id = (await previews.open(arguments.uri, arguments.name)).sessionId
    session_id = previews.find(session_id).session_id
    return {"url": ls.pages.serve(session_id), "sessionId": session_id}
