"""Sections moved from an instruction file to where clients load them on demand, and back.

In the mark of a section that moves, `fold` becomes `folded from FILE#KEY`; links are mended. Its
heading stays in the file, with its summary and where the rest is.
"""

from __future__ import annotations

import re
from bisect import bisect, bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice, zip_longest
from posixpath import dirname, join, normpath
from typing import NamedTuple, TypeAlias

from foldline.backends.errors import PathError
from foldline.backends.files.base import FileBackend
from foldline.ide.errors import ToolRefused
from foldline.ide.instructions.document import InstructionFile, InstructionSection, instruction_file
from foldline.ide.instructions.renaming import anchors
from foldline.plugins.instructions.mentions import Kind, mentions
from foldline.plugins.instructions.renaming import relative
from foldline.records import record

Changes: TypeAlias = dict[str, str | None]
"""The new texts of files, by their paths from the root; None for one that goes."""
_Edit: TypeAlias = tuple[int, int, str]
_Goes: TypeAlias = Callable[[str, str], Sequence[str]]
"""The files to which what has an anchor in a file moves; none if it stays."""
_MOST_CHECKED = 50
_POINTER = re.compile(r"\s*Folded: (.*) \((read|skill) `([^`\n]+)`\)(?=\s|\Z)")
_MOVED = re.compile(r"<!--\s*(folded from ([^\n#]+)#([\w.-]+)):(.*?)-->", re.DOTALL)
_LABEL = re.compile(r"\[([^]\[]+)\](?!\(|\[[^]])(:?)")


class _Moved(NamedTuple):
    """A section in the file that it moved to; `match` is its comment, `cut` goes with it."""

    file: InstructionFile
    match: re.Match[str]
    text: tuple[int, int]
    cut: _Edit


@record
class Mover:
    """Moves sections of the file `home`, and mends the links of the instruction files `names`."""

    files: FileBackend
    home: str
    names: Collection[str]

    def fold(self, places: Mapping[InstructionSection, Sequence[tuple[str, str]]]) -> Changes:
        """Return what changes if marked sections, none inside another, move to files.

        A section has a copy in each of its files; with each is what begins it if it's new.

        Raises:
            ToolRefused: It couldn't be undone byte for byte, or a link would be lost.
        """
        home, moved, stubs = self._file(self.home), dict[str, list[str]](), list[_Edit]()
        _check_references(home, [*places])
        starts, names = [one.start for one in home.sections], anchors(home)
        for section, copies in places.items():
            first, end = (bisect_left(starts, at) for at in (section.start, section.end))
            for at in range(first, end):
                # Its own heading also stays.
                stays = [self.home] * (at == first)
                moved[names[at]] = [*(path for path, _ in copies), *stays]

        def goes(file: str, anchor: str) -> Sequence[str]:
            return moved.get(anchor, ()) if file == self.home else ()

        every = {*self.names, *(path for copies in places.values() for path, _ in copies)}
        texts = {path: self._mended(self._file(path), goes) for path in every}
        for section, copies in places.items():
            assert section.mark is not None
            end = section.start + len(home.whole_text(section).rstrip())
            newline = "\r\n" if home.text[: section.body].endswith("\r\n") else "\n"
            word = home.text.index("fold", section.mark.start)
            name = (word, word + len("fold"), f"folded from {self.home}#{home.short_key(section)}")
            for path, head in copies:
                before = texts[path] or head
                own = self._mended(home, goes, [name], (section.start, end), path)
                texts[path] = before + newline * bool(before) + own + newline
            path, is_skill, _ = copies[0][0].partition("/SKILL.md")
            where = f"{'skill' if is_skill else 'read'} `{path}`"
            stubs.append((section.body, end, f"{newline}Folded: {section.summary} ({where})"))
        texts[self.home] = self._mended(home, goes, stubs)
        changes: Changes = {path: text for path, text in texts.items() if text != self._read(path)}
        self._check_undone([section.key for section in places], changes)
        return changes

    def unfold(self, keys: Collection[str] = ()) -> Changes:
        """Return what changes if moved sections come back: those of these `keys`, or all.

        Raises:
            ToolRefused: There is none, or it can't be told what it was.
        """
        home, cuts, edits = self._file(self.home), dict[str, list[_Edit]](), list[_Edit]()
        stubs = [
            (section, match, match[3] + "/SKILL.md" * (match[2] == "skill"))
            for section in home.sections
            if (match := _POINTER.match(home.text, section.body)) and match.end() <= section.own
            if not keys or section.key in keys
        ]
        if not stubs or len(stubs) < len(keys):
            raise ToolRefused(f"{self.home} has no such section that `foldline fold` has moved")
        paths = sorted({*self.names, *(path for _, _, path in stubs)})
        every = [one for path in paths for one in _moved(self._file(path))]
        # The file may have another name now.
        every = [
            one for one in every if one.match[2] == self.home or self._read(one.match[2]) is None
        ]
        named: dict[str, list[_Moved]] = {}
        for one in every:
            named.setdefault(one.match[3], []).append(one)
        found = [
            [
                one
                for key in dict.fromkeys((section.key, section.path[-1]))
                for one in named.get(key, ())
            ]
            for section, _, _ in stubs
        ]
        for one in sorted((one for copies in found for one in copies), key=lambda one: one.cut):
            cuts.setdefault(one.file.path, [(-1, -1, "")]).append(one.cut)

        stays = {
            (path, anchor)
            for path, cut in cuts.items()
            for one, anchor in zip(
                self._file(path).sections, anchors(self._file(path)), strict=True
            )
            if one.start >= cut[bisect(cut, (one.start + 1,)) - 1][1]
        }

        def goes(file: str, anchor: str) -> Sequence[str]:
            return [self.home] if file in cuts and (file, anchor) not in stays else []

        for (section, match, path), copies in zip(stubs, found, strict=True):
            here = f"{self.home}:{home.line(section.start)}"
            summaries = {" ".join(one.match[4].split()) for one in copies}
            if [one.file.path for one in copies].count(path) != 1 or summaries != {match[1]}:
                comment = f"<!-- folded from {self.home}#{section.path[-1]}: {match[1]} -->"
                raise ToolRefused(
                    f"{here}: {path} should have one section with {comment}: write that there, or "
                    "delete the line `Folded:`"
                )
            own = {
                self._mended(one.file, goes, [(*one.match.span(1), "fold")], one.text, self.home)
                for one in copies
            }
            if len(own) > 1:
                raise ToolRefused(
                    f"{here}: it differs in {' and '.join(o.file.path for o in copies)}"
                )
            edits.append((section.start, match.end(), own.pop()))
        changes: Changes = {
            path: self._mended(
                self._file(path), goes, edits if path == self.home else cuts.get(path, [])[1:]
            )
            for path in {*self.names, *cuts, self.home}
        }
        for path in cuts:
            front = self._file(path, changes[path]).markdown.front_matter
            if not (changes[path] or "")[front.end if front else 0 :].strip("-+\r\n"):
                changes[path] = None
        return {path: text for path, text in changes.items() if text != self._read(path)}

    def lost(self) -> Iterator[tuple[InstructionSection, str]]:
        """Yield the moved sections that couldn't come back as things are, each with the reason."""
        home = self._file(self.home)
        with suppress(ToolRefused):
            # Nearly always all of them can.
            self.unfold()
            return
        stubs = (one for one in home.sections if _POINTER.match(home.text, one.body))
        for section in islice(stubs, _MOST_CHECKED):
            try:
                self.unfold([section.key])
            except ToolRefused as error:
                yield section, str(error).partition(": ")[2]

    def _check_undone(self, keys: Collection[str], changes: Changes) -> None:
        before = {path: self._read(path) for path in changes}
        for path, text in changes.items():
            self.files.set_overlay(path, text or "")
        try:
            undone = Mover(self.files, self.home, {*self.names, *changes}).unfold(keys)
        except ToolRefused as error:
            raise ToolRefused(f"nothing is moved, as it couldn't come back: {error}") from error
        finally:
            for path in changes:
                self.files.remove_overlay(path)
        for path, text in before.items():
            if (back := undone.get(path, changes[path])) != text:
                lines = zip_longest(*((one or "").split("\n") for one in (text, back)))
                every = ((at, two) for at, (one, two) in enumerate(lines, 1) if one != two)
                at, now = next(every, (1, ""))
                raise ToolRefused(f"{path}:{at}: this would come back as {now!r}: write it so")

    def _read(self, path: str) -> str | None:
        with suppress(PathError):
            return self.files.load(self.files.resolve_unsaved(path)).text
        return None

    def _file(self, path: str, text: str | None = None) -> InstructionFile:
        text = self._read(path) if text is None else text
        return instruction_file(self.files.root / path, self.files.root, text or "")

    def _mended(
        self,
        file: InstructionFile,
        goes: _Goes,
        edits: Sequence[_Edit] = (),
        part: tuple[int, int] | None = None,
        to: str = "",
    ) -> str:
        """Return a file, or a part of it, with edits, as it has to be in the file `to`."""
        (at, end), pieces, every = part or (0, len(file.text)), list[str](), [*edits]
        path, places = file.path, _places(file)
        for start, stop, kind in places[bisect(places, (at,)) : bisect(places, (end,))]:
            new = written = file.text[start:stop]
            if kind == "name":
                new = self._name(written, path, to or path)
            elif kind == "link" or self._is_beside(path, written):
                new = _link(written, path, to or path, goes)
            every.append((start, stop, new))
        for start, stop, new in sorted(every):
            # What is in an edited part has gone.
            if at <= start and stop <= end:
                pieces += [file.text[at:start], new]
                at = stop
        return "".join([*pieces, file.text[at:end]])

    def _is_beside(self, path: str, written: str) -> bool:
        with suppress(PathError):
            return self.files.exists(normpath(join(dirname(path), written)))
        return False

    def _name(self, written: str, at: str, to: str) -> str:
        """Return a path that stands in code, for another file, if it can be led back."""

        def mended(name: str, at: str, to: str) -> str:
            meant, from_root = normpath(join(dirname(at), name)), not dirname(at)
            if (from_root and not self._is_beside(to, name)) or not self._is_beside(at, name):
                return name
            new = name if meant == at else relative(name, meant, dirname(to))
            # What leads out of neither folder is found by its end.
            return new if "../" in (name[:3], new[:3]) else name

        new = mended(written, at, to)
        return new if mended(new, to, at) == written else written


def _moved(file: InstructionFile) -> Iterator[_Moved]:
    """Yield what was moved to a file."""
    comments = file.markdown.comments if "folded from" in file.text else ()
    matches = [one for place in comments if (one := _MOVED.match(file.text, place.start))]
    every = [one.start for one in file.sections]
    found = [(file.sections[bisect(every, one.start()) - 1], one) for one in matches]
    starts = [section.start for section, _ in found]
    for at, (section, match) in enumerate(found):
        start, end = section.start, min([section.end, *starts[at + 1 : at + 2]])
        end = start + len(file.text[start:end].rstrip())
        # A line end was put around it.
        before, after = file.text[max(start - 2, 0) : start], file.text[end : end + 2]
        begin = start - len(before) + len(re.sub(r"\r?\n\Z", "", before))
        stop = end + len(after) - len(re.sub(r"\A\r?\n", "", after))
        yield _Moved(file, match, (start, end), (begin, stop, ""))


@lru_cache(maxsize=64)
def _places(file: InstructionFile) -> tuple[tuple[int, int, str], ...]:
    """Return the places of paths in a file: links, imports and names in code."""
    found = {start: (start, end, "link") for start, end in file.markdown.link_targets()}
    spans = {one.start for one in file.markdown.code_spans()}
    for one in mentions(file.markdown):
        kind = "name" if one.start in spans else "import"
        if one.kind == Kind.PATH and (kind == "name" or file.text[one.start - 1] == "@"):
            found.setdefault(one.start, (one.start, one.end, kind))
    return tuple(sorted(found.values()))


def _link(written: str, at: str, to: str, goes: _Goes) -> str:
    """Return a link of the file `at` for the file `to`."""
    path, mark, anchor = written.partition("#")
    if re.match(r"[\w+.-]+:|/", path):
        return written
    old = normpath(join(dirname(at), path)) if path else at
    new = goes(old, anchor) if mark else ()
    there = to if to in new else [*new, old][0]
    if there == old and (dirname(at) == dirname(to) if path else at == to):
        return written
    return ("" if mark and there == to else relative(path, there, dirname(to))) + mark + anchor


def _check_references(file: InstructionFile, sections: Sequence[InstructionSection]) -> None:
    """Refuse to part `[text][label]` from its definition."""
    starts = [one.start for one in sections]
    uses: list[tuple[str, int, int]] = []
    defined: dict[str, set[int]] = {}
    for part in file.markdown.prose:
        at = bisect(starts, part.start) - 1
        around = at if at >= 0 and part.start < sections[at].end else -1
        for match in _LABEL.finditer(file.markdown.words(part)):
            uses.append((match[1].casefold(), around, part.start))
            if match[2] and not match.start():
                defined.setdefault(match[1].casefold(), set()).add(around)
    for label, around, start in uses:
        if around not in defined.get(label, {around}):
            where = f"{file.path}:{file.line(start)}"
            raise ToolRefused(f"{where}: [{label}] is defined apart: write the link itself")
