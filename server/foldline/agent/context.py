"""What an agent's conversation keeps: summaries for what is old, and the least useful goes first.

Tool results are sent again with every call of the model. Two layers keep them small: `summarise`
puts a file's outline in the place of its text once the reading is some turns ago, and `trim` takes
results out until the rest fits a budget, whole files first and searches and outlines last.

A turn is one call of the model: what the user said before it, its answer, and the results of the
tools that it called.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from foldline.backends.budget import FILE_BUDGET, OUTLINE_BUDGET, size_of
from foldline.backends.text import format_file_text, format_outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from foldline.backends import SmartFileAccess

# So many turns are left alone: the model is still working on what they say.
KEEP_TURNS = 3


class Priority(StrEnum):
    """How long a tool's result is kept; ordered, `LOW` goes first."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """Its place in the order: the lower, the earlier it goes."""
        return (Priority.LOW, Priority.MEDIUM, Priority.HIGH).index(self)

    def __lt__(self, other: str) -> bool:
        return self.rank < Priority(other).rank

    def __le__(self, other: str) -> bool:
        return self.rank <= Priority(other).rank

    def __gt__(self, other: str) -> bool:
        return self.rank > Priority(other).rank

    def __ge__(self, other: str) -> bool:
        return self.rank >= Priority(other).rank


# Where an agent has been is worth more than what it read there, which it can read again.
PRIORITIES: Mapping[str, Priority] = {
    "search_for_files": Priority.HIGH,
    "grep_in_files": Priority.HIGH,
    "get_tree": Priority.HIGH,
    "get_file_outline": Priority.HIGH,
    "read_symbol": Priority.MEDIUM,
    "read_lines": Priority.MEDIUM,
    "find_references": Priority.MEDIUM,
    "read_file": Priority.LOW,
}


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        tool: Which tool a result is from.
        label: What the result is about, such as the path, so that a model can ask for it again.
        summary: What stands for `content` once that is old (`_summary` of a result); None for
            results that are compact as they are.
        call_id: The provider's name for the call, which is kept with every change.
    """

    role: Role
    content: str
    tool: str | None = None
    label: str = ""
    summary: str | None = None
    call_id: str | None = None

    @property
    def priority(self) -> Priority | None:
        """How long a tool's result is kept; None for what people and models said."""
        if self.role is not Role.TOOL:
            return None
        return PRIORITIES.get(self.tool or "", Priority.MEDIUM)


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A conversation after `trim`.

    Attributes:
        messages: As many as before: what was taken out leaves a line that says so.
        evicted: The places of the results that were taken out, in the order of their eviction.
        size: The bytes of all contents together.
        fits: Whether that is within the budget; what must be kept may be more.
    """

    messages: tuple[Message, ...]
    evicted: tuple[int, ...]
    size: int
    fits: bool


def read_file_result(
    access: SmartFileAccess, path: str, *, budget: int = FILE_BUDGET, cursor: str | None = None
) -> dict[str, str]:
    """The result of `read_file` as agents keep it: `content`, and the outline as `_summary`.

    Raises:
        PathError: The file cannot be read.
    """
    text = access.read_text(path, budget=budget, cursor=cursor)
    return {
        "content": format_file_text(text),
        "_summary": format_outline(access.get_outline(path), OUTLINE_BUDGET),
    }


def tool_message(
    tool: str, result: str | Mapping[str, str], *, label: str = "", call_id: str | None = None
) -> Message:
    """A tool's result as a message; a mapping holds `content` and may hold `_summary`."""
    if isinstance(result, str):
        return Message(Role.TOOL, result, tool, label, None, call_id)
    return Message(Role.TOOL, result["content"], tool, label, result.get("_summary"), call_id)


def summarise(messages: Iterable[Message], keep_turns: int = KEEP_TURNS) -> tuple[Message, ...]:
    """The messages, with the summary for the content where a result is older than `keep_turns`.

    Results without a summary, such as outlines, searches and symbols, pass unchanged, and so does
    one whose summary is no smaller.
    """
    messages = tuple(messages)
    recent = _recent(messages, keep_turns)
    return tuple(
        message if place in recent else _summarised(message)
        for place, message in enumerate(messages)
    )


def trim(messages: Iterable[Message], budget: int, keep_turns: int = KEEP_TURNS) -> Trimmed:
    """The messages, with results taken out until all contents fit `budget` bytes.

    Low priority goes first, then medium, then high; the oldest of each first. What people and the
    model said and the last `keep_turns` turns are kept. A result that is taken out leaves one line,
    because providers want an answer for every call.
    """
    kept = list(messages)
    recent = _recent(kept, keep_turns)
    size = sum(size_of(message.content) for message in kept)
    evicted: list[int] = []
    for place in _eviction_order(kept, recent):
        if size <= budget:
            break
        stub = _stub(kept[place])
        saved = size_of(kept[place].content) - size_of(stub.content)
        if saved > 0:
            kept[place] = stub
            size -= saved
            evicted.append(place)
    return Trimmed(tuple(kept), tuple(evicted), size, size <= budget)


def manage(messages: Iterable[Message], budget: int, keep_turns: int = KEEP_TURNS) -> Trimmed:
    """Both layers: summaries for what is old, then eviction of what does not fit."""
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


def _summarised(message: Message) -> Message:
    if message.summary is None or size_of(message.summary) >= size_of(message.content):
        return message
    return replace(message, content=message.summary)


def _eviction_order(messages: Sequence[Message], recent: frozenset[int]) -> list[int]:
    ranks = {
        place: message.priority.rank
        for place, message in enumerate(messages)
        if place not in recent and message.priority is not None
    }
    return sorted(ranks, key=lambda place: (ranks[place], place))


def _stub(message: Message) -> Message:
    about = f" {message.label}" if message.label else ""
    return replace(
        message, content=f"[{message.tool}{about}: taken out to save room; call it again]"
    )
