"""Lines of `.gitignore` as regular expressions over bytes, which match what git's own matcher does.

They take time about linear in a path: behind a `*` or a `**`, the first place at which the part up
to the next one matches is kept (`(?>…)`), since what follows matches from there if it does at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from foldline.backends.files.limits import IGNORE_PATTERN_CHARACTERS

_WILD = re.compile(rb"[*?\[\\]")
_TOKEN = re.compile(rb"\*+|\?|\[|\\(.?)|[^*?\[\\]", re.DOTALL)
_BOUNDARY = re.compile(rb"/|(?=\\/|\Z)")
_NAMED = re.compile(rb"\[:([^\]]*):\]")
# As git has them in any locale.
_CLASSES = {
    b"alnum": rb"[0-9A-Za-z]", b"alpha": rb"[A-Za-z]", b"blank": rb"[ \t]",
    b"cntrl": rb"[\0-\x1f\x7f]", b"digit": rb"[0-9]", b"graph": rb"[!-~]", b"lower": rb"[a-z]",
    b"print": rb"[ -~]", b"punct": rb"[!-/:-@\[-`{-~]", b"space": rb"[ \t\n\r]",
    b"upper": rb"[A-Z]", b"xdigit": rb"[0-9A-Fa-f]",
}  # fmt: skip
_ASCII = bytes(range(128))
FOLDER = b"\0"
"""Ends the name or path of a folder: no name has it."""

# A character of a name, and of a path.
_ONE, _ANY = rb"[^/\0]", rb"[^\0]"


class GitPattern(NamedTuple):
    """One line: `text` is what matches as it stands, and empty where `regex` does.

    Where it `is_path`, that is about the path from the ignore file's folder on, else about a name.
    """

    line: str
    shows: bool
    is_path: bool
    folders: bool
    text: bytes
    regex: bytes


class GitPatterns:
    """The patterns of one file, compiled together; those of names apart from those of paths."""

    def __init__(self, patterns: Sequence[GitPattern], *, any_case: bool = False) -> None:
        self._patterns = patterns
        self._any_case = any_case
        self._fixed: tuple[dict[bytes, int], dict[bytes, int]] = ({}, {})
        numbers: tuple[list[int], list[int]] = ([], [])
        for number, pattern in enumerate(patterns):
            if pattern.regex:
                numbers[pattern.is_path].insert(0, number)
                continue
            fixed = self._fixed[pattern.is_path]
            fixed[pattern.text + FOLDER] = number
            if not pattern.folders:
                fixed[pattern.text] = number
        self._folders = {path.rpartition(b"/")[0] for path in self._fixed[True]}
        self._numbers = numbers
        self._last = tuple(map(self._last_of, numbers))

    def last(self, above: bytes, subject: bytes) -> GitPattern | None:
        """The last pattern that matches the entry `subject` of the folder `above`."""
        if self._any_case:
            above, subject = above.lower(), subject.lower()
        best = -1
        parts = (self._fixed, self._last, self._numbers)
        for text, fixed, regex, numbers in zip((subject, above + subject), *parts, strict=True):
            best = max(best, fixed.get(text, -1))
            if regex is not None and (match := regex.match(text)) and match.lastindex:
                best = max(best, numbers[match.lastindex - 1])
        return None if best < 0 else self._patterns[best]

    def likely(self, above: bytes, subjects: Mapping[bytes, str]) -> set[str]:
        """The names of the entries of the folder `above` that a pattern matches."""
        fixed, paths = self._fixed
        matching = {subjects[one] for one in subjects.keys() & fixed.keys()}
        if above[:-1] in self._folders:
            matching.update(name for one, name in subjects.items() if above + one in paths)
        for ahead, regex in zip((b"", above), self._last, strict=True):
            if regex is not None:
                match = regex.match
                matching.update(name for one, name in subjects.items() if match(ahead + one))
        return matching

    def _last_of(self, numbers: Sequence[int]) -> re.Pattern[bytes] | None:
        """Its group is that of the last pattern that matches."""
        patterns = (self._patterns[number] for number in numbers)
        texts = (
            b"(%s%s)" % (one.regex, rb"\0\Z" if one.folders else rb"\0?\Z") for one in patterns
        )
        return re.compile(b"|".join(texts)) if numbers else None


@lru_cache(maxsize=4096)
def compile_patterns(
    lines: tuple[str, ...], *, any_case: bool = False
) -> tuple[GitPatterns, tuple[str, ...]]:
    """The patterns compiled, and those that are malformed; with `any_case` letters have none."""
    patterns: list[GitPattern] = []
    malformed: list[str] = []
    for line in lines:
        try:
            if len(line) > IGNORE_PATTERN_CHARACTERS:
                raise ValueError("no path is longer")
            if pattern := _pattern(line, any_case=any_case):
                patterns.append(pattern)
        except ValueError:
            malformed.append(line)
    return GitPatterns(patterns, any_case=any_case), tuple(malformed)


def subject_of(name: str, *, is_folder: bool) -> bytes:
    """An entry as patterns are matched with it."""
    return encoded(name) + (FOLDER if is_folder else b"")


def encoded(text: str) -> bytes:
    """The bytes of a name or a pattern as the file system has them."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _pattern(line: str, *, any_case: bool) -> GitPattern | None:
    """The pattern of a line, None for one without; `ValueError` where it can't match anything."""
    data = encoded(line).removesuffix(b"\r").partition(b"\0")[0]
    data = data.lower() if any_case else data
    if data.startswith(b"#"):
        return None
    pattern = data.rstrip(b" ")
    if (len(pattern) - len(pattern.rstrip(b"\\"))) % 2:
        # The first of the spaces is escaped.
        pattern = data[: len(pattern) + 1]
    if not pattern:
        return None
    shows = pattern.startswith(b"!")
    folders = pattern.endswith(b"/")
    pattern = pattern[shows : len(pattern) - folders]
    is_path = b"/" in pattern
    pattern = pattern.removeprefix(b"/")
    if not pattern or pattern.endswith(b"/"):
        raise ValueError("no path is like that")
    wild = _WILD.search(pattern)
    if wild is None:
        return GitPattern(line, shows, is_path, folders, pattern, b"")
    # Git compares what is before the first wildcard, and takes the rest for a pattern of its own.
    begin = wild.start() if is_path else 0
    regex = re.escape(pattern[:begin]) + _translated(pattern[begin:], is_path=is_path)
    return GitPattern(line, shows, is_path, folders, b"", regex)


def _translated(pattern: bytes, *, is_path: bool) -> bytes:
    """The regular expression of a pattern that begins as if behind a slash."""
    # Blocks begin at each `**` between slashes, and chunks of a block at each other star.
    blocks: list[tuple[bytes, list[bytes]]] = [(b"", [b""])]
    at = 0
    while token := _TOKEN.match(pattern, at):
        before, at = at, token.end()
        chunks = blocks[-1][1]
        is_between = is_path and len(token[0]) > 1 and pattern[:before][-1:] in (b"", b"/")
        if token[0].startswith(b"*"):
            if is_between and (end := _BOUNDARY.match(pattern, at)):
                at = end.end()
                # `**/` may stand for nothing.
                blocks.append((rb"(?:%s*?/)??" % _ANY if end[0] else _ANY + b"*?", [b""]))
            else:
                chunks.append(b"")
        elif token[0] == b"?":
            chunks[-1] += _ONE
        elif token[0] == b"[":
            members, at = _class(pattern, at)
            chunks[-1] += members
        elif token[1] == b"":
            raise ValueError("ends within an escape")
        else:
            chunks[-1] += re.escape(token[1] or token[0])
    *closed, (ahead, last) = blocks
    kept = b"".join(b"(?>%s%s)" % (before, _joined(chunks)) for before, chunks in closed)
    return kept + ahead + _joined(last)


def _joined(chunks: list[bytes]) -> bytes:
    """The chunks of a block with stars between them; the last one may go on to any place."""
    first, *others = chunks
    kept = b"".join(b"(?>%s*?%s)" % (_ONE, chunk) for chunk in others[:-1])
    return first + kept + (_ONE + b"*" + others[-1] if others else b"")


def _class(pattern: bytes, at: int) -> tuple[bytes, int]:
    """The regular expression of a class whose members begin at `at`, and where it ends."""
    members: set[int] = set()
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    first = at
    last = 0
    while at == first or pattern[at : at + 1] != b"]":
        if named := _NAMED.match(pattern, at):
            if named[1] not in _CLASSES:
                raise ValueError("has a class of no known name")
            members.update(b"".join(re.findall(_CLASSES[named[1]], _ASCII)))
            last, at = 0, named.end()
            continue
        member, at = _member(pattern, at)
        if member == b"-" and last and pattern[at : at + 1] not in (b"", b"]"):
            end, at = _member(pattern, at)
            members.update(range(last, end[-1] + 1))
            last = 0
        else:
            last = member[-1]
            members.add(last)
    members = ({*range(1, 256)} - members if negated else members) - {*b"/\0"}
    if not members:
        raise ValueError("has a class that nothing is in")
    runs = (
        [one for _, one in run]
        for _, run in groupby(enumerate(sorted(members)), lambda pair: pair[1] - pair[0])
    )
    return b"[%s]" % b"".join(b"\\x%02x-\\x%02x" % (run[0], run[-1]) for run in runs), at + 1


def _member(pattern: bytes, at: int) -> tuple[bytes, int]:
    """A member of a class, with the backslash before it, and where it ends."""
    end = at + 1 + (pattern[at : at + 1] == b"\\")
    if end > len(pattern):
        raise ValueError("has a class without an end")
    return pattern[at:end], end
