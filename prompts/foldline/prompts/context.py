"""Policies that keep a conversation small by shortening its tool results.

Every request to a model sends all earlier tool results again. A `ContextPolicy` keeps them small in
two steps. A result that has a summary, such as a file's outline, is replaced by it once the reading
is some turns ago. If the rest still exceeds the budget, results are removed: low priority first,
then medium, then high, and of each the oldest first.

A turn is one message of the model together with the user's message before it and the results of
the tools that it called. No message is ever dropped: providers want an answer for every call, so a
removed result leaves one line that says what it was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "KEEP_TURNS",
    "ContextPolicy",
    "ManagedContext",
    "Message",
    "Priority",
    "Role",
    "manage",
    "summarise",
    "trim",
]

KEEP_TURNS = 3
"""The default number of last turns that a policy leaves unchanged."""


class Priority(StrEnum):
    """Priority of a tool result; `LOW` is removed first."""

    HIGH = "high"
    """Navigation: searches and outlines tell a model where it has been."""
    MEDIUM = "medium"
    """Targeted reads, such as a symbol or references."""
    LOW = "low"
    """Whole files: the most bytes, and easily read again."""

    @property
    def rank(self) -> int:
        """Its place in the order of removal, from 0."""
        return (Priority.LOW, Priority.MEDIUM, Priority.HIGH).index(self)

    def __lt__(self, other: str) -> bool:
        return self.rank < Priority(other).rank

    def __le__(self, other: str) -> bool:
        return self.rank <= Priority(other).rank

    def __gt__(self, other: str) -> bool:
        return self.rank > Priority(other).rank

    def __ge__(self, other: str) -> bool:
        return self.rank >= Priority(other).rank


class Role(StrEnum):
    """The author of a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        content: The text that is sent; for a call of tools, with the arguments.
        tool: The tool that a result is from.
        label: The call's subject, such as a path, so that a model can make the call again.
        summary: The text that replaces `content` after some turns; None where the result is
            compact as it is.
        priority: How long a result is kept.
    """

    role: Role
    content: str
    tool: str | None = None
    label: str = ""
    summary: str | None = None
    priority: Priority = Priority.MEDIUM

    @property
    def size(self) -> int:
        """The bytes of `content` in UTF-8."""
        return _size_of(self.content)


@dataclass(frozen=True, slots=True)
class ManagedContext:
    """A conversation to which a policy was applied.

    Attributes:
        messages: As many as before.
        evicted: The places of the results that were removed, in the order of their removal.
        size: The bytes of all tool results together.
        fits: True if `size` is within the budget. The results that are kept may be larger.
    """

    messages: tuple[Message, ...]
    evicted: tuple[int, ...]
    size: int
    fits: bool


@FrozenDataclass()
class ContextPolicy:
    """The policy for the tool results of a conversation.

    Attributes:
        keep_turns: How many of the last turns are left alone; None leaves all alone, so that
            nothing is ever replaced or removed.
        budget: The most bytes of all tool results together; None for no limit.

    Raises:
        PromptConfigurationError: A number is negative.
    """

    keep_turns: int | None = KEEP_TURNS
    budget: int | None = None

    def __post_init__(self) -> None:
        for name, number in (("keep_turns", self.keep_turns), ("budget", self.budget)):
            if number is not None and number < 0:
                raise PromptConfigurationError(f"`{name}` must be 0 or more, not {number}.")

    def apply(self, messages: Iterable[Message]) -> ManagedContext:
        """The messages of the next request."""
        messages = tuple(messages)
        size = _size_of_results(messages)
        budget = size if self.budget is None else self.budget
        if self.keep_turns is None:
            return ManagedContext(messages, (), size, size <= budget)
        return manage(messages, budget, self.keep_turns)


def summarise(messages: Iterable[Message], keep_turns: int = KEEP_TURNS) -> tuple[Message, ...]:
    """The messages, with the summary as content where a result is older than `keep_turns`.

    Results without a summary stay unchanged, and so does one whose summary isn't smaller.
    """
    messages = tuple(messages)
    recent = _recent(messages, keep_turns)
    return tuple(
        message if place in recent else _summarized(message)
        for place, message in enumerate(messages)
    )


def trim(messages: Iterable[Message], budget: int, keep_turns: int = KEEP_TURNS) -> ManagedContext:
    """The messages, with results removed until the others fit `budget` bytes.

    System messages, the user's and the model's words, and the last `keep_turns` turns are kept.
    """
    kept = list(messages)
    recent = _recent(kept, keep_turns)
    size = _size_of_results(kept)
    evicted: list[int] = []
    for place in _eviction_order(kept, recent):
        if size <= budget:
            break
        stub = _stub(kept[place])
        saved = kept[place].size - stub.size
        if saved > 0:
            kept[place] = stub
            size -= saved
            evicted.append(place)
    return ManagedContext(tuple(kept), tuple(evicted), size, size <= budget)


def manage(
    messages: Iterable[Message], budget: int, keep_turns: int = KEEP_TURNS
) -> ManagedContext:
    """Both steps: summaries for what is old, then removal of what doesn't fit."""
    return trim(summarise(messages, keep_turns), budget, keep_turns)


def _recent(messages: Sequence[Message], keep_turns: int) -> frozenset[int]:
    """The places of the last turns, and of the system's messages."""
    kept = {place for place, message in enumerate(messages) if message.role is Role.SYSTEM}
    turns = 0
    for place in range(len(messages) - 1, -1, -1):
        if turns == keep_turns and messages[place].role is not Role.USER:
            # A question belongs to the answer after it; here an earlier turn ends.
            break
        if keep_turns:
            kept.add(place)
        turns += messages[place].role is Role.ASSISTANT
    return frozenset(kept)


def _summarized(message: Message) -> Message:
    if message.summary is None or _size_of(message.summary) >= message.size:
        return message
    return replace(message, content=message.summary)


def _eviction_order(messages: Sequence[Message], recent: frozenset[int]) -> list[int]:
    ranks = {
        place: message.priority.rank
        for place, message in enumerate(messages)
        if place not in recent and message.role is Role.TOOL
    }
    return sorted(ranks, key=lambda place: (ranks[place], place))


def _stub(message: Message) -> Message:
    about = f" {message.label}" if message.label else ""
    return replace(message, content=f"[{message.tool}{about}: removed to save room; call it again]")


def _size_of_results(messages: Iterable[Message]) -> int:
    return sum(message.size for message in messages if message.role is Role.TOOL)


def _size_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
