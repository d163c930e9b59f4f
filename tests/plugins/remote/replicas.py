"""Starts `foldline mcp --http` as a process, and asks it as the protocol of 2026-07-28 has it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import LATEST_MODERN_VERSION

from ...agent.mcp_process import EXAMPLE, SECONDS, command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import httpx2

SECRET = "a-secret-of-these-tests-of-more-than-32-bytes"


@dataclass
class Replica:
    """A server over HTTP, and what it wrote to standard error."""

    process: subprocess.Popen[str]
    url: str = ""
    lines: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1].partition("/")[0])

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


@contextmanager
def serving(
    *arguments: str, program: tuple[str, ...] = (), environment: Mapping[str, str] | None = None
) -> Iterator[Replica]:
    """A replica on the loopback; its roots are the example unless `arguments` name some."""
    if not program:
        roots = () if "--root" in arguments else ("--root", str(EXAMPLE))
        address = () if "--http" in arguments else ("--http", "127.0.0.1:0")
        program = tuple(command(*address, *roots, *arguments))
    process = subprocess.Popen(
        [sys.executable, "-m", *program] if program[0].startswith("tests.") else program,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FOLDLINE_HTTP_SECRET": SECRET, **(environment or {})},
    )
    replica = Replica(process)
    assert process.stderr is not None
    reading = threading.Thread(target=_read, args=(replica,), daemon=True)
    try:
        for line in process.stderr:
            replica.lines.append(line)
            if " serves http" in line:
                replica.url = line.split()[-1]
                break
        assert replica.url, "".join(replica.lines)
        reading.start()
        yield replica
    finally:
        process.kill()
        process.wait()
        if reading.ident is not None:
            reading.join()
        process.stderr.close()


def _read(replica: Replica) -> None:
    assert replica.process.stderr is not None
    replica.lines.extend(replica.process.stderr)
    replica.ended.set()


def message(method: str, **params: Any) -> tuple[dict[str, object], dict[str, str]]:
    """A request and its headers."""
    meta = {PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION, CLIENT_CAPABILITIES_META_KEY: {}}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": LATEST_MODERN_VERSION,
        "Mcp-Method": method,
    }
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    return body, headers


async def ask(
    client: httpx2.AsyncClient, url: str, method: str, /, headers: Any = (), **params: Any
) -> httpx2.Response:
    """Send one request."""
    body, own = message(method, **params)
    # Escaped: half a surrogate can't be written otherwise.
    return await client.post(
        url,
        content=json.dumps(body).encode(),
        headers=[("Content-Type", "application/json"), *own.items(), *dict(headers).items()],
    )


async def call(
    client: httpx2.AsyncClient, url: str, tool: str, /, headers: Any = (), **arguments: Any
) -> httpx2.Response:
    """Call a tool."""
    return await ask(client, url, "tools/call", headers, name=tool, arguments=arguments)


def result(response: httpx2.Response) -> dict[str, Any]:
    """The result of a request that succeeded."""
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()["result"]
    return answer
