"""What foldline tells a server of itself, and how it answers what servers ask of their client."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from foldline.backends.lsp.positions import OFFERED, UTF16

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from foldline.backends.lsp.connection import Connection
    from foldline.backends.lsp.servers import ServerSpec


def initialize_params(spec: ServerSpec, root: Path) -> types.InitializeParams:
    """The request that opens a connection for the folder `root`."""
    return types.InitializeParams(
        capabilities=_capabilities(),
        process_id=os.getpid(),
        client_info=types.ClientInfo("foldline", version("foldline")),
        locale="en",
        root_path=str(root),
        root_uri=root.as_uri(),
        workspace_folders=[types.WorkspaceFolder(root.as_uri(), root.name)],
        initialization_options=dict(spec.initialization_options),
    )


def answer_requests(connection: Connection, spec: ServerSpec, root: Path) -> None:
    """Answer what servers ask of a client; everything else gets "method not found"."""

    def configuration(params: Any) -> list[object]:
        return [_setting(spec.settings, item.get("section")) for item in params["items"]]

    def nothing(_: Any) -> None:
        return None

    def folders(_: Any) -> list[types.WorkspaceFolder]:
        return [types.WorkspaceFolder(root.as_uri(), root.name)]

    def refuse_edit(_: Any) -> types.ApplyWorkspaceEditResult:
        return types.ApplyWorkspaceEditResult(
            applied=False, failure_reason="foldline reads the workspace and never changes it"
        )

    connection.on(types.WORKSPACE_CONFIGURATION, configuration)
    connection.on(types.WORKSPACE_WORKSPACE_FOLDERS, folders)
    connection.on(types.WORKSPACE_APPLY_EDIT, refuse_edit)
    for method in (
        types.CLIENT_REGISTER_CAPABILITY,
        types.CLIENT_UNREGISTER_CAPABILITY,
        types.WINDOW_WORK_DONE_PROGRESS_CREATE,
        types.WINDOW_SHOW_MESSAGE_REQUEST,
        types.WINDOW_SHOW_MESSAGE,
        types.TELEMETRY_EVENT,
        types.WORKSPACE_DIAGNOSTIC_REFRESH,
        types.WORKSPACE_SEMANTIC_TOKENS_REFRESH,
        types.WORKSPACE_INLAY_HINT_REFRESH,
        types.WORKSPACE_CODE_LENS_REFRESH,
    ):
        connection.on(method, nothing)


def position_encoding(answer: object) -> str:
    """The encoding that the server chose; it is UTF-16 where it does not say."""
    capabilities = answer.get("capabilities") if isinstance(answer, dict) else None
    chosen = capabilities.get("positionEncoding") if isinstance(capabilities, dict) else None
    return chosen if chosen in OFFERED else UTF16


def _setting(settings: Mapping[str, object], section: object) -> object:
    """The settings at a dotted `section`, or all of them; None where there are none."""
    value: object = settings
    for part in str(section).split(".") if section else ():
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _capabilities() -> types.ClientCapabilities:
    kinds = list(types.SymbolKind)
    return types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            configuration=True,
            workspace_folders=True,
            apply_edit=False,
            did_change_configuration=types.DidChangeConfigurationClientCapabilities(
                dynamic_registration=True
            ),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
                dynamic_registration=True, relative_pattern_support=True
            ),
        ),
        text_document=types.TextDocumentClientCapabilities(
            synchronization=types.TextDocumentSyncClientCapabilities(dynamic_registration=True),
            references=types.ReferenceClientCapabilities(dynamic_registration=True),
            definition=types.DefinitionClientCapabilities(link_support=True),
            implementation=types.ImplementationClientCapabilities(link_support=True),
            document_symbol=types.DocumentSymbolClientCapabilities(
                hierarchical_document_symbol_support=True,
                symbol_kind=types.ClientSymbolKindOptions(kinds),
            ),
            hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.PlainText]),
            call_hierarchy=types.CallHierarchyClientCapabilities(),
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(version_support=True),
            diagnostic=types.DiagnosticClientCapabilities(),
        ),
        window=types.WindowClientCapabilities(work_done_progress=True),
        general=types.GeneralClientCapabilities(
            position_encodings=[types.PositionEncodingKind(name) for name in OFFERED]
        ),
        experimental={"serverStatusNotification": True},
    )
