"""Which files change on disk that a prompt may be made of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from watchfiles import PythonFilter, awatch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# Beside Python: what a module may read its texts and values from.
EXTENSIONS = (".csv", ".jinja", ".j2", ".json", ".md", ".toml", ".txt", ".yaml", ".yml")


async def changed_files(file: Path, root: Path) -> AsyncIterator[set[Path]]:
    """The files below `root` that have changed, again and again, as soon as writing pauses.

    A home directory, or the whole disk, is too much to watch: then it is the folder of `file`.
    """
    too_much = root in (Path.home(), Path(root.anchor))
    async for changes in awatch(
        file.parent if too_much else root,
        watch_filter=PythonFilter(extra_extensions=EXTENSIONS),
        step=20,
    ):
        yield {Path(path) for _, path in changes}
