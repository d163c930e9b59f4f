"""The exceptions of reading code: one tree, with fields.

```
BackendError
├── PathError                    path, reason, problem (without the advice), kind
│   ├── MissingPathError         also FileNotFoundError; near names
│   ├── NoMatchError             also FileNotFoundError; a glob that matches no file
│   ├── OutsideWorkspaceError    also PermissionError
│   ├── IgnoredPathError         names the pattern that hides the path
│   ├── BinaryFileError
│   ├── FileTooLargeError        size, limit
│   ├── NotAFileError            a folder
│   │   └── SpecialFileError     a FIFO, socket, device or link to itself
│   ├── NotAFolderError          also NotADirectoryError
│   ├── UndecodableFileError     bytes that aren't in the expected encoding
│   ├── MalformedFileError       line; the text is not TOML or JSON, or is nested too deep
│   └── UnreadablePathError      also PermissionError; the system refused, or the file kept changing
├── SymbolError                  path, name; also LookupError
│   ├── SymbolNotFoundError      near names
│   └── AmbiguousSymbolError     candidates, each a name that `read_symbol` accepts
├── ArtefactError                an index can't be exported or imported
├── InvalidArgumentError         argument, reason; also ValueError
└── LSPError                     server; a language server is absent, late, dead or wrong
    ├── LSPUnavailableError      none is installed, or it crashed too often
    │   └── LSPElsewhereError    it runs for as many other folders as it may
    ├── LSPStartError            it did not start
    ├── LSPTimeoutError          also TimeoutError; it did not answer in time
    ├── LSPDiedError             exit_code, stderr; it ended with requests pending
    ├── LSPProtocolError         it wrote something other than messages
    ├── LSPAnswerError           its answer can't be right
    └── LSPResponseError         code; it refused the request
```

Every message says what to do next. All of them can be pickled, so that they cross process pools.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import islice
from pathlib import PurePath
from typing import ClassVar, TypeVar

from foldline.backends.formatting.visible import visible

ErrorT = TypeVar("ErrorT", bound="BackendError")

LONGEST_MESSAGE = 1_000
LONGEST_FIELD = 300
MOST_PROBLEMS = 20
_MOST_NEAR = 20
_MOST_LISTED = 7
# A place in the workspace, as messages have it.
_PLACE = re.compile(r"(?:(?<=\n  )|(?<=such as )).+?(?=:\d)")


def cut(text: str, longest: int = LONGEST_FIELD) -> str:
    """A text as an error shows it: a long one as its beginning, its length, and its end.

    Callers may send megabytes; the end of a message says what to do.
    """
    if len(text) <= longest:
        return text
    kept = longest // 2
    return f"{text[:kept]}… ({len(text):,} characters) …{text[-kept // 2 :]}"


def shown(value: object) -> str:
    """A value of a configuration file or a message as an error shows it."""
    try:
        return cut(repr(value))
    except ValueError:
        return "a number of very many digits"


def first_few(problems: Iterable[str]) -> tuple[str, ...]:
    """The first problems of a file, each cut, and a note that there are more.

    Only the first are taken from the iterable, so expensive ones may be lazy.
    """
    problems = iter(problems)
    told = tuple(cut(problem, LONGEST_MESSAGE) for problem in islice(problems, MOST_PROBLEMS))
    return (*told, "there is more: mend these first") if any(True for _ in problems) else told


class PathKind(StrEnum):
    """The reason why a path was refused, for programs."""

    INVALID = "invalid"
    MISSING = "missing"
    OUTSIDE = "outside"
    IGNORED = "ignored"
    BINARY = "binary"
    TOO_LARGE = "too-large"
    NOT_A_FILE = "not-a-file"
    SPECIAL = "special"
    NOT_A_FOLDER = "not-a-folder"
    UNDECODABLE = "undecodable"
    MALFORMED = "malformed"
    UNREADABLE = "unreadable"


class BackendError(Exception):
    """The root of everything that `foldline.backends` raises on purpose; messages are cut."""

    def __init__(self, message: str = "") -> None:
        super().__init__(cut(message, LONGEST_MESSAGE))

    def __reduce__(self) -> tuple[object, ...]:
        # The default would call the class with the message alone.
        return (_restore, (type(self), str(self), dict(self.__dict__)))

    def below(self, folder: str) -> BackendError:
        """Return the error for a caller whose paths begin with `folder`, as in `app/`."""
        del folder
        return self


class PathError(BackendError):
    """A path that cannot be read; `problem` is the reason without what to do instead.

    The message shows the path on one line, without control characters; `path` is as it is.
    """

    kind: ClassVar[PathKind] = PathKind.INVALID

    def __init__(self, path: str, problem: str, advice: str = "") -> None:
        self.path = cut(path)
        self.problem = cut(problem, LONGEST_MESSAGE)
        self.reason = f"{self.problem}; {advice}" if advice else self.problem
        super().__init__(f"{visible(self.path)}: {self.reason}")

    @property
    def summary(self) -> str:
        """The message without the advice, which only helps callers that read code."""
        return f"{visible(self.path)}: {self.problem}"

    def below(self, folder: str) -> PathError:
        path = _below(folder, self.path)
        message = f"{visible(path)}: {self.reason}"
        return _restore(type(self), message, {**self.__dict__, "path": path})


class MissingPathError(PathError, FileNotFoundError):
    """No such file or folder; `near` holds the closest names that exist.

    It's None for what isn't looked for in a workspace.
    """

    kind = PathKind.MISSING

    def __init__(self, path: str, near: Sequence[str] | None = ()) -> None:
        hint = f"did you mean {_quoted(near)}?" if near else "list what exists with get_tree"
        super().__init__(path, "no such file or folder", "" if near is None else hint)
        self.near = tuple(map(cut, (near or ())[:_MOST_NEAR]))

    def below(self, folder: str) -> PathError:
        if not self.near:
            return super().below(folder)
        near = [_below(folder, path) for path in self.near]
        return MissingPathError(_below(folder, self.path), near)


class NoMatchError(PathError, FileNotFoundError):
    """A glob that matches no file; the advice is where such files are."""

    kind = PathKind.MISSING


class OutsideWorkspaceError(PathError, PermissionError):
    """The path, links resolved, is not below the workspace root."""

    kind = PathKind.OUTSIDE

    def __init__(self, path: str, problem: str = "is outside the workspace") -> None:
        super().__init__(
            path,
            problem,
            "only files below its root can be read: use a path relative to the root",
        )


class IgnoredPathError(PathError):
    """An ignore file hides the path; `pattern` and `source` say which line of which file."""

    kind = PathKind.IGNORED

    def __init__(self, path: str, pattern: str, source: str, cure: str = "") -> None:
        problem = f"is ignored by the pattern {pattern!r} of {visible(source)}"
        super().__init__(path, problem, visible(cure))
        self.pattern = pattern
        self.source = source
        self.cure = cure


class BinaryFileError(PathError):
    """The file holds bytes that aren't text."""

    kind = PathKind.BINARY

    def __init__(self, path: str, size: int) -> None:
        super().__init__(path, f"is a binary file of {size:,} bytes and is not shown as text")
        self.size = size


class FileTooLargeError(PathError):
    """The file is larger than the limit; some of its lines can still be read."""

    kind = PathKind.TOO_LARGE

    def __init__(self, path: str, size: int, limit: int) -> None:
        problem = f"has {size:,} bytes, the limit is {limit:,}"
        super().__init__(path, problem, "read some of it with read_lines")
        self.size = size
        self.limit = limit


class NotAFileError(PathError):
    """The path is a folder or something special that has no text."""

    kind = PathKind.NOT_A_FILE


class SpecialFileError(NotAFileError):
    """The path is a FIFO, a socket, a device or a link to itself, which is never opened."""

    kind = PathKind.SPECIAL

    def __init__(
        self, path: str, reason: str = "is a pipe, socket or device, not a regular file"
    ) -> None:
        super().__init__(path, reason)


class NotAFolderError(PathError, NotADirectoryError):
    """The path is a file, and a folder was requested."""

    kind = PathKind.NOT_A_FOLDER


class UndecodableFileError(PathError):
    """The file's bytes are not text in the encoding that it must have."""

    kind = PathKind.UNDECODABLE


class MalformedFileError(PathError):
    """The file's text does not follow its format; `line`, from 1, is None where unknown."""

    kind = PathKind.MALFORMED

    def __init__(self, path: str, problem: str, line: int | None = None) -> None:
        super().__init__(path, problem)
        self.line = line


class UnreadablePathError(PathError, PermissionError):
    """The system refused to read the path, or the file changed during every attempt."""

    kind = PathKind.UNREADABLE


class SymbolError(BackendError, LookupError):
    """A symbol name that does not name exactly one symbol of the file."""

    def __init__(self, path: str, name: str, message: str) -> None:
        super().__init__(message)
        self.path = cut(path)
        self.name = cut(name)

    def below(self, folder: str) -> SymbolError:
        if not self.path:
            message = _PLACE.sub(lambda place: _below(folder, place[0]), str(self))
            fields = dict(self.__dict__)
            for name in fields.keys() & {"candidates"}:
                fields[name] = tuple(_below(folder, one) for one in fields[name])
            return _restore(type(self), message, fields)
        path = _below(folder, self.path)
        message = str(self).replace(visible(self.path), visible(path), 1)
        return _restore(type(self), message, {**self.__dict__, "path": path})


class SymbolNotFoundError(SymbolError):
    """The file has no such symbol, or with an empty path the workspace; `near` holds others.

    `gap` is why not all of the workspace is known, and `used` where the name is used.
    """

    def __init__(
        self,
        path: str,
        name: str,
        near: Sequence[str] = (),
        gap: str = "",
        *,
        used: str = "",
        left_out: str = "",
    ) -> None:
        near = [one for one in near if one != name]
        hint = f"did you mean {_quoted(near)}?" if near else "its outline lists what it has"
        message = f"{visible(cut(path))} has no symbol {cut(name)!r}; {hint}"
        if not path:
            message = f"nothing {'read so far' if gap else 'here'} defines {cut(name)!r}"
            message = f"{message} at top level or in a type; {used}" if used else message
            message = "; ".join(filter(None, (message, gap, left_out, hint if near else "")))
        super().__init__(path, name, message)
        self.near = tuple(map(cut, near[:_MOST_NEAR]))


class AmbiguousSymbolError(SymbolError):
    """Several symbols have the name; each of `candidates` names one of them.

    With an empty path they are those of the workspace, each with its place and signature; `gap` is
    why not all of it is known, and `said` goes first.
    """

    def __init__(
        self, path: str, name: str, candidates: Sequence[str], gap: str = "", said: str = ""
    ) -> None:
        message = (
            f"{visible(cut(path))} has several symbols {cut(name)!r}: "
            f"ask for one of {_quoted(candidates)}"
        )
        if not path:
            listed = [f"\n  {visible(one)[:120]}" for one in candidates[:_MOST_LISTED]]
            more = len(candidates) - len(listed)
            listed += [f"\n  and {more} more"] if more else []
            message = (
                f"{said and f'{visible(said)}; '}{cut(name)!r} has {len(candidates)} definitions"
                f"{f' so far ({gap})' if gap else ''}:{''.join(listed)}\n"
                f"name one by its place, such as {visible(cut(candidates[0].partition(' ')[0]))}"
            )
        super().__init__(path, name, message)
        self.candidates = tuple(map(cut, candidates[:_MOST_NEAR]))
        self.gap, self.said = gap, said

    @property
    def parts(self) -> tuple[str, ...]:
        """The candidates, if they are parts of one thing: accessors, overloads, a type's blocks."""
        names = {one.rpartition("[")[0] for one in self.candidates}
        is_one = len(names) == 1 and "" not in names and len(self.candidates) < _MOST_NEAR
        return self.candidates if is_one else ()


class InvalidArgumentError(BackendError, ValueError):
    """An argument that makes no sense: a negative line, a foreign cursor, a broken pattern."""

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(f"{argument}: {reason}")
        self.argument = argument
        self.reason = cut(reason, LONGEST_MESSAGE)


class ArtefactError(BackendError):
    """An index that can't be exported or imported, and why; what was there is kept."""


class LSPError(BackendError):
    """A language server that is absent, late, dead or wrong; the answer then comes without it.

    `server` is its name in the table of servers, empty where no server is concerned.
    """

    def __init__(self, message: str = "", server: str = "") -> None:
        super().__init__(f"{server}: {message}" if server else message)
        self.server = server


class LSPUnavailableError(LSPError):
    """No server can be asked: none is installed, or it crashed too often lately."""


class LSPElsewhereError(LSPUnavailableError):
    """The server runs for as many other folders as it may."""


class LSPStartError(LSPError):
    """The server did not answer `initialize`."""


class LSPTimeoutError(LSPError, TimeoutError):
    """The server did not answer before the deadline."""


class LSPDiedError(LSPError):
    """The server ended while requests were pending.

    `exit_code` is negative for a signal and None where it is unknown; `stderr` holds the last lines
    that the server wrote there.
    """

    def __init__(
        self, message: str, server: str = "", exit_code: int | None = None, stderr: str = ""
    ) -> None:
        super().__init__(message, server)
        self.exit_code = exit_code
        self.stderr = stderr


class LSPProtocolError(LSPError):
    """The server wrote something other than messages, so its output can't be read."""


class LSPAnswerError(LSPError):
    """The server answered, and the answer can't be one to the request."""


class LSPResponseError(LSPError):
    """The server answered with an error; `code` is JSON-RPC's."""

    def __init__(self, message: str, server: str = "", code: int = 0) -> None:
        super().__init__(message, server)
        self.code = code


def _quoted(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NEAR} more" if len(names) > _MOST_NEAR else ""
    return ", ".join(repr(cut(name, 100)) for name in names[:_MOST_NEAR]) + more


def _below(folder: str, path: str) -> str:
    if PurePath(path).is_absolute():
        return path
    return folder.rstrip("/") if path in ("", ".") else cut(folder + path)


def _restore(kind: type[ErrorT], message: str, fields: dict[str, object]) -> ErrorT:
    error = kind.__new__(kind)
    BaseException.__init__(error, message)
    error.__dict__.update(fields)
    return error
