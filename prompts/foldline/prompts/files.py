"""Reads the files that belong to prompts: regular files of a bounded size."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

from foldline.prompts.errors import PromptValidationError

if TYPE_CHECKING:
    from pathlib import Path

contents: dict[str, bytes] = {}
"""Contents that are read instead of files, by real path: previews use them for unsaved texts."""

# Opening a FIFO must not wait for a writer.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def from_file(path: str) -> str:
    """Return the text of a file, for a section; the path counts from the module that calls this.

    Raises:
        PromptValidationError: It can't be read, has more than 2,000,000 bytes, or isn't UTF-8.
    """
    from pathlib import Path

    module = sys._getframe(1).f_globals.get("__file__", "")  # noqa: SLF001 - The caller's.
    try:
        text = read_text_file(Path(module).parent / path, 2_000_000)
    except OSError as error:
        raise PromptValidationError(f"from_file({path!r}): {error}") from error
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


class Verbatim(str):
    """A template without placeholders, whatever its text looks like."""

    __slots__ = ()


def verbatim(text: str) -> str:
    """Return the template that shows a text as it is: its dollar signs start no placeholders.

    Raises:
        PromptValidationError: It isn't a text.
    """
    if not isinstance(text, str):
        raise PromptValidationError(f"`verbatim` takes a text, not {text!r}.")
    return Verbatim(text.replace("$", "$$"))


def read_text_file(path: Path, limit: int) -> str:
    """Return the text of a UTF-8 file of at most `limit` bytes.

    Raises:
        OSError: It doesn't exist or can't be opened.
        PromptValidationError: It isn't a regular file, is larger, or isn't UTF-8.
    """
    try:
        return read_bytes_file(path, limit).decode("utf-8")
    except UnicodeDecodeError as error:
        raise PromptValidationError(f"{path} is not UTF-8: {error}") from error


def read_bytes_file(path: Path, limit: int) -> bytes:
    """Return the content of a file of at most `limit` bytes.

    Raises:
        OSError: It doesn't exist or can't be opened.
        PromptValidationError: It isn't a regular file, or is larger.
    """
    if contents and (data := contents.get(os.path.realpath(path))) is not None:
        if len(data) > limit:
            raise _too_large(path, limit)
        return data
    # Opening a device can have side effects, so check first, and check the opened file again.
    _check(path, path.stat(), limit)
    with os.fdopen(os.open(path, _FLAGS), "rb") as file:
        _check(path, os.fstat(file.fileno()), limit)
        # The file may have grown in the meantime.
        data = file.read(limit + 1)
    if len(data) > limit:
        raise _too_large(path, limit)
    return data


def _check(path: Path, status: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise PromptValidationError(f"{path} is not a regular file; replace it by one.")
    if status.st_size > limit:
        raise _too_large(path, limit)


def _too_large(path: Path, limit: int) -> PromptValidationError:
    return PromptValidationError(f"{path} has more than the {limit:,} bytes that are read.")
