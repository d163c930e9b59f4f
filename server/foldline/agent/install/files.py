"""Reads a configuration, and replaces it in one step."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TypeAlias

from foldline.agent.refusals import Refused
from foldline.agent.targets import path_from_here
from foldline.agent.terminal import show
from foldline.backends.errors import MissingPathError, PathError
from foldline.backends.files.reader import read_bytes
from foldline.backends.formatting.visible import visible

Change: TypeAlias = tuple[Path, str | None, str | None]
"""A file, its text and the text that it gets; None where there is no file."""
LARGEST = 16 << 20
"""The most bytes of a configuration; some clients also keep their history in it."""


class UnparsableError(Refused):
    """A text isn't of its format, or has something else where the servers belong."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        where = f"line {line}, column {column}: " if line else ""
        super().__init__(f"{where}{problem}")


def read(file: Path, root: Path | None = None) -> str | None:
    """Return the text of a file, None if there is none.

    Below `root`, a project's folder that others may have written, no link is followed.

    Raises:
        Refused: It can't be read, or isn't a regular file in UTF-8.
    """
    if root is not None:
        path = root
        for part in file.relative_to(root).parts:
            path /= part
            if path.is_symlink():
                raise Refused(f"{path} is a link, and a project's links aren't followed")
    try:
        return read_bytes(file, LARGEST, root=root).decode("utf-8")
    except MissingPathError:
        if os.path.lexists(file):
            raise Refused(f"{file} is a link to a file that isn't there") from None
        return None
    except PathError as error:
        raise Refused(error.summary) from error
    except UnicodeDecodeError as error:
        raise Refused(f"{file} is not UTF-8: byte {error.start}") from error


def write(changes: Sequence[Change], root: Path | None, *, dry_run: bool, note: str = "") -> None:
    """Show how files change, and write them: in this order, or none if one can't be written.

    Raises:
        Refused: A file can't be written.
    """
    for file, _, _ in () if dry_run else changes:
        _mode(Path(os.path.realpath(file)))
    for file, before, text in changes:
        shown = visible(path_from_here(file))
        show(diff(shown, before, text), end="")
        if not dry_run:
            replace(file, before, text, root)
            show(f"{'Removed' if text is None else 'Written to'} {shown}.{note}")
    if dry_run and changes:
        show("Nothing is written: --dry-run.")


def replace(file: Path, before: str | None, text: str | None, root: Path | None = None) -> None:
    """Make `text` the content of a file in one step, or delete it; a user's link stays one.

    Raises:
        Refused: It can't be written, or isn't as it was `before` any more.
    """
    try:
        target = Path(os.path.realpath(file))
        mode = _mode(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".foldline-", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write((text or "").encode())
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(temporary, mode)  # noqa: PTH101
            if read(file, root) != before:
                raise Refused(f"another program has just changed {file}: run this again")
            os.replace(temporary, target)  # noqa: PTH105
        except BaseException:
            os.unlink(temporary)  # noqa: PTH108
            raise
        if text is None:
            target.unlink()
    except OSError as error:
        raise Refused(f"{file} can't be written: {error.strerror}") from error


def _mode(target: Path) -> int:
    """Return the mode of a file, or of one that is to be made; raise where it can't be written."""
    around = next(filter(Path.exists, target.parents))
    if not os.access(around, os.W_OK | os.X_OK):
        raise Refused(f"{target} can't be written: {around} isn't a folder that you can write to")
    try:
        status = target.stat()
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if status.st_nlink > 1 or not status.st_mode & 0o222:
        why = "is read-only" if status.st_nlink == 1 else "has other names, by hard links"
        raise Refused(f"{target} {why}: change it yourself, --dry-run shows how")
    return status.st_mode & 0o777


def diff(file: str, before: str | None, after: str | None) -> str:
    """Return how a file changes; None is a file that isn't there."""
    old, new = ("/dev/null" if text is None else file for text in (before, after))
    lines = unified_diff(
        (before or "").splitlines(), (after or "").splitlines(), old, new, lineterm=""
    )
    return "".join(f"{line}\n" for line in lines)
