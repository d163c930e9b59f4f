"""Cases that stand in text files, as their sources would be written."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def cases(path: Path) -> dict[str, str]:
    """The cases of a text file, each below a line `=== title`."""
    _, titles, texts = _parts(r"^=== (.+)\n", path.read_bytes().decode())
    found = dict(zip(titles, texts, strict=True))
    assert len(found) == len(titles), "two cases have one title"
    return found


def files(text: str) -> tuple[str, dict[str, str]]:
    """The text above the first line `#- path`, and the files that stand below such lines."""
    above, names, texts = _parts(r"^#- (\S+)\r?\n", text)
    return above, dict(zip(names, texts, strict=True))


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _parts(pattern: str, text: str) -> tuple[str, list[str], list[str]]:
    above, *rest = re.split(pattern, text, flags=re.MULTILINE)
    return above, rest[::2], rest[1::2]
