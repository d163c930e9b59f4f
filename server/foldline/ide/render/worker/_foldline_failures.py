"""What a failed request is answered with: a kind, a message, and the user's line."""

import sys
import traceback
from pathlib import Path
from typing import Any

import _foldline_job
from _foldline_json import encoded


class RequestError(Exception):
    """A failure that knows what it is.

    Attributes:
        fields: The kind, the message, and whatever else a client can use.
    """

    def __init__(self, kind: str, message: str, **fields: object) -> None:
        super().__init__(message)
        self.fields = {"kind": kind, "message": message, **fields}


def failure(kind: str, message: str, **fields: object) -> bytes:
    return encoded({"failure": {"kind": kind, "message": message, **fields}})


def ended(request: _foldline_job.Request, status: int) -> bytes:
    """The failure of a process that ended without an answer."""
    file = request["file"]
    how = f"was killed by signal {-status}" if status < 0 else f"exited with status {status}"
    return failure("exit", f"{Path(file).name}: its process {how}", file=file, status=status)


def late(request: _foldline_job.Request, places: list[tuple[str, int]]) -> bytes:
    """The failure of a process whose deadline has passed at `places`, the innermost last."""
    file, line = _users_place(places, request)
    message = f"{_where(file, line)}: still running after {request['deadline']:g} s"
    return failure("deadline", message, file=file, line=line)


def raised(error: BaseException, request: _foldline_job.Request) -> bytes:
    """The failure that `error` is, with the user's line that it came from."""
    if isinstance(error, RequestError):
        return encoded({"failure": error.fields})
    return failure("exception", **about(error, request))


def about(error: BaseException, request: _foldline_job.Request) -> dict[str, Any]:
    """What `error` says, and the deepest line of the user's that it came from."""
    cause = error
    while cause.__cause__ is not None and type(cause).__module__.startswith("foldline.prompts"):
        # The library tells which section it was; what the user's code raised is below that.
        cause = cause.__cause__
    users = _users_places(cause, request) or _users_places(error, request)
    file, line = users[-1] if users else (request["file"], None)
    text = f"sys.exit({error.code!r})" if isinstance(error, SystemExit) else str(error)
    return {
        "message": f"{_where(file, line)}: {type(error).__name__}: {text}",
        "file": file,
        "line": line,
        "type": type(cause).__name__,
        "traceback": "".join(traceback.format_exception(error)),
    }


def _users_places(error: BaseException, request: _foldline_job.Request) -> list[tuple[str, int]]:
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename, frame.lineno or 0) for frame in frames]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno or 0))
    return [(file, line) for file, line in places if is_users(file, request)]


def _users_place(
    places: list[tuple[str, int]], request: _foldline_job.Request
) -> tuple[str, int | None]:
    """The last of `places` that is in the user's own code, or else the module as a whole."""
    users = [(file, line) for file, line in places if is_users(file, request)]
    return users[-1] if users else (request["file"], None)


def is_users(file: str, request: _foldline_job.Request) -> bool:
    """Whether `file` belongs to the workspace, rather than to an installed package or to us."""
    path = Path(file)
    if path == Path(request["file"]):
        return True
    foldline = getattr(sys.modules.get("foldline.prompts"), "__file__", None) or __file__
    return (
        path.is_relative_to(request["root"])
        and not {"site-packages", "dist-packages"} & set(path.parts)
        and not path.is_relative_to(Path(foldline).parent)
        and not path.is_relative_to(Path(__file__).parent)
    )


def _where(file: str, line: int | None) -> str:
    return f"{Path(file).name}:{line}" if line else Path(file).name
