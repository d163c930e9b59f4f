"""The sections of instruction files that are worth folding, and the marks that fold them."""

from __future__ import annotations

import re
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
def _directives() -> tuple[re.Pattern[str], re.Pattern[str], tuple[frozenset[str], ...]]:
    """Return what makes a text and a heading directives, and words that begin imperatives."""
    table = {name: str(words) for name, words in read_toml(_DIRECTIVES).items()}
    any_of = {name: "|".join(words.split()) for name, words in table.items()}
    text = rf"(?i:\b(?:{any_of['words']})\b)|\b(?:{any_of['capitals']})\b"
    begin = (frozenset(table[name].split()) for name in ("verbs", "nouns", "articles"))
    return re.compile(text), re.compile(rf"(?i)\b(?:{any_of['titles']})\b"), tuple(begin)


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
    """Return whether a section has many lines, nearly all to be looked up, and orders nothing.

    It's a guess that rather misses one: whether a model can do without is a person's decision.
    """
    directive, title, (verbs, nouns, articles) = _directives()
    text = file.text[section.body : section.end]
    every = (line.strip() for line in text.splitlines())
    lines = [line for line in every if line and not line.startswith(("#", "```", "~~~"))]
    path = section.path
    inside = [one for one in file.sections if section.start <= one.start < section.end]
    around = [one for one in file.sections if one.path == path[: len(one.path)] and one.path[1:]]
    if not section.number or len(lines) < FEWEST_LINES or any(one.mark for one in inside):
        return False
    if sum(bool(_ENTRY.match(line)) for line in lines) * 4 < len(lines) * 3:
        return False
    # The first row of a table heads it.
    titles = [one.title for one in (section, *inside, *around)] + _HEAD.findall(text)
    if any(title.search(one) or directive.search(one) for one in titles):
        return False
    # Paths and names order nothing.
    words = _NAMES.sub(" x ", text)
    prose = (_FIRST.match(line) for line in lines if not _ENTRY.match(line))
    firsts = (_FIRST.match(part) for part in _PARTS.split(words))
    begins = ((one[1].lower(), (one[2] or "").lower()) for one in firsts if one)
    return not (
        directive.search(words)
        or _STRONG.search(words)
        or any(one and one[1].lower() in verbs | nouns for one in prose)
        or any(one and one[1].lower() in verbs for one in map(_FIRST.match, titles))
        or any(b and (a in verbs or (a in nouns and b in articles)) for a, b in begins)
    )
