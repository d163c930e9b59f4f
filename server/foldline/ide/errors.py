"""The failures of the core, which every shell tells in its own way.

All are `IdeError`s: `kind` names the failure for programs, `data` has its details.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldline.backends.errors import BackendError, InvalidArgumentError, SymbolError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

RENDER_KINDS = {
    "exception": "the user's code raised; `file` and `line` say where",
    "deadline": "the user's code was still running, at `file` and `line`",
    "exit": "the user's process ended without an answer",
    "output": "the answer is too large",
    "interpreter": "the interpreter does not start",
    "no_foldline": "the interpreter has no foldline installed",
    "values": "a file of values or a `preview_*()` function cannot be used",
    "prompt": "the module is fine and the request is not: a name, params, an override",
    "tool": "the prompt's own tool refused the arguments; `near` lists keys",
}


MENDABLE = frozenset(
    {"exception", "deadline", "exit", "interpreter", "no_foldline", "output", "values"}
)
"""Kinds that are the code's or its environment's fault."""


class IdeError(Exception):
    """A request that was understood and can't be carried out.

    Attributes:
        kind: The failure's name, for programs.
        message: One sentence: what is wrong, where, what to do.
        data: The details: `near` names, a `file` and `line`.
    """

    kind: str = "failed"
    mendable = False
    """Whether an edit of the user's code may end it, so that a preview waits for one."""

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
    """The document holds no such prompt; `near` lists what there is."""

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
    """The file holds no such symbol; `near` lists candidates."""

    kind = "symbol"


class MissingExtra(IdeError):
    """A package is missing; the message says which extra brings it."""

    kind = "extra"


class PromptRefused(IdeError):
    """The module is fine and the request isn't: a key, params, an override."""

    kind = "prompt"


class ToolRefused(IdeError):
    """The prompt's own tool refused the arguments; `near` lists keys."""

    kind = "tool"


class RenameRefused(IdeError):
    """A place that means the field can't be changed."""

    kind = "rename"


class RevisionError(IdeError):
    """Git has no such revision, or it doesn't hold the module."""

    kind = "revision"


class ValuesError(IdeError):
    """A file of values can't be used.

    Attributes:
        file: The file.
        line: The line, counted from 1, where one is known.
    """

    kind = "values"
    mendable = True

    def __init__(self, file: Path, message: str, line: int | None = None) -> None:
        place = f"{file.name}:{line}" if line else file.name
        super().__init__(f"{place}: {message}", file=str(file), line=line)
        self.file = file
        self.line = line


class RenderError(IdeError):
    """A prompt could not be rendered.

    Attributes:
        file: The user's file at which it failed, where one is known.
        line: The 1-based line in `file`.
    """

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
    """Arguments that don't fit.

    Attributes:
        problems: What is wrong with each, by name.
    """

    kind = "arguments"

    def __init__(self, problems: Mapping[str, str]) -> None:
        message = "; ".join(f"{name}: {what}" if name else what for name, what in problems.items())
        super().__init__(message, fields=tuple(problems))
        self.problems = dict(problems)


REFUSALS = (IdeError, BackendError)
"""What a request may fail of without anything being wrong with foldline."""


def kind_of(error: IdeError | BackendError) -> str:
    """The failure's name, for programs."""
    if isinstance(error, IdeError):
        return error.kind
    if isinstance(error, InvalidArgumentError):
        return ArgumentsError.kind
    return NothingDefined.kind if isinstance(error, SymbolError) else PathRefused.kind


def data_of(error: IdeError | BackendError) -> dict[str, object]:
    """The failure's kind and details."""
    details = error.data if isinstance(error, IdeError) else vars(error)
    known = {name: value for name, value in details.items() if value is not None}
    return {"kind": kind_of(error), **known}
