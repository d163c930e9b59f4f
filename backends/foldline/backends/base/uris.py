r"""Paths of `file:` URIs, as editors write them. File names that aren't UTF-8 survive.

>>> path_of_uri("file:///src/a%20b%FF.py")
'/src/a b\udcff.py'
>>> uri_of_path("/src/a b\udcff.py")
'file:///src/a%20b%FF.py'
"""

from __future__ import annotations

import os
import re
from urllib.parse import quote, unquote, urlsplit

_WINDOWS = os.name == "nt"
_DRIVE = re.compile(r"/[a-zA-Z]:")


def path_of_uri(uri: str) -> str | None:
    """The path of a `file:` URI; None for other schemes.

    Raises:
        ValueError: It isn't a URI.
    """
    if not uri.startswith("file:"):
        return None
    parts = urlsplit(uri)
    # Bytes that aren't UTF-8 would become U+FFFD, which names no file.
    path = unquote(parts.path, errors="surrogateescape")
    if parts.netloc and path:
        path = f"//{unquote(parts.netloc)}{path}"
    elif _DRIVE.match(path):
        path = path[1].lower() + path[2:]
    return path.replace("/", "\\") if _WINDOWS else path


def uri_of_path(path: str | os.PathLike[str]) -> str:
    """The `file:` URI of an absolute path; the letter of a drive is in lower case."""
    name = os.fspath(path)
    if _WINDOWS:
        name = name.replace("\\", "/")
    host = ""
    if name.startswith("//"):
        host, slash, name = name[2:].partition("/")
        name = slash + name
    if not name.startswith("/"):
        name = f"/{name}"
    start = ""
    if _DRIVE.match(name):
        start, name = f"/{name[1].lower()}:", name[3:]
    return f"file://{quote(host)}{start}{quote(name, errors='surrogateescape')}"
