"""The checks of instruction files: every one is called from here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.codes import Code, Severity, default_severity
from foldline.ide.checks.diagnostic import Change, Diagnostic, Fix, Related
from foldline.ide.folder import Folder
from foldline.ide.instructions.document import InstructionFile, InstructionSection
from foldline.ide.instructions.features import costs
from foldline.ide.instructions.front_matter import faults
from foldline.ide.token_counter import TokenCounter
from foldline.plugins.instructions.mentions import mentions
from foldline.plugins.instructions.stack import switched_off
from foldline.plugins.instructions.stale import SECONDS, StaleMention, stale_mentions

_SHORTEST_REPEATED = 40
"""Sections with less text in common are alike by chance: `See above.`"""


class Around(NamedTuple):
    """Findings about a file in its repository, which take too long to look for after each key.

    Attributes:
        stale: The mentions that were right when they were written.
        switched_off: Places and sentences: what some client doesn't read of the file.
    """

    stale: Sequence[StaleMention] = ()
    switched_off: Sequence[tuple[int, str]] = ()


class Finding(NamedTuple):
    """A problem, its place, a replacement, and the place that has the same text."""

    code: Code
    message: str
    place: tuple[int, int]
    instead: str = ""
    same: tuple[int, int] | None = None

    def help(self, file: str) -> tuple[tuple[Fix, ...], tuple[Related, ...]]:
        """Return the fixes and the related places."""
        change = Change(SourceSpan(file, *self.place), self.instead)
        fixes = (Fix(f"Write {self.instead}", (change,)),) if self.instead else ()
        if self.same is None:
            return fixes, ()
        return fixes, (Related(SourceSpan(file, *self.same), "It is written here first."),)


def look_around(
    file: InstructionFile,
    path: Path,
    folder: Folder,
    seconds: float = SECONDS,
    since: float = inf,
) -> Around:
    """Return what a file's repository says of it; names are looked up as by `stale_mentions`."""
    if not path.is_relative_to(folder.root):
        return Around()
    relative = path.relative_to(folder.root).as_posix()
    stale: Sequence[StaleMention] = ()
    if folder.options(path).severity.get(Code.STALE_REFERENCE) is not Severity.OFF:
        every = mentions(file.markdown)
        stale = stale_mentions(
            folder.access, relative, file.text, every, seconds=seconds, since=since
        )
    return Around(stale, tuple(switched_off(folder, relative)))


def diagnostics(
    file: InstructionFile, path: Path, folder: Folder, around: Around | None = None
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a file in the order of its text, as the project wants them.

    What its repository says of it is found now, unless that's known.
    """
    around = look_around(file, path, folder) if around is None else around
    options, counter = folder.options(path), folder.counter(path)
    reported: list[Diagnostic] = []
    budget = _over_budget(file, counter, options.token_budget)
    every = (*(Finding(*one) for one in faults(file, path)), *budget)
    for one in (*every, *_of_sections(file, counter), *_around(file, around)):
        severity = options.severity.get(one.code, default_severity(one.code))
        if severity is not Severity.OFF:
            span = SourceSpan(str(path), *one.place)
            reported.append(Diagnostic(one.code, severity, one.message, span, *one.help(str(path))))
    return tuple(sorted(reported, key=lambda one: (one.place, one.code)))


def _over_budget(
    file: InstructionFile, counter: TokenCounter, budget: int | None
) -> Iterator[Finding]:
    total = costs(file, counter).total
    if budget is not None and total > budget:
        shown, over = counter.format(total), counter.format(total - budget)
        message = f"The file costs {shown} tokens, {over} more than its budget of {budget:,}."
        yield Finding(Code.TOKEN_BUDGET, message, (0, file.end_of_line(0)))


def _around(file: InstructionFile, around: Around) -> Iterator[Finding]:
    for span_off, message in around.switched_off:
        # The text may be shorter by now.
        start = min(span_off, len(file.text))
        yield Finding(Code.SWITCHED_OFF_INSTRUCTIONS, message, (start, file.end_of_line(start)))
    for one in around.stale:
        span = (one.mention.start, one.mention.end)
        yield Finding(Code.STALE_REFERENCE, one.message, span, one.near)


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
