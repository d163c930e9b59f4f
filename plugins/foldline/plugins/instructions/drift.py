"""Sections that one client's instructions have, and another's lack or have in other words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from posixpath import basename, dirname, join, normpath
from typing import TypeAlias

from foldline.ide.folder import Folder
from foldline.ide.instructions.document import InstructionFile, InstructionSection
from foldline.plugins.instructions.clients import project_clients
from foldline.plugins.instructions.stack import loaded

Drift: TypeAlias = tuple[str, tuple[int, int], tuple[int, int]]
"""A sentence, and the places in a file and in one beside it that it is about."""

# What copies for several clients call each of them; a title with it is for that one alone.
_CLIENT = re.compile(
    r"\b(?:(?:claude|codex|copilot|cursor|gemini|opencode|zed)\b(?:[ .-]?(?:cli|code|md)\b)?"
    r"|agents\.md\b)"
)
_OWN_FOLDER = re.compile(r"(?:^|/)\.(?:claude|github)$")
_MOST_NAMED = 5
_MOST_COMPARED = 500


def drift(folder: Folder, file: InstructionFile, path: str) -> Iterator[tuple[str, Drift]]:
    """Yield what a file tells its clients, and a file beside it doesn't tell others, with its path.

    Two files are compared if neither names the other and, by titles and at least one text, they are
    copies. That they have other words is told in one of them.
    """
    place, exists = _place(path), folder.access.file_backend.exists
    rules = [one for client in project_clients(folder, folder.root / path) for one in client.rules]
    plain = {name for one in rules if not (one.patterns or one.lists) for name in one.files}
    if sum(exists(normpath(join(place, name))) for name in plain if "*" not in name) < 2:
        return
    files = loaded(folder, path)
    for other in sorted({one for paths in files.values() for one in paths if _place(one) == place}):
        ours = [title for title, paths in files.items() if path in paths and other not in paths]
        theirs = [title for title, paths in files.items() if other in paths and path not in paths]
        beside = {one: copy for title in theirs for one, copy in files[title].items()}
        named = basename(other) in file.text or basename(path) in beside.get(other, file).text
        if ours and theirs and not named:
            verb = "read" if theirs[1:] else "reads"
            who = f"{other}, which {_listed(theirs)} {verb} instead of this file"
            for one in _compared(file, beside[other], beside.values(), who, both=path > other):
                yield other, one


def _compared(
    file: InstructionFile,
    copy: InstructionFile,
    beside: Iterable[InstructionFile],
    who: str,
    *,
    both: bool,
) -> Iterator[Drift]:
    """Compare a file with a copy, and with all that its clients load `beside` it."""
    mine, theirs = _sections(file), _sections(copy)
    common = [title for title in mine if title in theirs]
    texts = {title: (_text(file, mine[title]), _text(copy, theirs[title])) for title in common}
    few = len(common) < max(2, min(len(mine), len(theirs)) / 2) or len(mine) > _MOST_COMPARED
    if few or not any(one == two != "" for one, two in texts.values()):
        return
    for title, (one, two) in texts.items():
        if both and one and two and one != two:
            message = f"`{mine[title].title}` has other words in {who}."
            yield message, _heading(file, mine[title]), _heading(copy, theirs[title])
    every = [(one, section) for one in beside for section in one.sections]
    titles = "\n".join(section.title.casefold() for _, section in every)
    said, starts = {_text(*one) for one in every}, [mine[title].start for title in common]
    missing: list[InstructionSection] = []
    for title, section in mine.items():
        around = bisect_right(starts, section.start) < bisect_left(starts, section.end)
        inside = missing and section.start < missing[-1].end
        meant = _CLIENT.search(title) or _text(file, section) in said
        if not (title in titles or around or inside or meant):
            missing.append(section)
    names = [f"`{one.title}`" for one in missing[:_MOST_NAMED]]
    names += [f"{len(missing) - _MOST_NAMED} more"] * (len(missing) > _MOST_NAMED)
    if missing:
        lack = f"{_listed(names)} {'is' if len(missing) == 1 else 'are'} missing in {who}."
        yield lack, _heading(file, missing[0]), (0, copy.end_of_line(0))


def _place(path: str) -> str:
    """Return the folder that a file is about."""
    return _OWN_FOLDER.sub("", dirname(path))


def _sections(file: InstructionFile) -> dict[str, InstructionSection]:
    """Return the sections by title, without titles that several have."""
    counts = Counter(one.title.casefold() for one in file.sections)
    titled = {one.title.casefold(): one for one in file.sections if one.number}
    return {title: one for title, one in titled.items() if counts[title] == 1}


def _text(file: InstructionFile, section: InstructionSection) -> str:
    own = file.text[section.body : section.own].casefold()
    return " ".join(_CLIENT.sub("", own).split())


def _heading(file: InstructionFile, section: InstructionSection) -> tuple[int, int]:
    return section.start, file.end_of_line(section.start)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
