"""Receipts: an excerpt that the caller still holds is answered by its changes, or by one line.

An excerpt is a text that a file's content decides: lines, a symbol, an outline. Its receipt is a
hash of the text as it was shown. A caller that asks again, with `held`, gets one of these:

- `(unchanged RECEIPT)` and nothing else: the present excerpt is what it holds.
- The hunks of a unified diff of what it holds, without context, where they are shorter than the
  excerpt. The last line is `(receipt NEW: changes to RECEIPT)`.
- The excerpt. The last line is `(receipt NEW)`, or `(receipt NEW: RECEIPT is forgotten)`.

`present_excerpt` makes the present excerpt of such an answer and what was held. The hash tells
whether an excerpt is unchanged, in any process; for changes, the texts that were shown last are
kept in bounded memory, which also finds two texts with one hash.
"""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from foldline.backends.formatting.budget import size_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foldline.ide.operations.operation import Operation

_LENGTH = 12
ROOM = len("\n(receipt )") + _LENGTH
"""The bytes that a receipt adds to an excerpt."""
KEPT_BYTES = 4_000_000
"""The most bytes of texts that are kept to tell what changed."""
_LONGEST_KEPT = 200_000
# Bytes of an entry besides its text, about.
_ENTRY = 200
# Between the first and the last change; more lines would take too long to compare, and are one.
_MOST_COMPARED = 400

_NO_RECEIPT = "held"
_HELD = re.compile(rf"[a-z2-7]{{{_LENGTH}}}\Z")
_UNCHANGED = re.compile(r"\(unchanged [a-z2-7]+\)\Z")
_LAST_LINE = re.compile(
    r"\(receipt [a-z2-7]+(?:(?P<changes>: changes to [a-z2-7]+)"
    r"|: [a-z2-7]+ is forgotten|: held isn't a receipt)?\)\Z"
)
_HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@\Z")


class State(StrEnum):
    """The content of an answer about an excerpt."""

    WHOLE = "whole"
    UNCHANGED = "unchanged"
    CHANGES = "changes"
    FORGOTTEN = "forgotten"
    """The whole excerpt: the text of the receipt isn't known any more."""


@dataclass(frozen=True, slots=True)
class Receipted:
    """An answer about an excerpt.

    Attributes:
        receipt: That of the present excerpt.
        text: The excerpt, or its changes; empty if it is unchanged.
        held: The receipt of what the caller holds; empty if it holds nothing.
    """

    receipt: str
    state: State
    text: str
    held: str = ""

    @property
    def is_whole(self) -> bool:
        """True if the text is the present excerpt."""
        return self.state in {State.WHOLE, State.FORGOTTEN}

    @property
    def _unknown(self) -> str:
        is_receipt = self.held != _NO_RECEIPT
        return f"{self.held} is forgotten" if is_receipt else f"{self.held} isn't a receipt"

    def shown(self, budget: int | None = None) -> str:
        """Return the answer with its receipt, as far as `budget` bytes have room for that."""
        if self.state is State.UNCHANGED:
            return f"(unchanged {self.receipt})"
        if self.state is State.CHANGES:
            # Shorter than the excerpt, whatever that is.
            return f"{self.text}\n(receipt {self.receipt}: changes to {self.held})"
        notes = [f"(receipt {self.receipt})"]
        if self.state is State.FORGOTTEN:
            notes.insert(0, f"(receipt {self.receipt}: {self._unknown})")
        for note in notes:
            answer = f"{self.text}\n{note}"
            if budget is None or size_of(answer) <= budget:
                return answer
        # Content that looks like a receipt would be taken for it.
        return answer if _LAST_LINE.match(self.text.rpartition("\n")[2]) else self.text


class Shown:
    """The texts that were shown last, by receipt, in at most `size` bytes."""

    def __init__(self, size: int = KEPT_BYTES) -> None:
        self._left = size
        # None where two texts have one receipt.
        self._texts: OrderedDict[str, str | None] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, receipt: str, text: str) -> bool:
        """Keep a text; returns False if another text has the same receipt."""
        with self._lock:
            if receipt in self._texts:
                self._texts.move_to_end(receipt)
                known = self._texts[receipt]
                if known != text:
                    self._left += _weight(known) - _weight(None)
                    self._texts[receipt] = None
                return known == text
            if size_of(text) <= _LONGEST_KEPT:
                self._texts[receipt] = text
                self._left -= _weight(text)
                while self._left < 0:
                    self._left += _weight(self._texts.popitem(last=False)[1])
            return True

    def find(self, receipt: str) -> str | None:
        """Return the text with this receipt; None if it isn't known, or not the only one."""
        with self._lock:
            return self._texts.get(receipt)


def _weight(text: str | None) -> int:
    return _ENTRY + size_of(text or "")


SHOWN = Shown()
"""The texts that this process showed last."""


def receipt_of(text: str) -> str:
    """Return the receipt of a text as it was shown: 60 bits of a hash."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).digest()
    return base64.b32encode(digest).decode()[:_LENGTH].lower()


def answer_for(text: str, held: str | None, shown: Shown = SHOWN) -> Receipted:
    """Return what to answer a caller that asks for an excerpt and holds that of `held`."""
    receipt = receipt_of(text)
    if held is not None and not _HELD.match(held):
        held = _NO_RECEIPT
    known = shown.find(held) if held is not None else None
    only = shown.add(receipt, text)
    if held is None:
        return Receipted(receipt, State.WHOLE, text)
    if held == receipt and only:
        return Receipted(receipt, State.UNCHANGED, "", held)
    if known is None or held == receipt:
        return Receipted(receipt, State.FORGOTTEN, text, held)
    changes = Receipted(receipt, State.CHANGES, "\n".join(_changes(known, text)), held)
    if size_of(changes.shown()) < size_of(text):
        return changes
    return Receipted(receipt, State.WHOLE, text, held)


def present_excerpt(held: str, answer: str) -> str:
    r"""Return the present excerpt, from the one that is held and the answer to it.

    >>> held = "first\nsecond"
    >>> present_excerpt(held, "(unchanged 7vm2w5zc4dqk)")
    'first\nsecond'
    >>> changes = "@@ -2,1 +2,1 @@\n-second\n+last\n(receipt kqd4cz5w2mv7: changes to 7vm2w5zc4dqk)"
    >>> present_excerpt(held, changes)
    'first\nlast'
    """
    if _UNCHANGED.match(answer):
        return held
    text, _, last = answer.rpartition("\n")
    found = _LAST_LINE.match(last)
    if found is None:
        return answer
    return "\n".join(_applied(held.split("\n"), text.split("\n"))) if found["changes"] else text


def with_room(operation: Operation[Any, Any], arguments: Any) -> Any:
    """Return an operation's arguments with room in the budget for the receipt of an excerpt."""
    if not operation.excerpt or arguments.budget is None:
        return arguments
    return replace(arguments, budget=arguments.budget - ROOM)


def answer_text(operation: Operation[Any, Any], result: object, arguments: Any) -> str:
    """Return an operation's text; that of an excerpt with its receipt, or what changed in it.

    The result is that of the arguments `with_room`.
    """
    if not operation.excerpt:
        return operation.text(result, arguments)
    return receipted(operation, result, arguments).shown(arguments.budget)


def receipted(operation: Operation[Any, Any], result: object, arguments: Any) -> Receipted:
    """Return the answer about an excerpt; see `answer_text`."""
    return answer_for(operation.text(result, with_room(operation, arguments)), arguments.held)


def _changes(before: str, after: str) -> Iterator[str]:
    """Yield the lines of a unified diff without context; lines end at newlines alone."""
    old, new = before.split("\n"), after.split("\n")
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    same = 0
    while same < min(len(old), len(new)) - first and old[-1 - same] == new[-1 - same]:
        same += 1
    some, others = old[first : len(old) - same], new[first : len(new) - same]
    codes: Sequence[tuple[str, int, int, int, int]]
    if max(len(some), len(others)) > _MOST_COMPARED:
        codes = [("replace", 0, len(some), 0, len(others))]
    else:
        codes = SequenceMatcher(None, some, others, autojunk=False).get_opcodes()
    for kind, low, high, new_low, new_high in codes:
        if kind != "equal":
            before_range = _range(first + low, high - low)
            yield f"@@ -{before_range} +{_range(first + new_low, new_high - new_low)} @@"
            yield from (f"-{line}" for line in some[low:high])
            yield from (f"+{line}" for line in others[new_low:new_high])


def _range(start: int, count: int) -> str:
    # As in any unified diff, the line before where there are none.
    return f"{start + bool(count)},{count}"


def _applied(lines: Sequence[str], changes: Sequence[str]) -> Iterator[str]:
    """Yield the lines with the hunks of a diff applied."""
    at, place = 0, 0
    while place < len(changes):
        found = _HUNK.match(changes[place])
        if found is None:
            raise ValueError(f"line {place + 1} of the changes is no beginning of a hunk")
        start, count, _, added = map(int, found.groups())
        start -= bool(count)
        yield from lines[at:start]
        place += 1 + count
        yield from (line[1:] for line in changes[place : place + added])
        at = start + count
        place += added
    yield from lines[at:]
