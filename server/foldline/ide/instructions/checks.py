"""The checks of instruction files: every one is called from here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.diagnostic import (
    Change,
    Code,
    Fix,
    LazyDiagnostic,
    Severity,
    default_severity,
)
from foldline.ide.checks.run import located
from foldline.ide.instructions.features import costs
from foldline.ide.instructions.front_matter import faults
from foldline.ide.instructions.mentions import mentions
from foldline.ide.instructions.stack import switched_off
from foldline.ide.instructions.stale import SECONDS, stale_mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from foldline.ide.checks.diagnostic import Diagnostic, LazyLocation
    from foldline.ide.folder import Folder
    from foldline.ide.instructions.document import InstructionFile, InstructionSection
    from foldline.ide.instructions.stale import StaleMention

_SHORTEST_REPEATED = 40
"""Sections with less text in common are alike by chance: `See above.`"""


def diagnostics(
    file: InstructionFile,
    path: Path,
    folder: Folder,
    stale: Iterable[StaleMention] | None = None,
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a file in the order of its text, as the project wants them.

    Its history is read for names that were right once, unless these `stale` mentions are known.
    """
    if stale is None:
        stale = stale_in(file, path, folder)
    found = []
    for lazy in (*checks(file, path, folder), *(_stale(path, one) for one in stale)):
        severity = folder.options.severity.get(lazy.code, default_severity(lazy.code))
        place = lazy.place()
        if severity is not Severity.OFF and place is not None:
            found.append(located(lazy, severity, place))
    return tuple(sorted(found, key=lambda one: (one.place, one.code)))


def stale_in(
    file: InstructionFile, path: Path, folder: Folder, seconds: float = SECONDS
) -> tuple[StaleMention, ...]:
    """Return the mentions that were right when they were written, unless the project wants none."""
    level = folder.options.severity.get(Code.STALE_REFERENCE)
    if level is Severity.OFF or not path.is_relative_to(folder.root):
        return ()
    relative = path.relative_to(folder.root).as_posix()
    every = mentions(file.markdown)
    return stale_mentions(folder.access, relative, file.text, every, seconds=seconds)


def checks(file: InstructionFile, path: Path, folder: Folder) -> Iterator[LazyDiagnostic]:
    """Yield what is wrong in a file."""

    def place(start: int, end: int) -> LazyLocation:
        return partial(SourceSpan, str(path), start, end)

    for code, message, where in faults(file, path):
        yield LazyDiagnostic(code, message, place(*where))
    for start, message in switched_off(folder, path.relative_to(folder.root).as_posix()):
        end = file.text.find("\n", start) % (len(file.text) + 1)
        yield LazyDiagnostic(Code.SWITCHED_OFF_INSTRUCTIONS, message, place(start, end))
    counter, budget = folder.counter, folder.options.token_budget
    total = costs(file, counter).total
    if budget is not None and total > budget:
        shown, over = counter.format(total), counter.format(total - budget)
        message = f"The file costs {shown} tokens, {over} more than its budget of {budget:,}."
        first = file.text.partition("\n")[0]
        yield LazyDiagnostic(Code.TOKEN_BUDGET, message, place(0, len(first)))
    texts: dict[str, InstructionSection] = {}
    for section in file.sections:
        heading = file.text[section.start : section.body].rstrip()
        head = place(section.start, section.start + len(heading))
        text = file.text[section.body : section.end].strip()
        if section.number and not text:
            message = f"`{section.title}` is empty: a model reads its heading for nothing."
            yield LazyDiagnostic(Code.EMPTY_SECTION, message, head)
        first_one = texts.setdefault(text, section)
        if len(text) >= _SHORTEST_REPEATED and first_one.end <= section.start:
            message = f"The text of `{section.key}` is that of `{first_one.key}`: keep one of them."
            related = (place(first_one.start, first_one.body), "It is written here first.")
            yield LazyDiagnostic(Code.REPEATED_SECTION, message, head, related=(related,))
        if section.mark is not None:
            folded, full = map(counter.count, (file.fold_text(section), file.whole_text(section)))
            if not section.summary:
                message = (
                    f"`{section.key}` folds without a summary: after `fold:`, say when to read it."
                )
                yield LazyDiagnostic(Code.MISSING_SUMMARY, message, place(*section.mark))
            elif folded >= full:
                message = (
                    f"`{section.key}` has {counter.format(folded)} tokens folded, and "
                    f"{counter.format(full)} in full: remove the mark."
                )
                yield LazyDiagnostic(Code.FOLDING_COSTS_MORE, message, place(*section.mark))


def _stale(path: Path, one: StaleMention) -> LazyDiagnostic:
    place = SourceSpan(str(path), one.mention.start, one.mention.end)
    fix = Fix(f"Write {one.near}", (Change(place, one.near),)) if one.near else None
    return LazyDiagnostic(Code.STALE_REFERENCE, one.message, lambda: place, (lambda: fix,))
