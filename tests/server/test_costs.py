"""What two versions of a prompt have in common, to the character."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.render.render import Block, BlockError, BlockTokens, Render, RenderedTool
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


def tool(name: str) -> RenderedTool:
    return RenderedTool(name, "", {}, {})


@given(before=TEXTS, after=TEXTS)
def test_what_is_kept_is_the_longest_common_beginning(before: list[str], after: list[str]) -> None:
    found = kept(blocks(before), blocks(after), [], [])
    old, new = "".join(before), "".join(after)
    end = found.characters
    assert old[:end] == new[:end]
    assert old[end : end + 1] != new[end : end + 1] or end == len(old) == len(new)
    assert len("".join(after[: found.tokens])) <= end
    assert len("".join(after[: found.tokens + 1])) > end or found.tokens == len(after)


def test_other_tools_are_told() -> None:
    assert kept([], [], [tool("a")], [tool("a")]).tools is True
    assert kept([], [], [tool("a")], []).tools is False


def test_what_is_cached_are_the_blocks_and_the_tools_before_them() -> None:
    tools = [replace(tool("a"), tokens=7)]
    assert kept(blocks(["a", "b"]), blocks(["a", "c"]), tools, tools).cached == 8
    assert kept(blocks(["a", "b"]), blocks(["a", "c"]), tools, []).cached == 0


def test_a_section_that_failed_costs_nothing() -> None:
    error = BlockError("KeyError: 'a'", None, None, "KeyError", "")
    fine, failed = blocks(["some words", "[not rendered: KeyError]"])
    failed = replace(failed, id="b", path=("b",), error=error)
    render = with_costs(Render(name="p", text="", blocks=(fine, failed)), token_counter())
    assert render.tokens is not None
    assert render.tokens.text == render.blocks[0].own_tokens > 0
    assert (render.blocks[1].own_tokens, spent(failed, "bytes")) == (0, 0)
