"""The folders that may be read: those of the command line, or the client's roots.

Through protocol 2025-11-25 the roots are requested once, and again after the client reports a
change. Later protocols have no such notification and no requests to the client: there the roots
come with each call, as input that the call requires.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from foldline.agent.folders import Folders, NoFolderError, open_folders, working_folder
from foldline.backends.base.waiting import in_thread
from foldline.links import resolved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mcp.server.context import ServerRequestContext

    from foldline.ide.workspace import Workspace

# The name under which a call's required input holds the roots.
INPUT = "roots"
ANSWER_SECONDS = 10.0


class Roots:
    def __init__(self, given: Sequence[Path], workspace: Workspace) -> None:
        self._given = tuple(given)
        self._workspace = workspace
        self._told: tuple[Path, ...] = ()
        self._current = False
        self._asking = asyncio.Lock()

    async def folders(
        self,
        context: ServerRequestContext[Any, Any],
        responses: Mapping[str, types.InputResponse] | None,
    ) -> Folders | types.InputRequiredResult:
        """Return the folders for one call, or the input that the client has to give first.

        Raises:
            NoFolderError: There is none, with what to do about it.
        """
        if self._asks(context) and context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            if INPUT not in (responses or {}):
                return types.InputRequiredResult(input_requests={INPUT: types.ListRootsRequest()})
            answer = (responses or {})[INPUT]
            if not isinstance(answer, types.ListRootsResult):
                raise NoFolderError(f"The client's answer to {INPUT!r} holds no roots")
            self._told = _paths(answer)
        return await self.listed(context)

    async def listed(self, context: ServerRequestContext[Any, Any]) -> Folders:
        """Return the folders for requests that can't require input: a modern client's last ones.

        Raises:
            NoFolderError: There is none, with what to do about it.
        """
        roots = self._given
        if not roots and not self._asks(context):
            roots = (working_folder(),)
        elif not roots:
            if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
                async with self._asking:
                    if not self._current:
                        await self._ask(context)
            roots = self._told
        return await in_thread(partial(open_folders, self._workspace, roots))

    def forget(self) -> None:
        """Request the roots again at the next call: they changed."""
        self._current = False

    def _asks(self, context: ServerRequestContext[Any, Any]) -> bool:
        capabilities = context.session.client_capabilities
        return not self._given and capabilities is not None and capabilities.roots is not None

    async def _ask(self, context: ServerRequestContext[Any, Any]) -> None:
        # Set before the answer: a change that is notified meanwhile must reset it.
        self._current = True
        try:
            answer = await context.session.send_request(
                types.ListRootsRequest(), types.ListRootsResult, ANSWER_SECONDS
            )
        except (MCPError, ValidationError, TimeoutError) as error:
            self._current = False
            raise NoFolderError(
                f"The client did not tell its roots ({error}): start the server with "
                "`foldline mcp --root DIR`"
            ) from error
        except BaseException:
            self._current = False
            raise
        self._told = _paths(answer)


def _paths(answer: types.ListRootsResult) -> tuple[Path, ...]:
    """Return the roots on this machine."""
    addresses = [urlsplit(str(root.uri)) for root in answer.roots]
    return tuple(
        resolved(url2pathname(address.path))
        for address in addresses
        if address.netloc in ("", "localhost")
    )
