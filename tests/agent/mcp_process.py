"""Talks to `foldline mcp` with the SDK's own client: to a process, or to a server in this one."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import mcp_types as types
from mcp import Client, StdioServerParameters
from pydantic import FileUrl

from foldline.agent.mcp.server import AgentServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from mcp.client import ClientRequestContext

    from foldline.agent.mcp.stdio import Options

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
SECONDS = 60.0


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "foldline.agent", "mcp", *arguments]


@asynccontextmanager
async def connect(
    *arguments: str, cwd: Path = EXAMPLE, mode: str = "legacy"
) -> AsyncIterator[Client]:
    """A client of a new process `foldline mcp`."""
    program, *rest = command(*arguments)
    environment = dict(os.environ)
    parameters = StdioServerParameters(command=program, args=rest, cwd=EXAMPLE, env=environment)
    async with Client(parameters, mode=mode, read_timeout_seconds=SECONDS) as client:
        yield client


@asynccontextmanager
async def connect_here(
    options: Options,
    *,
    mode: str = "legacy",
    roots: Callable[[], Sequence[Path]] | None = None,
) -> AsyncIterator[Client]:
    """A client of a server in this process; `roots` are what the client shares, if it can."""

    async def list_roots(context: ClientRequestContext) -> types.ListRootsResult:
        return types.ListRootsResult(
            roots=[types.Root(uri=FileUrl(path.as_uri())) for path in roots()] if roots else []
        )

    server = AgentServer(options)
    client = Client(
        server.protocol,
        mode=mode,
        read_timeout_seconds=SECONDS,
        list_roots_callback=list_roots if roots else None,
    )
    try:
        async with client:
            yield client
    finally:
        await server.close()


async def call(client: Client, tool: str, /, **arguments: object) -> tuple[str, bool]:
    """The texts of a tool's answer, and whether it is an error."""
    result = await client.call_tool(tool, arguments)
    texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
    assert len(texts) == len(result.content)
    return "\n".join(texts), bool(result.is_error)
