"""Finds values for a prompt's parameters outside of its own module.

What a project declares (`options`), and the files beside the module: `review.preview.toml` and
`review.preview.json` for `review.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from foldline.backends.errors import MalformedFileError, PathError
from foldline.backends.files.limits import VALUES_BYTES
from foldline.backends.files.reader import json_of, read_text, toml_of
from foldline.ide.errors import ValuesError
from foldline.ide.render.options import PreviewTable, PromptTable, read_preview_options
from foldline.ide.settings import Network
from foldline.links import resolved
from foldline.records import record

DEFAULT_SET = "default"
SETS = "sets"
NO_TEXTS: Mapping[str, str] = MappingProxyType({})
SUFFIXES = (".toml", ".json")
EXPECTED = "give an object of fields for each dataclass, by its name, or section, by its key"

Sets = dict[str, dict[str, dict[str, Any]]]
"""For each parameter set, fields by dataclass name or section key."""


@record
class ValueSources:
    """The sources of values, as `_foldline_job.ValueSources` has them for a worker.

    The network is the project's own restriction; the problems are of its options.
    """

    request: Mapping[str, object]
    network: Network
    problems: tuple[str, ...]

    @property
    def files(self) -> list[str]:
        """The files of values."""
        kinds: Any = self.request
        return [
            file["file"]
            for kind in (kinds["all"], *kinds["prompts"].values())
            for file in kind["files"]
        ]


def find_sources(
    file: Path, root: Path, params: Path | None = None, texts: Mapping[str, str] = NO_TEXTS
) -> ValueSources:
    """The sources for the prompts of the module `file`; read each time, as they may have changed.

    `params` is one more file of values. `texts` stand for files, by path.

    Raises:
        ValuesError: A file of values cannot be read.
    """
    options = read_preview_options(file, root)
    problems = list(options.problems)

    def declared(names: Iterable[str], where: str) -> list[Path]:
        sources = []
        for index, name in enumerate(names):
            path = resolved(options.folder / name)
            if not path.is_relative_to(root) or not (str(path) in texts or path.is_file()):
                why = "isn't a file" if path.is_relative_to(root) else "is outside the workspace"
                problems.append(f"tool.foldline.preview.{where}[{index}]: {name} {why}")
                continue
            sources.append(path)
        return sources

    def sources(
        table: PreviewTable | PromptTable, where: str, beside: list[dict[str, object]]
    ) -> object:
        params = declared(table.params, f"{where}params")
        fixtures = declared(table.fixtures, f"{where}fixtures")
        return {
            "fixtures": [str(fixture) for fixture in fixtures],
            "files": beside + [_values(file, root, texts) for file in params],
            "use": table.use,
        }

    files = [_values(params)] if params is not None else []
    beside = [file.with_name(f"{file.stem}.preview{suffix}") for suffix in SUFFIXES]
    # A pipe or a folder of that name is there to be refused.
    files += [
        _values(item, root, texts) for item in beside if str(item) in texts or os.path.lexists(item)
    ]
    table = options.table
    request = {
        "all": sources(table, "", files),
        "prompts": {
            name: sources(prompt, f"prompts.{name}.", []) for name, prompt in table.prompts.items()
        },
    }
    return ValueSources(request, table.network or Network.ALLOW, tuple(problems))


def _values(
    file: Path, root: Path | None = None, texts: Mapping[str, str] = NO_TEXTS
) -> dict[str, object]:
    """A file of values as sent to the worker."""
    return {"file": str(file), "sets": read_values(file, root, texts.get(str(file)))}


def read_values(file: Path, root: Path | None = None, text: str | None = None) -> Sets:
    """The parameter sets of a file, in JSON or TOML, which must be below `root` if that is given.

    `text` stands for the file's.

    Its tables are dataclasses with values for fields. Those below `sets` belong to the set of that
    name, the others are in every set.

    Raises:
        ValuesError: It cannot be read, or says something else.
    """
    parse = toml_of if file.suffix == ".toml" else json_of
    try:
        if text is None:
            text = read_text(file, VALUES_BYTES, root=root, strict=True)
        values = parse(text, file)
    except MalformedFileError as error:
        raise ValuesError(file, error.problem, error.line) from error
    except PathError as error:
        raise ValuesError(file, error.problem) from error
    if not isinstance(values, dict):
        raise ValuesError(file, EXPECTED)
    sets = values.pop(SETS, {})
    if not isinstance(sets, dict):
        raise ValuesError(file, f"{SETS}: give an object of dataclasses for each set, by its name")
    sets_read = {DEFAULT_SET: values} if values else {}
    sets_read |= {str(name): item for name, item in sets.items()}
    for name, item in sets_read.items():
        where = "" if item is values else f"{SETS}.{name}: "
        if not isinstance(item, dict) or not all(isinstance(one, dict) for one in item.values()):
            raise ValuesError(file, where + EXPECTED)
    return sets_read
