"""What two versions of a prompt have in common, to the character."""

from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.render.render import Block, BlockTokens, RenderedTool
from foldline.ide.render.token_costs import kept

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
