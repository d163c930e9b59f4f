"""An instruction file as sections: those that its headings make, whole or folded."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path, PurePath
from typing import NamedTuple

from foldline.backends.base.near_names import near_names
from foldline.backends.files.reader import read_text
from foldline.backends.parsers.markdown import Markdown, Range, read_markdown
from foldline.ide.analysis.model import Span
from foldline.ide.errors import ToolRefused
from foldline.ide.instructions.files import LARGEST, has_front_matter
from foldline.ide.render.render import Block, Opening, Render, Replaced, Segment
from foldline.records import record

START = "start"
"""The key of what stands above the first heading."""
_FOLD = re.compile(r"<!--\s*fold(?::(.*?)|\s*)-->[ \t]*\r?\n?", re.DOTALL)
_AFTER_FRONT_MATTER = re.compile(r".*\n?\s*")
_NO_SLUG = re.compile(r"[^\w]+")


class InstructionSection(NamedTuple):
    """A section of a file: a heading, and what stands below it.

    Attributes:
        path: The keys from the root down: titles in small letters, with `-` for all but words.
        number: Its place, such as `2.1`; empty for what stands above the first heading.
        start: Where its heading's line begins, in code points as all offsets.
        body: Where the text below the heading begins.
        own: Where the first section inside it begins, or else its end.
        end: Where it ends, with all sections inside it.
        mark: The comment that folds it, if it has a summary.
    """

    path: tuple[str, ...]
    number: str
    title: str
    start: int
    body: int
    own: int
    end: int
    mark: Range | None = None
    summary: str = ""

    @property
    def key(self) -> str:
        """The keys of the path, joined by dots."""
        return ".".join(self.path)


@record(slots=False)
class InstructionFile:
    """An instruction file; its blocks, joined, are its text from `beginning` on.

    Attributes:
        path: Its path as a model gets it, from the project's root; by default its name.
        tool: The model's name for the tool that reads a section; empty where it has none.
        has_front_matter: Clients read its front matter as data, and send models what is below it.

    Raises:
        ParseRefusedError: It can't be read within the limits of parsing.
    """

    name: str
    text: str
    path: str = ""
    tool: str = ""
    has_front_matter: bool = False

    @cached_property
    def beginning(self) -> int:
        """The start of the text that a model gets: below the front matter, if that is data."""
        front = self.markdown.front_matter
        if front is None or not self.has_front_matter:
            return 0
        return _AFTER_FRONT_MATTER.match(self.text, front.end).end()  # type: ignore[union-attr]

    @cached_property
    def markdown(self) -> Markdown:
        """The text as its grammar reads it."""
        return read_markdown(self.text)

    @cached_property
    def sections(self) -> tuple[InstructionSection, ...]:
        """All sections, in the order of the text."""
        headings = self.markdown.headings
        starts = [heading.start for heading in headings]
        first, begin = starts[0] if starts else len(self.text), self.beginning
        sections = []
        if first > begin or not starts:
            sections.append(InstructionSection((START,), "", self.name, begin, begin, first, first))
        places: list[tuple[tuple[str, ...], str]] = []
        taken: dict[tuple[str, ...], int] = {section.path: 1 for section in sections}
        inside: dict[str, int] = {}
        for at, heading in enumerate(headings):
            around, number = places[heading.parent] if heading.parent >= 0 else ((), "")
            inside[number] = inside.get(number, 0) + 1
            path = titled = (*around, _slug(heading.title))
            count = taken.get(titled, 0) + 1
            # Of equal titles, the second gets `-2`, unless another title is written so.
            while count > 1 and (path := (*around, f"{titled[-1]}-{count}")) in taken:
                count += 1
            taken[path] = 1
            taken[titled] = count
            places.append((path, f"{number}{'.' * bool(number)}{inside[number]}"))
            own = min([heading.end, *starts[at + 1 : at + 2]])
            offsets = (heading.start, heading.body, own, heading.end)
            fold = self._fold_comment(heading.body, own)
            sections.append(InstructionSection(*places[-1], heading.title, *offsets, *fold))
        return tuple(sections)

    def _fold_comment(self, start: int, end: int) -> tuple[Range | None, str]:
        """Return the first comment in a range that folds a section, with its summary."""
        comments = self.markdown.comments
        for one in comments[bisect_left(comments, (start,)) : bisect_left(comments, (end,))]:
            if mark := _FOLD.match(self.text, one.start):
                return Range(*mark.span()), " ".join((mark[1] or "").split())
        return None, ""

    def section(self, key: str) -> InstructionSection:
        """Return the section of a key, of a number, or of a title that only it has.

        Raises:
            ToolRefused: There is none; the error has the near keys.
        """
        named = {one.number: one for one in self.sections}
        named |= {one.key: one for one in self.sections}
        if key in named:
            return named[key]
        titled = [one for one in self.sections if key in (one.title, one.path[-1])]
        if len(titled) == 1:
            return titled[0]
        keys = [one.key for one in titled or self.sections]
        near = list(near_names(key, keys) or keys)
        raise ToolRefused(
            f"{self.name} has no section {key!r}; did you mean {', '.join(near[:5])}?", near=near
        )

    def opening(self, key: str) -> list[str]:
        """Return the keys of the folded sections that have to be opened to show one.

        Raises:
            ToolRefused: There is no such section.
        """
        path = self.section(key).path
        around = (one for one in self.sections if one.path == path[: len(one.path)])
        return [one.key for one in around if one.summary]

    @property
    def folded(self) -> tuple[InstructionSection, ...]:
        """The sections that their authors fold, without those inside of others."""
        marked: list[InstructionSection] = []
        for section in self.sections:
            if section.summary and not (marked and section.start < marked[-1].end):
                marked.append(section)
        return tuple(marked)

    def fold_text(self, section: InstructionSection) -> str:
        """Return a folded section as a model sees it: heading, summary, how to read it.

        The line begins with a word of its own, so that no summary starts a list or a block of code.
        """
        heading = self.text[section.start : section.body]
        newline = "\r\n" if heading.endswith("\r\n") else "\n"
        first = self.line(section.start)
        last = first + self.whole_text(section).rstrip().count("\n")
        path = self.path or self.name
        call = json.dumps({"prompt": path, "section_key": self.short_key(section)})
        ways = f"`{self.tool}` {call}, or " if self.tool else ""
        end = newline * (2 if section.end < len(self.text) else 1)
        shown = f"Folded: {section.summary}".rstrip()
        return f"{heading}{newline}{shown} (read {ways}lines {first}-{last} of {path}){end}"

    def line(self, offset: int) -> int:
        """Return the number of the line of an offset, from 1."""
        return bisect_left(self._ends, offset) + 1

    @cached_property
    def _ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    def end_of_line(self, offset: int) -> int:
        # Without a newline, -1 becomes the length of the text.
        return max(offset, self.text.find("\n", offset) % (len(self.text) + 1))

    def short_key(self, section: InstructionSection) -> str:
        """Return the shortest key that names a section: the last of its path, or all of it."""
        last = section.path[-1]
        return last if self._names[last] == 1 else section.key

    @cached_property
    def _names(self) -> Counter[str]:
        """Count the sections that each key, number or title names."""
        every = ({one.key, one.number, one.title, one.path[-1]} for one in self.sections)
        return Counter(chain.from_iterable(every))

    def heading(self, section: InstructionSection) -> Span:
        """Return the place of a section's heading, without the end of its line."""
        heading = self.text[section.start : section.body].rstrip()
        return Span(section.start, section.start + len(heading))

    def whole_text(self, section: InstructionSection) -> str:
        """Return the text of a section with those inside it."""
        return self.text[section.start : section.end]

    def render(self, opened: Collection[str] = ()) -> Render:
        """Return the file as a model gets it, with the sections `opened` in full.

        The tokens aren't counted, and blocks have no places yet.
        """
        blocks = tuple(self._blocks(self.sections, opened))
        return Render(name=self.name, text="".join(block.text for block in blocks), blocks=blocks)

    def _blocks(
        self, sections: Sequence[InstructionSection], opened: Collection[str]
    ) -> Iterator[Block]:
        hidden_end, count = 0, 0
        for at, section in enumerate(sections):
            if section.start < hidden_end:
                continue
            if not section.summary or section.key in opened:
                yield _block(section, self.text[section.start : section.own])
            else:
                hidden_end = section.end
                last = bisect_left(sections, hidden_end, at, key=lambda one: one.start)
                blocks = tuple(self._blocks(sections[at:last], {*opened, section.key}))
                opening = Opening((Replaced(count, count + 1, blocks),))
                yield _block(section, self.fold_text(section), opening)
            count += 1


def read_instructions(path: Path, root: Path) -> InstructionFile:
    """Return a file of the project at `root`, as it is on disk.

    Raises:
        PathError: It can't be read.
    """
    return instruction_file(path, root, read_text(path, LARGEST))


@lru_cache(maxsize=128)
def instruction_file(path: PurePath, root: PurePath, text: str) -> InstructionFile:
    """Return a file; it's read once, whatever is asked of it."""
    shown = path.relative_to(root) if path.is_relative_to(root) else path
    data = has_front_matter(path)
    return InstructionFile(path.name, text, shown.as_posix(), has_front_matter=data)


def _block(section: InstructionSection, text: str, opening: Opening | None = None) -> Block:
    """Return a section as a block; `opening` is what replaces it if it's folded."""
    head = section.body - section.start
    segments = (("heading", text[:head]), ("literal", text[head:]))
    return Block(
        id="/".join(section.path),
        path=section.path,
        key=section.key,
        number=section.number,
        title=section.title,
        depth=len(section.path) - 1,
        visibility="SUMMARY" if opening else "FULL",
        enabled=True,
        text=text,
        segments=tuple(Segment(kind, part, None) for kind, part in segments if part),
        opening=opening,
    )


def _slug(title: str) -> str:
    return _NO_SLUG.sub("-", title.lower()).strip("-") or "section"
