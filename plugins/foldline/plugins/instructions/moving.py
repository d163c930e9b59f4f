"""Sections moved from an instruction file to where clients load them on demand, and back.

In the mark of a section that moves, `fold` becomes `folded from FILE#KEY`; links are mended. Its
heading stays in the file, with its summary and where the rest is.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import lru_cache
from itertools import zip_longest
from posixpath import basename, dirname, join, normpath
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
Places: TypeAlias = dict[InstructionSection, list[tuple[str, str]]]
"""The files to which sections move, each with its first lines if it's new."""
_Edit: TypeAlias = tuple[int, int, str]
_Goes: TypeAlias = dict[tuple[str, str], list[str]]
"""The new files of each anchor of a file."""
_POINTER = re.compile(r"\s*Folded: ([^\r\n]*)(?: |\r?\n)\(read `([^`\n]+)`\)(?=\s|\Z)")
_MOVED = re.compile(r"<!--\s*(folded from ([^\n#]+)#([\w.-]+):(?:\r?\n)?)(.*?)-->", re.DOTALL)
_LABEL = re.compile(r"\[([^]\[\n]+)\](?!\(|\[[^]])")
_DEFINED = re.compile(r"^ *\[([^]\[\n]+)\]:", re.MULTILINE)


class _Moved(NamedTuple):
    """A section in the file that it moved to; `cut` goes with it, `heading` is as it moved."""

    file: InstructionFile
    mark: re.Match[str]
    summary: str
    heading: list[tuple[int, int]]
    text: tuple[int, int]
    cut: _Edit


@record
class Mover:
    """Moves sections of the file `home`, and mends links in the Markdown files `names`."""

    files: FileBackend
    home: str
    names: Collection[str]
    changed: Changes = field(default_factory=dict)
    """Changes that count as made."""

    def fold(self, places: Places) -> Changes:
        """Return what changes if marked sections, none inside another, are copied to files.

        Raises:
            ToolRefused: It couldn't be undone byte for byte, or a link would be lost.
        """
        home, goes, stubs = self._file(self.home), _Goes(), list[_Edit]()
        named = [*zip(home.sections, anchors(home), strict=True)]
        for section, copies in places.items():
            for one, anchor in named:
                if section.start <= one.start < section.end:
                    # Its own heading also stays.
                    stays = [self.home] * (one == section)
                    goes[self.home, anchor] = [*(path for path, _ in copies), *stays]
        targets = {path for copies in places.values() for path, _ in copies}
        texts = {path: self._mended(self._file(path), goes) for path in {*self.names, *targets}}
        for section, copies in places.items():
            assert section.mark is not None
            end = section.start + len(home.whole_text(section).rstrip())
            newline = "\r\n" if home.text[: section.body].endswith("\r\n") else "\n"
            word, title = home.text.index("fold:", section.mark.start), self._title(section)
            source = f"folded from {self.home}#{home.short_key(section)}:{newline}"
            name = (word, word + len("fold:"), source)
            for path, head in copies:
                new = [head, title and title + newline] if self._read(path) is None else []
                parts = [texts[path]] if texts[path] else new
                own = self._mended(home, goes, [name], (section.start, end, path))
                texts[path] = newline.join([*filter(None, parts), own]) + newline
            stub = f"{newline}Folded: {section.summary}{newline}(read `{copies[0][0]}`)"
            stubs.append((section.body, end, stub))
        texts[self.home] = self._mended(home, goes, stubs)
        for path in (self.home, *sorted(targets)):
            defined = _labels(_DEFINED, home.text) - _labels(_DEFINED, texts[path])
            for label in sorted(defined & _labels(_LABEL, texts[path])):
                raise ToolRefused(f"{self.home}: [{label}] is defined elsewhere: inline the link")
        changes: Changes = {path: text for path, text in texts.items() if text != self._read(path)}
        self._check_undone([section.key for section in places], changes)
        return changes

    def unfold(self, keys: Collection[str] = ()) -> Changes:
        """Return what changes if moved sections come back: those of these `keys`, or all.

        Raises:
            ToolRefused: There is none, or what it was is ambiguous.
        """
        home, edits, goes = self._file(self.home), dict[str, list[_Edit]](), _Goes()
        every = ((one, _POINTER.match(home.text, one.body, one.own)) for one in home.sections)
        stubs = [(one, match) for one, match in every if match and (not keys or one.key in keys)]
        if not stubs or len(stubs) < len(keys):
            raise ToolRefused(f"{self.home} has no such section moved by `foldline fold`")
        paths = sorted({*self.names, *(match[2] for _, match in stubs)})
        moved = [one for path in paths for one in _moved(self._file(path))]
        # The file may have another name now, and the section another heading.
        moved = [one for one in moved if one.mark[2] == self.home or not self._read(one.mark[2])]
        headed = {key for one in home.sections for key in (one.key, one.path[-1])}
        found = list[list[_Moved]]()
        for section, match in stubs:
            copies = [one for one in moved if one.mark[3] in (section.key, section.path[-1])]
            same = [one for one in moved if one.summary == match[1] and one.mark[3] not in headed]
            found.append(copies := copies or same)
            paths, summaries = [one.file.path for one in copies], {one.summary for one in copies}
            if paths.count(match[2]) != 1 or summaries != {match[1]}:
                comment = f"<!-- folded from {self.home}#{section.path[-1]}: {match[1]} -->"
                why = f"{match[2]} should have one section with {comment}, outside of code"
                where = f"{self.home}:{home.line(section.start)}"
                raise ToolRefused(f"{where}: {why}: write that there, or delete the line `Folded:`")
            for one in copies:
                edits.setdefault(one.file.path, []).append(one.cut)
        for path, cuts in edits.items():
            file = self._file(path)
            left = self._file(path, self._mended(file, {}, cuts))
            goes |= {(path, one): [self.home] for one in {*anchors(file)}.difference(anchors(left))}
        titles = {f"# {title}" for _, title, *_ in home.markdown.headings}
        edits[self.home], titles, changes = [], {*titles, f"# {basename(self.home)}"}, Changes()
        for (section, match), copies in zip(stubs, found, strict=True):
            titles.add(self._title(section))
            own, heading = set[str](), home.text[section.start : section.body]
            for one in copies:
                cuts = [(*one.mark.span(1), "fold:"), *((*at, heading) for at in one.heading)]
                own.add(self._mended(one.file, goes, cuts, (*one.text, self.home)))
            if len(own) > 1:
                where = f"{self.home}:{home.line(section.start)}"
                differing = " and ".join(one.file.path for one in copies)
                raise ToolRefused(f"{where}: it differs in {differing}")
            edits[self.home].append((section.start, match.end(), own.pop()))
        for path in {*self.names, *edits}:
            text = self._mended(self._file(path), goes, edits.get(path, ()))
            front = self._file(path, text).markdown.front_matter if path in edits else None
            rest = text[front.end if front else 0 :].lstrip("-+\r\n").rstrip()
            # A rule or skill of a title alone says nothing, even if `home` has another by now.
            is_empty = rest in titles or (front and re.fullmatch("# .*", rest))
            if text != self._read(path):
                changes[path] = None if path in edits and is_empty else text
        return changes

    def _title(self, section: InstructionSection) -> str:
        """Return the first line of a new file for a section: its chapter, or the name of `home`."""
        headings = self._file(self.home).markdown.headings
        is_part = {one.start: one.level for one in headings}.get(section.start, 1) > 1
        tops = [one.title for one in headings if one.level == 1 and one.start < section.start]
        return f"# {tops[-1] if tops and '](' not in tops[-1] else basename(self.home)}" * is_part

    def _check_undone(self, keys: Collection[str], changes: Changes) -> None:
        try:
            undone = replace(self, names={*self.names, *changes}, changed=changes).unfold(keys)
        except ToolRefused as error:
            raise ToolRefused(f"nothing is moved, as it couldn't come back: {error}") from error
        for path, text in {**changes, **undone}.items():
            if text != (before := self._read(path)):
                lines = zip_longest(*((one or "").split("\n") for one in (before, text)))
                differing = ((at, now) for at, (was, now) in enumerate(lines, 1) if was != now)
                at, now = next(differing, (1, ""))
                raise ToolRefused(f"{path}:{at}: this would come back as {now!r}: write that")

    def _read(self, path: str) -> str | None:
        if path in self.changed:
            return self.changed[path]
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
        part: tuple[int, int, str] | None = None,
    ) -> str:
        """Return a file with edits and mended links; or a part of it, as another file needs it."""
        paths = {path for path, _ in goes}
        if not (edits or part or any(basename(path) in file.text for path in paths)):
            return file.text
        at, end, to = part or (0, len(file.text), file.path)
        pieces, every, places = list[str](), [*edits], _places(file)
        for start, stop, kind in places[bisect(places, (at,)) : bisect(places, (end,))]:
            new = self._path(kind, file.text[start:stop], file.path, to, goes)
            every.append((start, stop, new))
        for start, stop, new in sorted(every):
            # What is in an edited part has gone.
            if at <= start and stop <= end:
                pieces += [file.text[at:start], new]
                at = stop
        return "".join([*pieces, file.text[at:end]])

    def _path(self, kind: str, written: str, at: str, to: str, goes: _Goes) -> str:
        """Return a path in the file `at` as it has to be in the file `to`."""
        path, mark, anchor = written.partition("#")
        meant = normpath(join(dirname(at), path)) if path else at
        if re.match(r"[\w+.-]+:|/", path) or not (kind == "link" or self._exists(meant)):
            return written
        moved = goes.get((meant, anchor), ()) if mark else ()
        there = to if to in moved else [*moved, meant][0]
        if there == meant and (dirname(at) == dirname(to) if path else at == to):
            return written
        new = "" if mark and there == to else relative(path, there, dirname(to))
        if kind == "code":
            from_root = not (dirname(at) or self._exists(normpath(join(dirname(to), path))))
            # What leads out of neither folder is found by its end.
            stays = from_root or meant == at or "../" not in (path[:3], new[:3])
            return written if stays else new
        return new + mark + anchor

    def _exists(self, path: str) -> bool:
        with suppress(PathError):
            return path in self.changed or self.files.exists(path)
        return False


def _moved(file: InstructionFile) -> Iterator[_Moved]:
    """Yield what was moved to a file."""
    comments = file.markdown.comments if "folded from" in file.text else ()
    matches = [one for place in comments if (one := _MOVED.match(file.text, place.start))]
    every = [one.start for one in file.sections] if matches else []
    found = [(file.sections[bisect(every, one.start()) - 1], one) for one in matches]
    starts = [section.start for section, _ in found]
    for at, (section, match) in enumerate(found):
        start, end = section.start, min([section.end, *starts[at + 1 : at + 2]])
        end = start + len(file.text[start:end].rstrip())
        # A line end was put around it.
        begin = max(start - 1 - (file.text[max(start - 2, 0) : start] == "\r\n"), 0)
        stop = end + (2 * file.text.startswith("\r\n", end) or file.text.startswith("\n", end))
        summary, is_same = " ".join(match[4].split()), match[3].split(".")[-1] == section.path[-1]
        heading = [(start, section.body)] * is_same
        yield _Moved(file, match, summary, heading, (start, end), (begin, stop, ""))


@lru_cache(maxsize=64)
def _places(file: InstructionFile) -> tuple[tuple[int, int, str], ...]:
    """Return the places of paths in a file: links, imports and names in code."""
    found = {start: (start, end, "link") for start, end in file.markdown.link_targets()}
    spans = {one.start for one in file.markdown.code_spans()}
    for one in mentions(file.markdown):
        kind = "code" if one.start in spans else "import"
        if one.kind == Kind.PATH and (kind == "code" or file.text[one.start - 1] == "@"):
            found.setdefault(one.start, (one.start, one.end, kind))
    return tuple(sorted(found.values()))


def _labels(pattern: re.Pattern[str], text: str) -> set[str]:
    return {match[1].casefold() for match in pattern.finditer(text)}
