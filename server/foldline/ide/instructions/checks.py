"""The checks of instruction files: every one is called from here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, starmap
from pathlib import Path
from typing import NamedTuple

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.codes import Code, default_severity
from foldline.ide.checks.diagnostic import Diagnostic, Related, as_wanted
from foldline.ide.checks.summaries import Fold, unclear
from foldline.ide.folder import Folder
from foldline.ide.instructions.document import InstructionFile, InstructionSection
from foldline.ide.instructions.features import costs
from foldline.ide.instructions.front_matter import faults
from foldline.ide.token_counter import TokenCounter
from foldline.prompts.foreign_syntax import leftovers

_SHORTEST_REPEATED = 40
"""Sections with less text in common are alike by chance: `See above.`"""


class Finding(NamedTuple):
    """A problem, its place, and the place that has the same text."""

    code: Code
    message: str
    place: tuple[int, int]
    same: tuple[int, int] | None = None

    def diagnostic(self, file: str) -> Diagnostic:
        place, severity = SourceSpan(file, *self.place), default_severity(self.code)
        first = "It is written here first."
        related = (Related(SourceSpan(file, *self.same), first),) if self.same else ()
        return Diagnostic(self.code, severity, self.message, place, related=related)


def diagnostics(file: InstructionFile, path: Path, folder: Folder) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a file in the order of its text, as the project wants them."""
    options, counter = folder.options(path), folder.counter(path)
    texts = (_of_sections(file, counter), _of_summaries(file), _of_templates(file))
    budget = _over_budget(file, counter, options.token_budget)
    findings = chain(starmap(Finding, faults(file, path)), budget, *texts)
    return as_wanted((one.diagnostic(str(path)) for one in findings), options.severity)


def _over_budget(
    file: InstructionFile, counter: TokenCounter, budget: int | None
) -> Iterator[Finding]:
    total = costs(file, counter).total
    if budget and total > budget:
        shown, over = counter.format(total), counter.format(total - budget)
        message = f"The file costs {shown} tokens, {over} more than its budget of {budget:,}."
        yield Finding(Code.TOKEN_BUDGET, message, (0, file.end_of_line(0)))


def _of_sections(file: InstructionFile, counter: TokenCounter) -> Iterator[Finding]:
    texts: dict[str, InstructionSection] = {}
    for section in file.sections:
        head = file.heading(section)
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
            message = f"`{section.key}` isn't folded: after `fold:`, say when to read it."
            yield Finding(Code.MISSING_SUMMARY, message, section.mark)
        elif folded >= full:
            message = (
                f"`{section.key}` has {counter.format(folded)} tokens folded, and "
                f"{counter.format(full)} in full: remove the mark."
            )
            yield Finding(Code.FOLDING_COSTS_MORE, message, section.mark)


def _of_summaries(file: InstructionFile) -> Iterator[Finding]:
    folds = {
        one.mark: Fold(one.key, one.summary, file.text[one.mark[1] : one.end])
        for one in file.sections
        if one.mark is not None and one.summary
    }
    for mark, message in unclear(folds).items():
        yield Finding(Code.UNCLEAR_SUMMARY, message, mark)


def _of_templates(file: InstructionFile) -> Iterator[Finding]:
    """Report template text, unless the file's path says that it is a template."""
    for part in file.markdown.prose if "template" not in file.path.casefold() else ():
        for at, text in leftovers(file.markdown.words(part)):
            message = f"No client fills in `{text}`: write what it means, or put it into backticks."
            place = (part.start + at, part.start + at + len(text))
            yield Finding(Code.FOREIGN_TEMPLATE_SYNTAX, message, place)
