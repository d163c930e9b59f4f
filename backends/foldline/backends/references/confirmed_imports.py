"""Coverage of an engine's references, judged by the imports that it confirms.

A file that imports a name from the module that defines it uses that name. An engine that took the
wrong folder for the project resolves no such import, and says nothing about it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.backends.models import COMPLETE, ReferenceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foldline.backends.models import Reference
    from foldline.backends.outlines.locations import Position

# The module, on the line of the name: `from a.b import name`, `import { name } from "./a/b"`.
_MODULE = re.compile(r"""\bfrom\s+["']?([\w./@-]+)""")
_PART = re.compile(r"[\w-]+")
# Files that stand for the folder around them.
_FOLDER_MODULES = frozenset({"__init__", "index", "mod"})


def coverage_of_imports(
    engine: str,
    targets: Iterable[Position],
    matches: Iterable[Reference],
    uses: Iterable[Reference],
) -> str:
    """Partial where most imports of a definition at `targets` aren't among the `uses`.

    `matches` are all identifiers with the name. Imports over several lines don't count: their first
    line names the module, and another one the name.
    """
    definitions = {_module_of(target.path) for target in targets}
    lines = {(use.path, use.line) for use in uses}
    imports = [
        (match.path, match.line) in lines
        for match in matches
        if match.kind == ReferenceKind.IMPORT and _is_from(match.context, definitions)
    ]
    confirmed = sum(imports)
    if confirmed * 2 >= len(imports):
        return COMPLETE
    return (
        f"partial: {engine} confirmed {confirmed:,} of {len(imports):,} imports from the file that "
        "defines it"
    )


def _module_of(path: str) -> tuple[str, ...]:
    parts = path.rpartition(".")[0].split("/")
    return tuple(parts[:-1] if parts[-1] in _FOLDER_MODULES and len(parts) > 1 else parts)


def _is_from(line: str, definitions: Iterable[Sequence[str]]) -> bool:
    """Return whether the line imports from one of these modules, or from a package around it."""
    found = _MODULE.search(line)
    module = tuple(_PART.findall(found[1])) if found else ()
    return bool(module) and any(
        module == tuple(definition[start : start + len(module)])
        for definition in definitions
        for start in range(len(definition) - len(module) + 1)
    )
