"""The checks of an instruction file in its repository: stale names, and what clients don't read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.codes import Code, Severity, default_severity
from foldline.ide.checks.diagnostic import Change, Diagnostic, Fix
from foldline.ide.instructions.document import InstructionFile
from foldline.ide.snapshot import Snapshot
from foldline.plugins.instructions.mentions import mentions
from foldline.plugins.instructions.stack import switched_off
from foldline.plugins.instructions.stale import stale_mentions


def check_repository(
    document: Snapshot, file: InstructionFile, seconds: float, since: float
) -> Iterator[Diagnostic]:
    """Yield what a file's repository says of it; names are looked up as by `stale_mentions`."""
    path, folder, severities = (
        Path(document.analysis.file),
        document.folder,
        document.options.severity,
    )
    if not path.is_relative_to(folder.root):
        return
    relative = path.relative_to(folder.root).as_posix()
    severity = severities.get(Code.STALE_REFERENCE, default_severity(Code.STALE_REFERENCE))
    if severity is not Severity.OFF:
        every = mentions(file.markdown)
        for one in stale_mentions(
            folder.access, relative, file.text, every, seconds=seconds, since=since
        ):
            place = SourceSpan(str(path), one.mention.start, one.mention.end)
            fixes = (Fix(f"Write {one.near}", (Change(place, one.near),)),) if one.near else ()
            yield Diagnostic(Code.STALE_REFERENCE, severity, one.message, place, fixes)
    code = Code.SWITCHED_OFF_INSTRUCTIONS
    severity = severities.get(code, default_severity(code))
    if severity is not Severity.OFF:
        for start, message in switched_off(folder, relative):
            place = SourceSpan(str(path), start, file.end_of_line(start))
            yield Diagnostic(code, severity, message, place)
