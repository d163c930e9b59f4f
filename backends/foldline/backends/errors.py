"""What can go wrong when code is read, one tree of exceptions with fields.

```
BackendError
├── PathError                    path, reason
│   ├── MissingPathError         also FileNotFoundError; near names
│   ├── OutsideWorkspaceError    also PermissionError
│   ├── IgnoredPathError         names the pattern that hides the path
│   ├── BinaryFileError
│   ├── FileTooLargeError        size, limit
│   ├── NotAFileError            a folder, FIFO, socket or device
│   ├── NotAFolderError          also NotADirectoryError
│   └── UnreadablePathError      also PermissionError; the system refused, or the file kept changing
├── SymbolError                  path, name; also LookupError
│   ├── SymbolNotFoundError      near names
│   └── AmbiguousSymbolError     candidates, each a name that `read_symbol` accepts
├── InvalidArgumentError         argument, reason; also ValueError
└── LSPError                     server; a language server is absent, late, dead or wrong
    ├── LSPUnavailableError      none is installed, or it crashed too often
    ├── LSPStartError            it did not start
    ├── LSPTimeoutError          also TimeoutError; it did not answer in time
    ├── LSPDiedError             exit_code, stderr; it ended with requests pending
    ├── LSPProtocolError         it wrote what is no message
    └── LSPResponseError         code; it refused the request
```

Every message says what to do next. All of them can be pickled, so that they cross process pools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


LONGEST_MESSAGE = 1_000
LONGEST_FIELD = 300
_MOST_NEAR = 20


def cut(text: str, longest: int = LONGEST_FIELD) -> str:
    """A text as an error shows it: of a long one the beginning, its length, and the end.

    What callers send may be megabytes; the end of a message is what says what to do.
    """
    if len(text) <= longest:
        return text
    kept = longest // 2
    return f"{text[:kept]}… ({len(text):,} characters) …{text[-kept // 2 :]}"


class BackendError(Exception):
    """The root of everything that `foldline.backends` raises on purpose; messages are cut."""

    def __init__(self, message: str = "") -> None:
        super().__init__(cut(message, LONGEST_MESSAGE))

    def __reduce__(self) -> tuple[object, ...]:
        # The default would call the class with the message alone.
        return (_restore, (type(self), str(self), dict(self.__dict__)))


class PathError(BackendError):
    """A path that cannot be read; `reason` says why and what to do instead."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{cut(path)}: {reason}")
        self.path = cut(path)
        self.reason = cut(reason, LONGEST_MESSAGE)


class MissingPathError(PathError, FileNotFoundError):
    """No such file or folder; `near` holds the closest names that exist."""

    def __init__(self, path: str, near: Sequence[str] = ()) -> None:
        hint = f"; did you mean {_quoted(near)}?" if near else "; list what exists with get_tree"
        super().__init__(path, f"no such file or folder{hint}")
        self.near = tuple(map(cut, near[:_MOST_NEAR]))


class OutsideWorkspaceError(PathError, PermissionError):
    """The path, links resolved, is not below the workspace root."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path, "is outside the workspace; only files below its root can be read: use a path "
            "relative to the root"
        )  # fmt: skip


class IgnoredPathError(PathError):
    """An ignore file hides the path; `pattern` and `source` say which line of which file."""

    def __init__(self, path: str, pattern: str, source: str) -> None:
        super().__init__(
            path, f"is ignored by the pattern {pattern!r} of {source}; ask again with no_ignore"
        )
        self.pattern = pattern
        self.source = source


class BinaryFileError(PathError):
    """The file holds bytes that are no text."""

    def __init__(self, path: str, size: int) -> None:
        super().__init__(path, f"is a binary file of {size:,} bytes and is not shown as text")
        self.size = size


class FileTooLargeError(PathError):
    """The file is larger than the limit; some of its lines can still be read."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        super().__init__(
            path, f"has {size:,} bytes, the limit is {limit:,}; read some of it with read_lines"
        )
        self.size = size
        self.limit = limit


class NotAFileError(PathError):
    """The path is a folder or something special that has no text."""


class NotAFolderError(PathError, NotADirectoryError):
    """The path is a file where a folder was asked for."""


class UnreadablePathError(PathError, PermissionError):
    """The system refused to read the path, or the file changed as often as it was read."""


class SymbolError(BackendError, LookupError):
    """A symbol name that does not name exactly one symbol of the file."""

    def __init__(self, path: str, name: str, message: str) -> None:
        super().__init__(message)
        self.path = cut(path)
        self.name = cut(name)


class SymbolNotFoundError(SymbolError):
    """The file has no such symbol; `near` holds the closest names it has."""

    def __init__(self, path: str, name: str, near: Sequence[str] = ()) -> None:
        hint = f"did you mean {_quoted(near)}?" if near else "its outline lists what it has"
        super().__init__(path, name, f"{cut(path)} has no symbol {cut(name)!r}; {hint}")
        self.near = tuple(map(cut, near[:_MOST_NEAR]))


class AmbiguousSymbolError(SymbolError):
    """Several symbols have the name; each of `candidates` names one of them."""

    def __init__(self, path: str, name: str, candidates: Sequence[str]) -> None:
        super().__init__(
            path,
            name,
            f"{cut(path)} has several symbols {cut(name)!r}: ask for one of {_quoted(candidates)}",
        )
        self.candidates = tuple(map(cut, candidates[:_MOST_NEAR]))


class InvalidArgumentError(BackendError, ValueError):
    """An argument that cannot be meant: a negative line, a foreign cursor, a broken pattern."""

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(f"{argument}: {reason}")
        self.argument = argument
        self.reason = cut(reason, LONGEST_MESSAGE)


class LSPError(BackendError):
    """A language server that is absent, late, dead or wrong; never the end of an answer.

    `server` is its name in the table of servers, empty where no server is concerned.
    """

    def __init__(self, message: str = "", server: str = "") -> None:
        super().__init__(f"{server}: {message}" if server else message)
        self.server = server


class LSPUnavailableError(LSPError):
    """No server can be asked: none is installed, or it crashed too often lately."""


class LSPStartError(LSPError):
    """The server did not get as far as answering `initialize`."""


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
    """The server wrote something that is no message, so that nothing it says can be read."""


class LSPResponseError(LSPError):
    """The server answered with an error; `code` is JSON-RPC's."""

    def __init__(self, message: str, server: str = "", code: int = 0) -> None:
        super().__init__(message, server)
        self.code = code


def _quoted(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NEAR} more" if len(names) > _MOST_NEAR else ""
    return ", ".join(repr(cut(name, 100)) for name in names[:_MOST_NEAR]) + more


def _restore(
    kind: type[BackendError], message: str, fields: dict[str, object]
) -> BackendError:  # fmt: skip
    error = kind.__new__(kind)
    BaseException.__init__(error, message)
    error.__dict__.update(fields)
    return error
