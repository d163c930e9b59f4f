"""How long a preview waits between renders, and for one that goes on."""

from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.previews.pace import (
    LONGEST_DOUBT,
    LONGEST_REST,
    SHORTEST_PATIENCE,
    SHORTEST_REST,
    Pace,
)


def after(*seconds: float) -> Pace:
    pace = Pace()
    for second in seconds:
        pace.finished(second)
    return pace


def test_a_prompt_that_renders_quickly_is_shown_as_it_is_typed() -> None:
    # The first render has to start a worker.
    pace = after(0.4, *[0.005] * 8)
    assert (pace.rest, pace.patience) == (SHORTEST_REST, SHORTEST_PATIENCE)


def test_a_slow_prompt_leaves_room_between_its_renders() -> None:
    assert after(*[5.0] * 3).rest == LONGEST_REST
    assert SHORTEST_REST < after(*[0.5] * 6).rest < LONGEST_REST


@given(st.lists(st.floats(0, 1000)))
def test_it_waits_neither_at_once_nor_for_ever(times: list[float]) -> None:
    pace = after(*times)
    assert SHORTEST_REST <= pace.rest <= LONGEST_REST
    assert SHORTEST_PATIENCE <= pace.patience <= max(SHORTEST_PATIENCE, *times, 0) * 2


@given(st.floats(0.001, 100), st.floats(0, 0.5))
def test_a_prompt_that_renders_evenly_is_never_ended(seconds: float, more: float) -> None:
    assert after(*[seconds] * 12).patience >= seconds * (1 + more)


def test_a_prompt_that_has_become_slow_is_let_finish_after_a_few_attempts() -> None:
    pace = after(*[0.02] * 8)
    attempts = 0
    while pace.patience < 2 * LONGEST_DOUBT:
        pace.ended(pace.patience)
        attempts += 1
    assert attempts <= 4


def test_what_never_ends_holds_up_the_next_text_for_a_bounded_time() -> None:
    pace = after(0.02)
    for _ in range(20):
        pace.ended(pace.patience)
    assert pace.patience == 2 * LONGEST_DOUBT
    # Those that end are waited for, however slow.
    assert after(*[8.0] * 8).patience > 8.0
