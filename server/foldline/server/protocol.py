"""The JSON-RPC protocol, held to one rule: every request is answered exactly once.

The base class drops requests that come after `shutdown`, that do not fit their type, or whose JSON
is broken, so that a client would wait for ever.
"""

import json
from typing import Any

from cattrs import Converter
from lsprotocol.types import EXIT, INITIALIZE
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.protocol.json_rpc import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    RPCMessage,
    RPCNotification,
    RPCRequest,
)

from foldline.server.documents import Documents


def message_converter() -> Converter:
    """The converter of messages; those of our own methods keep their parameters as they came.

    The base makes tuples of them, whose names are lost where they are no Python names.
    """
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]  # Untyped in pygls.
    for kind in (JsonRPCNotification, JsonRPCRequestMessage):
        converter.register_structure_hook(
            kind, lambda message, kind: kind(**{"params": None, **message})
        )
    return converter


# Notifications whose name starts so may be ignored by whoever does not know them.
_IGNORED = JsonRPCNotification(method="$/unanswerable", jsonrpc="2.0", params=None)


class FoldlineProtocol(LanguageServerProtocol):
    # A method, because the base class looks at the value of every property when it is made.
    def get_documents(self) -> Documents:
        """The open documents and the workspace folders; there are none before `initialize`."""
        workspace = self.workspace
        if not isinstance(workspace, Documents):
            workspace = Documents(
                workspace.root_uri,
                workspace_folders=list(workspace.folders.values()),
                position_encoding=workspace.position_encoding,
            )
            self._workspace = workspace
        return workspace

    @property
    def is_initialized(self) -> bool:
        return self._workspace is not None

    @property
    def is_shut_down(self) -> bool:
        """Whether the client has sent `shutdown`, so that an exit is not a failure."""
        return self._shutdown

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" not in data:
                raise
            if "id" in data:
                self._send_response(data["id"], error=error.to_response_error())
            return _IGNORED

    def handle_message(self, message: RPCMessage) -> None:
        refusal = self._refusal(message)
        if refusal is None:
            super().handle_message(message)
        elif isinstance(message, RPCRequest):
            self._send_response(message.id, error=refusal.to_response_error())

    def answer_unreadable(self, cause: Exception) -> None:
        """Answer a message of which not even the id could be read."""
        refusal: JsonRpcException = JsonRpcInvalidRequest(f"The message is not JSON-RPC: {cause}")
        if isinstance(cause, (json.JSONDecodeError, UnicodeDecodeError)):
            refusal = JsonRpcParseError(f"The message is not JSON: {cause}")
        # As it is: the message types leave out what is null, and the id must be there.
        error = {"code": refusal.code, "message": refusal.message}
        self._send_data({"jsonrpc": self.VERSION, "id": None, "error": error})

    def _refusal(self, message: RPCMessage) -> JsonRpcException | None:
        """Why `message` may not be handled in this state of the protocol, if it may not."""
        if not isinstance(message, (RPCRequest, RPCNotification)) or message.method == EXIT:
            return None
        if self._shutdown:
            return JsonRpcInvalidRequest("The server has been shut down")
        if not self.is_initialized and message.method != INITIALIZE:
            return JsonRpcServerNotInitialized("The first request must be initialize")
        if self.is_initialized and message.method == INITIALIZE:
            return JsonRpcInvalidRequest("The server is already initialized")
        return None
