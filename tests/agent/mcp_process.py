"""Starts `foldline mcp` as a client does and talks to it with the SDK's own client."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import mcp_types as types
from mcp import Client, StdioServerParameters

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from mcp.client import ClientRequestContext

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
SECONDS = 60.0


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "foldline.agent", "mcp", *arguments]


@asynccontextmanager
async def connect(
    *arguments: str,
    cwd: Path = EXAMPLE,
    mode: str = "legacy",
    roots: Callable[[], Sequence[Path]] | None = None,
) -> AsyncIterator[Client]:
    """A client of a new server; `roots` are what it answers to roots/list, None if it cannot."""

    async def list_roots(context: ClientRequestContext) -> types.ListRootsResult:
        return types.ListRootsResult(
            roots=[types.Root(uri=path.as_uri()) for path in roots()] if roots else []  # type: ignore[arg-type]  # Parsed.
        )

    program, *rest = command(*arguments)
    client = Client(
        StdioServerParameters(command=program, args=rest, cwd=cwd, env=dict(os.environ)),
        mode=mode,
        read_timeout_seconds=SECONDS,
        list_roots_callback=list_roots if roots else None,
    )
    async with client:
        yield client


async def call(client: Client, tool: str, /, **arguments: object) -> tuple[str, bool]:
    """The texts of a tool's answer, and whether it is an error."""
    result = await client.call_tool(tool, arguments)
    texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
    assert len(texts) == len(result.content)
    return "\n".join(texts), bool(result.is_error)
