"""Seals what a client hands back, to this replica or another, with the secret that they share.

Request state is sealed by the SDK. The cursors of lists are sealed here, with the same keys. Both
are for one method and one identity, and for some minutes. Cursors inside of
answers are positions, with a hash of what they stand on: nothing that has to be kept from change.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from secrets import token_urlsafe
from typing import Any

import mcp_types as types
from mcp.server import context, request_state

from foldline.agent.mcp.calls import refusal
from foldline.plugins.remote.measures import identity_of

log = logging.getLogger(__name__)

SECONDS = 600.0


def seals(secrets: Sequence[str], audience: str) -> list[context.ServerMiddleware[Any]]:
    """Return the middleware that seals and opens what clients hand back.

    Args:
        secrets: The first seals, all open: this is how to change them without a pause.
        audience: The server's name, so that other servers may have the same secrets.
    """
    codec = request_state.AESGCMRequestStateCodec(secrets or (token_urlsafe(48),))
    security = request_state.RequestStateSecurity(
        codec=codec, ttl=SECONDS, bind_principal=identity_of
    )
    return [
        request_state.RequestStateBoundary(security, default_audience=audience),
        SealedCursors(codec, audience, shared=bool(secrets)),
    ]


class SealedCursors:
    """Middleware of the SDK for the cursors of lists."""

    def __init__(
        self, codec: request_state.AESGCMRequestStateCodec, audience: str, *, shared: bool
    ) -> None:
        self._codec = codec
        self._is_shared = shared
        self._audience = audience

    async def __call__(
        self, ctx: context.ServerRequestContext[Any, Any], call_next: context.CallNext
    ) -> context.HandlerResult:
        if not ctx.method.endswith("/list"):
            return await call_next(ctx)
        bound = ["cursor", self._audience, ctx.method, identity_of(ctx)]
        if (cursor := (ctx.params or {}).get("cursor")) is not None:
            opened = self._open(cursor, bound)
            ctx = replace(ctx, params={**(ctx.params or {}), "cursor": opened})
        result = await call_next(ctx)
        if isinstance(result, dict) and result.get("nextCursor") is not None:
            if not self._is_shared:
                log.warning("A list has a second page: replicas need a secret to share for it")
            sealed = json.dumps([result["nextCursor"], time.time() + SECONDS, bound])
            result = {**result, "nextCursor": self._codec.seal(sealed.encode())}
        return result

    def _open(self, cursor: object, bound: list[str | None]) -> str:
        try:
            inner, until, owner = json.loads(self._codec.unseal(str(cursor)))
        except request_state.InvalidRequestState:
            pass
        else:
            if owner == bound and time.time() < until:
                return str(inner)
        raise refusal(
            "cursor: not from an answer of this server to you in the last "
            f"{SECONDS / 60:g} minutes; leave it out to start anew",
            types.INVALID_PARAMS,
        )
