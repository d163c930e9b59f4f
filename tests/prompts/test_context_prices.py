"""Old results are replaced when it pays, at a provider's prices for cached tokens."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.prompts import CachePrices, ContextPolicy
from foldline.prompts.context import (
    TOKEN_BYTES,
    ManagedContext,
    Message,
    Priority,
    Role,
    Savings,
    trim,
)
from foldline.prompts.errors import PromptConfigurationError

PRICES = CachePrices()


def read(size: int, summary: int | None = None, handle: str | None = None) -> list[Message]:
    """A call and its result, with a summary of so many bytes."""
    shorter = None if summary is None else "s" * summary
    body = Message(Role.TOOL, "x" * size, "read", "a.py", shorter, Priority.LOW, handle)
    return [Message(Role.ASSISTANT, "c" * 10), body]


def conversation(*turns: list[Message]) -> list[Message]:
    return [Message(Role.USER, "q" * 100), *itertools.chain.from_iterable(turns)]


def sizes(messages: Sequence[Message]) -> list[int]:
    return [message.size for message in messages if message.role is Role.TOOL]


def test_the_arithmetic_of_one_result_in_a_tail() -> None:
    """5 KB of a tail of 20 KB pay after 46 requests."""
    savings = Savings(removed=5_000, rewritten=20_000)
    assert savings.pays_after == pytest.approx(11.5 * 20_000 / 5_000)
    assert savings.cost == pytest.approx(20_000 / TOKEN_BYTES * 1.15)
    assert savings.saved_per_request == pytest.approx(5_000 / TOKEN_BYTES * 0.1)
    assert Savings(0, 10).pays_after == float("inf")
    assert Savings(10, 0).pays_after == 0
    assert Savings(10, 10, CachePrices(read=1, write=1)).pays_after == 0


def test_one_old_result_is_left_until_the_tail_is_smaller() -> None:
    policy = ContextPolicy(keep_turns=1, prices=PRICES)
    messages = conversation(read(5_000, 100), *[read(2_000)] * 9, read(10))
    managed = policy.apply(messages)
    assert managed.messages == tuple(messages)
    assert managed.savings is None
    assert ContextPolicy(keep_turns=1).apply(messages).messages != tuple(messages)


def test_results_are_replaced_in_one_batch_that_pays() -> None:
    policy = ContextPolicy(keep_turns=1, prices=PRICES)
    messages = conversation(*[read(5_000, 100)] * 9, read(300))
    managed = policy.apply(messages)
    assert sizes(managed.messages) == [100] * 9 + [300]
    assert managed.savings is not None
    assert managed.savings.removed == 9 * 4_900
    assert managed.savings.rewritten == 9 * 100 + 8 * 10, "the newest turn is in no cache yet"
    assert managed.savings.pays_after < 10


@pytest.mark.parametrize(("requests", "replaced"), [(1, False), (100, True)])
def test_the_requests_that_are_expected_decide(requests: int, replaced: bool) -> None:
    policy = ContextPolicy(keep_turns=1, prices=PRICES, expected_requests=requests)
    messages = conversation(read(6_000, 100), *[read(1_000)] * 3, read(10))
    assert (policy.apply(messages).savings is not None) is replaced


def test_a_batch_is_at_least_as_large_as_its_tail() -> None:
    policy = ContextPolicy(keep_turns=1, prices=PRICES, expected_requests=10**6)
    messages = conversation(read(3_000, 100), read(3_000), read(10))
    assert policy.apply(messages).savings is None
    messages = conversation(read(3_300, 100), read(3_000), read(10))
    assert policy.apply(messages).savings is not None


def test_the_batch_begins_where_it_saves_most() -> None:
    """An old small result isn't worth the tail; the later large ones are."""
    policy = ContextPolicy(keep_turns=1, prices=PRICES, expected_requests=20)
    large = [read(9_000, 50)] * 4
    messages = conversation(read(300, 10), *[read(4_000)] * 4, *large, read(10))
    assert sizes(policy.apply(messages).messages) == [300, *[4_000] * 4, *[50] * 4, 10]


def test_a_budget_is_kept_whatever_it_costs_and_in_large_batches() -> None:
    policy = ContextPolicy(keep_turns=1, budget=7_000, prices=PRICES, expected_requests=0)
    messages = conversation(*[read(1_000)] * 9, read(1_000))
    plain = ContextPolicy(keep_turns=1, budget=7_000).apply(messages)
    managed = policy.apply(messages)
    assert len(plain.evicted) == 2
    assert len(managed.evicted) > 2
    assert managed.savings is not None
    assert managed.savings.removed >= managed.savings.rewritten


def test_without_extra_costs_for_writing_everything_pays() -> None:
    free = CachePrices(read=1, write=1)
    messages = conversation(read(5_000, 100), *[read(2_000)] * 9, read(10))
    for policy in (ContextPolicy(1, prices=free), ContextPolicy(1)):
        assert sizes(policy.apply(messages).messages)[0] == 100


def test_a_handle_says_how_the_result_is_read_again() -> None:
    messages = conversation(read(5_000, None, "r1"), read(5_000, 10, "r2"), read(10))
    first, second, _ = (
        message.content
        for message in ContextPolicy(keep_turns=1, budget=0).apply(messages).messages
        if message.role is Role.TOOL
    )
    assert first == "[read a.py: removed to save room; read_result returns it by its handle 'r1']"
    assert second == "ssssssssss\n[shortened; read_result returns it by its handle 'r2']"


@pytest.mark.parametrize("price", [-0.1, float("nan"), float("inf")])
def test_a_price_is_a_ratio(price: float) -> None:
    with pytest.raises(PromptConfigurationError, match="must be 0 or more, not"):
        CachePrices(read=price)


def test_a_negative_number_of_requests_is_refused() -> None:
    with pytest.raises(PromptConfigurationError, match="expected_requests"):
        ContextPolicy(expected_requests=-1)


def billed(messages: Sequence[Message], cached: int, requests: int) -> float:
    """What so many requests cost, of which the first finds `cached` bytes in the cache."""
    total = sum(message.size for message in messages)
    first = cached * PRICES.read + (total - cached) * PRICES.write
    return first + (requests - 1) * total * PRICES.read


def common(before: Sequence[Message], after: Sequence[Message]) -> int:
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=True))
    return sum(message.size for message, _ in same)


TURNS = st.lists(
    st.tuples(st.integers(0, 9_000), st.none() | st.integers(0, 500)), min_size=1, max_size=14
)


@given(turns=TURNS, keep_turns=st.integers(0, 4), requests=st.integers(1, 80))
def test_a_replacement_never_costs_more_than_it_saves(
    turns: list[tuple[int, int | None]], keep_turns: int, requests: int
) -> None:
    messages = conversation(*(read(size, summary) for size, summary in turns))
    policy = ContextPolicy(keep_turns=keep_turns, prices=PRICES, expected_requests=requests)
    managed = policy.apply(messages)
    # All but the newest turn was in the last request.
    seen = messages[: max(n for n, m in enumerate(messages) if m.role is Role.ASSISTANT)]
    before = sum(message.size for message in seen)
    kept = billed(messages, before, requests)
    replaced = billed(managed.messages, min(before, common(messages, managed.messages)), requests)
    assert replaced <= kept + 1e-6
    check_savings(messages, managed, kept - replaced, requests)


def check_savings(
    messages: Sequence[Message], managed: ManagedContext, saved: float, requests: int
) -> None:
    if managed.savings is None:
        assert managed.messages == tuple(messages)
        return
    assert managed.savings.removed == sum(m.size for m in messages) - sum(
        m.size for m in managed.messages
    )
    told = requests * managed.savings.saved_per_request - managed.savings.cost
    # What is new in this request is written either way, so more can be saved there.
    assert saved / TOKEN_BYTES >= told - 1e-6


def test_with_prices_too_the_map_goes_last() -> None:
    """It would pay better to leave the old file, and all that is cached behind it, alone."""
    search = Message(Role.TOOL, "s" * 9_000, "search", priority=Priority.HIGH)
    messages = conversation(
        read(300), [Message(Role.ASSISTANT, "c" * 9_000), search], read(200), read(10)
    )
    managed = ContextPolicy(1, 600, PRICES, expected_requests=50).apply(messages)
    assert managed.evicted == (2, 4, 6)


@example(turns=[(49, None), (1, 0)], budget=48, keep_turns=0)
@given(turns=TURNS, budget=st.integers(0, 20_000), keep_turns=st.integers(0, 4))
def test_with_prices_the_budget_holds_too(
    turns: list[tuple[int, int | None]], budget: int, keep_turns: int
) -> None:
    messages = conversation(*(read(size, summary) for size, summary in turns))
    priced = ContextPolicy(keep_turns, budget, prices=PRICES).apply(messages)
    assert trim(priced.messages, budget, keep_turns).evicted == ()
    assert priced.messages[len(messages) - 1 :] == tuple(messages[-1:]) or keep_turns == 0
