"""Start-up of `foldline mcp`: the first answers, then the server."""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.agent.mcp.handshake import Opening
from foldline.ide.lifecycle import exit_with_parent
from foldline.ide.settings import Settings
from foldline.ide.standard_streams import QueuedWriter, claim_standard_streams

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.ide.workspace import Workspace

log = logging.getLogger(__name__)

# Clients list the tools while they start. If the search for prompts takes longer, all are listed.
LIST_SECONDS = 1.0
# The same before the SDK is loaded, because some clients wait for one second in total.
FIRST_LIST_SECONDS = 0.4


@dataclass(frozen=True, slots=True)
class Options:
    """Options from the command line.

    Attributes:
        roots: The folders to serve; by default the client's.
        trusted: Prompts and the workspace's language servers may be executed.
        interpreter: The Python that executes prompts; None to find one.
        deadline: Seconds that the code of a prompt may take for one request.
    """

    roots: tuple[Path, ...] = ()
    trusted: bool = False
    interpreter: str | None = None
    deadline: float = Settings().render_deadline

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
        opening = Opening(stdin, writer)
        opening.greet()
        from foldline.ide.garbage import loading

        with loading():
            workspace = options.workspace()
            _list_tools(opening, options, workspace)
            import asyncio

            from foldline.agent.mcp.server import AgentServer

            server = AgentServer(options, workspace=workspace)
        asyncio.run(server.run(opening, writer))


def _list_tools(opening: Opening, options: Options, workspace: Workspace) -> None:
    """Answer `tools/list` where the folder is known without asking the client."""
    client = opening.client
    if client is None or (not options.roots and client["capabilities"].get("roots") is not None):
        return
    from foldline.agent.folders import NoFolderError, open_folders, working_folder
    from foldline.agent.mcp.prompt_needs import all_needs, find_needs
    from foldline.backends.base.waiting import PROMPTS
    from foldline.backends.errors import BackendError

    try:
        folders = open_folders(workspace, options.roots or (working_folder(),))
        looking = PROMPTS.submit(find_needs, folders, trusted=options.trusted)
        needs = looking.result(FIRST_LIST_SECONDS)
    except (TimeoutError, NoFolderError, BackendError):
        needs = all_needs(trusted=options.trusted)
    except Exception:
        # The outermost boundary: the server answers instead, and tells the client what failed.
        log.exception("The prompts were not searched for")
        return
    opening.list_tools(needs.names)
