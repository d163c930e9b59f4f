"""Starting a server, from its process to the end of the handshake."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

from foldline.backends.base.units import OFFERED, UTF16
from foldline.backends.base.untrusted import empty_folder, outside_environment
from foldline.backends.errors import LSPStartError
from foldline.backends.lsp.lifecycle import CLOSING_GRACE
from foldline.backends.lsp.process import ServerProcess
from foldline.backends.lsp.servers import value_at
from foldline.backends.lsp.symbol_requests import SymbolRequests
from foldline.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from foldline.backends.lsp.connection import Connection
    from foldline.backends.lsp.documents import Follower, OpenDocuments, Snapshot
    from foldline.backends.lsp.lifecycle import Limits
    from foldline.backends.lsp.readiness import ReadyWatch
    from foldline.backends.lsp.servers import ServerSpec


class InitializedServer:
    """A server that has answered `initialize`, and everything that lives as long as it."""

    def __init__(
        self,
        connection: Connection,
        ready: ReadyWatch,
        documents: OpenDocuments,
        follower: Follower,
        *,
        initialized: dict[str, Any],
        encoding: str,
    ) -> None:
        self.connection = connection
        self.ready = ready
        self.documents = documents
        self.follower = follower
        self.encoding = encoding
        self.started = time.monotonic()
        capabilities = initialized.get("capabilities")
        self.capabilities: dict[str, Any] = capabilities if isinstance(capabilities, dict) else {}
        self.diagnostics: dict[str, list[Any]] = {}
        self.diagnosed = asyncio.Event()
        self.symbols = SymbolRequests()


async def start_server(
    spec: ServerSpec,
    command: tuple[str, ...],
    workspace: Path,
    root: Path,
    limits: Limits,
    *,
    begun: asyncio.Future[Snapshot],
    read: Callable[[str], str | None],
) -> InitializedServer:
    """A server for `root` that has answered `initialize` and knows of the files in the snapshot.

    Raises:
        LSPError: It cannot be started, or does not answer in time; no process is left.
    """
    name = spec.name
    process = await ServerProcess.start(
        name,
        command,
        cwd=empty_folder(workspace) if spec.confined else root,
        env=outside_environment(workspace) if spec.confined else None,
    )
    # The server starts while these are imported.
    from foldline.backends.lsp.connection import Connection
    from foldline.backends.lsp.documents import Follower, OpenDocuments
    from foldline.backends.lsp.readiness import ReadyWatch

    connection = Connection(name, process)
    try:
        ready = ReadyWatch(spec, connection, limits)
        answer_requests(connection, spec, root)
        answer = await connection.request(
            "initialize",
            initialize_params(spec, root),
            seconds=limits.start,
        )
        if not isinstance(answer, dict):
            raise LSPStartError("its answer to initialize is not an object", name)
        documents = OpenDocuments(workspace, connection.notify, limits.open_documents)
        follower = Follower(spec, documents, connection.notify)
        running = InitializedServer(
            connection,
            ready,
            documents,
            follower,
            initialized=answer,
            encoding=position_encoding(answer),
        )
        _collect_diagnostics(running)
        # What it reads is as new as the snapshot, which others wait for too.
        snapshot = await asyncio.shield(begun)
        connection.notify("initialized", {})
        follower.begin(snapshot, read)
        ready.begin()
    except BaseException:
        # Cancelled or failed: nothing is left to wait for.
        await asyncio.shield(connection.close(min(limits.grace, CLOSING_GRACE)))
        raise
    return running


def _collect_diagnostics(running: InitializedServer) -> None:
    def collect(params: Any) -> None:
        uri, diagnostics = params.get("uri"), params.get("diagnostics")
        if isinstance(uri, str) and isinstance(diagnostics, list):
            running.diagnostics[uri] = diagnostics
            running.documents.unread.discard(uri)
            running.diagnosed.set()
            running.diagnosed = asyncio.Event()

    running.connection.on("textDocument/publishDiagnostics", collect)


# Requests and notifications that foldline accepts and has no use for.
_ACCEPTED = (
    "client/registerCapability",
    "client/unregisterCapability",
    "window/workDoneProgress/create",
    "window/showMessageRequest",
    "window/showMessage",
    "telemetry/event",
    "workspace/diagnostic/refresh",
    "workspace/semanticTokens/refresh",
    "workspace/inlayHint/refresh",
    "workspace/codeLens/refresh",
)
# All kinds of symbols in LSP.
_SYMBOL_KINDS = range(1, 27)


def initialize_params(spec: ServerSpec, root: Path) -> dict[str, object]:
    """The request that opens a connection for the folder `root`."""
    return {
        "processId": os.getpid(),
        "clientInfo": {"name": "foldline", "version": VERSION},
        "locale": "en",
        "rootPath": str(root),
        "rootUri": root.as_uri(),
        "workspaceFolders": [_folder(root)],
        "capabilities": _capabilities(),
        "initializationOptions": dict(spec.initialization_options),
    }


def answer_requests(connection: Connection, spec: ServerSpec, root: Path) -> None:
    """Answer what servers request of a client; everything else gets "method not found"."""

    def configuration(params: Any) -> list[object]:
        return [value_at(spec.settings, str(item.get("section") or "")) for item in params["items"]]

    def folders(_: object) -> list[object]:
        return [_folder(root)]

    def refuse_edit(_: object) -> dict[str, object]:
        reason = "foldline reads the workspace and never changes it"
        return {"applied": False, "failureReason": reason}

    def accept(_: object) -> None:
        return None

    connection.on("workspace/configuration", configuration)
    connection.on("workspace/workspaceFolders", folders)
    connection.on("workspace/applyEdit", refuse_edit)
    for method in _ACCEPTED:
        connection.on(method, accept)


def position_encoding(answer: object) -> str:
    """The encoding that the server chose; UTF-16 where it doesn't say."""
    capabilities = answer.get("capabilities") if isinstance(answer, dict) else None
    chosen = capabilities.get("positionEncoding") if isinstance(capabilities, dict) else None
    return chosen if chosen in OFFERED else UTF16


def _folder(root: Path) -> dict[str, str]:
    return {"uri": root.as_uri(), "name": root.name}


def _capabilities() -> dict[str, object]:
    dynamic = {"dynamicRegistration": True}
    return {
        "workspace": {
            "applyEdit": False,
            "configuration": True,
            "workspaceFolders": True,
            "didChangeConfiguration": dynamic,
            "didChangeWatchedFiles": {**dynamic, "relativePatternSupport": True},
        },
        "textDocument": {
            "synchronization": dynamic,
            "references": dynamic,
            "definition": {"linkSupport": True},
            "implementation": {"linkSupport": True},
            "documentSymbol": {
                "hierarchicalDocumentSymbolSupport": True,
                "symbolKind": {"valueSet": list(_SYMBOL_KINDS)},
            },
            "hover": {"contentFormat": ["plaintext"]},
            "callHierarchy": {},
            "publishDiagnostics": {"versionSupport": True},
            "diagnostic": {},
        },
        "window": {"workDoneProgress": True},
        "general": {"positionEncodings": list(OFFERED)},
        "experimental": {"serverStatusNotification": True},
    }
