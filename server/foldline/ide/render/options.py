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

from dataclasses import field
from pathlib import Path

from foldline.ide.config import Nearest, nearest_table
from foldline.ide.settings import Network
from foldline.records import record

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


def read_preview_options(file: Path, root: Path) -> Nearest[PreviewTable]:
    """The options for a module: the nearest such table from its folder up to the root."""
    return nearest_table(file, root, PreviewTable, TABLE)
