"""Receipts: an excerpt that the caller still holds isn't sent again.

An excerpt is a text that a file's content decides: lines, a symbol, an outline. Its receipt is a
hash of the text as it was shown, and known in any process. A caller that asks again, with `held`,
gets `(unchanged RECEIPT)` and nothing else if the present excerpt is what it holds. Otherwise it
gets the excerpt, whose last line is `(receipt NEW: changed since RECEIPT)`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from foldline.backends.formatting.budget import size_of

if TYPE_CHECKING:
    from foldline.ide.operations.operation import Operation

_LENGTH = 12
ROOM = len("\n(receipt )") + _LENGTH
"""The bytes that a receipt adds to an excerpt."""

_RECEIPT = re.compile(rf"[a-z2-7]{{{_LENGTH}}}\Z")
_LAST_LINE = re.compile(
    r"\(receipt [a-z2-7]+(?:: changed since [a-z2-7]+|: held isn't a receipt)?\)\Z"
)


class State(StrEnum):
    """The content of an answer about an excerpt."""

    WHOLE = "whole"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Receipted:
    """An answer about an excerpt.

    Attributes:
        receipt: That of the present excerpt.
        text: The excerpt; empty if it is unchanged.
        held: The receipt of what the caller holds; None if it holds nothing.
    """

    receipt: str
    text: str
    held: str | None = None

    @property
    def state(self) -> State:
        """The content of the answer."""
        return State.UNCHANGED if self.held == self.receipt else State.WHOLE

    def shown(self, budget: int | None = None) -> str:
        """Return the answer with its receipt, as far as `budget` bytes have room for that."""
        if self.state is State.UNCHANGED:
            return f"(unchanged {self.receipt})"
        notes = [f"(receipt {self.receipt})"]
        if self.held is not None:
            known = _RECEIPT.match(self.held)
            why = f"changed since {self.held}" if known else "held isn't a receipt"
            notes.insert(0, f"(receipt {self.receipt}: {why})")
        for note in notes:
            answer = f"{self.text}\n{note}"
            if budget is None or size_of(answer) <= budget:
                return answer
        # Content that looks like a receipt would be taken for it.
        return answer if _LAST_LINE.match(self.text.rpartition("\n")[2]) else self.text


def receipt_of(text: str) -> str:
    """Return the receipt of a text as it was shown: 60 bits of a hash."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).digest()
    return base64.b32encode(digest).decode()[:_LENGTH].lower()


def answer_for(text: str, held: str | None) -> Receipted:
    """Return the answer to a caller that asks for an excerpt and holds that of `held`."""
    receipt = receipt_of(text)
    return Receipted(receipt, "" if held == receipt else text, held)


def with_room(operation: Operation[Any, Any], arguments: Any) -> Any:
    """Return an operation's arguments with room in the budget for the receipt of an excerpt."""
    if not operation.excerpt or arguments.budget is None:
        return arguments
    return replace(arguments, budget=arguments.budget - ROOM)


def answer_text(operation: Operation[Any, Any], result: object, arguments: Any) -> str:
    """Return an operation's text; that of an excerpt with its receipt.

    The result is that of the arguments `with_room`.
    """
    if not operation.excerpt:
        return operation.text(result, arguments)
    return receipted(operation, result, arguments).shown(arguments.budget)


def receipted(operation: Operation[Any, Any], result: object, arguments: Any) -> Receipted:
    """Return the answer about an excerpt; see `answer_text`."""
    return answer_for(operation.text(result, with_room(operation, arguments)), arguments.held)
