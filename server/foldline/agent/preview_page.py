"""`foldline preview --serve`: the preview as a web page, for as long as whoever started it stays.

A language server of its own renders the prompt and serves the page; here is its editor, whose
documents are the files on disk.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from foldline.agent.watching import changed_files
from foldline.backends.errors import PathError
from foldline.backends.files.limits import SOURCE_BYTES
from foldline.backends.files.reader import read_text
from foldline.ide.lifecycle import exit_with_parent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

REQUEST_SECONDS = 60.0


class ServeError(Exception):
    """The page cannot be served; the message says why."""


@dataclass(frozen=True, slots=True)
class Served:
    """What is to be served, as it was named on the command line."""

    file: Path
    name: str | None
    root: Path
    interpreter: str | None
    open: Sequence[str]
    chapters: Sequence[str]
    values: Mapping[str, object]


async def serve(served: Served) -> None:
    """Serve the page until its server ends, or whoever started us does.

    Its address is printed, alone, to standard output.

    Raises:
        ServeError: The prompt cannot be shown, or the server ended by itself.
    """
    exit_with_parent()
    client = _Client()
    try:
        # Ctrl-C is ours alone: the server leaves when its input ends.
        # -P: the folder that this was called in is no place to import from.
        command = (sys.executable, "-P", "-m", "foldline.agent", "serve", "--stdio")
        await client.start_io(*command, start_new_session=True)
        url = await _start(client, served)
        print(url, flush=True)  # noqa: T201
        print("foldline preview: open this address in a browser; Ctrl-C ends it", file=sys.stderr)  # noqa: T201
        following = asyncio.create_task(_follow(client, served))
        ends = {following, asyncio.create_task(client.gone.wait()), _input_end()}
        done, rest = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        if following in done:
            following.result()
        if client.gone.is_set():
            raise ServeError("the server ended by itself")
    finally:
        if client.protocol.writer is not None:
            client.protocol.writer.close()
        await client.stop()  # type: ignore[no-untyped-call]  # Untyped in pygls.


class _Client(LanguageClient):
    def __init__(self) -> None:
        super().__init__("foldline-preview", "1")
        self.gone = asyncio.Event()
        # The page is told by itself.
        self.feature("foldline/preview/didUpdate")(lambda _: None)

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        self.gone.set()

    async def ask(self, command: str, **arguments: object) -> Any:
        """The answer to a server command.

        Raises:
            ServeError: It refused, or did not answer in time.
        """
        params = types.ExecuteCommandParams(f"foldline.server.{command}", [arguments])
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                return await self.workspace_execute_command_async(params)
        except JsonRpcException as error:
            raise ServeError(error.message) from error
        except TimeoutError:
            raise ServeError(f"{command} was not answered in {REQUEST_SECONDS:g} s") from None
        except RuntimeError as error:
            # What the client raises when the server is gone.
            raise ServeError(str(error)) from error


async def _start(client: _Client, served: Served) -> str:
    options = {"trusted": True, "interpreter": served.interpreter}
    folder = types.WorkspaceFolder(served.root.as_uri(), served.root.name)
    async with asyncio.timeout(REQUEST_SECONDS):
        await client.initialize_async(
            types.InitializeParams(
                process_id=os.getpid(),
                capabilities=types.ClientCapabilities(),
                workspace_folders=[folder],
                initialization_options={k: v for k, v in options.items() if v is not None},
            )
        )
    client.initialized(types.InitializedParams())
    try:
        text = read_text(served.file, SOURCE_BYTES, strict=True)
    except PathError as error:
        raise ServeError(error.summary) from error
    document = types.TextDocumentItem(served.file.as_uri(), "python", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    preview = await client.ask("prompt.preview", uri=document.uri, name=served.name)
    session = preview["sessionId"]
    if any(served.values.values()):
        await client.ask("prompt.setParams", sessionId=session, **served.values)
    if served.open or served.chapters:
        await client.ask(
            "prompt.openSections",
            sessionId=session,
            section_keys=list(served.open),
            chapters=list(served.chapters),
        )
    page = await client.ask("prompt.serve", sessionId=session)
    return str(page["url"])


async def _follow(client: _Client, served: Served) -> None:
    """Tell the server of files that change, as an editor would."""
    version = 1
    async for paths in changed_files(served.file, served.root):
        # Deleted or replaced by what has no text: the last text stays.
        with suppress(PathError):
            if served.file in paths:
                text = read_text(served.file, SOURCE_BYTES)
                version += 1
                client.text_document_did_change(
                    types.DidChangeTextDocumentParams(
                        types.VersionedTextDocumentIdentifier(version, served.file.as_uri()),
                        [types.TextDocumentContentChangeWholeDocument(text)],
                    )
                )
        events = [types.FileEvent(path.as_uri(), types.FileChangeType.Changed) for path in paths]
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))


def _input_end() -> asyncio.Task[Any]:
    """Done at the end of standard input, where that is a pipe: whoever held it is gone.

    A terminal has other ways to say so, and no input at all says nothing.
    """
    over = asyncio.Event()
    # None where it was closed before we began: then it cannot end any more.
    mode = os.fstat(0).st_mode if sys.stdin is not None else 0
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        loop = asyncio.get_running_loop()

        def read() -> None:
            while os.read(0, 1 << 12):
                pass
            loop.call_soon_threadsafe(over.set)

        threading.Thread(target=read, name="input-watch", daemon=True).start()
    return asyncio.create_task(over.wait())
