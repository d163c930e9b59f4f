"""A project's options for previews: `[tool.foldline.preview]` of the nearest `pyproject.toml`.

```toml
[tool.foldline.preview]
network = "deny"                       # what a rendered prompt may reach; or "allow"
fixtures = ["tests/previews.py"]       # files with preview_*() functions, from this file's folder
params = ["previews.toml"]             # files of values, in TOML or JSON

[tool.foldline.preview.prompts."demo/review"]     # the same for one prompt; or its variable's name
params = ["review.toml"]
use = "security"                       # the parameter set that a preview begins with
```
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from foldline.backends.base.reading import read_project
from foldline.backends.errors import PathError
from foldline.ide.settings import Network  # noqa: TC001 - The reader resolves the annotations.
from foldline.records import record

if TYPE_CHECKING:
    from pathlib import Path


# The table in `[tool.foldline]`.
TABLE = "preview"


@record
class PromptTable:
    """The options of one prompt."""

    fixtures: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    use: str | None = None


@record
class PreviewTable:
    """The options of all prompts of a project, and of single ones by variable or `ns/key`."""

    network: Network | None = None
    fixtures: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    use: str | None = None
    prompts: dict[str, PromptTable] = field(default_factory=dict)


@record
class PreviewOptions:
    """The table of one `pyproject.toml`.

    Attributes:
        folder: The folder that its paths are relative to.
        table: Its values, as far as they fit.
        problems: One sentence for each value that does not, with its path.
    """

    folder: Path
    table: PreviewTable = PreviewTable()
    problems: tuple[str, ...] = ()


def read_preview_options(file: Path, root: Path) -> PreviewOptions:
    """The options for a module: the nearest such table from its folder up to the root."""
    problems: list[str] = []
    for folder in file.parents:
        if not folder.is_relative_to(root):
            break
        project = folder / "pyproject.toml"
        time = size = 0
        try:
            stamp = project.stat()
            time, size = stamp.st_mtime_ns, stamp.st_size
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            pass  # It is there, and reading it says what is wrong.
        options = _read(project, root, time, size)
        if isinstance(options, str):
            problems.append(options)
        elif options is not None:
            return replace(options, problems=(*problems, *options.problems))
    return PreviewOptions(root, problems=tuple(problems))


@lru_cache(maxsize=16)
def _read(file: Path, root: Path, _time: int, _size: int) -> PreviewOptions | str | None:
    """The table of a file as it was at that time; None without one, or why it was not read."""
    try:
        found = read_project(file, root, PreviewTable(), TABLE)
    except PathError as error:
        return error.summary
    return None if found is None else PreviewOptions(file.parent, *found)
