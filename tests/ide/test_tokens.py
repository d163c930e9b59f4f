"""Token counts: exact with a tokenizer, marked as estimates without."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.token_counter import TokenCounter, token_counter
from foldline.prompts.cache.tokens import estimated_tokens


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("hello world", 2), ("hello world 🎉", 4), ("日本語", 2)]
)
def test_counts_are_exact_with_a_tokenizer(text: str, tokens: int) -> None:
    counter = token_counter()
    assert counter.exact
    assert counter.count(text) == tokens
    assert counter.format(1234) == "1,234"


def test_another_encoding_counts_otherwise() -> None:
    text = "日本語のプロンプト"
    assert token_counter("cl100k").count(text) > token_counter("o200k").count(text)


def test_an_estimate_says_that_it_is_one() -> None:
    counter = token_counter(exact=False)
    assert not counter.exact
    assert counter.format(1234) == "~1,234"


@given(st.text())
def test_an_estimate_is_none_for_nothing_alone(text: str) -> None:
    assert (estimated_tokens(text) == 0) == (text == "")


def test_a_block_is_counted_once() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    counter = TokenCounter("o200k", exact=True, _count=count)
    assert [counter.count("ab"), counter.count("ab"), counter.count("c")] == [2, 2, 1]
    assert asked == ["ab", "c"]
