"""The text of references within a byte budget: source lines of the first ones, others folded.

A folded file is one line: `shop/views.py: 3 import; 12, 15 call in make; 20 in show`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING

from foldline.backends.base.languages import language_of
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.parts import note
from foldline.backends.formatting.text import (
    BY_NAME,
    files_text,
    first_of,
    reference_line,
    remarks,
    sentences,
)
from foldline.backends.formatting.visible import visible
from foldline.backends.models import ReferenceKind
from foldline.backends.parsers.strings import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from foldline.backends.formatting.parts import Code, Line
    from foldline.backends.models import NamedIn, Reference, References, TextUses

_KIND = "refs"
_TIERS = {
    "confirmed": "confirmed:",
    "possible": "possible (by name):",
    "unnamed": "possible, {} in files that don't name its type:",
    "elsewhere": "possible, {} in other languages or minified:",
    "another": "",
}
# The title of a test may be a sentence.
_LONGEST_NAME = 60
# Languages that use names of one another.
_FAMILIES = dict.fromkeys(("typescript", "tsx", "vue", "svelte"), "javascript") | {"cpp": "c"}
# A line that is longer before the name was not written by hand.
_LONGEST_LINE = 1_000
# A reference takes at least as much of a text, as in `12, `.
_SMALLEST = 3
# The word in text takes about so much beside references, and so many lines of a file are named.
_TEXT_BYTES = 250
_MOST_LINES = 8
_MOST_NAMED = 4
_MANY = 20
# Uses of a type whose definition around them is named.
_TYPE = re.compile(r"\b(?:class|interface|struct|enum|trait|type|record)\b")
_NAMED = (ReferenceKind.CALL, ReferenceKind.DEFINITION)
# Of as many files of one kind in a folder, such as translations, their number is said.
_MOST_ALIKE = 5
_DATA = frozenset({".ini", ".json", ".properties", ".resx", ".strings", ".xml", ".yaml", ".yml"})


def first_reference(cursor: str | None) -> int:
    """The number of the reference that a page begins with."""
    return budgets.read_cursor(_KIND, cursor)


def most_references(first: int, budget: int | None) -> int | None:
    """More references than a page from `first` on can show; None where it shows all."""
    return None if budget is None else first + budget // _SMALLEST + 1


def page_references(found: References, first: int, budget: int | None) -> References:
    """The references from `first` on that the budget holds, at least one."""
    found = _in_order(found)
    references = found.references[first:]
    if budget is None:
        return replace(found, references=references)
    # By default, many possible ones in tests are left for the next page, and counted by file.
    asked = not isinstance(budget, budgets.DefaultBudget) or found.scope is not None
    doubted = [use for use in references if not asked and use.test and use.tier == "unnamed"]
    end = references.index(doubted[0]) if len(doubted) >= _MANY else 0
    counts = Counter(use.path for use in doubted).most_common()
    tests = first_of([f"{path} {number}" for path, number in counts], _MOST_NAMED)
    later = f"{len(doubted)} possible in {files_text(len(counts))} of tests: {tests}"

    def page(count: int) -> References:
        last = first + count
        cursor = budgets.make_cursor(_KIND, last) if last < len(found.references) else None
        said = sentences(later if end and count == end else "", found.reason)
        uses = references[:count]
        return replace(found, references=uses, cursor=cursor, budget=budget, reason=said)

    def fits(count: int) -> bool:
        part = page(count)
        files = list(_files(part))
        return budgets.size_of_lines(_lines(part, files, 0)) <= budget

    return page(budgets.most(min(end or len(references), budget // _SMALLEST + 1), fits))


def references_lines(found: References, budget: int | None = None) -> Sequence[Line | Code]:
    """The totals, then the lines grouped by file, each with its kind and enclosing symbol.

    Within `budget` bytes, by default those of the page, the first references have their lines, and
    the others line numbers. By default they have their lines only where these are few.
    """
    budget = found.budget if budget is None else budget
    files = list(_files(found))
    every = len(found.references)
    full = _lines(found, files, every)
    enough = budgets.size_of_lines(full)
    is_default = isinstance(budget, budgets.DefaultBudget)
    are_tests = any(use.begins for use in found.references[:1])
    details = budgets.REFERENCES_DETAILS + sum(map(budgets.size_of_line, _text(found)))
    if budget is None or enough <= (details if is_default and not are_tests else budget):
        return full

    def fits(count: int) -> bool:
        return budgets.size_of_lines(_lines(found, files, count, enough)) <= budget

    shown = 0 if is_default else budgets.most(every, fits)
    lines = _lines(found, files, shown if fits(shown) else 0, enough)
    return budgets.cut_to_budget(lines, budget)


def _in_order(found: References) -> References:
    """With what is hardly the same thing as the confirmed uses, or the definitions, last."""
    sure = [use for use in found.references if use.tier == "confirmed"]
    sure = sure or [use for use in found.references if use.kind == ReferenceKind.DEFINITION]
    families = {_family(use.path) for use in sure if use.column <= _LONGEST_LINE}

    def moved(use: Reference) -> Reference:
        is_near = (use.column <= _LONGEST_LINE and _family(use.path) in families) or not families
        if use.tier not in {"possible", "unnamed"} or is_near:
            return use
        return replace(use, tier="elsewhere")

    uses = sorted(map(moved, found.references), key=lambda use: [*_TIERS].index(use.tier))
    return replace(found, references=tuple(uses))


def _family(path: str) -> str:
    """The language whose names the file may use."""
    language = language_of(path)
    return _FAMILIES.get(language, language)


def _lines(
    found: References, files: Sequence[Sequence[Reference]], whole: int, enough: int = 0
) -> list[Line]:
    """The lines with the first `whole` references in full, and others folded.

    The budget that shows them all in full is `enough`.
    """
    count, shown = found.total, len(found.references)
    part = "" if shown == count else f", {shown} shown"
    by_certainty = ((found.confirmed, "confirmed"), (found.possible, "possible"))
    tiers = ", ".join(f"{number} {tier}" for number, tier in by_certainty if number)
    uses_text = tiers or (f"{count} by name" if count else "0 references")
    lines: list[Line] = [[(visible(found.said), "italic")]] if found.said else []
    lines.append([(f"{uses_text} in {files_text(found.files)}{part}", "bold")])
    # Where all of them are confirmed, the first line says so.
    tier = "" if found.possible else "confirmed"
    # Beside other uses, and by default, those in tests are numbers: a scope asks which tests.
    beside = isinstance(found.budget, budgets.DefaultBudget) and not found.scope
    beside = beside and not all(use.test for use in found.references)
    number = 0
    for uses in files:
        if uses[0].tier == "another":
            break
        if (tiers or uses[0].tier in {"unnamed", "elsewhere"}) and uses[0].tier != tier:
            tier = uses[0].tier
            count_of = sum(use.tier == tier for use in found)
            lines.append([(_TIERS[tier].format(count_of), "italic")])
        path = (visible(uses[0].path), "bold")
        in_full = [] if uses[0].begins else uses[: max(whole - number, 0)]
        rest = uses[len(in_full) :]
        is_named = not (beside and uses[0].test)
        folded = "; ".join(_titled(rest) if uses[0].begins else _folded(rest, named=is_named))
        number += len(uses)
        if in_full:
            # Two uses on a line are shown once.
            rows = (row for row, _ in groupby(map(reference_line, in_full)))
            lines += [[path], *rows]
            lines += [note(f"  {folded}")] if folded else []
        else:
            lines.append([path, (f": {folded}", "dim")])
    lines += _another(found)
    lines += _named(found)
    lines += _text(found)
    if whole < number:
        is_exact = found.cursor is None and enough <= budgets.LARGEST_BUDGET
        lines.append(note(f"({f'budget {enough}' if is_exact else 'a scope'} shows the code)"))
    if found.cursor is not None:
        lines.append(note(f"… {count - shown} not shown here: ask with cursor {found.cursor}"))
    said = remarks(found.reason, found.coverage)
    # The first line has it.
    return [*lines, *(one for one in said if tiers or not count or one != BY_NAME)]


def _another(found: References) -> list[Line]:
    """The line that names the other definitions of the name whose uses are on the page."""
    uses = [use for use in found if use.tier == "another"]
    word = found.name.rpartition(".")[2]
    defining = [use for use in uses if use.kind == ReferenceKind.DEFINITION]
    names = {use.enclosing or PurePath(use.path).stem: 0 for use in defining}
    named = f": {first_of(names, _MOST_NAMED)}" if names else ""
    text = f"{len(uses)} of another {word}{named}"
    return [note(visible(text))] if uses else []


def _named(found: References) -> list[Line]:
    """The line with the texts for models that name the same, as many as are small."""
    places = [
        f"{visible(path)} {', '.join(_place(one) for one in named)}"
        for path, named in groupby(found.named, key=lambda one: one.path)
    ]
    places = _that_fit(places, _TEXT_BYTES)
    return [note(f"named in instructions: {'; '.join(places)}")] if places else []


def _that_fit(places: list[str], room: int) -> list[str]:
    """The first of the places in files, and how many more there are."""
    kept = budgets.how_many_fit(([(path, "")] for path in places), room)
    more = [f"{len(places) - kept} more files"] if kept < len(places) else []
    return [*places[:kept], *more]


def _place(one: NamedIn) -> str:
    section = visible(shorten(one.section, _LONGEST_NAME))
    return f"{one.line} ({section})" if section else str(one.line)


def _text(found: References) -> list[Line]:
    """The line with the word in text, short beside references."""
    alike = Counter(_alike(one) for one in found.text)
    many = {kind: n for kind, n in alike.items() if n >= _MOST_ALIKE and kind[1] in _DATA}
    parts = [f"{visible(folder)}/ {count} {kind}" for (folder, kind), count in many.items()]
    rare = (one for one in found.text if _alike(one) not in many)
    parts = [*(f"{visible(one.path)} {_numbers(one.lines)}" for one in rare), *parts]
    if found.budget is not None and len(parts) > 1:
        room = _TEXT_BYTES if found.references else found.budget * 2 // 3
        parts = _that_fit(parts, room)
    if found.counted:
        parts.append(f"and in {found.counted}" if parts else f"in {found.counted}")
    return [note(f"text: {'; '.join(parts)}")] if parts else []


def _alike(one: TextUses) -> tuple[str, str]:
    """The folder and the kind of a file."""
    path = PurePath(one.path)
    return path.parent.as_posix(), path.suffix or path.name


def _numbers(lines: Sequence[int]) -> str:
    more = ", …" if len(lines) > _MOST_LINES else ""
    return ", ".join(map(str, lines[:_MOST_LINES])) + more


def _files(found: References) -> Iterator[list[Reference]]:
    """Yield the uses by file and tier; each says what it's in where that tells."""
    # The question tells what defines `Class.method`, and a type is read as an annotation.
    _, dot, word = found.name.rpartition(".")
    kinds = (use.kind == ReferenceKind.DEFINITION and _TYPE.search(use.context) for use in found)
    is_type = any(kinds)
    for _, group in groupby(found.references, key=lambda use: (use.path, use.tier)):
        uses = list(group)
        calling = {use.enclosing for use in uses if use.kind in _NAMED or not is_type}
        yield [
            replace(use, enclosing="")
            if (dot and f".{use.enclosing}.{word}".endswith(f".{found.name}"))
            or use.kind == ReferenceKind.EXPORT
            or not (use.test or use.enclosing in calling)
            else use
            for use in uses
        ]


def _titled(uses: Iterable[Reference]) -> Iterator[str]:
    """Yield where each begins, its title, and uses elsewhere in it: `11 test_show (12, 15)`."""
    for (begins, title), group in groupby(uses, key=lambda use: (use.begins, use.enclosing)):
        lines = ", ".join(dict.fromkeys(f"{use.line}" for use in group))
        inside = f" ({lines})" if lines != f"{begins}" else ""
        yield f"{f'{begins} ' * (begins > 0)}{visible(shorten(title, _LONGEST_NAME))}{inside}"


def _folded(uses: Iterable[Reference], *, named: bool) -> Iterator[str]:
    """Yield the uses in one definition after the other: `12, 15 call, 20 read in make`, `31 in f`.

    A kind is that of the numbers before it, and of those behind it up to the next one.
    """
    last = ""
    for enclosing, uses_inside in groupby(uses, key=lambda use: use.enclosing if named else ""):
        inside = f" in {visible(shorten(enclosing, _LONGEST_NAME))}" if enclosing else ""
        parts = []
        for kind, group in groupby(uses_inside, key=lambda use: use.kind):
            lines = ", ".join(str(line) for line in dict.fromkeys(use.line for use in group))
            parts.append(f"{lines} {kind}".rstrip() if kind != last else lines)
            last = kind
        yield ", ".join(parts) + inside
