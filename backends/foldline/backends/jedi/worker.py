"""Answers queries about Python names with jedi; run by path, one JSON object a line.

Left to itself jedi looks into 2,000 files and parses 30 of them, and says nothing of what it left
out. Here it gets the files that can matter, parses them all, and reports when its time was up. It
runs no interpreter but its own, and keeps no pickles on disk.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

# jedi has no types.
import jedi  # type: ignore[import-untyped]
import parso.cache
from jedi.api.environment import InterpreterEnvironment  # type: ignore[import-untyped]
from jedi.file_io import KnownContentFileIO  # type: ignore[import-untyped]
from jedi.inference import references as jedi_references  # type: ignore[import-untyped]

from foldline.backends.errors import PathError
from foldline.backends.files.limits import SOURCE_BYTES
from foldline.backends.files.reader import read_bytes

NO_LIMIT = 1 << 40


def _nothing(*_: object, **__: object) -> None:
    return None


# The private names of jedi and parso that are replaced. Each answer lists those that are missing.
CHANGES: tuple[tuple[ModuleType, str, object], ...] = (
    (jedi_references, "_PARSED_FILE_LIMIT", NO_LIMIT),
    (jedi_references, "_OPENED_FILE_LIMIT", NO_LIMIT),
    # Its eviction takes away what a search in progress still needs.
    (parso.cache, "_CACHED_SIZE_TRIGGER", NO_LIMIT),
    (parso.cache, "_save_to_file_system", _nothing),
    (parso.cache, "_load_from_file_system", _nothing),
)
# Their replacements during each query.
WALK = (jedi_references, "_find_project_modules")
CACHE = (parso.cache, "parser_cache", {})  # type: ignore[var-annotated]  # Empty where it is missing.
MISSING = [
    name
    for module, name in (*((module, name) for module, name, _ in CHANGES), WALK, CACHE[:2])
    if not hasattr(module, name)
]


class Candidates:
    """The files that jedi looks into for one query, until its time is up."""

    def __init__(self, root: Path, request: dict[str, Any]) -> None:
        self._root = root
        self._paths = [str(root / path) for path in request["candidates"]]
        self._overlays = {str(root / path): text for path, text in request["overlays"].items()}
        self._deadline = time.monotonic() + request["seconds"]
        self.cut = False

    def files(self, _: object, module_contexts: list[Any]) -> Iterator[KnownContentFileIO]:
        """In place of jedi's walk through the project."""
        loaded = {str(context.py__file__()) for context in module_contexts}
        for path in self._paths:
            if path in loaded:
                continue
            if time.monotonic() > self._deadline:
                self.cut = True
                return
            try:
                content = self._overlays.get(path) or read_bytes(
                    path, SOURCE_BYTES, root=self._root
                )
            except PathError:
                continue
            yield KnownContentFileIO(path, content)

    def forget_overlays(self) -> None:
        """Drop the parsed modules of open buffers, which are kept by the time of the disk's."""
        for modules in getattr(*CACHE).values():
            for path in self._overlays:
                modules.pop(Path(path), None)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The locations of a name: path, line from 1, column from 0, length; `cut` when time was up.

    `missing` are the private names that this version of jedi lacks, so that it may leave files out.
    """
    root = Path(request["root"])
    candidates = Candidates(root, request)
    setattr(*WALK, candidates.files)
    script = jedi.Script(
        request["source"],
        path=root / request["path"],
        project=jedi.Project(root, load_unsafe_extensions=False),
        environment=InterpreterEnvironment(),
    )
    candidates.forget_overlays()
    try:
        names = script.get_references(request["line"], request["column"], include_builtins=False)
    finally:
        candidates.forget_overlays()
    locations = [
        [os.path.relpath(name.module_path, root), name.line, name.column, len(name.name)]
        for name in names
        if name.module_path is not None and Path(name.module_path).is_relative_to(root)
    ]
    return {"locations": locations, "cut": candidates.cut, "missing": MISSING}


def main() -> None:
    """Answer line by line until the input ends."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Printed text must not end up among the answers.
    os.dup2(2, 1)
    for module, name, value in CHANGES:
        setattr(module, name, value)
    for line in requests:
        request = json.loads(line)
        try:
            reply = answer(request)
        except Exception as error:
            # jedi fails in many ways on odd code; the worker survives them all.
            reply = {"error": f"{type(error).__name__}: {error}"[:500]}
        answers.write(json.dumps({"id": request["id"], **reply}).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
