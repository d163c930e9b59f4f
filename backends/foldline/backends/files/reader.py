"""The one way to the content of a file on disk: regular files, of a bounded size, without waiting.

Nothing else in `foldline.backends` and `foldline.server` opens files of a workspace. What is
refused raises a `PathError`, whose `kind` says why.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from foldline.backends import errors
from foldline.backends.files.jsonc import without_comments
from foldline.backends.files.limits import KEY_PARTS, SETTINGS_BYTES
from foldline.backends.files.source import is_binary

# A FIFO must not block, and what was a file a moment ago must not be a link out of the root now.
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_CHUNK = 1 << 20
_ATTEMPTS = 3
_KEY_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*"""
# Where a key may begin, so that prose in a string isn't taken for one.
_LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*(?:{_KEY_PART}){{{KEY_PARTS}}}", re.MULTILINE)
_LINE = re.compile(r"at line (\d+)")


def read_bytes(file: Path | str, limit: int, *, root: Path | None = None) -> bytes:
    """The content of a regular file of at most `limit` bytes, as it was at one moment.

    With a `root`, links may not lead out of it. Without one they may lead anywhere: for files that
    the user named or owns.

    Raises:
        PathError: The file is missing, special, outside, too large or unreadable.
    """
    try:
        real = os.path.realpath(file)
        base = None if root is None else os.path.realpath(root)
    except (OSError, ValueError) as error:
        raise errors.PathError(str(file), f"cannot be resolved: {error}") from error
    if base is not None and not real.startswith(base.rstrip(os.sep) + os.sep):
        raise errors.OutsideWorkspaceError(str(file), "links to a file outside the workspace")
    return read_resolved(real, limit, name=str(file))


def read_text(
    file: Path | str, limit: int, *, root: Path | None = None, strict: bool = False
) -> str:
    """The same as text in UTF-8 with its own line ends, a byte order mark left out.

    Bytes that are not UTF-8 become U+FFFD, or with `strict` are refused.

    Raises:
        PathError: As `read_bytes`, or the file is binary or undecodable.
    """
    raw = read_bytes(file, limit, root=root).removeprefix(b"\xef\xbb\xbf")
    if not strict:
        return raw.decode("utf-8", "replace")
    if is_binary(raw):
        raise errors.BinaryFileError(str(file), len(raw))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise errors.UndecodableFileError(
            str(file), f"is not UTF-8: byte {error.start} is 0x{raw[error.start]:02x}"
        ) from None


def read_toml(
    file: Path, limit: int = SETTINGS_BYTES, *, root: Path | None = None
) -> dict[str, object]:
    """The tables of a TOML file.

    Raises:
        PathError: As `read_text` does strictly, or the file is malformed.
    """
    return toml_of(read_text(file, limit, root=root, strict=True), file)


def toml_of(text: str, file: Path) -> dict[str, object]:
    """The tables of a TOML file's text.

    Raises:
        MalformedFileError: It is malformed.
    """
    import tomllib

    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise errors.MalformedFileError(
            str(file), f"a key has more than {KEY_PARTS} parts (at line {line})", line
        )
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise _too_deep(file) from None
    except ValueError as error:
        at_line = _LINE.search(str(error))
        raise errors.MalformedFileError(
            str(file), str(error), int(at_line[1]) if at_line else None
        ) from error


def read_json(
    file: Path, limit: int = SETTINGS_BYTES, *, root: Path | None = None, comments: bool = False
) -> object:
    """The value in a JSON file, which may have `comments` and trailing commas.

    Raises:
        PathError: As `read_text` does strictly, or the file is malformed.
    """
    text = read_text(file, limit, root=root, strict=True)
    return json_of(without_comments(text)[1] if comments else text, file)


def json_of(text: str, file: Path) -> object:
    """The value of a JSON file's text.

    Raises:
        MalformedFileError: It is malformed.
    """
    try:
        value: object = json.loads(text)
    except RecursionError:
        raise _too_deep(file) from None
    except ValueError as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise errors.MalformedFileError(str(file), str(error), line) from error
    return value


def read_resolved(path: str, limit: int, *, name: str) -> bytes:
    """`read_bytes` of a path without links, which errors call `name`.

    A file that changes while it is read is read again.
    """
    # Every search opens thousands of files: keep the work between system calls small.
    try:
        for _ in range(_ATTEMPTS):
            descriptor, status = _open_regular(path, name)
            try:
                data = _read_whole(descriptor, status, limit, name)
            finally:
                os.close(descriptor)
            if data is not None:
                return data
    except errors.PathError:
        raise
    except (OSError, ValueError) as error:
        raise _refusal(error, name) from error
    raise errors.UnreadablePathError(name, "changed each time it was read", "ask again later")


def read_chunks(path: str, *, name: str) -> Iterator[bytes]:
    """A file of any size piece by piece, at a path without links, which errors call `name`."""
    try:
        descriptor, _ = _open_regular(path, name)
        try:
            while chunk := os.read(descriptor, _CHUNK):
                yield chunk
        finally:
            os.close(descriptor)
    except errors.PathError:
        raise
    except (OSError, ValueError) as error:
        raise _refusal(error, name) from error


def _open_regular(path: str, name: str) -> tuple[int, os.stat_result]:
    # To open a device can have effects of its own, so look first; and again at what was opened.
    _check_regular(os.lstat(path), name)
    descriptor = os.open(path, _OPEN_FLAGS)
    try:
        status = os.fstat(descriptor)
        _check_regular(status, name)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status


def _refusal(error: OSError | ValueError, name: str) -> errors.PathError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return errors.MissingPathError(name, None)
    problem = error.strerror if isinstance(error, OSError) else str(error)
    return errors.UnreadablePathError(name, f"cannot be read: {problem}")


def _read_whole(descriptor: int, before: os.stat_result, limit: int, name: str) -> bytes | None:
    """The content; None where it changes after the look `before`."""
    size = before.st_size
    if size > limit:
        raise errors.FileTooLargeError(name, size, limit)
    # Read a bounded amount: a log may grow faster than it is read.
    data = _read_up_to(descriptor, size or limit + 1)
    after = os.fstat(descriptor)
    if len(data) > limit:
        raise errors.FileTooLargeError(name, max(after.st_size, len(data)), limit)
    same = (size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    # Files of /proc and the like say size 0 and are still read whole.
    return data if same and (len(data) == size or size == 0) else None


def _check_regular(status: os.stat_result, name: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise errors.NotAFileError(name, "is a folder, not a file")
    if stat.S_ISLNK(status.st_mode):
        raise errors.SpecialFileError(name, "is a link to itself")
    if not stat.S_ISREG(status.st_mode):
        raise errors.SpecialFileError(name)


def _read_up_to(descriptor: int, limit: int) -> bytes:
    chunks: list[bytes] = []
    left = limit
    while left > 0 and (chunk := os.read(descriptor, min(left, _CHUNK))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _too_deep(file: Path) -> errors.MalformedFileError:
    return errors.MalformedFileError(str(file), "its values are nested too deep")
