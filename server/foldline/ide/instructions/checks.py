"""The checks of instruction files: every one is called from here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap
from pathlib import Path
from typing import NamedTuple

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.codes import Code, default_severity
from foldline.ide.checks.diagnostic import Diagnostic, Related, as_wanted
from foldline.ide.folder import Folder
from foldline.ide.instructions.document import InstructionFile, InstructionSection
from foldline.ide.instructions.features import costs
from foldline.ide.instructions.front_matter import faults
from foldline.ide.token_counter import TokenCounter

_SHORTEST_REPEATED = 40
"""Sections with less text in common are alike by chance: `See above.`"""


class Finding(NamedTuple):
    """A problem, its place, and the place that has the same text."""

    code: Code
    message: str
    place: tuple[int, int]
    same: tuple[int, int] | None = None

    def diagnostic(self, file: str) -> Diagnostic:
        """Return it as a diagnostic of a file."""
        place, severity = SourceSpan(file, *self.place), default_severity(self.code)
        first = "It is written here first."
        related = (Related(SourceSpan(file, *self.same), first),) if self.same else ()
        return Diagnostic(self.code, severity, self.message, place, related=related)


def diagnostics(file: InstructionFile, path: Path, folder: Folder) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a file in the order of its text, as the project wants them."""
    options, counter = folder.options(path), folder.counter(path)
    budget = _over_budget(file, counter, options.token_budget)
    findings = (*starmap(Finding, faults(file, path)), *budget, *_of_sections(file, counter))
    return as_wanted((one.diagnostic(str(path)) for one in findings), options.severity)


def _over_budget(
    file: InstructionFile, counter: TokenCounter, budget: int | None
) -> Iterator[Finding]:
    total = costs(file, counter).total
    if budget is not None and total > budget:
        shown, over = counter.format(total), counter.format(total - budget)
        message = f"The file costs {shown} tokens, {over} more than its budget of {budget:,}."
        yield Finding(Code.TOKEN_BUDGET, message, (0, file.end_of_line(0)))


def _of_sections(file: InstructionFile, counter: TokenCounter) -> Iterator[Finding]:
    texts: dict[str, InstructionSection] = {}
    for section in file.sections:
        heading = file.heading(section)
        head = (heading.start, heading.end)
        text = file.text[section.body : section.end].strip()
        if section.number and not text:
            message = f"`{section.title}` is empty: a model reads its heading for nothing."
            yield Finding(Code.EMPTY_SECTION, message, head)
        first = texts.setdefault(text, section)
        if len(text) >= _SHORTEST_REPEATED and first.end <= section.start:
            message = f"The text of `{section.key}` is that of `{first.key}`: keep one of them."
            same = (first.start, first.body)
            yield Finding(Code.REPEATED_SECTION, message, head, same=same)
        if section.mark is None:
            continue
        folded, full = map(counter.count, (file.fold_text(section), file.whole_text(section)))
        if not section.summary:
            message = (
                f"`{section.key}` folds without a summary: after `fold:`, say when to read it."
            )
            yield Finding(Code.MISSING_SUMMARY, message, section.mark)
        elif folded >= full:
            message = (
                f"`{section.key}` has {counter.format(folded)} tokens folded, and "
                f"{counter.format(full)} in full: remove the mark."
            )
            yield Finding(Code.FOLDING_COSTS_MORE, message, section.mark)
