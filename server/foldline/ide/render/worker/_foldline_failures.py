"""Failures of requests: a kind, a message, and the user's line."""

import sys
import traceback
from pathlib import Path
from typing import Any

import _foldline_job
from _foldline_json import encoded


class RequestError(Exception):
    """A failure with structured fields.

    Attributes:
        fields: The kind, the message, and further details for clients.
    """

    def __init__(self, kind: str, message: str, **fields: object) -> None:
        super().__init__(message)
        self.fields = {"kind": kind, "message": message, **fields}


def failure(kind: str, message: str, **fields: object) -> bytes:
    return encoded({"failure": {"kind": kind, "message": message, **fields}})


def exited(request: _foldline_job.Request, status: int) -> bytes:
    """Encode the failure of a process that ended without an answer."""
    file = request["file"]
    how = f"was killed by signal {-status}" if status < 0 else f"exited with status {status}"
    return failure("exit", f"{Path(file).name}: its process {how}", file=file, status=status)


def timed_out(request: _foldline_job.Request, places: list[tuple[str, int]]) -> bytes:
    """Encode the failure of a process whose deadline passed at `places`, innermost last."""
    file, line = _users_place(places, request)
    message = f"{_where(file, line)}: still running after {request['deadline']:g} s"
    return failure("deadline", message, file=file, line=line)


def raised(error: BaseException, request: _foldline_job.Request) -> bytes:
    """Encode `error` as a failure, with the user's line that raised it."""
    if isinstance(error, RequestError):
        return encoded({"failure": error.fields})
    return failure("exception", **describe(error, request))


def describe(error: BaseException, request: _foldline_job.Request) -> dict[str, Any]:
    """Return the message of `error`, and the innermost line of the user's that raised it."""
    cause = error
    while cause.__cause__ is not None and type(cause).__module__.startswith("foldline.prompts"):
        # The library's error names the section; the user's error is its cause.
        cause = cause.__cause__
    file, line = _users_place([*_places(error), *_places(cause)], request)
    what = type(error).__name__
    text = f"sys.exit({error.code!r})" if isinstance(error, SystemExit) else str(error)
    if isinstance(error, SyntaxError) and (file, line) == (error.filename, error.lineno):
        # The whole text says the place once more.
        what, text = "this isn't Python", error.msg
    text = " ".join([text, *getattr(error, "__notes__", ())])
    return {
        "message": f"{_where(file, line)}: {what}: {text}",
        "file": file,
        "line": line,
        "type": type(cause).__name__,
        "traceback": "".join(traceback.format_exception(error)),
    }


def _places(error: BaseException) -> list[tuple[str, int]]:
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename, frame.lineno or 0) for frame in frames]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno or 0))
    return places


def _users_place(
    places: list[tuple[str, int]], request: _foldline_job.Request
) -> tuple[str, int | None]:
    """Return the last of `places` in the user's own code, or else the module without a line."""
    users = [(file, line) for file, line in places if is_users(file, request)]
    return users[-1] if users else (request["file"], None)


def is_users(file: str, request: _foldline_job.Request) -> bool:
    """Return True if `file` is in the workspace, not in an installed package or in foldline."""
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
