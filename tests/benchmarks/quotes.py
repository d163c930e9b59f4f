"""Whether what an answer of foldline quotes stands in the files at the lines that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# How far below the first line of a definition, with its comments and decorators, its name may be.
_HEAD = 12
_FOLD = re.compile(r"…\+\d+$")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_BODY = re.compile(r"(\S+):(\d+)-(\d+)(?: .*)?")
_CODE = re.compile(r"\s+(\d+)[:-] ?(.*)")
_USE_WITH_CODE = re.compile(r"\s+(\d+) (?:\w+ )?(?:in [^:]+)?: ?(.*)|\s+(\d+) \w+: (.*)")
_USES = re.compile(r"((?:(?<!\w)\d+\b(?:, )?)+) ?(?:\w+)?(?: in ([^;,]+))?")
_TEST = re.compile(r"(\d+) (\D.*?) \(([\d, ]+)\)(?:; |$)")
_ROW = re.compile(r"\s*(\d+)(?:-(\d+))? (\S.*)")
_NAMED = re.compile(r"([\w.$#]+(?:\[\d+\])?) (\d+)(?:-\d+)?")

SAME = "    also "


def elsewhere(row: str, path: str) -> list[tuple[str, int]]:
    """Where else the line before a row stands: `also 7, 9; other.py:3, 5`."""
    found = []
    for places in re.sub(r"(; )?\d+ more$", "", row).partition(SAME)[2].split("; "):
        file, _, numbers = places.rpartition(":")
        found += [(file or path, int(number)) for number in re.findall(r"\d+", numbers)]
    return found


@dataclass
class Quotes:
    """The lines that answers quote, and those that aren't there.

    Attributes:
        lines: The lines of each file.
        checked: How many quotes were looked at.
        wrong: Those that the files don't have at the place.
    """

    lines: dict[str, Sequence[str]]
    checked: int = 0
    wrong: list[str] = field(default_factory=list)

    def look(self, tool: str, values: dict[str, object], answer: str) -> None:
        """Look at all quotes of an answer."""
        path = str(values.get("path") or "")
        name = str(values.get("name") or "").rpartition(".")[2]
        rows = answer.split("\n")
        if tool in ("read_symbol", "read_lines"):
            self._bodies(rows)
            return
        text = ""
        for row in rows:
            head = re.match(r"([^\s:,(]+)", row)
            if head and head[1] in self.lines:
                path = head[1]
                if tool == "search_for_files":
                    self._names(path, row)
                elif tool == "find_references":
                    self._uses(path, name, row[head.end() :])
            elif SAME in row:
                for other, number in elsewhere(row, path):
                    self._line(other, number, text, row)
            elif path and tool == "grep_in_files" and (found := _CODE.fullmatch(row)):
                text = found[2]
                self._line(path, int(found[1]), text, row)
            elif path and tool == "find_references" and (found := _USE_WITH_CODE.fullmatch(row)):
                self._line(path, int(found[1] or found[3]), found[2] or found[4], row)
            elif path and tool == "get_file_outline":
                self._outline(path, row)

    def _bodies(self, rows: list[str]) -> None:
        path, in_code, hidden = "", False, False
        left: list[int] = []
        for row in rows:
            if (found := _BODY.fullmatch(row)) and found[1] in self.lines:
                self._ended(path, left, hidden=hidden)
                path, in_code, hidden = found[1], False, False
                left = list(range(int(found[2]), int(found[3]) + 1))
            elif not path or (not in_code and row.startswith("(") and row.endswith(")")):
                left = [] if row.startswith("(outline:") else left
                if said := re.match(r"\(lines ([\d, -]+) of", row):
                    pairs = [(int(one), int(last or one)) for one, last in _RANGE.findall(said[1])]
                    left = [line for one, last in pairs for line in range(one, last + 1)]
            elif not in_code and _ROW.fullmatch(row):
                self._outline(path, row)
            elif row.strip().startswith("…"):
                hidden = True
            else:
                in_code = True
                left, hidden = self._next(path, left, row, hidden=hidden)
        self._ended(path, left, hidden=hidden)

    def _next(
        self, path: str, left: list[int], row: str, *, hidden: bool
    ) -> tuple[list[int], bool]:
        """The lines after the one that a row of a body quotes, and whether some may be hidden."""
        self.checked += 1
        lines = self.lines[path]
        for at, number in enumerate(left if hidden else left[:1]):
            if number <= len(lines) and _has(lines[number - 1], row):
                return left[at + 1 :], bool(_FOLD.search(row))
        self.wrong.append(f"{path}:{left[0] if left else 'after the end'}: {row}")
        return left[1:], hidden

    def _ended(self, path: str, left: list[int], *, hidden: bool) -> None:
        if path and any(self.lines[path][line - 1].strip() for line in left) and not hidden:
            self.wrong.append(f"{path}: lines {left} aren't shown")

    def _line(self, path: str, number: int, text: str, row: str) -> None:
        self.checked += 1
        lines = self.lines.get(path, ())
        if not 0 < number <= len(lines) or not _has(lines[number - 1], text):
            self.wrong.append(f"{path}:{number}: {row}")

    def _outline(self, path: str, row: str) -> None:
        if found := _ROW.fullmatch(row):
            first, signature = int(found[1]), found[3].partition("  #")[0]
            words = re.findall(r"\w+", re.sub(r"\(.*|[:=<{].*", "", signature))[-1:]
            self._head(path, first, words, row)
        elif row.startswith(" ") or re.match(r"\w+ \d", row):
            self._names(path, row)

    def _names(self, path: str, row: str) -> None:
        for name, first in _NAMED.findall(row.removeprefix(f"{path}: ")):
            last = re.sub(r"\[\d+\]$", "", name).rpartition(".")[2]
            self._head(path, int(first), [last], row)

    def _head(self, path: str, first: int, words: list[str], row: str) -> None:
        self.checked += 1
        head = "\n".join(self.lines[path][first - 1 : first + _HEAD])
        if not all(re.search(rf"\b{re.escape(word)}\b", head) for word in words):
            self.wrong.append(f"{path}:{first} {words}: {row}")

    def _uses(self, path: str, name: str, rest: str) -> None:
        lines = self.lines[path]
        tests = _TEST.findall(rest.removeprefix(": "))
        for first, title, _ in tests:
            self._line(path, int(first), f"…{title}…", rest)
        rest = "; ".join(uses for _, _, uses in tests) or rest
        for numbers, scope in _USES.findall(rest.removeprefix(": ")):
            for number in map(int, re.findall(r"\d+", numbers)):
                self.checked += 1
                holder = re.sub(r"\[\d+\]$", "", scope.strip()).rpartition(".")[2]
                before = "\n".join(lines[:number])
                if not 0 < number <= len(lines) or not re.search(
                    rf"\b{re.escape(name)}\b", lines[number - 1]
                ):
                    self.wrong.append(f"{path}:{number} {name}: {rest}")
                elif holder and not holder.endswith("…") and holder not in before:
                    self.wrong.append(f"{path}:{number} not in {holder}: {rest}")


def _has(line: str, text: str) -> bool:
    """Whether a line is a text, of which "…" may stand for parts."""
    # After a comment, "…+4" stands for the lines below.
    shown = _FOLD.sub("", text)
    parts = (re.escape(" ".join(part.split())) for part in shown.split("…"))
    return re.fullmatch(".*".join(parts), " ".join(line.split())) is not None
