"""Start-up of `foldline mcp` over standard input and output."""

from __future__ import annotations

import sys
from contextlib import closing
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, BinaryIO

from foldline.ide.garbage import loading
from foldline.ide.lifecycle import exit_with_parent
from foldline.ide.settings import Settings
from foldline.ide.standard_streams import QueuedWriter, claim_standard_streams
from foldline.records import record

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.agent.mcp.server import AgentServer
    from foldline.ide.workspace import Workspace

# Clients list the tools while they start. If the search for prompts takes longer, all are listed.
LIST_SECONDS = 1.0
CLOSE_SECONDS = 3.0


@record
class Options:
    """Options from the command line.

    Attributes:
        roots: The folders to serve; by default the client's.
        trusted: Prompts and the workspace's language servers may be executed.
        interpreter: The Python that executes prompts; None to find one.
        deadline: Seconds that the code of a prompt may take for one request.
        remote: Clients are elsewhere, so nothing that runs code is offered to them.
    """

    roots: tuple[Path, ...] = ()
    trusted: bool = False
    interpreter: str | None = None
    deadline: float = Settings().render_deadline
    remote: bool = False

    def __post_init__(self) -> None:
        if self.remote and (self.trusted or not self.roots):
            raise ValueError("remote clients get roots that they can't choose, and run nothing")

    def workspace(self) -> Workspace:
        """Return a new workspace with these options."""
        from foldline.ide.workspace import AccessOptions, Workspace

        settings = Settings(
            trusted=self.trusted, interpreter=self.interpreter, render_deadline=self.deadline
        )
        return Workspace(settings, AccessOptions(language_servers=True, parse_in_workers=True))


def serve_stdio(options: Options) -> None:
    """Serve one client over standard input and output until it disconnects."""
    exit_with_parent()
    # From here on, only the protocol uses these streams: other output goes to stderr.
    stdin, stdout = claim_standard_streams()
    with closing(QueuedWriter(stdout)) as writer:
        with loading():
            import asyncio

            _leave_out_client()
            from foldline.agent.mcp.server import AgentServer
        asyncio.run(_serve(AgentServer(options), stdin, writer))


def _leave_out_client() -> None:
    """Let modules of `mcp.server` load by themselves, which takes a fourth less time.

    Both packages would load a client, too, and a web server.
    """
    for name in ("mcp", "mcp.server"):
        spec = find_spec(name)
        if spec is None:
            return  # The import that follows says what to install.
        sys.modules[name] = module_from_spec(spec)


async def _serve(server: AgentServer, stdin: BinaryIO, writer: QueuedWriter) -> None:
    try:
        await server.run(stdin, writer)
    finally:
        await server.close()
