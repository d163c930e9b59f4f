"""What an agent's conversation keeps, by the requirements CM-01 to CM-06."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import ContextPolicy, Priority
from foldline.prompts.context import ManagedContext, Message, Role, manage, summarise, trim
from foldline.prompts.errors import PromptConfigurationError

PRIORITIES = {
    "search_for_files": Priority.HIGH,
    "get_file_outline": Priority.HIGH,
    "read_symbol": Priority.MEDIUM,
    "find_references": Priority.MEDIUM,
    "read_file": Priority.LOW,
}
FILE = ("x" * 1000, "outline")


def result(tool: str, content: str, label: str = "", summary: str | None = None) -> Message:
    return Message(Role.TOOL, content, tool, label, summary, PRIORITIES[tool])


def turn(tool: str, content: str, summary: str | None = None, label: str = "") -> list[Message]:
    """One call of the model and the result of the tool that it called."""
    return [Message(Role.ASSISTANT, "calls"), result(tool, content, label, summary)]


def conversation(*turns: list[Message]) -> list[Message]:
    start = [Message(Role.SYSTEM, "rules"), Message(Role.USER, "question")]
    return [*start, *itertools.chain.from_iterable(turns)]


def contents(messages: tuple[Message, ...], tool: str) -> list[str]:
    return [message.content for message in messages if message.tool == tool]


def test_cm02_a_read_file_older_than_the_last_turns_becomes_its_outline() -> None:
    messages = conversation(*(turn("read_file", *FILE) for _ in range(5)))
    shown = contents(summarise(messages, keep_turns=2), "read_file")
    assert shown == ["outline"] * 3 + ["x" * 1000] * 2


def test_cm02_turns_are_calls_of_the_model_with_all_their_results() -> None:
    both = [*turn("read_file", *FILE), result("read_file", FILE[0], summary=FILE[1])]
    messages = conversation(both, both, [Message(Role.USER, "go on")])
    shown = contents(summarise(messages, keep_turns=1), "read_file")
    assert shown == ["outline"] * 2 + ["x" * 1000] * 2


def test_cm02_a_summary_that_is_no_smaller_does_not_replace() -> None:
    messages = conversation(turn("read_file", "short", "much longer"))
    assert summarise(messages, keep_turns=0) == tuple(messages)


@pytest.mark.parametrize("tool", sorted(set(PRIORITIES) - {"read_file"}))
def test_cm03_compact_results_pass_unchanged(tool: str) -> None:
    messages = conversation(*(turn(tool, "y" * 500) for _ in range(6)))
    assert summarise(messages, keep_turns=0) == tuple(messages)


def test_cm04_priorities_are_ordered_and_are_strings() -> None:
    assert sorted(["high", "low", "medium"], key=Priority) == ["low", "medium", "high"]
    assert Priority.LOW < Priority.MEDIUM < Priority.HIGH
    assert Priority.HIGH >= "medium"
    assert str(Priority.HIGH) == "high"


def test_cm05_low_goes_first_then_medium_and_high_last() -> None:
    messages = conversation(
        turn("get_file_outline", "o" * 300, label="a.py"),
        turn("read_symbol", "s" * 300, label="a.py add"),
        turn("read_file", "f" * 300, label="a.py"),
        turn("read_file", "g" * 300, label="b.py"),
    )
    whole = trim(messages, 10_000, keep_turns=0)
    assert whole.messages == tuple(messages)
    budgets = (whole.size - 1, whole.size - 601, 0)
    orders = [trim(messages, budget, keep_turns=0).evicted for budget in budgets]
    assert orders == [(7,), (7, 9, 5), (7, 9, 5, 3)]
    stub = trim(messages, whole.size - 1, keep_turns=0).messages[7]
    assert stub.content == "[read_file a.py: removed to save room; call it again]"
    assert stub.tool == "read_file"


def test_cm06_the_system_message_and_the_last_turns_are_kept() -> None:
    messages = conversation(*(turn("read_file", "f" * 100, label=f"{n}.py") for n in range(5)))
    trimmed = trim(messages, 0, keep_turns=2)
    assert trimmed.evicted == (3, 5, 7)
    assert trimmed.messages[:2] == tuple(messages[:2])
    assert trimmed.messages[-4:] == tuple(messages[-4:])


def test_cm05_large_last_turns_do_not_cost_the_older_results() -> None:
    """Removing the map could never make room for what is kept anyway."""
    old = [turn("search_for_files", "h" * 1_000), turn("read_symbol", "s" * 1_000)]
    messages = conversation(*old, *(turn("read_file", "f" * 8_000) for _ in range(3)))
    assert trim(messages, 2_000, keep_turns=3).messages == tuple(messages)
    assert trim(messages, 1_999, keep_turns=3).evicted == (5,)


def test_cm05_the_lines_of_removed_results_leave_the_budget_to_the_others() -> None:
    messages = conversation(
        turn("search_for_files", "h" * 900), *(turn("read_file", "f" * 500) for _ in range(40))
    )
    managed = trim(messages, 1_000, keep_turns=0)
    assert managed.size > 2_000
    assert managed.messages[3] == messages[3], "the search is still there"


def test_both_layers_prefer_a_summary_to_nothing() -> None:
    messages = conversation(*(turn("read_file", *FILE, label=f"{n}.py") for n in range(4)))
    managed = manage(messages, 100, keep_turns=1)
    assert contents(managed.messages, "read_file") == ["outline"] * 3 + ["x" * 1000]
    assert not managed.evicted


TURNS = st.lists(
    st.tuples(st.sampled_from(sorted(PRIORITIES)), st.integers(0, 300), st.booleans()), max_size=12
)


@given(turns=TURNS, budget=st.integers(0, 2_000), keep_turns=st.integers(0, 4))
def test_whatever_is_trimmed_the_order_holds(
    turns: list[tuple[str, int, bool]], budget: int, keep_turns: int
) -> None:
    messages = conversation(
        *(
            turn(tool, "é" * size, "s") if summary else turn(tool, "c" * size)
            for tool, size, summary in turns
        )
    )
    result = manage(messages, budget, keep_turns)
    assert len(result.messages) == len(messages)
    assert result.size == sum(m.size for m in result.messages if m.role is Role.TOOL)
    recent = len(messages) - 2 * min(keep_turns, len(turns))
    assert result.messages[recent:] == tuple(messages[recent:])
    assert all(
        after.content == before.content
        for before, after in zip(messages, result.messages, strict=True)
        if before.role is not Role.TOOL
    )
    assert all(result.messages[place].size < messages[place].size for place in result.evicted)
    check_eviction(summarise(messages, keep_turns), result, budget, recent)
    again = manage(result.messages, budget, keep_turns)
    assert again.messages == result.messages, "within the budget, nothing more is removed"


def check_eviction(
    before: Sequence[Message], result: ManagedContext, budget: int, recent: int
) -> None:
    """The least useful are removed, no more of them than the budget wants, and never in vain."""
    line = len("[: removed to save room; call it again]")
    removable = {
        place: before[place]
        for place in range(recent)
        if before[place].role is Role.TOOL
        and before[place].size > line + len(before[place].tool or "")
    }
    left = [message for place, message in removable.items() if place not in result.evicted]
    room = budget - sum(message.size for message in left)
    assert room >= 0
    if result.evicted:
        ranks = [before[place].priority.rank for place in result.evicted]
        assert ranks == sorted(ranks)
        assert all(message.priority.rank >= ranks[-1] for message in left)
        assert room < before[result.evicted[-1]].size, "the last one had to go"


def test_a_policy_that_keeps_all_turns_changes_nothing() -> None:
    messages = conversation(*(turn("read_file", *FILE) for _ in range(5)))
    managed = ContextPolicy(keep_turns=None, budget=10).apply(messages)
    assert managed.messages == tuple(messages)
    assert managed.size == 5_000


def test_a_policy_without_a_budget_only_shortens() -> None:
    messages = conversation(*(turn("read_file", *FILE) for _ in range(5)))
    managed = ContextPolicy(keep_turns=1).apply(messages)
    assert contents(managed.messages, "read_file") == ["outline"] * 4 + ["x" * 1000]
    assert managed.evicted == ()


@pytest.mark.parametrize("numbers", [{"keep_turns": -1}, {"budget": -5}])
def test_a_policy_with_a_negative_number_is_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(PromptConfigurationError, match="must be 0 or more"):
        ContextPolicy(**numbers)
