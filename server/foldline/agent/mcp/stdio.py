"""Start-up of `foldline mcp` over standard input and output."""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, BinaryIO

from foldline import ide
from foldline.agent import mcp
from foldline.ide.garbage import loading
from foldline.ide.lifecycle import exit_with_parent
from foldline.ide.settings import Settings
from foldline.ide.standard_streams import QueuedWriter, claim_standard_streams
from foldline.records import record

if TYPE_CHECKING:
    from importlib.abc import Loader
    from pathlib import Path
    from types import ModuleType

    from foldline.agent.mcp.server import AgentServer
    from foldline.ide.workspace import Workspace

# Clients list the tools while they start, and some wait for a second in all. If the search for
# prompts takes longer, all are listed.
LIST_SECONDS = 0.4
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
        settings = Settings(
            trusted=self.trusted, interpreter=self.interpreter, render_deadline=self.deadline
        )
        return ide.Workspace(
            settings, ide.AccessOptions(language_servers=True, parse_in_workers=True)
        )


def serve_stdio(options: Options) -> None:
    """Serve one client over standard input and output until it disconnects."""
    exit_with_parent()
    # From here on, only the protocol uses these streams: other output goes to stderr.
    stdin, stdout = claim_standard_streams()
    with closing(QueuedWriter(stdout)) as writer:
        with loading():
            import asyncio

            defer_client()
            create_server = mcp.server.AgentServer
        asyncio.run(_serve(create_server(options), stdin, writer))


def defer_client() -> None:
    """Load the SDK's server now, and its client only when a package is asked for what it exports.

    The packages load the client to export it, which would take an eighth of the start.
    """
    for name in ("mcp", "mcp.server"):
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return  # The import that follows says what to install.
        package = sys.modules[name] = module_from_spec(spec)
        vars(package)["__getattr__"] = partial(_load_package, package, spec.loader)
    vars(sys.modules["mcp"])["server"] = package
    try:
        import_module("mcp.server.lowlevel")
    except ImportError:
        # The server of another SDK may need its packages, which then are loaded before it.
        for name in [name for name in sys.modules if name.partition(".")[0] == "mcp"]:
            del sys.modules[name]


def _load_package(package: ModuleType, loader: Loader, name: str) -> object:
    del vars(package)["__getattr__"]
    loader.exec_module(package)
    return getattr(package, name)


async def _serve(server: AgentServer, stdin: BinaryIO, writer: QueuedWriter) -> None:
    try:
        await server.run(stdin, writer)
    finally:
        await server.close()
