"""The core's failures as JSON-RPC errors, in one place.

IdeError, BackendError    RequestFailed (-32803), with the failure's kind and details as data
ArgumentsError            InvalidParams (-32602); `data.fields` names what doesn't fit
"""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from foldline.backends.errors import LONGEST_MESSAGE, BackendError, cut
from foldline.ide.errors import ArgumentsError, IdeError, data_of
from foldline.ide.uris import uri_of

_MOST_ITEMS = 20


def request_failure(error: IdeError | BackendError) -> JsonRpcException:
    """The answer to a request that failed of `error`."""
    data = {name: _bounded(value) for name, value in data_of(error).items()}
    if isinstance(file := data.get("file"), str):
        data["uri"] = uri_of(Path(file))
    invalid = isinstance(error, ArgumentsError)
    code = types.ErrorCodes.InvalidParams if invalid else types.LSPErrorCodes.RequestFailed
    return JsonRpcException(cut(str(error), LONGEST_MESSAGE), code.value, data)


def _bounded(value: object) -> object:
    """A field of an error: it may echo what a client sent, however long that was."""
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, list | tuple):
        return [_bounded(item) for item in value[:_MOST_ITEMS]]
    return value
