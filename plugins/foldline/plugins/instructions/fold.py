"""The sections of instruction files that are worth folding, and the marks that fold them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TypeVar

from foldline.backends.parsers.markdown import Range
from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.diagnostic import Change
from foldline.ide.instructions import document
from foldline.ide.plugins import Action

_Placed = TypeVar("_Placed", document.InstructionSection, Range)
SUMMARY = "what it tells"
"""The placeholder of a folded section's summary, which a person writes."""
FEWEST_LINES = 12
"""A shorter section isn't worth a summary and a call."""
# One such word in its prose, and a section isn't offered for folding: it may be a rule.
_DIRECTIVE = re.compile(
    r"\b(must|never|always|don.?t|do not|shall|should|avoid|ensure|make sure|required?|need to|"
    r"important|critical|warning|caution|forbidden|mandatory|prefer|only|instead|remember|"
    r"before you|careful|cannot|can.?t|not allowed|rules?|conventions?|guidelines?|policy)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"^(?:[^\w\n]|\d)*+(add|ask|call|check|commit|create|do|follow|include|keep|look|open|put|read|"
    r"remove|run|set|start|stop|test|treat|try|update|use|verify|wait|write)\b",
    re.IGNORECASE | re.MULTILINE,
)


def action_at(file: document.InstructionFile, path: str, offset: int) -> Action | None:
    """Return what unfolds the section that is folded at an offset, or folds the innermost one.

    Only for a section that looks like reference, editors show a light bulb.
    """
    at = offset
    around = [one for one in file.sections if one.start <= at < one.end or at == one.end == one.own]
    section = next((one for one in (*filter(lambda one: one.mark, around), *around[-1:])), None)
    if section is None:
        return None
    heading = file.text[section.start : section.body]
    if not heading or not file.text[section.body : section.end].strip():
        return None
    if section.mark is not None:
        unmarked = (Change(SourceSpan(path, *section.mark), ""),)
        return Action(f"Unfold {section.title}", unmarked, field=SUMMARY)
    text = f"<!-- fold: {SUMMARY} -->" + ("\r\n" if heading.endswith("\r\n") else "\n")
    marked = (Change(SourceSpan(path, section.body, section.body), text),)
    suggested = is_reference(file, section)
    return Action(f"Fold {section.title}…", marked, fix=suggested, field=SUMMARY)


def is_reference(file: document.InstructionFile, section: document.InstructionSection) -> bool:
    """Return whether a section has many lines, no mark, no directive and hardly an imperative.

    It's a guess that rather misses one: whether a model can do without is a person's decision.
    """
    parts = _inside(section, file.sections)
    lines = sum(bool(line.strip()) for line in file.whole_text(section).splitlines()[1:])
    prose = [file.text[slice(*part)] for part in _inside(section, file.markdown.prose)]
    orders = sum(len(_IMPERATIVE.findall(part)) for part in prose)
    return bool(
        section.number
        and max(FEWEST_LINES, 10 * orders + 1) <= lines
        and not any(one.mark or _IMPERATIVE.match(one.title) for one in parts)
        and not any(map(_DIRECTIVE.search, prose))
    )


def _inside(section: document.InstructionSection, every: Sequence[_Placed]) -> Sequence[_Placed]:
    """Return what begins in a section, of `every` one in the order of the text."""
    first, after = (
        bisect_left(every, at, key=lambda one: one.start) for at in (section.start, section.end)
    )
    return every[first:after]
