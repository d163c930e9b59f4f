"""The entry points of installed distributions that name plugins, read without importing one.

`importlib.metadata` takes 30 ms, for which an editor would wait, and reads the working folder.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from foldline.records import record

GROUP = "foldline.plugins"
_SECTION = re.compile(rf"^\[{re.escape(GROUP)}\]\s*$(.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^([^\s=#;][^=\n]*?)[ \t]*=[ \t]*([^\s\[]+)", re.MULTILINE)


@record
class Entry:
    """An entry point: `value` is `module:Class`, in a distribution of a version."""

    name: str
    value: str
    distribution: str
    version: str

    @property
    def ours(self) -> bool:
        """True for the rooms of foldline itself."""
        return self.distribution == "foldline"

    @property
    def shown(self) -> str:
        """The plugin and its distribution, for people."""
        return f"the plugin {self.name} of {self.distribution} {self.version}"

    def load(self) -> Any:
        """Import what it names, and return what calling that gives.

        Raises:
            ImportError: The value isn't `module:Class`, or there is no such module.
        """
        module, _, kind = self.value.partition(":")
        if not kind.isidentifier():
            raise ImportError(f"{self.value!r} isn't `module:Class`")
        return getattr(import_module(module), kind)()


def entries() -> Iterator[Entry]:
    """Yield the entry points of what is installed; of a distribution's versions the first.

    A folder on the path is looked at if it's one of installed packages, as that of foldline is, and
    not the working folder, which may be a workspace of any name.
    """
    distributions, here = set(), os.path.realpath(os.curdir)
    ours = str(Path(__file__).resolve().parents[2])
    for folder in dict.fromkeys(map(os.path.realpath, filter(None, sys.path))):
        is_installed = folder == ours or Path(folder).name in ("site-packages", "dist-packages")
        if folder == here or not is_installed:
            continue
        for file in sorted(Path(folder).glob("*.dist-info/entry_points.txt")):
            name, _, version = file.parent.name.removesuffix(".dist-info").partition("-")
            text = ""
            with suppress(OSError):
                text = file.read_text(encoding="utf-8", errors="replace")
            if name not in distributions and (section := _SECTION.search(text)):
                distributions.add(name)
                for line in _LINE.finditer(section[1]):
                    yield Entry(line[1], line[2], name, version)


@cache
def others_installed() -> bool:
    """Return True if another distribution brings a plugin; none is loaded for it."""
    return any(not entry.ours for entry in entries())
