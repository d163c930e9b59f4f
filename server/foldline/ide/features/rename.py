"""Renames a field everywhere, including in templates."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.ide.analysis.placeholders import roles_of
from foldline.ide.analysis.values import Dataclass, Nothing, Text
from foldline.ide.checks.diagnostic import Change
from foldline.ide.features.fields import files_about, occurrences, target_at
from foldline.prompts.sections import task

if TYPE_CHECKING:
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.project import Project
    from foldline.ide.analysis.values import SectionValue
    from foldline.ide.features.fields import FieldTarget


class RenameRefusedError(ValueError):
    """The field can't get the new name; the message says why."""


def renameable(analysis: ModuleAnalysis, offset: int) -> FieldTarget | None:
    """Return the field at an offset that can be renamed, or None."""
    return target_at(analysis, offset)


def rename(
    project: Project, analysis: ModuleAnalysis, offset: int, name: str
) -> tuple[Change, ...] | None:
    """Return the changes that rename the field at an offset; None if there is no field.

    Raises:
        RenameRefusedError: The name isn't an identifier, the dataclass already has it, or a text
            built by code names the field.
    """
    target = target_at(analysis, offset)
    if target is None:
        return None
    # `string.Template` accepts only ASCII names.
    if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name):
        raise RenameRefusedError(f"{name!r} cannot be a field that a placeholder names")
    if name in task.TASK_BLOCKS and target.dataclass.task:
        raise RenameRefusedError(f"{name!r} is computed by the task section itself")
    if name != target.field.id and target.dataclass.field(name) is not None:
        raise RenameRefusedError(f"{target.dataclass.name} already has a field {name!r}")
    for module in files_about(project, target, analysis.file):
        for kind in module.dataclasses:
            if target.is_declared_by(kind.field(target.field.id)) and kind.field(name) is not None:
                raise RenameRefusedError(f"{kind.name} already has a field {name!r}")
        _refuse_computed(module, target, name)
        _refuse_built_text(module, target)
    changes: dict[object, Change] = {}
    for occurrence in occurrences(target, files_about(project, target, analysis.file)):
        changes.setdefault(occurrence.place, Change(occurrence.place, name))
    return tuple(changes.values())


def _refuse_computed(analysis: ModuleAnalysis, target: FieldTarget, name: str) -> None:
    """Raise if a section computes a placeholder of the new name."""
    for text in analysis.texts:
        owner = text.owner
        field = owner.field(target.field.id) if isinstance(owner, Dataclass) else None
        if name in text.computed and target.is_declared_by(field):
            raise RenameRefusedError(f"{name!r} is computed by a section itself")


def _refuse_built_text(analysis: ModuleAnalysis, target: FieldTarget) -> None:
    """Raise if text built by code may contain a placeholder of the field."""
    name = target.field.id
    if not any(
        isinstance(owner := section.named_by(role), Dataclass)
        and target.is_declared_by(owner.field(name))
        and _is_code(section, role)
        for section in analysis.sections
        for role in roles_of(section)
    ):
        return
    known = {
        source.span
        for _, placeholder in analysis.placeholders()
        if (source := placeholder.source) is not None
    }
    for match in re.finditer(rf"(?<!\$)(?:\$\$)*(\$\{{*{re.escape(name)}\b)", analysis.text):
        if not any(span.holds(match.start(1)) for span in known):
            line = analysis.text.count("\n", 0, match.start(1)) + 1
            raise RenameRefusedError(
                f"line {line} of {Path(analysis.file).name} names {name!r} in a text that "
                "code builds: write the text as one literal, or rename by hand"
            )


def _is_code(section: SectionValue, role: str) -> bool:
    argument = section.arguments.get(role)
    return argument is not None and not (
        isinstance(argument.value, Nothing)
        or (isinstance(argument.value, Text) and not argument.value.mapped.dynamic)
    )
