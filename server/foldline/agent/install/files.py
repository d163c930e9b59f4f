"""Reads a configuration, and replaces it in one step."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.agent.install.errors import InstallError
from foldline.backends.errors import MissingPathError, PathError
from foldline.backends.files.reader import read_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST = 16 << 20
"""Some clients keep much else in the same file."""
_BOM = "\ufeff"


def choose(files: Sequence[Path]) -> Path:
    """Return the first file that exists, or else the last, which is to be made."""
    return next((file for file in files if os.path.lexists(file)), files[-1])


def read(file: Path, root: Path | None = None) -> str | None:
    """Return the text of a file, None if there is none.

    Args:
        file: The file.
        root: A project's folder, which is somebody else's: no link below it is followed.

    Raises:
        InstallError: It can't be read, or isn't a regular file in UTF-8.
    """
    if root is not None:
        _check_links(file, root)
    try:
        return read_bytes(file, LARGEST, root=root).decode("utf-8")
    except MissingPathError:
        if os.path.lexists(file):
            raise InstallError(f"{file} is a link to a file that isn't there") from None
        return None
    except PathError as error:
        raise InstallError(error.summary) from error
    except UnicodeDecodeError as error:
        raise InstallError(f"{file} is not UTF-8: byte {error.start}") from error


def replace(file: Path, before: str | None, text: str, root: Path | None = None) -> None:
    """Make `text` the content of a file in one step; a user's link stays one.

    Raises:
        InstallError: It can't be written, or isn't as it was `before` any more.
    """
    try:
        if root is not None:
            _check_links(file, root)
        target = Path(os.path.realpath(file))
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".foldline-", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text.encode())
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(temporary, _mode(target))  # noqa: PTH101
            _check_unchanged(file, before, root)
            os.replace(temporary, target)  # noqa: PTH105
        except BaseException:
            os.unlink(temporary)  # noqa: PTH108
            raise
    except OSError as error:
        raise InstallError(f"{file} can't be written: {error.strerror}") from error


def delete(file: Path, before: str | None, root: Path | None = None) -> None:
    """Delete a file that holds nothing any more.

    Raises:
        InstallError: It can't be deleted, or isn't as it was `before` any more.
    """
    try:
        target = Path(os.path.realpath(file))
        _mode(target)
        _check_unchanged(file, before, root)
        target.unlink()
    except OSError as error:
        raise InstallError(f"{file} can't be deleted: {error.strerror}") from error


def split_mark(text: str) -> tuple[str, str]:
    """Return the byte order mark that a text begins with, and the rest."""
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _check_links(file: Path, root: Path) -> None:
    place = root
    for part in file.relative_to(root).parts:
        place /= part
        if place.is_symlink():
            raise InstallError(f"{place} is a link, and a project's links aren't followed")


def _check_unchanged(file: Path, before: str | None, root: Path | None) -> None:
    """Raise where another program has written meanwhile: its text would be lost."""
    if read(file, root) != before:
        raise InstallError(f"another program has just changed {file}: run this again")


def _mode(target: Path) -> int:
    """Return the mode of a file, or of one that is to be made; raise where its user protects it."""
    try:
        found = target.stat()
        if found.st_nlink > 1 or not found.st_mode & 0o222:
            why = "is read-only" if found.st_nlink == 1 else "has other names, by hard links"
            raise InstallError(f"{target} {why}: change it yourself, --dry-run shows how")
        return found.st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
