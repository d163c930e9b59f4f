"""Renames a field wherever it is meant, in templates too."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.ide.analysis.values import Dataclass, Nothing, Text
from foldline.ide.checks.diagnostic import Change
from foldline.ide.features.fields import files_about, occurrences, target_at
from foldline.prompts.task import TASK_BLOCKS

if TYPE_CHECKING:
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.project import Project
    from foldline.ide.analysis.values import SectionValue
    from foldline.ide.features.fields import FieldTarget


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
        RenameRefusedError: The name is no identifier, the dataclass has it already, or a text that
            code puts together names the field.
    """
    target = target_at(analysis, offset)
    if target is None:
        return None
    # What `string.Template` takes for a name: ASCII only.
    if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name):
        raise RenameRefusedError(f"{name!r} cannot be a field that a placeholder names")
    if name in TASK_BLOCKS and target.dataclass.task:
        raise RenameRefusedError(f"{name!r} is computed by the task section itself")
    if name != target.field.id and target.dataclass.field(name) is not None:
        raise RenameRefusedError(f"{target.dataclass.name} already has a field {name!r}")
    for module in files_about(project, target, analysis.file):
        for kind in module.dataclasses:
            if target.is_declared_by(kind.field(target.field.id)) and kind.field(name) is not None:
                raise RenameRefusedError(f"{kind.name} already has a field {name!r}")
        _refuse_what_code_puts_together(module, target)
    changes: dict[object, Change] = {}
    for occurrence in occurrences(target, files_about(project, target, analysis.file)):
        changes.setdefault(occurrence.place, Change(occurrence.place, name))
    return tuple(changes.values())


def _refuse_what_code_puts_together(analysis: ModuleAnalysis, target: FieldTarget) -> None:
    """Raises where a part of a text that is not known may hold a placeholder of the field."""
    name = target.field.id
    if not any(
        isinstance(section.params, Dataclass)
        and target.is_declared_by(section.params.field(name))
        and any(_is_code(section, role) for role in ("template", "summary"))
        for section in analysis.sections
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
                f"line {line} of {Path(analysis.file).name} names {name!r} in a text that code "
                "puts together: write the text as one literal, or rename by hand"
            )


def _is_code(section: SectionValue, role: str) -> bool:
    argument = section.arguments.get(role)
    return argument is not None and not (
        isinstance(argument.value, Nothing)
        or (isinstance(argument.value, Text) and not argument.value.mapped.dynamic)
    )
