"""Start-up of `foldline mcp`: the first answers, then the server."""

from __future__ import annotations

import logging
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from foldline.agent.mcp.handshake import Opening
from foldline.ide.lifecycle import exit_with_parent
from foldline.ide.settings import Settings
from foldline.ide.standard_streams import QueuedWriter, claim_standard_streams
from foldline.records import record

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.agent.folders import Folders
    from foldline.ide.workspace import Workspace

log = logging.getLogger(__name__)

# Clients list the tools while they start. If the search for prompts takes longer, all are listed.
LIST_SECONDS = 1.0
# The same before the SDK is loaded, because some clients wait for one second in total.
FIRST_LIST_SECONDS = 0.4
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
        opening = Opening(stdin, writer)
        opening.greet()
        from foldline.ide.garbage import loading

        with loading():
            workspace = options.workspace()
            known = _list_tools(opening, options, workspace)
            import asyncio
        asyncio.run(_serve(opening, writer, options, workspace, known=known))


def _list_tools(opening: Opening, options: Options, workspace: Workspace) -> bool:
    """Answer `tools/list`, and return True if the folders are known without asking the client."""
    client = opening.client
    if client is None or (not options.roots and client["capabilities"].get("roots") is not None):
        return False
    from foldline.agent.folders import NoFolderError
    from foldline.agent.mcp.prompt_needs import all_needs, find_needs
    from foldline.backends.base.waiting import PROMPTS
    from foldline.backends.errors import BackendError

    try:
        folders = _open_folders(options, workspace)
        looking = PROMPTS.submit(find_needs, folders, trusted=options.trusted)
        needs = looking.result(FIRST_LIST_SECONDS)
    except (TimeoutError, NoFolderError, BackendError):
        needs = all_needs(trusted=options.trusted)
    except Exception:
        # The outermost boundary: the server answers instead, and tells the client what failed.
        log.exception("The prompts were not searched for")
        return False
    opening.list_tools(needs.names)
    return True


async def _serve(
    opening: Opening, writer: QueuedWriter, options: Options, workspace: Workspace, *, known: bool
) -> None:
    """Serve a client, without the SDK until a message needs that if the folders are known."""
    from foldline.agent.mcp.first_calls import answer_calls

    try:
        if not known or await answer_calls(
            opening,
            partial(_open_folders, options, workspace),
            partial(_list_tools, opening, options, workspace),
        ):
            from foldline.agent.mcp.server import AgentServer

            await AgentServer(options, workspace=workspace).run(opening, writer)
    finally:
        await workspace.stop(CLOSE_SECONDS)


def _open_folders(options: Options, workspace: Workspace) -> Folders:
    from foldline.agent.folders import open_folders, working_folder

    return open_folders(workspace, options.roots or (working_folder(),))
