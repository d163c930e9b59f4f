"""The examples of Anthropic's documentation, each by its page and heading.

[C] is `build-with-claude/prompt-caching`, [M] `build-with-claude/mid-conversation-system-messages`,
[T] `agents-and-tools/tool-use/tool-use-with-prompt-caching`, below
https://platform.claude.com/docs/en/.
"""

from collections.abc import Callable
from typing import Any

import pytest

from .anthropic_rule import AnthropicCache, minimum
from .prefix import Json, RefusedError, text_of, tokens_of
from .validation import check

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def text(tokens: int, name: str = "tok", mark: Json | None = None) -> Json:
    block: Json = {"type": "text", "text": text_of(tokens, name)}
    return block if mark is None else {**block, "cache_control": mark}


def user(*blocks: Json | str) -> Json:
    return {"role": "user", "content": blocks[0] if isinstance(blocks[0], str) else list(blocks)}


def assistant(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


def tool(name: str, mark: Json | None = None, **more: Any) -> Json:
    made: Json = {
        "name": name,
        "description": text_of(600, name),
        "input_schema": {"type": "object", "properties": {}},
        **more,
    }
    return made if mark is None else {**made, "cache_control": mark}


def request(*messages: Json, model: str = "claude-opus-5", **more: Any) -> Json:
    made: Json = {"model": model, "max_tokens": 1_024, "messages": list(messages), **more}
    check("anthropic", made, beta="tool_" in str(messages))
    return made


def parts(metered: Any) -> tuple[int, int, int]:
    """Read, written, at the full price."""
    return metered.read, sum(metered.written.values()), metered.fresh


def blocks(count: int, *marked: int, size: int = 100) -> Json:
    """One message of blocks that are numbered from 1."""
    return user(*(text(size, str(n), MARK if n in marked else None) for n in range(1, count + 1)))


def test_c_lookback_in_a_growing_conversation() -> None:
    cache = AnthropicCache()
    assert parts(cache.meter(request(blocks(10, 10)))) == (0, 1_000, 0)
    assert parts(cache.meter(request(blocks(15, 15)))) == (1_000, 500, 0)
    assert parts(cache.meter(request(blocks(35, 35)))) == (0, 3_500, 0)


def test_c_a_second_breakpoint_starts_a_second_lookback() -> None:
    cache = AnthropicCache()
    cache.meter(request(blocks(10, 10)))
    cache.meter(request(blocks(15, 15)))
    assert parts(cache.meter(request(blocks(35, 15, 35)))) == (1_500, 2_000, 0)


@pytest.mark.parametrize(("length", "read"), [(34, 1_500), (35, 0)])
def test_c_the_lookback_counts_the_breakpoint_itself_as_the_first(length: int, read: int) -> None:
    cache = AnthropicCache()
    cache.meter(request(blocks(15, 15)))
    assert cache.meter(request(blocks(length, length))).read == read


def test_c_a_run_of_tool_calls_or_of_results_is_one_position() -> None:
    def turn(calls: int, *, mark: bool) -> tuple[Json, ...]:
        uses = [
            {"type": "tool_use", "id": f"c{n}", "name": "look", "input": {}} for n in range(calls)
        ]
        results: list[Json] = [
            {"type": "tool_result", "tool_use_id": f"c{n}", "content": text_of(9, f"r{n}")}
            for n in range(calls)
        ]
        if mark:
            results[-1]["cache_control"] = MARK
        return assistant(*uses), user(*results)

    cache = AnthropicCache()
    start = user(text(600, "q", MARK))
    tools = [tool("look")]
    first = cache.meter(request(start, tools=tools))
    later = cache.meter(request(user(text(600, "q")), *turn(40, mark=True), tools=tools))
    assert later.read == first.total


def test_c_common_mistake_a_breakpoint_on_content_that_changes_every_request() -> None:
    system = [text(200, str(n)) for n in range(5)]

    def asked(stamp: str, place: int) -> Json:
        marked = [{**b, "cache_control": MARK} if n == place else b for n, b in enumerate(system)]
        return request(user(text(10, stamp, MARK if place == 5 else None)), system=marked)

    cache = AnthropicCache()
    assert parts(cache.meter(asked("9:01", 5))) == (0, 1_010, 0)
    assert parts(cache.meter(asked("9:02", 5))) == (0, 1_010, 0)
    assert parts(cache.meter(asked("9:03", 4))) == (0, 1_000, 10)
    assert parts(cache.meter(asked("9:04", 4))) == (1_000, 0, 10)


@pytest.mark.parametrize("size", [100_000, 200_000])
def test_c_tracking_cache_performance_and_the_question_of_total_tokens(size: int) -> None:
    cache = AnthropicCache()
    for expected in ((0, size, 50), (size, 0, 50)):
        asked = request(user(text(50)), system=[text(size, "doc", MARK)])
        metered = cache.meter(asked)
        assert parts(metered) == expected
        assert metered.total == size + 50


def test_c_and_t_caching_tool_definitions() -> None:
    cache = AnthropicCache()
    tools = [tool("get_weather"), tool("get_time", MARK)]
    first = cache.meter(request(user(text(8, "one")), tools=tools))
    size = first.total - 8
    assert parts(first) == (0, size, 8)
    assert parts(cache.meter(request(user(text(8, "two")), tools=tools))) == (size, 0, 8)
    turned = [tool("get_time"), tool("get_weather", MARK)]
    assert cache.meter(request(user(text(8)), tools=turned)).read == 0


class FourBreakpoints:
    """[C] Putting it all together: multiple cache breakpoints."""

    def __init__(self) -> None:
        self.cache = AnthropicCache()

    def ask(self, documents: str = "docs", *turns: Json, instructions: str = "rule") -> Any:
        search: Json = {"type": "tool_use", "id": "tool_1", "name": "search", "input": {"q": "M"}}
        found = {"type": "tool_result", "tool_use_id": "tool_1", "content": text_of(20, "fnd")}
        last: Json = {"type": "text", "text": text_of(10, "yes")}
        if not turns:
            last["cache_control"] = MARK
        return self.cache.meter(
            request(
                user(text(8, "can")),
                assistant(search),
                user(found),
                assistant(text(15, "I")),
                user(last),
                *turns,
                tools=[tool("search"), tool("get", MARK)],
                system=[text(700, instructions, MARK), text(3_000, documents, MARK)],
            )
        )


def test_c_all_four_breakpoints() -> None:
    example = FourBreakpoints()
    first = example.ask()
    assert parts(first) == (0, first.total, 0)
    assert parts(example.ask()) == (first.total, 0, 0)
    more = example.ask("docs", assistant(text(30, "per")), user(text(5, "more", MARK)))
    assert parts(more) == (first.total, 35, 0), "a new turn: all four segments are reused"
    tools = sum(block.tokens for block in first.blocks if block.place == "tools")
    other = example.ask("news")
    assert other.read == tools + 700, "other documents: the first two segments are reused"
    assert example.ask("docs", instructions="new").read == tools
    example = FourBreakpoints()
    example.ask()
    changed = example.cache.meter(
        request(
            user(text(8, "else", MARK)),
            tools=[tool("search"), tool("get", MARK)],
            system=[text(700, "rule", MARK), text(3_000, "docs", MARK)],
        )
    )
    assert parts(changed) == (tools + 3_700, 8, 0), "another conversation: the first three"


def test_c_the_usage_of_the_one_hour_cache() -> None:
    cache = AnthropicCache()
    cache.meter(request(user(text(1_800, "old", MARK))))
    metered = cache.meter(
        request(
            user(text(1_800, "old"), text(100, "hour", HOUR), text(148, "five", MARK), text(2_048))
        )
    )
    assert parts(metered) == (1_800, 248, 2_048)
    assert metered.written == {"1h": 100, "5m": 148}


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (0, (0, {"1h": 600, "5m": 300})),
        (600, (600, {"1h": 0, "5m": 300})),
        (900, (900, {"1h": 0, "5m": 0})),
    ],
)
def test_c_mixing_different_ttls(before: int, expected: tuple[int, dict[str, int]]) -> None:
    """A is the hit, B the last breakpoint of an hour behind it, C the last of all."""
    cache = AnthropicCache()
    both = user(text(600, "long", HOUR), text(300, "shrt", MARK), text(50, "end"))
    if before == 600:
        cache.meter(request(user(text(600, "long", HOUR))))
    if before == 900:
        cache.meter(request(both))
    metered = cache.meter(request(both))
    assert (metered.read, metered.written) == expected
    assert metered.fresh == 50


def test_c_longer_lifetimes_come_first() -> None:
    asked = request(user(text(600, "a", MARK), text(600, "b", HOUR)))
    with pytest.raises(RefusedError, match="must not come after"):
        AnthropicCache().meter(asked)


def test_c_automatic_caching_moves_forward() -> None:
    cache = AnthropicCache()
    system = text_of(600, "you")
    turns = [user(text(10, "u1")), assistant(text(20, "a1")), user(text(10, "u2"))]
    one = cache.meter(request(*turns[:1], system=system, cache_control=MARK))
    two = cache.meter(request(*turns, system=system, cache_control=MARK))
    assert parts(one) == (0, 610, 0)
    assert parts(two) == (610, 30, 0)


def test_c_combining_automatic_with_block_level_caching() -> None:
    cache = AnthropicCache()
    asked = request(user(text(9, "term")), system=[text(600, "you", MARK)], cache_control=MARK)
    assert parts(cache.meter(asked)) == (0, 609, 0)
    other = request(user(text(9, "else")), system=[text(600, "you", MARK)], cache_control=MARK)
    assert parts(cache.meter(other)) == (600, 9, 0)


def test_c_the_edge_cases_of_automatic_caching() -> None:
    cache = AnthropicCache()
    four = blocks(5, 1, 2, 3, 4, size=600)
    with pytest.raises(RefusedError, match="are taken"):
        cache.meter(request(four, cache_control=MARK))
    with pytest.raises(RefusedError, match="another ttl"):
        cache.meter(request(user(text(600, "a", HOUR)), cache_control=MARK))
    no_op = request(blocks(4, 1, 2, 3, 4, size=600), cache_control=MARK)
    assert parts(cache.meter(no_op)) == (0, 2_400, 0)
    thought: Json = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    walked = cache.meter(
        request(user(text(600, "b")), assistant(text(10, "c"), thought), cache_control=MARK)
    )
    assert parts(walked) == (0, 610, walked.total - 610), "it walks back to an eligible block"


def test_c_more_than_four_breakpoints_are_refused() -> None:
    with pytest.raises(RefusedError, match="maximum of 4"):
        AnthropicCache().meter(request(blocks(5, 1, 2, 3, 4, 5)))


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-fable-5-1", 512),
        ("claude-opus-5-5", 512),
        ("claude-opus-5", 512),
        ("claude-sonnet-5-5", 512),
        ("claude-opus-4-8", 1_024),
        ("claude-sonnet-5", 1_024),
        ("claude-sonnet-4-5-20250929", 1_024),
        ("claude-opus-4-7", 2_048),
        ("claude-opus-4-6", 4_096),
        ("claude-haiku-4-5-20251001", 4_096),
    ],
)
def test_c_cache_limitations(model: str, tokens: int) -> None:
    assert minimum(model) == tokens
    for size, written in ((tokens - 1, 0), (tokens, tokens)):
        cache = AnthropicCache()
        asked = request(user(text(size, "p", MARK)), model=model)
        assert parts(cache.meter(asked)) == (0, written, size - written)
        assert parts(cache.meter(asked)) == (written, 0, size - written)


def test_c_an_entry_is_refreshed_each_time_it_is_used() -> None:
    cache = AnthropicCache()
    asked = request(user(text(600, "p", MARK)))
    cache.meter(asked)
    for pause, read in ((299, 600), (299, 600), (300, 0)):
        cache.entries.now += pause
        assert cache.meter(asked).read == read
    long = request(user(text(600, "q", HOUR)))
    cache.meter(long)
    cache.entries.now += 3_599
    assert cache.meter(long).read == 600


CHANGES: list[tuple[str, Callable[[Json], Json], int]] = [
    ("tool definitions", lambda r: {**r, "tools": [tool("b", MARK)]}, 0),
    ("the model", lambda r: {**r, "model": "claude-opus-5-5"}, 0),
    ("the system prompt", lambda r: {**r, "system": [text(700, "new", MARK)]}, 1),
    ("tool choice", lambda r: {**r, "tool_choice": {"type": "none"}}, 2),
    ("thinking", lambda r: {**r, "thinking": {"type": "adaptive"}}, 2),
    ("effort", lambda r: {**r, "output_config": {"effort": "low"}}, 2),
    ("the message", lambda r: {**r, "messages": [user(text(700, "no", MARK))]}, 2),
    ("nothing", lambda r: r, 3),
]


@pytest.mark.parametrize(("change", "kept"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_c_what_invalidates_the_cache(change: Callable[[Json], Json], kept: int) -> None:
    """`kept` of the three parts are still read: tools, system, messages."""
    cache = AnthropicCache()
    asked = request(
        user(text(700, "msg", MARK)), tools=[tool("a", MARK)], system=[text(700, "sys", MARK)]
    )
    first = cache.meter(asked)
    sizes = [0, first.blocks[0].tokens, first.blocks[0].tokens + 700, first.total]
    assert cache.meter(change(asked)).read == sizes[kept]


def test_c_caching_with_thinking_blocks() -> None:
    """Earlier models drop the thinking when a user's message has more than results."""
    thought: Json = {"type": "thinking", "thinking": text_of(200, "hm"), "signature": "s"}
    use: Json = {"type": "tool_use", "id": "c1", "name": "a", "input": {}}
    result: Json = {"type": "tool_result", "tool_use_id": "c1", "content": text_of(100, "rain")}
    start = [user(text(5_000, "q")), assistant(thought, use)]
    for model, stays in (("claude-opus-5", True), ("claude-haiku-4-5", False)):
        cache = AnthropicCache()
        second = request(*start, user({**result, "cache_control": MARK}), model=model)
        written = cache.meter(second).total
        third = request(
            *start,
            user({**result, "cache_control": MARK}),
            assistant(text(10, "rain")),
            user(text(5, "ok", MARK)),
            model=model,
        )
        assert cache.meter(third).read == (written if stays else 0)


def test_t_deferred_tools_are_outside_the_prefix_and_expand_where_they_are_referenced() -> None:
    cache = AnthropicCache()
    first = [tool("search", MARK), tool("hidden", defer_loading=True)]
    one = cache.meter(request(user(text(10, "q")), tools=first))
    assert one.total == one.blocks[0].tokens + 10
    use: Json = {"type": "tool_use", "id": "c1", "name": "search", "input": {}}
    found: Json = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": [{"type": "tool_reference", "tool_name": "hidden"}],
    }
    turns = (user(text(10, "q")), assistant(use), user(found))
    more = [*first, tool("other", defer_loading=True)]
    two = cache.meter(request(*turns, tools=more))
    assert two.read == one.blocks[0].tokens, "another deferred tool changes nothing in front"
    assert two.blocks[-1].tokens > 600, "the definition is where the reference is"
    unknown = request(*turns, tools=[tool("search")])
    with pytest.raises(RefusedError, match="tool_reference_unresolved"):
        cache.meter(unknown)
    with pytest.raises(RefusedError, match="is deferred"):
        cache.meter(request(user(text(10)), tools=[tool("h", MARK, defer_loading=True)]))


def review(*more: Json) -> Json:
    """[M] How it works."""
    return request(
        user(text(700, "rev")),
        assistant(text(30, "fine")),
        user(text(20, "now")),
        *more,
        model="claude-opus-5-5",
        system=text_of(9, "you"),
        cache_control=MARK,
    )


def test_m_a_system_message_in_mid_conversation_keeps_the_prefix() -> None:
    cache = AnthropicCache()
    before = cache.meter(review())
    policy: Json = {"role": "system", "content": text_of(12, "from")}
    after = cache.meter(review(policy))
    assert parts(after) == (before.total, 12, 0)
    edited = {**review(), "system": text_of(21, "you")}
    assert cache.meter(edited).read == 0, "editing the top-level system voids everything"


def test_m_placement_after_tool_results() -> None:
    use: Json = {"type": "tool_use", "id": "toolu_01", "name": "run_tests", "input": {}}
    passed: Json = {"type": "tool_result", "tool_use_id": "toolu_01", "content": "12 passed"}
    note: Json = {"role": "system", "content": "The user sent: also update the changelog"}
    right = [user("Run the suite."), assistant(use), user(passed), note]
    AnthropicCache().meter(request(*right))
    for wrong in (
        [note, *right[:1]],
        [right[0], right[1], note, right[2]],
        [right[0], note, user("More.")],
    ):
        with pytest.raises(RefusedError, match="a system message follows"):
            AnthropicCache().meter(request(*wrong))
    with pytest.raises(RefusedError, match="not supported on this model"):
        AnthropicCache().meter(request(*right, model="claude-sonnet-5"))


def test_calls_and_results_belong_together() -> None:
    use: Json = {"type": "tool_use", "id": "c1", "name": "a", "input": {}}
    result: Json = {"type": "tool_result", "tool_use_id": "c1", "content": "."}
    for wrong in (
        [user("q"), assistant(use)],
        [user("q"), assistant(use), user("no")],
        [user("q"), user(result)],
        [user("q"), assistant(use), user(result), assistant(use), user(result)],
    ):
        with pytest.raises(RefusedError, match=r"tool_use|tool_result"):
            AnthropicCache().meter(request(*wrong))


def test_a_texts_tokens_are_exact() -> None:
    assert tokens_of(text_of(8_000)) == 8_000
    assert tokens_of(text_of(3, "12345")) == 3
    assert tokens_of("é" * 3) == 2
