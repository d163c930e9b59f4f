"""The JSON-RPC protocol, held to two rules.

Every request is answered exactly once: the base class drops requests that come after `shutdown`,
that do not fit their type, or whose answer isn't JSON. And nothing of a message stays once it is
dealt with: the base class keeps the outcome of each command and of each notification.
"""

import json
import logging
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import attrs
from cattrs import BaseValidationError, Converter, transform_error
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, default_converter, json_rpc, lsp_method

from foldline.backends.base.uris import uri_of_path
from foldline.ide.uris import local_path
from foldline.server.documents import Documents

log = logging.getLogger(__name__)

MAX_UNANSWERED = 256
"""Our own requests that wait for the client; beyond that the oldest are given up."""


def message_converter() -> Converter:
    """The converter of messages; those of our own methods keep their parameters as they came.

    The base makes tuples of them, whose names are lost where they are no Python names.
    """
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]  # Untyped in pygls.
    for kind in (json_rpc.JsonRPCNotification, json_rpc.JsonRPCRequestMessage):
        converter.register_structure_hook(
            kind, lambda message, kind: kind(**{"params": None, **message})
        )
    return converter


class FoldlineProtocol(LanguageServerProtocol):
    def __init__(self, server: Any, converter: Converter) -> None:
        super().__init__(server, converter)
        # Apart from the client's requests: both sides choose their ids as they like.
        self._asked: dict[json_rpc.MsgId, Future[Any]] = {}
        self._shutdown_id: json_rpc.MsgId | None = None
        self._running: set[json_rpc.MsgId] = set()

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
        """True once the client has sent `shutdown`, so that an exit is not a failure."""
        return self._shutdown

    # A method, for the same reason.
    def is_asked(self) -> bool:
        """True while a request of the client waits for its answer."""
        return bool(self._running)

    # What comes in

    def receive(self, content: bytes) -> None:
        """Handle one message as it came; a fault of ours is logged, and ends nothing."""
        try:
            self.handle_message(json.loads(content))
        except Exception as error:
            if not isinstance(error, (ValueError, RecursionError)):
                log.exception("A message can't be handled")
            self.answer_unreadable(error)

    def handle_message(self, message: object) -> None:
        """Handle one message, which is still plain JSON."""
        if not isinstance(message, dict):
            problem = f"expected one JSON object, got {type(message).__name__}"
            self.answer_unreadable(ValueError(problem))
            return
        if "method" not in message and ("result" in message or "error" in message):
            self._take_answer(message)
            return
        if "id" in message and not _is_id(message["id"]):
            self.answer_unreadable(ValueError("an `id` is a string or an integer"))
            return
        try:
            structured = self._structured(message)
        except JsonRpcException as refusal:
            if "method" not in message:
                # Its id, if it has one, may be one of ours.
                self.answer_unreadable(refusal)
            elif "id" not in message:
                log.warning("A notification is ignored: %s", refusal)
            else:
                self._send_response(message["id"], error=refusal.to_response_error())
        else:
            super().handle_message(structured)

    def _structured(self, message: dict[str, Any]) -> Any:
        """The request or notification; `JsonRpcException` where it's refused, or fits no type."""
        method = message.get("method")
        if not isinstance(method, str) or message.get("jsonrpc") != self.VERSION:
            raise JsonRpcInvalidRequest('a message has "jsonrpc": "2.0" and a `method`')
        refusal = self._refusal(message, method)
        if refusal is not None:
            raise refusal
        is_request = "id" in message
        kind = self.get_message_type(method)
        if kind is None:
            kind = json_rpc.JsonRPCRequestMessage if is_request else json_rpc.JsonRPCNotification
        elif is_request and "id" not in attrs.fields_dict(kind):
            raise JsonRpcInvalidRequest(f"{method} is a notification: send it without an `id`")
        try:
            return self._converter.structure(message, kind)
        except _MISFITS as error:
            raise JsonRpcInvalidParams(f"{method}: {_problems(error)}") from error

    def _refusal(self, message: dict[str, Any], method: str) -> JsonRpcException | None:
        """Return why the protocol's state forbids a message; None if it doesn't."""
        if method == types.EXIT:
            return None
        if self._shutdown:
            return JsonRpcInvalidRequest("The server has been shut down")
        if not self.is_initialized and method != types.INITIALIZE:
            return JsonRpcServerNotInitialized("The first request must be initialize")
        if self.is_initialized and method == types.INITIALIZE:
            return JsonRpcInvalidRequest("The server is already initialized")
        if "id" in message and message["id"] in self._request_futures:
            # One answer could not be told from the other.
            return JsonRpcInvalidRequest(f"The request {message['id']!r} was not answered yet")
        return None

    def answer_unreadable(self, cause: Exception) -> None:
        """Answer a message of which not even the id could be read."""
        refusal: JsonRpcException = JsonRpcInvalidRequest(f"The message is not JSON-RPC: {cause}")
        if isinstance(cause, (json.JSONDecodeError, UnicodeDecodeError)):
            refusal = JsonRpcParseError(f"The message is not JSON: {cause}")
        # As it is: the message types leave out what is null, and the id must be there.
        error = {"code": refusal.code, "message": refusal.message}
        self._send_data({"jsonrpc": self.VERSION, "id": None, "error": error})

    # Requests of the client

    def _execute_handler(
        self,
        msg_id: json_rpc.MsgId,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future = self._request_futures.get(msg_id)
        if future is None:
            return
        if msg_id == self.msg_id:
            # Not a notification, which the base gives an id of its own.
            self._running.add(msg_id)

        def forget(done: Future[Any]) -> None:
            self._running.discard(msg_id)
            if self._request_futures.get(msg_id) is done:
                del self._request_futures[msg_id]

        # The base forgets requests alone, not what it runs under ids of its own: the outcome of
        # each notification would stay, with the frames of its exception.
        future.add_done_callback(forget)

    def _run_generator(
        self,
        future: Future[Any] | None,
        *,
        gen: Generator[Any, Any, Any],
        result_future: Future[Any],
    ) -> None:
        """Go on with a generator, unless what it waits for was cancelled: the server ends."""
        if future is not None and future.cancelled():
            gen.close()
            result_future.cancel()
        else:
            super()._run_generator(future, gen=gen, result_future=result_future)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(
        self, params: types.InitializeParams
    ) -> Generator[Any, Any, types.InitializeResult]:
        """Begin the session; a root that isn't a folder of this machine counts as none."""
        # The base class fails at such a one.
        located = attrs.evolve(params, root_uri=_root_uri(params), root_path=None)
        return (yield from super().lsp_initialize(located))

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # type: ignore[override]  # A generator there.
        self, params: types.ExecuteCommandParams
    ) -> Any:
        """Execute a command in the request's own task, so that cancelling one ends the other."""
        handler = self.fm.commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams(f"There is no command {params.command!r}")
        return await handler(*params.arguments or ())

    def _handle_cancel_notification(self, msg_id: json_rpc.MsgId) -> None:
        """Cancel a request, which stays known until it is answered."""
        # The types let anything pass for an id.
        future = self._request_futures.get(msg_id) if _is_id(msg_id) else None
        if future is not None:
            future.cancel()

    def _send_handler_result(self, future: Future[Any], *, msg_id: json_rpc.MsgId) -> None:
        if self._shutdown and msg_id != self._shutdown_id:
            return  # `shutdown` has answered it.
        refusal = None if future.cancelled() else future.exception()
        if isinstance(refusal, JsonRpcException):
            # The base would log its traceback, as if it were a fault of ours.
            log.info("The request %r is refused: %s", msg_id, refusal)
            self._send_response(msg_id, error=refusal.to_response_error())
        else:
            super()._send_handler_result(future, msg_id=msg_id)

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, params: None) -> Generator[Any, Any, None]:
        """End what runs for the client, after each request that waits was answered."""
        self._shutdown_id = self.msg_id
        self._shutdown = True
        waiting = [item for item in self._request_futures.items() if item[0] != self._shutdown_id]
        # At once, not when they have ended: `exit` may follow without a pause.
        refusal = JsonRpcRequestCancelled("The server was shut down").to_response_error()
        for msg_id, future in waiting:
            if msg_id in self._running:
                self._send_response(msg_id, error=refusal)
            future.cancel()
        if (handler := self.fm.features.get(types.SHUTDOWN)) is not None:
            yield handler, (params,), None

    # Requests of our own

    def send_request(
        self,
        method: str,
        params: Any | None = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: json_rpc.MsgId | None = None,
    ) -> Future[Any]:
        """Send a request; what the client never answers is given up when many wait."""
        msg_id = str(uuid4()) if msg_id is None else msg_id
        future = super().send_request(method, params, callback, msg_id)
        self._asked[msg_id] = self._request_futures.pop(msg_id)
        # Also when our side stops waiting.
        future.add_done_callback(lambda _: self._forget_own(msg_id))
        while len(self._asked) > MAX_UNANSWERED:
            oldest = next(iter(self._asked))
            self._settle(oldest, JsonRpcRequestCancelled("The client does not answer"))
        return future

    def _take_answer(self, message: dict[str, Any]) -> None:
        """Take the client's answer to a request of ours; a late or an invented one is dropped."""
        msg_id = message.get("id")
        if not _is_id(msg_id) or msg_id not in self._asked:
            log.debug("An answer to %r, which is not waited for", msg_id)
            return
        kind = self._result_types.get(msg_id) or json_rpc.JsonRPCResponseMessage
        try:
            if "error" in message:
                error = self._converter.structure(message["error"], types.ResponseError)
                self._settle(msg_id, JsonRpcException.from_error(error))
            else:
                self._settle(msg_id, self._converter.structure(message, kind).result)
        except _MISFITS as error:
            self._settle(msg_id, JsonRpcInvalidParams(f"The client's answer: {_problems(error)}"))

    def _settle(self, msg_id: json_rpc.MsgId, outcome: object) -> None:
        future = self._asked[msg_id]
        self._forget_own(msg_id)
        # False where our side has stopped waiting.
        if future.set_running_or_notify_cancel():
            if isinstance(outcome, JsonRpcException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _forget_own(self, msg_id: json_rpc.MsgId) -> None:
        self._asked.pop(msg_id, None)
        self._result_types.pop(msg_id, None)

    # What goes out

    def plain(self, result: object) -> object:
        """A handler's result as it goes into JSON."""
        return self._converter.unstructure(result)

    def _send_data(self, data: Any) -> None:
        """Send a message; an answer that isn't JSON becomes an error, a notification is lost."""
        message = data
        if type(data) is json_rpc.JsonRPCResponseMessage:
            # Its result is plain already, and may be large: the event loop doesn't copy it.
            message = {"id": data.id, "jsonrpc": data.jsonrpc, "result": data.result}
        try:
            body = json.dumps(message, default=self._serialize_message, allow_nan=False)
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            log.exception("A message cannot be sent as JSON")
            self._send_unsendable(data, error)
            return
        if self.writer is None:
            log.error("There is no client to send to")
            return
        header = (
            f"Content-Length: {len(body)}\r\n"
            f"Content-Type: {self.CONTENT_TYPE}; charset={self.CHARSET}\r\n\r\n"
        )
        # All that isn't ASCII is escaped.
        self.writer.write(f"{header}{body}".encode("ascii"))

    def _send_unsendable(self, data: Any, cause: Exception) -> None:
        msg_id = getattr(data, "id", None)
        if msg_id is None or hasattr(data, "method"):
            return
        if not isinstance(data, types.ResponseErrorMessage):
            refusal = JsonRpcInternalError(f"The answer cannot be sent as JSON: {cause}")
            self._send_response(msg_id, error=refusal.to_response_error())
        elif data.error is not None and data.error.data is not None:
            self._send_response(msg_id, error=attrs.evolve(data.error, data=None))


# The exceptions of structuring JSON that does not fit.
_MISFITS = (BaseValidationError, ValueError, TypeError, KeyError, AttributeError, RecursionError)


def _root_uri(params: types.InitializeParams) -> str | None:
    """The root that a client without workspace folders names."""
    uri = params.root_uri
    if uri is None and params.root_path:
        # An older client has a path alone.
        with suppress(ValueError):
            uri = uri_of_path(Path(params.root_path))
    return uri if uri is not None and local_path(uri) is not None else None


def _is_id(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _problems(error: BaseException) -> str:
    """Return the first problems of a message, for the client."""
    if isinstance(error, BaseValidationError):
        return "; ".join(transform_error(error, path="params")[:3])
    return str(error) or type(error).__name__
