"""Sections that one client's instructions have, and another's lack or have in other words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from posixpath import basename, dirname

from foldline.ide.instructions.document import InstructionFile, InstructionSection
from foldline.plugins.instructions.stack import Stack

# What copies for several clients call each of them; a title with it is for that one alone.
_NAMES = r"claude(?: code)?|codex|copilot|cursor|gemini(?: cli)?|opencode|zed|agents(?=\.md)"
_CLIENT = re.compile(rf"\b(?:{_NAMES})\b(?:\.md\b)?")
_OWN_FOLDER = re.compile(r"(?:^|/)\.(?:claude|github)$")
_MOST_COMPARED = 500


def drift(
    stacks: Mapping[Stack, Mapping[str, InstructionFile]], file: InstructionFile, path: str
) -> Iterator[tuple[InstructionSection, str, str, int]]:
    """Yield sections that a file has and its copy for other clients hasn't, or in other words.

    Each comes with a sentence, the copy's path and an offset in it. A copy stands beside the file
    and shares half of its titles and at least one text; neither of the two mentions the other.
    A section that differs is reported in one of them only.
    """
    # Rules and skills are no copies of each other.
    files = {} if file.has_front_matter else {one.title: stacks[one] for one in stacks}
    mine, place = _sections(file), _OWN_FOLDER.sub("", dirname(path))
    for other in sorted({one for paths in files.values() for one in paths}):
        theirs = [title for title, paths in files.items() if other in paths and path not in paths]
        ours = any(path in paths and other not in paths for paths in files.values())
        if not (theirs and ours) or _OWN_FOLDER.sub("", dirname(other)) != place:
            continue
        copy = files[theirs[0]][other]
        copied = _sections(copy)
        common = mine.keys() & copied.keys()
        named = basename(other) in file.text or basename(path) in copy.text
        same = any(mine[title][1] == copied[title][1] != "" for title in common)
        if named or not same or len(common) < max(2, min(len(mine), len(copied)) / 2):
            continue
        who = f"{other}, which {', '.join(theirs)} read{'' if theirs[1:] else 's'} instead of this"
        there = [_sections(one) for title in theirs for one in files[title].values()]
        titles = "\n".join(chain(*there))
        texts = {text for sections in there for _, text in sections.values()}
        for title, (section, text) in islice(mine.items(), _MOST_COMPARED):
            if title in common:
                twin, words = copied[title]
                if path > other and text and words and text != words:
                    yield section, f"`{section.title}` has other words in {who}.", other, twin.start
            elif section.own == section.end and title not in titles and text not in texts:
                yield section, f"`{section.title}` is missing in {who}.", other, 0


def _sections(file: InstructionFile) -> dict[str, tuple[InstructionSection, str]]:
    """Return the sections for all clients by title, with their words; of equal titles the last."""
    return {
        one.title.casefold(): (one, " ".join(_CLIENT.sub("", own.casefold()).split()))
        for one in file.sections
        if one.number and not _CLIENT.search(one.title.casefold())
        for own in (file.text[one.body : one.own],)
    }
