"""References to fields, and to sections by their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.features.fields import Role, files_about, occurrences, target_at

if TYPE_CHECKING:
    from foldline.ide.analysis.model import SourceSpan
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.project import Project
    from foldline.ide.features.fields import Occurrence


def references(
    project: Project,
    analysis: ModuleAnalysis,
    offset: int,
    *,
    include_declaration: bool,
) -> tuple[SourceSpan, ...]:
    """Return every reference to the field at an offset, in all files that may have one."""
    target = target_at(analysis, offset)
    if target is None:
        return ()
    found = occurrences(target, files_about(project, target, analysis.file))
    return tuple(
        use.place for use in found if include_declaration or use.role is not Role.DECLARATION
    )


def highlights(analysis: ModuleAnalysis, offset: int) -> tuple[Occurrence, ...]:
    """Return the references in this file to the field at an offset."""
    target = target_at(analysis, offset)
    if target is None:
        return ()
    found = occurrences(target, [analysis])
    return tuple(use for use in found if use.place.file == analysis.file)
