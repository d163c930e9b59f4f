"""Renames a field wherever it is meant, in templates too."""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING

from foldline.server.static.checks.findings import Change
from foldline.server.static.editing.fields import files_about, occurrences, target_at
from foldline.server.static.params import DERIVED

if TYPE_CHECKING:
    from foldline.server.static.analysis import ModuleAnalysis
    from foldline.server.static.editing.fields import FieldTarget
    from foldline.server.static.project import Project


class RenameRefusedError(ValueError):
    """A new name that cannot be given, with the reason."""


def renameable(analysis: ModuleAnalysis, offset: int) -> FieldTarget | None:
    """The field that can be renamed there; None where there is none."""
    return target_at(analysis, offset)


def rename(
    project: Project, analysis: ModuleAnalysis, offset: int, name: str
) -> tuple[Change, ...] | None:
    """The changes that rename the field at an offset; None where there is none.

    Raises:
        RenameRefusedError: The name is no identifier, or the dataclass has it already.
    """
    target = target_at(analysis, offset)
    if target is None:
        return None
    # What `string.Template` takes for a name: ASCII only.
    if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name):
        raise RenameRefusedError(f"{name!r} cannot be a field that a placeholder names")
    if name in DERIVED and target.dataclass.task:
        raise RenameRefusedError(f"{name!r} is computed by the task section itself")
    if name != target.field.id and target.dataclass.field(name) is not None:
        raise RenameRefusedError(f"{target.dataclass.name} already has a field {name!r}")
    for each in files_about(project, target, analysis.file):
        for kind in each.dataclasses:
            field = kind.field(target.field.id)
            clash = kind.field(name)
            if field is not None and field.name is target.declared and clash is not None:
                raise RenameRefusedError(f"{kind.name} already has a field {name!r}")
    changes: dict[object, Change] = {}
    for occurrence in occurrences(target, files_about(project, target, analysis.file)):
        changes.setdefault(occurrence.place, Change(occurrence.place, name))
    return tuple(changes.values())
