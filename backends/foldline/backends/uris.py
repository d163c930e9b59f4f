r"""Paths of `file:` URIs. A name of a file need not be UTF-8, and comes as Python has it.

>>> path_of_uri("file:///src/a%20b%FF.py")
'/src/a b\udcff.py'
>>> uri_of_path("/src/a b\udcff.py")
'file:///src/a%20b%FF.py'
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from pygls.uris import from_fs_path, to_fs_path

# Escapes of ASCII stay: some of them stand for what would divide the URI.
_NOT_ASCII = re.compile("(?:%[89A-Fa-f][0-9A-Fa-f])+")


def path_of_uri(uri: str) -> str | None:
    """The path of a `file:` URI; None for other schemes.

    Raises:
        ValueError: It isn't a URI.
    """
    if not uri.startswith("file:"):
        return None
    # Else what isn't UTF-8 would become U+FFFD, which names no file.
    named = _NOT_ASCII.sub(lambda escapes: unquote(escapes[0], errors="surrogateescape"), uri)
    return to_fs_path(named)


def uri_of_path(path: str | os.PathLike[str]) -> str:
    """The `file:` URI of an absolute path."""
    try:
        return str(from_fs_path(os.fspath(path)))
    except UnicodeEncodeError:
        return Path(path).as_uri()
