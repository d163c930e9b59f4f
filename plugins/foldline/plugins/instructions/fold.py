"""The sections of instruction files that are worth folding, and the marks that fold them."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from pathlib import Path

from foldline.backends.files.reader import read_toml
from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.diagnostic import Change
from foldline.ide.instructions import document
from foldline.ide.plugins import Action

_DIRECTIVES = Path(__file__).with_name("directives.toml")
SUMMARY = "what it tells"
"""The placeholder of a folded section's summary, which a person writes."""
FEWEST_LINES = 10
"""A shorter section isn't worth a summary and a call."""
_ENTRY = re.compile(r"\||(?:[-*+]|\d+\.) +[`*[]|[^\w#]*[├└│]|[\w.@-]+/?(?:$|  +#)")
"""A line that is looked up: a row, an item that begins with a name, a file of a tree."""
_PARTS = re.compile(r"[|.:;!?()\n—→]+|, | - ")
_FIRST = re.compile(r"[\W\d]*+([\w'-]+)(?:\W{1,3}(\w+))?")
_HEAD = re.compile(r"^(\|.*)\n *\|[-: |]+$", re.MULTILINE)
_NAMES = re.compile(r"`[^`\n]*`|[\w.~@-]*[/_][\w/.*_-]*|\w[\w-]*\.\w+")
_STRONG = re.compile(r"(?<![-*+|] )(?<!^)\*\*\w|\{[\w-]+\}|[?✅❌⚠🚫☑✔✗✓👍👎🔴💡❗]", re.MULTILINE)


@cache
def _directives() -> tuple[tuple[re.Pattern[str], ...], tuple[frozenset[str], ...]]:
    """Return patterns of orders, directives and titles, and the words around imperatives."""
    table = {name: str(words) for name, words in read_toml(_DIRECTIVES).items()}
    any_of = {name: "|".join(words.split()) for name, words in table.items()}
    names = ("orders", "words", "titles")
    orders, words, titles = (rf"(?i:\b(?:{any_of[name]})\b)" for name in names)
    text = rf"{orders}|{words}|\b(?:{any_of['capitals']})\b"
    begin = (frozenset(table[name].split()) for name in ("verbs", "nouns", "articles"))
    return tuple(map(re.compile, (orders, text, titles))), tuple(begin)


def action_at(file: document.InstructionFile, path: str, at: int) -> Action | None:
    """Return what unfolds the section that is folded at an offset, or folds the innermost one.

    Only for a section that looks like reference, editors show a light bulb.
    """
    around = [one for one in file.sections if one.start <= at < one.end or at == one.end == one.own]
    section = next((one for one in (*filter(lambda one: one.mark, around), *around[-1:])), None)
    if not (section and section.number and file.text[section.body : section.end].strip()):
        return None
    if section.mark is not None:
        unmarked = (Change(SourceSpan(path, *section.mark), ""),)
        return Action(f"Unfold {section.title}", unmarked, field=SUMMARY)
    newline = "\r\n" if file.text.endswith("\r\n", 0, section.body) else "\n"
    text = f"<!-- fold: {SUMMARY} -->{newline}"
    marked = (Change(SourceSpan(path, section.body, section.body), text),)
    return Action(f"Fold {section.title}…", marked, fix=is_reference(file, section), field=SUMMARY)


def order_in(text: str) -> str:
    """Return the first words of a text's first order; empty if it has none."""
    match = _directives()[0][0].search(_words(text))
    return " ".join(text[match.start() :].split()[:4]) if match else ""


def _words(text: str) -> str:
    """Return a text with each path and name as an `x`, as they order nothing."""
    return _NAMES.sub(lambda name: " x".ljust(len(name[0]))[-len(name[0]) :], text)


def is_reference(file: document.InstructionFile, section: document.InstructionSection) -> bool:
    """Return whether a section has many lines, nearly all to be looked up, and orders nothing.

    It's a guess that rather misses one: whether a model can do without is a person's decision.
    """
    text, headings = file.text[section.body : section.end], file.markdown.headings
    every = (line.strip() for line in text.splitlines())
    lines = [line for line in every if line and not line.startswith(("#", "```", "~~~"))]
    prose = [line for line in lines if not _ENTRY.match(line)]
    if not section.number or len(lines) < max(FEWEST_LINES, 4 * len(prose)):
        return False
    ends, extra = (section.start, section.end), len(file.sections) - len(headings)
    at, end = (bisect_left(headings, one, key=lambda heading: heading.start) for one in ends)
    # The first row of a table heads it.
    titles = [*(one.title for one in headings[at:end]), *_HEAD.findall(text)]
    inside, parent = file.sections[at + extra : end + extra], headings[at].parent
    while parent >= 0 and headings[parent].parent >= 0:
        titles.append(headings[parent].title)
        parent = headings[parent].parent
    words = _words(text)
    (_, directive, title), (verbs, nouns, articles) = _directives()
    firsts = (_FIRST.match(part) for part in _PARTS.split(words))
    begins = ((one[1].lower(), (one[2] or "").lower()) for one in firsts if one)
    return not (
        any(one.mark for one in inside)
        or any(title.search(one) or directive.search(one) for one in titles)
        or directive.search(words)
        or _STRONG.search(words)
        or any(one and one[1].lower() in verbs | nouns for one in map(_FIRST.match, prose))
        or any(one and one[1].lower() in verbs for one in map(_FIRST.match, titles))
        or any(b and (a in verbs or (a in nouns and b in articles)) for a, b in begins)
    )
