"""The checks of instruction files: every one is called from here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import Diagnostic, Related, as_wanted, report
from foldline.ide.checks.summaries import Fold, unclear
from foldline.ide.folder import Folder
from foldline.ide.instructions.document import InstructionFile, InstructionSection
from foldline.ide.instructions.features import costs
from foldline.ide.instructions.front_matter import faults
from foldline.ide.token_counter import TokenCounter
from foldline.prompts.foreign_syntax import leftovers

_SHORTEST_REPEATED = 40
"""Sections with less text in common are alike by chance: `See above.`"""


def diagnostics(file: InstructionFile, path: Path, folder: Folder) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a file in the order of its text, as the project wants them."""
    options, counter = folder.options(path), folder.counter(path)
    at = partial(SourceSpan, str(path))
    faulty = (report(code, message, at(*place)) for code, message, place in faults(file, path))
    budget = _over_budget(file, at, counter, options.token_budget)
    texts = _of_sections(file, at, counter), _of_summaries(file, at), _of_templates(file, at)
    return as_wanted(chain(faulty, budget, *texts), options.severity)


def _over_budget(
    file: InstructionFile, at: partial[SourceSpan], counter: TokenCounter, budget: int | None
) -> Iterator[Diagnostic]:
    total = costs(file, counter).total
    if budget and total > budget:
        shown, over = counter.format(total), counter.format(total - budget)
        message = f"The file costs {shown} tokens, {over} more than its budget of {budget:,}."
        yield report(Code.TOKEN_BUDGET, message, at(0, file.end_of_line(0)))


def _of_sections(
    file: InstructionFile, at: partial[SourceSpan], counter: TokenCounter
) -> Iterator[Diagnostic]:
    texts: dict[str, InstructionSection] = {}
    for section in file.sections:
        head = at(*file.heading(section))
        text = file.text[section.body : section.end].strip()
        if section.number and not text:
            message = f"`{section.title}` is empty: a model reads its heading for nothing."
            yield report(Code.EMPTY_SECTION, message, head)
        first = texts.setdefault(text, section)
        if len(text) >= _SHORTEST_REPEATED and first.end <= section.start:
            message = f"The text of `{section.key}` is that of `{first.key}`: keep one of them."
            same = Related(at(first.start, first.body), "It is written here first.")
            yield report(Code.REPEATED_SECTION, message, head, (), same)
        if section.mark is None:
            continue
        folded, full = map(counter.count, (file.fold_text(section), file.whole_text(section)))
        if not section.summary:
            message = f"`{section.key}` isn't folded: after `fold:`, say when to read it."
            yield report(Code.MISSING_SUMMARY, message, at(*section.mark))
        elif folded >= full:
            message = (
                f"`{section.key}` has {counter.format(folded)} tokens folded, and "
                f"{counter.format(full)} in full: remove the mark."
            )
            yield report(Code.FOLDING_COSTS_MORE, message, at(*section.mark))


def _of_summaries(file: InstructionFile, at: partial[SourceSpan]) -> Iterator[Diagnostic]:
    folds = {
        one.mark: Fold(one.key, one.summary, file.text[one.mark[1] : one.end])
        for one in file.sections
        if one.mark is not None and one.summary
    }
    for mark, message in unclear(folds).items():
        yield report(Code.UNCLEAR_SUMMARY, message, at(*mark))


def _of_templates(file: InstructionFile, at: partial[SourceSpan]) -> Iterator[Diagnostic]:
    """Report template text, unless the file's path says that it is a template."""
    for part in file.markdown.prose if "template" not in file.path.casefold() else ():
        for offset, text in leftovers(file.markdown.words(part)):
            message = f"No client fills in `{text}`: write what it means, or put it into backticks."
            start = part.start + offset
            yield report(Code.FOREIGN_TEMPLATE_SYNTAX, message, at(start, start + len(text)))
