"""What a request is answered with when it fails.

Every error carries structured data, whose `kind` says which failure it is:

    RequestFailed (-32803)
    ├── untrusted        executing the workspace's code was not allowed
    ├── no_document      no document was named and none has the focus
    ├── no_prompt        the document holds no such prompt; `near` lists what there is
    ├── no_preview       there is no such preview
    ├── no_server        no language server of that name runs; `near` lists those that do
    ├── exception        the user's code raised; `file` and `line` say where
    ├── deadline         the user's code was still running, at `file` and `line`
    ├── exit             the user's process ended without an answer
    ├── output           the answer is too large
    ├── extra            a package is missing; the message says which extra brings it
    ├── interpreter      the interpreter does not start
    ├── no_foldline      the interpreter has no foldline installed
    ├── values           a file of values or a `preview_*()` function cannot be used
    ├── revision         git has no such revision, or it does not hold the module
    ├── prompt           the module is fine and the request is not: a name, params, an override
    ├── tool             the prompt's own tool refused the arguments; `near` lists keys
    ├── path             the path is missing, ignored, binary, too large or outside
    └── symbol           the file holds no such symbol; `near` lists candidates
    InvalidParams (-32602)
    └── arguments        `fields` names what does not fit
"""

from lsprotocol.types import ErrorCodes, LSPErrorCodes
from pygls.exceptions import JsonRpcException

from foldline.backends.errors import (
    LONGEST_MESSAGE,
    BackendError,
    InvalidArgumentError,
    SymbolError,
    cut,
)

_MOST_ITEMS = 20


class RequestFailed(JsonRpcException):
    """A request that was understood and could not be carried out."""

    def __init__(self, kind: str, message: str, **data: object) -> None:
        known = {name: _bounded(value) for name, value in data.items() if value is not None}
        super().__init__(
            cut(message, LONGEST_MESSAGE),
            LSPErrorCodes.RequestFailed.value,
            {"kind": kind, **known},
        )


class InvalidArguments(JsonRpcException):
    """A command's arguments that do not fit."""

    def __init__(self, message: str, fields: tuple[str, ...]) -> None:
        data = {"kind": "arguments", "fields": _bounded(fields)}
        super().__init__(cut(message, LONGEST_MESSAGE), ErrorCodes.InvalidParams.value, data)


def backend_failure(error: BackendError) -> RequestFailed:
    """`error` of the backends as the answer to a request, with its fields."""
    kind = "symbol" if isinstance(error, SymbolError) else "path"
    if isinstance(error, InvalidArgumentError):
        kind = "arguments"
    return RequestFailed(kind, str(error), **vars(error))


def _bounded(value: object) -> object:
    """A field of an error: it may echo what a client sent, however long that was."""
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, list | tuple):
        return [_bounded(item) for item in value[:_MOST_ITEMS]]
    return value
