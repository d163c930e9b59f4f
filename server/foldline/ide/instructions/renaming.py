"""Renames a section of Markdown, with the links that lead to it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain

from foldline.ide.analysis.model import SourceSpan, Span
from foldline.ide.checks.diagnostic import Change
from foldline.ide.errors import RenameRefused
from foldline.ide.instructions.document import InstructionFile, InstructionSection
from foldline.ide.plugins import Plugin, plugins
from foldline.ide.snapshot import Snapshot

_TITLE = re.compile(r"[ \t]*(?:#{1,6}[ \t]+)?(.*?)(?:[ \t]+#+)?[ \t]*\r?$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])|<[^<>]*>")
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


def heading_at(file: InstructionFile, offset: int) -> tuple[InstructionSection, Span] | None:
    """Return the section whose heading is at an offset, and the place of its title."""
    for section in file.sections:
        if section.number and file.heading(section).holds(offset):
            return section, Span(*next(_TITLE.finditer(file.text, section.start)).span(1))
    return None


def rename_section(document: Snapshot, offset: int, name: str) -> tuple[Change, ...] | None:
    """Return the changes that rename the section of a heading; None where there is none.

    Raises:
        RenameRefused: It wouldn't be a heading's text, or a file can't be read.
    """
    file = document.instructions
    if file is None or (found := heading_at(file, offset)) is None:
        return None
    (section, place), title = found, " ".join(name.split())
    after = replace(file, text=f"{file.text[: place.start]}{title}{file.text[place.end :]}")
    titles = [title if one is section else one.title for one in file.sections]
    if not _anchor(title) or titles != [one.title for one in after.sections]:
        raise RenameRefused(f"{name!r} isn't the text of a heading: give words, without marks")
    pairs = [*zip(file.sections, after.sections, strict=True)]
    # A key of one word means other things as often.
    keys = {old.key: new.key for old, new in pairs if "." in old.key and old.key != new.key}
    spans = [Span(*one) for one in file.markdown.code_spans()]
    texts = [(place, title), *((one, keys.get(file.text[one.start : one.end])) for one in spans)]
    here = str(document.folder.root / file.path)
    changes = [Change(SourceSpan(here, *one), text) for one, text in texts if text is not None]
    both = zip(anchors(file), anchors(after), strict=True)
    moved = {f"{file.path}#{old}": f"{file.path}#{new}" for old, new in both if old != new}
    followed = plugins().ask(Plugin.follow, document.folder, moved)
    return (*changes, *chain.from_iterable(followed))


def anchors(file: InstructionFile) -> list[str]:
    """Return the anchor of each section, as GitHub makes it; empty without a heading."""
    made: dict[str, int] = {}
    for section in file.sections:
        anchor = written = _anchor(section.title) if section.number else ""
        while anchor in made:
            made[written] += 1
            anchor = f"{written}-{made[written]}"
        made[anchor] = 0
    return list(made)


def _anchor(title: str) -> str:
    return _NOT_IN_ANCHORS.sub("", _LINK.sub(r"\1", title).lower()).replace(" ", "-")
