"""The text of references within a byte budget: source lines of the first files, then lines folded.

A folded file is one line: `shop/views.py: 3 import; 12, 15 call in make; 20 read in show`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.parts import note
from foldline.backends.formatting.text import files_text, plural, reference_line, remarks
from foldline.backends.formatting.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from foldline.backends.formatting.parts import Code, Line
    from foldline.backends.models import Reference, References

KIND = "refs"
_TIERS = {
    "confirmed": "confirmed:",
    "possible": "possible (the same name, and no engine confirms that it is the same thing):",
}
# A reference takes at least as much of a text, as in `12, `.
_SMALLEST = 3


def most_references(first: int, budget: int | None) -> int | None:
    """More references than a page from `first` on can show; None where it shows all."""
    return None if budget is None else first + budget // _SMALLEST + 1


def page_references(found: References, first: int, budget: int | None) -> References:
    """The references from `first` on that the budget holds, at least one."""
    references = found.references[first:]
    if budget is None:
        return replace(found, references=references)

    def page(count: int) -> References:
        last = first + count
        cursor = budgets.make_cursor(KIND, last) if last < len(found.references) else None
        return replace(found, references=references[:count], cursor=cursor, budget=budget)

    def fits(count: int) -> bool:
        some = page(count)
        files = list(_files(some.references))
        return budgets.size_of_lines(_lines(some, files, 0)) <= budget

    return page(budgets.most(min(len(references), budget // _SMALLEST + 1), fits))


def references_lines(found: References, budget: int | None = None) -> Sequence[Line | Code]:
    """The totals, then the lines grouped by file, each with its kind and enclosing symbol.

    Within `budget` bytes, by default those of the page, the first files have their lines, and the
    others line numbers.
    """
    budget = found.budget if budget is None else budget
    files = list(_files(found.references))
    whole = len(files)
    if budget is None:
        return _lines(found, files, whole)
    room = min(budget, max(budgets.REFERENCES_DETAILS, budget - budgets.REFERENCES_BUDGET))

    def fits(count: int) -> bool:
        return budgets.size_of_lines(_lines(found, files, count)) <= room

    shown = budgets.most(whole, fits)
    lines = _lines(found, files, shown)
    if budgets.size_of_lines(lines) > room:
        lines = _lines(found, files, 0)
    return budgets.cut_to_budget(lines, budget)


def _lines(found: References, files: Sequence[Sequence[Reference]], whole: int) -> list[Line]:
    """The lines with the first `whole` files in full, and others folded."""
    count, shown = found.total, len(found.references)
    part = "" if shown == count else f", {shown} shown"
    tiers = ""
    if found.confirmed or found.possible:
        tiers = f", {found.confirmed} confirmed, {found.possible} possible"
    uses_text = f"{count} {plural('reference', count)}"
    totals = f": {uses_text} in {files_text(found.files)}{tiers}{part}"
    lines: list[Line] = [[(visible(found.name), "bold"), (totals, "")]]
    tier = ""
    for number, uses in enumerate(files):
        if tiers and uses[0].tier != tier:
            tier = uses[0].tier
            lines.append([(_TIERS[tier], "italic")])
        path = (visible(uses[0].path), "bold")
        test = " (test)" if uses[0].test else ""
        if number < whole:
            lines += [[path, (test, "dim")], *map(reference_line, uses)]
        else:
            lines.append([path, (f"{test}: {'; '.join(_folded(uses))}", "dim")])
    if whole < len(files):
        lines.append(note("(a scope or a larger budget shows their text)"))
    if found.cursor is not None:
        lines.append(note(f"… {count - shown} not shown here: ask with cursor {found.cursor}"))
    return [*lines, *remarks(found.reason, found.coverage)]


def _files(references: Iterable[Reference]) -> Iterator[list[Reference]]:
    """Yield the uses of one file and tier after the other."""
    for _, uses in groupby(references, key=lambda use: (use.path, use.tier)):
        yield list(uses)


def _folded(uses: Iterable[Reference]) -> Iterator[str]:
    """Yield the uses in one definition after the other: `12, 15 call, 20 read in make`."""
    for enclosing, some in groupby(uses, key=lambda use: use.enclosing):
        inside = f" in {visible(enclosing)}" if enclosing else ""
        kinds = [
            (", ".join(str(line) for line in dict.fromkeys(use.line for use in group)), kind)
            for kind, group in groupby(some, key=lambda use: use.kind)
        ]
        yield ", ".join(f"{lines} {kind}".rstrip() for lines, kind in kinds) + inside
