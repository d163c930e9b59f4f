"""The server leaves with whoever started it, whichever way that one went."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .mcp_process import EXAMPLE, SECONDS, command

pytestmark = pytest.mark.real

# Starts the server, which inherits both pipes, and waits to be killed.
PARENT = """
import signal, subprocess, sys
server = subprocess.Popen(sys.argv[1:])
print("started", file=sys.stderr, flush=True)
signal.pause()
"""

INITIALIZE = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": '
    b'"2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}}\n'
)


@dataclass
class Family:
    """A parent, the server it started, and our ends of the server's streams."""

    parent: subprocess.Popen[bytes]
    to_server: int
    from_server: int

    def read(self) -> bytes:
        """What the server writes next; nothing once no process holds its output any more."""
        ready, _, _ = select.select([self.from_server], [], [], SECONDS)
        assert ready, "the server neither wrote nor ended"
        return os.read(self.from_server, 1 << 16)


@pytest.fixture
def family() -> Iterator[Family]:
    server_in, to_server = os.pipe()
    from_server, server_out = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *command("--root", str(EXAMPLE))],
        stdin=server_in,
        stdout=server_out,
        stderr=subprocess.PIPE,
    )
    os.close(server_in)
    os.close(server_out)
    assert parent.stderr is not None
    parent.stderr.readline()
    yield Family(parent, to_server, from_server)
    parent.kill()
    parent.wait()
    parent.stderr.close()
    for descriptor in (to_server, from_server):
        os.close(descriptor)


def test_the_server_leaves_when_its_parent_is_killed(family: Family) -> None:
    os.write(family.to_server, INITIALIZE)
    assert b'"serverInfo"' in family.read()
    # We hold on to the server's input: it does not end with the parent.
    family.parent.send_signal(signal.SIGKILL)
    family.parent.wait()
    assert family.read() == b""


@pytest.mark.parametrize("after_initialize", [True, False])
def test_the_server_leaves_when_its_input_ends(*, after_initialize: bool) -> None:
    server = subprocess.Popen(
        command("--root", str(EXAMPLE)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _, errors = server.communicate(INITIALIZE if after_initialize else b"", timeout=SECONDS)
    assert server.returncode == 0
    assert errors == b""


def test_what_only_prompts_need_is_not_loaded_to_start() -> None:
    code = (
        "import sys\n"
        "from foldline.agent.mcp.server import AgentServer\n"
        "from foldline.agent.mcp.stdio import Options\n"
        "AgentServer(Options())\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    loaded = set(done.stdout.split())
    assert "foldline.agent.mcp.server" in loaded
    assert not loaded & {"foldline.ide.analysis.values", "foldline.ide.render.render"}


SDKS = {
    "ours": None,
    # Its server needs a name of a package, which imports the server.
    "another": {
        "__init__.py": "MCPError = None\nfrom .server import Server as Client\n",
        "server/__init__.py": "from .lowlevel import Server as MCPServer, Server\n",
        "server/lowlevel.py": "from mcp import MCPError\nServer = MCPError\n",
    },
}


@pytest.mark.parametrize("sdk", SDKS)
def test_the_sdk_is_whole_though_its_client_is_not_loaded_to_start(
    sdk: str, tmp_path: Path
) -> None:
    for name, text in (SDKS[sdk] or {}).items():
        file = tmp_path / "mcp" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from foldline.agent.mcp.stdio import defer_client\n"
        "defer_client()\n"
        "from mcp.server.lowlevel import Server\n"
        "assert 'mcp.client' not in sys.modules\n"
        "import mcp\n"
        "assert mcp.server.lowlevel.Server is mcp.server.Server is Server\n"
        "from mcp import Client, MCPError\n"
        "from mcp.server import MCPServer\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)
