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
from foldline.plugins.instructions.stale import StaleMention, stale_mentions


def check_repository(
    document: Snapshot, file: InstructionFile, seconds: float, since: float
) -> Iterator[Diagnostic]:
    """Yield what a file's repository says of it; names are looked up as by `stale_mentions`."""
    path, folder = Path(document.analysis.file), document.folder
    if not path.is_relative_to(folder.root):
        return
    relative = path.relative_to(folder.root).as_posix()
    stale: tuple[StaleMention, ...] = ()
    if document.options.severity.get(Code.STALE_REFERENCE) is not Severity.OFF:
        every = mentions(file.markdown)
        stale = stale_mentions(
            folder.access, relative, file.text, every, seconds=seconds, since=since
        )
    for one in stale:
        place = SourceSpan(str(path), one.mention.start, one.mention.end)
        fixes = (Fix(f"Write {one.near}", (Change(place, one.near),)),) if one.near else ()
        code = Code.STALE_REFERENCE
        yield Diagnostic(code, default_severity(code), one.message, place, fixes)
    for start, message in switched_off(folder, relative):
        place = SourceSpan(str(path), start, file.end_of_line(start))
        code = Code.SWITCHED_OFF_INSTRUCTIONS
        yield Diagnostic(code, default_severity(code), message, place)
