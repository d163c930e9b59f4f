"""Text with a source map: each character knows its location in the source."""

from __future__ import annotations

import codecs
import re
import textwrap
from bisect import bisect_right
from dataclasses import field
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from foldline.ide.analysis.model import SourceSpan, Span
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.ide.analysis.placeholders import ShownText
    from foldline.ide.analysis.syntax import Anchor, Literal


class Run(NamedTuple):
    """A range of text from one range of source.

    If both have the same length, characters correspond one to one. Otherwise (an escape, CRLF) the
    run maps as a whole. A dynamic run shows code: its value is unknown.
    """

    start: int
    length: int
    anchor: Anchor
    source: int
    source_length: int
    dynamic: bool = False

    @property
    def exact(self) -> bool:
        return self.length == self.source_length and not self.dynamic


@record
class MappedText:
    """A text and the source location of each character; dynamic parts show their code."""

    text: str
    runs: tuple[Run, ...]
    shown: ShownText | None = field(default=None, init=False, repr=False, compare=False)
    """The text as a section shows it, once `placeholders.shown` has made it."""

    @property
    def dynamic(self) -> bool:
        return any(run.dynamic for run in self.runs)

    def dynamic_in(self, start: int, end: int) -> bool:
        """Return True if `text[start:end]` contains a dynamic part."""
        for run in islice(self.runs, self._index_at(start), None):
            if run.start >= end:
                return False
            if run.dynamic and start < run.start + run.length:
                return True
        return False

    def slice(self, start: int, end: int) -> MappedText:
        return MappedText(self.text[start:end], tuple(self._cut(start, end, -start)))

    def _cut(self, start: int, end: int, shift: int) -> Iterator[Run]:
        if start >= end:
            return
        for run in self.runs[self._index_at(start) :]:
            if run.start >= end:
                return
            low, high = max(start, run.start), min(end, run.start + run.length)
            if low >= high:
                continue
            if run.exact:
                source = run.source + low - run.start
                yield Run(low + shift, high - low, run.anchor, source, high - low)
            else:
                yield run._replace(start=low + shift, length=high - low)

    def place(self, start: int, end: int) -> SourceSpan | None:
        """Return the source location of `text[start:end]`; None if it has no single one."""
        first, last = self._run_at(start), self._run_at(max(start, end - 1))
        if first is None or last is None:
            return None
        if first.anchor is not last.anchor and first.anchor.statement is not last.anchor.statement:
            return None
        low = first.source + (start - first.start if first.exact else 0)
        high = last.source + (end - last.start) if last.exact else last.source + last.source_length
        begin = first.anchor.at(low)
        return SourceSpan(first.anchor.file, begin, max(begin, last.anchor.at(high)))

    def written(self, offset: int) -> tuple[SourceSpan, str] | None:
        """Return the source of a character: its location, and what certainly stands there.

        None if it has none.
        """
        run = self._run_at(offset)
        if run is None or offset >= run.start + run.length or not run.anchor.file:
            return None
        low, length = run.source, run.source_length
        if run.exact:
            low, length = low + offset - run.start, 1
        place = SourceSpan(run.anchor.file, run.anchor.at(low), run.anchor.at(low + length))
        return place, run.anchor.text[low : low + length]

    def shown_from(self, place: SourceSpan) -> Iterator[Span]:
        """Yield the parts of the text that come from a part of the source."""
        for run in self.runs:
            begin = run.anchor.at(run.source)
            end = run.anchor.at(run.source + run.source_length)
            low, high = max(place.start, begin), min(place.end, end)
            is_edited = end - begin != run.source_length
            if run.anchor.file == place.file and low < high and not is_edited:
                inside = (low - begin, high - begin) if run.exact else (0, run.length)
                yield Span(run.start + inside[0], run.start + inside[1])

    def file_at(self, offset: int) -> str:
        """Return the file of the character at an offset."""
        run = self._run_at(offset)
        return run.anchor.file if run is not None else ""

    def _index_at(self, offset: int) -> int:
        """Return the index of the run at an offset, or else of the one before it."""
        return max(0, bisect_right(self.runs, offset, key=attrgetter("start")) - 1)

    def _run_at(self, offset: int) -> Run | None:
        return self.runs[self._index_at(offset)] if self.runs else None

    def offset_of(self, file: str, position: int) -> int | None:
        """Return the text offset of a source position; None if the text doesn't include it."""
        for run in self.runs:
            anchor = run.anchor
            if run.dynamic or anchor.file != file:
                continue
            low = anchor.at(run.source)
            if low <= position <= anchor.at(run.source + run.source_length):
                return run.start + (position - low if run.exact else 0)
        return None

    def strip(self) -> MappedText:
        stripped = self.text.strip()
        start = len(self.text) - len(self.text.lstrip())
        return self.slice(start, start + len(stripped)) if stripped != self.text else self

    def dedent(self) -> MappedText:
        """Dedent as `textwrap.dedent` does."""
        dedented = textwrap.dedent(self.text)
        if dedented == self.text:
            return self
        runs: list[Run] = []
        at, out = 0, 0
        for old, new in zip(self.text.split("\n"), dedented.split("\n"), strict=True):
            end = at + len(old)
            # dedent removes characters only from the start of a line.
            runs.extend(self._cut(end - len(new), end, out - (end - len(new))))
            out += len(new)
            runs.extend(self._cut(end, end + 1, out - end))
            at, out = end + 1, out + 1
        return MappedText(dedented, tuple(_merged(runs)))

    def formatted(self, fields: re.Pattern[str]) -> MappedText:
        """Format the text: its fields become dynamic, as their values aren't known.

        A match of the group `literal` is a doubled sign, and stands for a single one.
        """
        parts: list[MappedText] = []
        at = 0
        for match in fields.finditer(self.text):
            parts.append(self.slice(at, match.start()))
            at = match.end()
            field = self.slice(match.start(), at)
            if match["literal"]:
                parts.append(MappedText(match[0][0], tuple(field.whole())))
            else:
                runs = (run._replace(dynamic=True) for run in field.runs)
                parts.append(MappedText(field.text, tuple(runs)))
        return join((*parts, self.slice(at, len(self.text))))

    def whole(self) -> Iterator[Run]:
        """Yield one run that maps a single character to the whole source."""
        if self.runs:
            first, last = self.runs[0], self.runs[-1]
            end = last.source + last.source_length
            yield Run(0, 1, first.anchor, first.source, max(1, end - first.source), first.dynamic)

    def cleandoc(self) -> MappedText:
        """Clean the text as `inspect.cleandoc` does, except that tabs aren't expanded."""
        lines = self.text.split("\n")
        indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
        margin = min(indents, default=0)
        pieces: list[tuple[int, int]] = []
        at = 0
        for index, line in enumerate(lines):
            cut = margin if index else len(line) - len(line.lstrip())
            pieces.append((min(at + cut, at + len(line)), at + len(line)))
            at += len(line) + 1
        while pieces and not self.text[slice(*pieces[0])].strip():
            pieces.pop(0)
        while pieces and not self.text[slice(*pieces[-1])].strip():
            pieces.pop()
        parts: list[MappedText] = []
        for index, (start, end) in enumerate(pieces):
            last = index == len(pieces) - 1
            parts.append(self.slice(start, end if last else end + 1))
        return join(parts)


DOLLARS = re.compile(r"(?P<literal>\$\$)")
PERCENT = re.compile(
    r"(?P<literal>%%)|%(?:\(\w*\))?[#0\- +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?[a-zA-Z]"
)
BRACES = re.compile(r"(?P<literal>\{\{|\}\})|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")


def _merged(runs: Iterable[Run]) -> Iterator[Run]:
    """Merge runs that are adjacent in the source."""
    last: Run | None = None
    for run in runs:
        if (
            last is not None
            and last.exact
            and run.exact
            and last.anchor is run.anchor
            and last.source + last.length == run.source
        ):
            length = last.length + run.length
            last = last._replace(length=length, source_length=length)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def join(texts: Iterable[MappedText]) -> MappedText:
    """Concatenate texts, source maps included."""
    parts: list[str] = []
    runs: list[Run] = []
    length = 0
    for text in texts:
        parts.append(text.text)
        runs.extend(run._replace(start=run.start + length) for run in text.runs)
        length += len(text.text)
    return MappedText("".join(parts), tuple(runs))


def code(anchor: Anchor, start: int, end: int) -> MappedText:
    """Return a dynamic text that shows an expression as `{code}`."""
    text = anchor.text[start:end]
    shown = text if text.startswith("{") else "{" + text + "}"
    return MappedText(shown, (Run(0, len(shown), anchor, start, end - start, dynamic=True),))


_PREFIX = re.compile(r"([A-Za-z]*)(\"\"\"|'''|\"|')")
_ESCAPE = re.compile(
    r"\\(\r\n|[\n\r\\'\"abfnrtv]|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"
    r"|U[0-9a-fA-F]{8}|N\{[^}]{1,100}\})"
)
_BREAK = re.compile(r"\r\n?")
_TOKENS = {
    (raw, formatted): re.compile(f"{escape}{_BREAK.pattern}{brace}")
    for raw, escape in ((False, f"{_ESCAPE.pattern}|"), (True, ""))
    for formatted, brace in ((False, ""), (True, r"|\{\{|\}\}"))
}


def decode(anchor: Anchor, literal: Literal) -> MappedText | None:
    """Return the value of a string literal, mapped to its source; None for bytes."""
    source = anchor.text[literal.start : literal.end]
    head = _PREFIX.match(source)
    if head is None:
        return None
    prefix = head[1].lower()
    if "b" in prefix:
        return None
    quote = head[2]
    start = literal.start + head.end()
    closed = len(source) >= head.end() + len(quote) and source.endswith(quote)
    end = literal.end - (len(quote) if closed else 0)
    token = _TOKENS["r" in prefix, "f" in prefix or "t" in prefix]
    decoder = _Decoder(anchor)
    for low, high in literal.interpolations:
        decoder.decode(token, start, low)
        shown = code(anchor, low, high)
        decoder.add(shown.text, low, high, dynamic=True)
        start = high
    decoder.decode(token, start, end)
    return MappedText("".join(decoder.parts), tuple(decoder.runs))


def plain(anchor: Anchor) -> MappedText:
    """Return the text of an anchor as Python reads it: each line ends with a line feed."""
    decoder = _Decoder(anchor)
    decoder.decode(_BREAK, 0, len(anchor.text))
    return MappedText("".join(decoder.parts), tuple(decoder.runs))


class _Decoder:
    __slots__ = ("anchor", "length", "parts", "runs")

    def __init__(self, anchor: Anchor) -> None:
        self.anchor = anchor
        self.parts: list[str] = []
        self.runs: list[Run] = []
        self.length = 0

    def add(self, text: str, start: int, end: int, *, dynamic: bool = False) -> None:
        if text:
            run = Run(self.length, len(text), self.anchor, start, end - start, dynamic)
            self.runs.append(run)
            self.parts.append(text)
            self.length += len(text)

    def decode(self, token: re.Pattern[str], start: int, end: int) -> None:
        source = self.anchor.text
        at = start
        for match in token.finditer(source, start, end):
            self.add(source[at : match.start()], at, match.start())
            self.add(_value(match[0]), match.start(), match.end())
            at = match.end()
        self.add(source[at:end], at, end)


def _value(token: str) -> str:
    if token in ("{{", "}}"):
        return token[0]
    if token[0] == "\r":
        return "\n"
    if token[1] in "\r\n":
        return ""
    if token[1].isdigit():  # The codec warns of large ones.
        return chr(int(token[1:], 8))
    try:
        return codecs.decode(token, "unicode_escape")
    except UnicodeDecodeError:
        return token
