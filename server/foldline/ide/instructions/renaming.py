"""Renames a section of Markdown, with the links that lead to it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from foldline.backends.errors import PathError
from foldline.ide.analysis.model import SourceSpan, Span
from foldline.ide.checks.diagnostic import Change
from foldline.ide.errors import RenameRefused
from foldline.ide.instructions.document import InstructionFile, instruction_file
from foldline.ide.plugins import Plugin, plugins
from foldline.ide.snapshot import Snapshot

_TITLE = re.compile(r"[ \t]*(?:#{1,6}[ \t]+)?(.*?)(?:[ \t]+#+)?[ \t]*\r?$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])|<[^<>]*>")
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


def section_at(document: Snapshot, offset: int) -> tuple[Span, InstructionFile, int] | None:
    """Return the place of the heading or of the link's anchor at an offset, its file and section.

    The section is the place among those of the file; None where there is none.
    """
    if (file := document.instructions) is None:
        return None
    for at, section in enumerate(file.sections):
        if section.number and file.heading(section).holds(offset):
            return _title(file, at), file, at
    for start, end in file.markdown.link_targets():
        path, _, anchor = file.text[start:end].partition("#")
        if anchor and start <= offset <= end:
            folder, target = document.folder, normpath(join(dirname(file.path), unquote(path)))
            if path:
                try:
                    text = folder.access.file_backend.read_source(target).text
                except PathError:
                    return None
                file = instruction_file(folder.root / target, folder.root, text)
            names = anchors(file)
            at = names.index(unquote(anchor).lower()) if unquote(anchor).lower() in names else -1
            return (Span(end - len(anchor), end), file, at) if at >= 0 else None
    return None


def rename_section(document: Snapshot, offset: int, name: str) -> tuple[Change, ...] | None:
    """Return the changes that rename the section at an offset; None where there is none.

    Raises:
        RenameRefused: The heading or its anchor would be another one's, or a file can't be changed.
    """
    if (named := section_at(document, offset)) is None:
        return None
    (_, file, at), title = named, " ".join(name.split())
    place = _title(file, at)
    after = replace(file, text=f"{file.text[: place.start]}{title}{file.text[place.end :]}")
    titles, anchor = [one.title for one in file.sections], _anchor(title)
    titles[at] = title
    if not anchor or titles != [one.title for one in after.sections]:
        raise RenameRefused(f"{name!r} isn't the text of a heading: give words, without marks")
    if [_anchor(one.title) for one in after.sections if one.number].count(anchor) > 1:
        raise RenameRefused(f"another heading of {file.path} has the anchor #{anchor}")
    pairs = [*zip(file.sections, after.sections, strict=True)]
    keys = {f"{old.key}": new.key for old, new in pairs if old.key != new.key and "." in old.key}
    spans = (Span(*span) for span in file.markdown.code_spans())
    texts = [(place, title), *((one, keys.get(file.text[one.start : one.end])) for one in spans)]
    here = str(document.folder.root / file.path)
    changes = [Change(SourceSpan(here, *one), text) for one, text in texts if text is not None]
    old_and_new = zip(anchors(file), anchors(after), strict=True)
    moved = {f"{file.path}#{old}": f"{file.path}#{new}" for old, new in old_and_new if old != new}
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


def _title(file: InstructionFile, at: int) -> Span:
    """Return the place of a heading's text, without its marks."""
    match = _TITLE.match(file.text, file.sections[at].start)
    return Span(*match.span(1)) if match else file.heading(file.sections[at])
