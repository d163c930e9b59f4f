"""The core's errors, which each shell reports in its own way.

All are `IdeError`s: `kind` names the error for programs, `data` has its details.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foldline.backends.errors import (
    AmbiguousSymbolError,
    ArtefactError,
    BackendError,
    InvalidArgumentError,
    SymbolError,
)

RENDER_KINDS = {
    "exception": "the user's code raised; `file` and `line` say where",
    "deadline": "the user's code was still running, at `file` and `line`",
    "exit": "the user's process exited without an answer",
    "output": "the answer is too large",
    "interpreter": "the interpreter doesn't start",
    "no_foldline": "foldline isn't installed for the interpreter",
    "values": "a file of values or a `preview_*()` function can't be used",
    "prompt": "the module is fine, but not the request: a name, params, an override",
    "tool": "the prompt's own tool refused the arguments; `near` lists keys",
}


MENDABLE = frozenset(
    {"exception", "deadline", "exit", "interpreter", "no_foldline", "output", "values"}
)
"""Kinds that a change to the code or its environment can fix."""


class IdeError(Exception):
    """A valid request that can't be carried out.

    Attributes:
        kind: The error's name, for programs.
        message: One sentence: what is wrong, where, what to do.
        data: The details: `near` names, a `file` and `line`.
    """

    kind: str = "failed"
    mendable = False
    """True if editing the user's code may fix it, so that a preview waits for an edit."""

    def __init__(self, message: str, **data: object) -> None:
        super().__init__(message)
        self.message = message
        self.data = {name: value for name, value in data.items() if value is not None}


class Untrusted(IdeError):
    """Executing the workspace's code isn't allowed."""

    kind = "untrusted"


class NoDocument(IdeError):
    """No document was named, and none has the focus."""

    kind = "no_document"


class NoPrompt(IdeError):
    """The document has no such prompt; `near` lists its prompts."""

    kind = "no_prompt"


class NoPreview(IdeError):
    """There is no such preview, or no such version of it."""

    kind = "no_preview"


class NoServer(IdeError):
    """No language server of that name runs; `near` lists those that do."""

    kind = "no_server"


class PathRefused(IdeError):
    """The path is missing, ignored, binary, too large or outside the workspace."""

    kind = "path"


class NothingDefined(IdeError):
    """The file has no such symbol; `near` lists candidates."""

    kind = "symbol"


class MissingExtra(IdeError):
    """A package is missing; the message names the extra that installs it."""

    kind = "extra"


class PromptRefused(IdeError):
    """The module is fine, but not the request: a key, params, an override."""

    kind = "prompt"


class ToolRefused(IdeError):
    """The prompt's own tool refused the arguments; `near` lists keys."""

    kind = "tool"


class RenameRefused(IdeError):
    """A field or key can't get the new name; the message says why."""

    kind = "rename"


class RevisionError(IdeError):
    """Git has no such revision, or the revision lacks the module."""

    kind = "revision"


class ValuesError(IdeError):
    """A file of values can't be used; the one-based line is None if it isn't known."""

    kind = "values"
    mendable = True

    def __init__(self, file: Path, message: str, line: int | None = None) -> None:
        where = f"{file.name}:{line}" if line else file.name
        super().__init__(f"{where}: {message}", file=str(file), line=line)
        self.file = file
        self.line = line


class RenderError(IdeError):
    """A prompt can't be rendered; it has the user's file and one-based line, if known."""

    def __init__(self, failure: Mapping[str, Any]) -> None:
        details = {
            name: value for name, value in failure.items() if name not in ("kind", "message")
        }
        super().__init__(failure["message"], **details)
        self.kind = failure["kind"]
        self.mendable = self.kind in MENDABLE
        self.file: str | None = failure.get("file")
        self.line: int | None = failure.get("line")


class ArgumentsError(IdeError):
    """Some arguments are wrong; `problems` has the reasons by argument name."""

    kind = "arguments"

    def __init__(self, problems: Mapping[str, str]) -> None:
        message = "; ".join(f"{name}: {what}" if name else what for name, what in problems.items())
        super().__init__(message, fields=tuple(problems))
        self.problems = dict(problems)


REFUSALS = (IdeError, BackendError)
"""Errors of requests that aren't bugs in foldline."""


def kind_of(error: IdeError | BackendError) -> str:
    """Return the error's name, for programs."""
    if isinstance(error, IdeError):
        return error.kind
    if isinstance(error, InvalidArgumentError):
        return ArgumentsError.kind
    if isinstance(error, AmbiguousSymbolError):
        return "ambiguous"
    if isinstance(error, ArtefactError):
        return "artefact"
    return NothingDefined.kind if isinstance(error, SymbolError) else PathRefused.kind


def data_of(error: IdeError | BackendError) -> dict[str, object]:
    """Return the error's kind and details."""
    details = error.data if isinstance(error, IdeError) else vars(error)
    fields = {name: value for name, value in details.items() if value is not None}
    return {"kind": kind_of(error), **fields}
