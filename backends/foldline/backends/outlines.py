"""The outline of a source in any language."""

from __future__ import annotations

from foldline.backends.languages import UNKNOWN, parse
from foldline.backends.parsers.draft import Outline


def outline_source(language: str, data: bytes) -> Outline:
    """What the file of that language defines; `data` is UTF-8 with newlines only."""
    if language == UNKNOWN:
        return Outline(reason="the language is unknown")
    root = parse(language, data).root_node
    from foldline.backends.parsers.python_parser import outline_python

    found = outline_python(data, root)
    if root.has_error:
        found.reason = "has syntax errors"
    elif not found.symbols:
        found.reason = "defines nothing"
    return found
