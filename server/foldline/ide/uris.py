"""Files by the URIs that clients name them by."""

from __future__ import annotations

import contextlib
from pathlib import Path

from foldline.backends.base.uris import path_of_uri, uri_of_path
from foldline.backends.formatting.visible import visible
from foldline.ide.errors import PathRefused


def local_path(uri: str) -> Path | None:
    """The real path of the file at `uri`, or None where that isn't a file on this machine."""
    try:
        path = path_of_uri(uri)
        # A relative one would be found beside this process.
        if not path or not Path(path).is_absolute():
            return None
        resolved = Path(path).resolve()
        # Check here once, so that an impossible file name fails nowhere else.
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            resolved.stat()
    except (ValueError, OSError, RuntimeError):
        # It isn't a URI, or not a file's name: NUL, half a character, a loop of links, too long.
        return None
    return resolved


def path_of(uri: str) -> Path:
    """The real path of the file at `uri`.

    Raises:
        PathRefused: It isn't a file on this machine.
    """
    path = local_path(uri)
    if path is None:
        raise PathRefused(f"{visible(uri)} is not a file on this machine: save it first", uri=uri)
    return path


def uri_of(path: Path) -> str:
    """The `file:` URI of an absolute path."""
    return uri_of_path(path)


def file_of(uri: str) -> str:
    """The name of a document: its path, or its URI where it has none."""
    path = local_path(uri)
    return str(path) if path is not None else uri


def uri_of_file(file: str) -> str:
    """The URI of the document called `file`."""
    return uri_of(Path(file)) if Path(file).is_absolute() else file
