"""What two versions of a prompt have in common, to the character."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.render.render import (
    Block,
    BlockError,
    BlockTokens,
    Kept,
    Output,
    Render,
    RenderedTool,
    Segment,
)
from foldline.ide.render.token_costs import kept, spent, with_costs
from foldline.ide.token_counter import token_counter

TEXTS = st.lists(st.text(alphabet="ab", min_size=1, max_size=4), max_size=5)


def blocks(texts: list[str]) -> list[Block]:
    return [
        Block(
            id="a",
            path=("a",),
            key="a",
            number="1",
            title="A",
            depth=0,
            visibility="FULL",
            enabled=True,
            text=text,
            segments=(),
            tokens=BlockTokens(1, 1, None),
        )
        for text in texts
    ]


LONG = "many words " * 1_000


def request(texts: list[str], value: str = "") -> Render:
    """A request with these blocks, and one with a value of each request."""
    made = [*blocks(texts), *blocks([value] if value else [])]
    segments = [Segment("literal", block.text, None) for block in made]
    if value:
        segments[-1] = replace(segments[-1], stability="request")
        made[-1] = replace(made[-1], id="b", path=("b",))
    shown = (replace(b, segments=(s,)) for b, s in zip(made, segments, strict=True))
    return with_costs(Render(name="p", text="", blocks=tuple(shown)), token_counter())


@given(before=TEXTS, after=TEXTS)
def test_what_is_kept_is_the_longest_common_beginning(before: list[str], after: list[str]) -> None:
    found = kept(request(before), request(after))
    old, new = "".join(before), "".join(after)
    end = found.characters
    assert old[:end] == new[:end]
    assert old[end : end + 1] != new[end : end + 1] or end == len(old) == len(new)


def test_what_is_cached_ends_where_the_values_of_a_request_begin() -> None:
    one, same = request([LONG], "Go."), request([LONG], "Say.")
    found = kept(one, same)
    text = one.blocks[0].own_tokens
    assert found == Kept(len(LONG), True, text, f"{text:,} tokens reusable from cache")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (["a"], ["a"], "Too short to cache (1 of at least 1,024 tokens)"),
        ([LONG], [f"b{LONG}"], "Nothing cached: what the prompt begins with changed"),
    ],
)
def test_why_nothing_is_cached_is_told(before: list[str], after: list[str], words: str) -> None:
    assert kept(request(before), request(after)).words == words


def test_other_tools_leave_nothing_in_the_cache() -> None:
    one = request([LONG], "Go.")
    other = replace(one, tools=(RenderedTool("a", "", {}),))
    found = kept(one, other)
    assert (found.tools, found.cached) == (False, 0)
    assert found.words == "Nothing cached: the tool list changed"
    output = replace(one, output=Output("Answer", "object", {}))
    assert kept(one, output).words == "Nothing cached: the output schema changed"


def test_a_section_that_failed_costs_nothing() -> None:
    error = BlockError("KeyError: 'a'", None, None, "KeyError", "")
    fine, failed = request(["some words", "[not rendered: KeyError]"]).blocks
    failed = replace(failed, id="b", path=("b",), error=error)
    render = with_costs(Render(name="p", text="", blocks=(fine, failed)), token_counter())
    assert render.tokens is not None
    assert render.tokens.text == render.blocks[0].own_tokens > 0
    assert (render.blocks[1].own_tokens, spent(failed, "bytes")) == (0, 0)
    assert render.cache is not None
    assert render.cache["stages"][0]["tokens"] == render.tokens.total
