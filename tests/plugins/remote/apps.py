"""Apps of this process, each at a port of its own."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx2
import mcp_types as types
from mcp.server.lowlevel import Server

from foldline.agent.mcp.server import AgentServer
from foldline.agent.mcp.stdio import Options
from foldline.plugins.remote.app import create_app
from foldline.plugins.remote.health import Health
from foldline.plugins.remote.serving import Connection
from foldline.plugins.remote.transport import HttpOptions
from foldline.server.http_server import EmbeddedServer

from ...agent.mcp_process import EXAMPLE
from .replicas import SECRET

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from mcp.server.context import ServerRequestContext

    Answer = types.CallToolResult | types.InputRequiredResult

HEADER = "X-Foldline-User"
OPTIONS = HttpOptions("127.0.0.1", 0, (SECRET,))
BEHIND_A_PROXY = replace(
    OPTIONS,
    identity_header=HEADER,
    trusted_proxies=(ipaddress.ip_network("127.0.0.1/32"),),
)


@dataclass
class Served:
    client: httpx2.AsyncClient
    url: str
    health: Health
    server: EmbeddedServer

    @property
    def address(self) -> tuple[str, int]:
        parts = httpx2.URL(self.url)
        assert parts.port is not None
        return parts.host, parts.port

    async def raw(self, data: bytes) -> bytes:
        """What comes back for these bytes until the server closes the connection."""
        reader, writer = await asyncio.open_connection(*self.address)
        writer.write(data)
        try:
            return await reader.read()
        finally:
            writer.close()


@asynccontextmanager
async def served(
    protocol: Server[Any], options: HttpOptions = OPTIONS, roots: tuple[Path, ...] = ()
) -> AsyncIterator[Served]:
    """Serve `protocol` at a free port."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    health = Health(roots)
    app = create_app(protocol, replace(options, port=port), health)
    server = EmbeddedServer(app, Connection, most=64, close_seconds=5, lifespan="on")
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        async with httpx2.AsyncClient(timeout=60) as client:
            yield Served(client, f"http://127.0.0.1:{port}/mcp", health, server)
    finally:
        server.should_exit = True
        await running


@asynccontextmanager
async def foldline(
    options: HttpOptions = OPTIONS, *, roots: tuple[Path, ...] = (EXAMPLE,)
) -> AsyncIterator[Served]:
    """Serve foldline's own tools for these folders."""
    server = AgentServer(Options(roots=roots, remote=True))
    try:
        async with served(server.protocol, options, roots) as one:
            yield one
    finally:
        await server.close()


def one_tool(
    run: Callable[[types.CallToolRequestParams], Awaitable[Answer]], name: str = "wait"
) -> Server[Any]:
    """A server with one tool."""

    async def list_tools(
        _ctx: ServerRequestContext[Any, Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name=name, input_schema={"type": "object"})])

    async def call_tool(
        _ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> Answer:
        return await run(params)

    return Server("one", on_list_tools=list_tools, on_call_tool=call_tool)
