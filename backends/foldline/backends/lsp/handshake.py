"""The introduction of foldline to a server, and the replies to the requests of servers."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from foldline.backends.lsp.locations import OFFERED, UTF16

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from foldline.backends.lsp.connection import Connection
    from foldline.backends.lsp.servers import ServerSpec

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
        "clientInfo": {"name": "foldline", "version": version("foldline")},
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
        return [_setting(spec.settings, item.get("section")) for item in params["items"]]

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


def _setting(settings: Mapping[str, object], section: object) -> object:
    """The settings at a dotted `section`, or all of them; None where there are none."""
    value: object = settings
    for part in str(section).split(".") if section else ():
        value = value.get(part) if isinstance(value, dict) else None
    return value


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
