"""Watches the files that a prompt may be built from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from watchfiles import PythonFilter, awatch

# Besides Python: files from which modules may read texts and values.
EXTENSIONS = (".csv", ".jinja", ".j2", ".json", ".md", ".toml", ".txt", ".yaml", ".yml")


async def changed_files(file: Path, root: Path) -> AsyncIterator[set[Path]]:
    """Yield the files below `root` that have changed, each time writing pauses.

    Instead of a home directory or the whole disk, only the folder of `file` is watched.
    """
    too_much = root in (Path.home(), Path(root.anchor))
    async for changes in awatch(
        file.parent if too_much else root,
        watch_filter=PythonFilter(extra_extensions=EXTENSIONS),
        step=20,  # Milliseconds without a change.
    ):
        yield {Path(path) for _, path in changes}
