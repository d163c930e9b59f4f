"""Health checks: whether this replica lives, and whether a balancer may send it requests."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from foldline.backends.base.waiting import STATUS, in_thread
from foldline.backends.files.repository import revision_of

log = logging.getLogger(__name__)

ALIVE, READY = "/healthz", "/readyz"
# As long as that a busy machine may take, and less than a check of docs/deploy/haproxy.cfg.
LOOK_SECONDS = 8.0


class Health:
    """The answers to health checks: the revisions of the roots; what is wrong is in the log alone.

    Attributes:
        draining: This replica is about to end.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self.draining = False
        self._roots = tuple(roots)

    def routes(self) -> list[Route]:
        """Return the routes of the checks, which anybody may ask."""
        return [Route(ALIVE, _alive), Route(READY, self._ready)]

    async def _ready(self, _request: Request) -> PlainTextResponse:
        if self.draining:
            return PlainTextResponse("draining\n", 503)
        revisions = []
        for root in self._roots:
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    revisions.append(await in_thread(partial(_look, root), STATUS))
            except OSError as error:  # TimeoutError is one, too.
                log.warning("Not ready: the root %s can't be read: %s", root, error)
                return PlainTextResponse("a root can't be read\n", 503)
        return PlainTextResponse(" ".join(["ready", *revisions]) + "\n")


def _look(root: Path) -> str:
    with os.scandir(root) as entries:
        next(entries, None)
    return revision_of(root) or "-"


async def _alive(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("alive\n")
