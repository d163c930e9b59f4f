"""How long a preview waits for further keystrokes."""

from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.previews.debounce import LONGEST_SECONDS, SHORTEST_SECONDS, Debounce


def after(*seconds: float) -> float:
    pace = Debounce()
    for second in seconds:
        pace.took(second)
    return pace.seconds


def test_a_prompt_that_renders_quickly_is_shown_as_it_is_typed() -> None:
    # The first render has to start a worker.
    assert after(0.4, *[0.005] * 6) == SHORTEST_SECONDS


def test_a_slow_prompt_waits_for_a_pause_in_the_typing() -> None:
    assert after(*[5.0] * 3) == LONGEST_SECONDS
    assert SHORTEST_SECONDS < after(*[0.15] * 6) < LONGEST_SECONDS


@given(st.lists(st.floats(0, 1000)))
def test_it_waits_neither_at_once_nor_for_ever(times: list[float]) -> None:
    assert SHORTEST_SECONDS <= after(*times) <= LONGEST_SECONDS
