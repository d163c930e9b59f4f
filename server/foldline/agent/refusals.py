"""Errors as the command line shows them: one line for people, one JSON object for programs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from errno import EBADF, EDQUOT, EFBIG, EIO, ENOSPC
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from foldline.agent.exit_statuses import FAULT, NOTHING, REFUSED
from foldline.agent.terminal import complain, json_text, show
from foldline.backends.base.extras import extra_of, needs
from foldline.backends.errors import IgnoredPathError, PathError, SymbolNotFoundError, cut
from foldline.backends.formatting.visible import visible
from foldline.ide.errors import REFUSALS, NothingDefined, RenderError, data_of
from foldline.ide.operations import operations

if TYPE_CHECKING:
    from foldline.ide.plugins import Part

# Errors of writing to a stream; an error of a file also has its name.
_UNWRITTEN = frozenset({EBADF, EDQUOT, EFBIG, EIO, ENOSPC})
TRACEBACK = "FOLDLINE_TRACEBACK"
"""The environment variable that shows where foldline itself failed."""


class Refused(Exception):  # noqa: N818 - As the core's errors.
    """A command line that can't be carried out; programs get its `kind` and the details."""

    def __init__(
        self,
        message: str,
        *,
        status: int = REFUSED,
        kind: str = "arguments",
        data: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.data = dict(data or {})


def refused_by(error: Exception, verb: str) -> Refused | None:
    """Return an error of a verb as the command line reports it; None for a bug."""
    if isinstance(error, ModuleNotFoundError):
        return missing_extra(error, verb)
    if not isinstance(error, REFUSALS):
        return None
    found_nothing = isinstance(error, (SymbolNotFoundError, NothingDefined))
    mends_the_prompt = isinstance(error, RenderError) and error.mendable
    data: dict[str, Any] = data_of(error)
    if isinstance(error, PathError):
        # The message says it in this shell's words.
        del data["reason"]
    return Refused(
        _message(error),
        status=NOTHING if found_nothing or mends_the_prompt else REFUSED,
        kind=data.pop("kind"),
        data=data,
    )


def fault_of_plugin(part: Part | None, error: Exception) -> Refused | None:
    """Return an error of a verb as a fault of another's plugin; None if it isn't one."""
    refusals = (Refused, BrokenPipeError, *REFUSALS)
    if part is None or part.entry.ours or isinstance(error, refusals) or os.environ.get(TRACEBACK):
        return None
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return Refused(
        f"{part.entry.shown} failed: {what} ({TRACEBACK}=1 shows where)", status=FAULT, kind="fault"
    )


def report(error: Exception, words: Sequence[str]) -> int:
    """Print the error of a command line, and return its exit status."""
    if isinstance(error, OSError) and error.filename is None and error.errno in _UNWRITTEN:
        error = Refused(f"can't write the answer: {error.strerror}", kind="output")
    if type(error) is FileNotFoundError and error.filename is None:
        # Only `os.getcwd` names no file.
        error = Refused("the folder that you are in is gone: change to another", kind="unreadable")
    refused = error if isinstance(error, Refused) else refused_by(error, words[0])
    if refused is None and isinstance(error, OSError) and error.filename is not None:
        what = f"{visible(cut(str(error.filename)))}: {error.strerror}"
        refused = Refused(what, kind="unreadable")
    refused = refused or _fault(error)
    verb = "" if refused.kind == "usage" or not words else f" {words[0]}"
    if wants_json(words) and refused.kind != "output":
        details = {"kind": refused.kind, "message": str(refused), **refused.data}
        show(json_text({"error": details}))
    else:
        complain(f"foldline{verb}: {refused}")
    return refused.status


def wants_json(words: Sequence[str]) -> bool:
    """Return whether a command line asks for JSON."""
    options = words[: words.index("--")] if "--" in words else words
    formats = [after for word, after in pairwise(options) if word == "--format"]
    formats += [word.partition("=")[2] for word in options if word.startswith("--format=")]
    return "--json" in options or formats[-1:] == ["json"]


def missing_extra(error: ModuleNotFoundError, verb: str) -> Refused | None:
    """Return how to install what a verb needs; None where a module of ours is missing."""
    missing = (error.name or "").partition(".")[0]
    if missing == "foldline":
        return None
    extra = extra_of(missing)
    return Refused(
        f"{needs('this command', missing)}, or run it as "
        f"`uvx --from 'foldline[{extra}]' foldline {verb} …`",
        kind="extra",
        data={"extra": extra},
    )


def _message(error: Exception) -> str:
    from foldline.ide.operations.advice import message_of

    if isinstance(error, IgnoredPathError):
        return f"{error.summary}; ask again with --no-ignore"
    names = {one.tool: f"`foldline {one.verb}`" for one in operations() if one.verb}
    return message_of(error, names)


def _fault(error: Exception) -> Refused:
    if os.environ.get(TRACEBACK):
        raise error
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return Refused(
        f"foldline failed, please report it: {what} ({TRACEBACK}=1 shows where)",
        status=FAULT,
        kind="fault",
    )
