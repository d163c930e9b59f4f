"""The examples of https://developers.openai.com/api/docs/guides/prompt-caching, by heading."""

import copy
from typing import Any

import pytest

from .openai_rule import OpenAICache
from .prefix import Json, Metered, RefusedError, text_of
from .validation import check

POINT = {"mode": "explicit"}


def said(role: str, *texts: tuple[int, str] | tuple[int, str, bool]) -> Json:
    parts = []
    for tokens, name, *marked in texts:
        part: Json = {"type": "input_text", "text": text_of(tokens, name)}
        parts.append({**part, "prompt_cache_breakpoint": POINT} if marked == [True] else part)
    return {"role": role, "content": parts}


def request(*items: Json, model: str = "gpt-5.6", **more: Any) -> Json:
    made: Json = {"model": model, "input": list(items), **more}
    check("openai-responses", made)
    return made


def explicit(**more: Any) -> Json:
    return {"prompt_cache_options": {"mode": "explicit", **more}}


def parts(metered: Metered) -> tuple[int, int, int]:
    """Read, written, at the full price."""
    return metered.read, sum(metered.written.values()), metered.fresh


def tool_of(tokens: int) -> Json:
    """A tool whose definition is exactly so long."""
    made: Json = {"type": "function", "name": "f", "description": "", "parameters": {}}
    made["strict"] = False
    start = OpenAICache().meter({"model": "gpt-5.6", "input": [], "tools": [made]}).total
    made["description"] = text_of(tokens - start)
    return made


def test_how_prefix_matching_works_in_implicit_mode() -> None:
    """12,000 tokens are written; with 3,000 more, 12,000 are read and 3,000 written."""
    settings: Json = {
        "tools": [tool_of(2_000)],
        "prompt_cache_key": "shared-workflow-v1",
        "prompt_cache_options": {"mode": "implicit", "ttl": "30m"},
        "reasoning": {"effort": "medium"},
    }
    first = (said("developer", (8_000, "dev")), said("user", (2_000, "usr")))
    cache = OpenAICache()
    assert parts(cache.meter(request(*first, **settings))) == (0, 12_000, 0)
    more = request(*first, said("user", (3_000, "more")), **settings)
    assert parts(cache.meter(more)) == (12_000, 3_000, 0)


def test_how_prefix_matching_works_before_breakpoints() -> None:
    """Without the 3,000 hidden tokens, 12,000 of 15,000 are left; 11,904 is a multiple of 128."""
    cache = OpenAICache(hidden=3_000, interval=2_500)
    first = (said("developer", (10_000, "dev")), said("user", (2_000, "usr")))
    assert cache.meter(request(*first, model="gpt-5.5")).total == 12_000
    more = cache.meter(request(*first, said("user", (3_000, "more")), model="gpt-5.5"))
    assert parts(more) == (11_904, 0, 3_096)


@pytest.mark.parametrize(
    ("common", "read"), [(1_023, 0), (1_024, 1_024), (1_151, 1_024), (1_152, 1_152)]
)
def test_before_breakpoints_what_is_read_is_a_multiple_of_128(common: int, read: int) -> None:
    cache = OpenAICache()
    for name in ("one", "two"):
        asked = request(said("user", (common, "same"), (500, name)), model="gpt-4o")
        metered = cache.meter(asked)
    assert parts(metered) == (read, 0, common + 500 - read)


def test_gpt_5_5_has_breakpoints_every_2048_tokens() -> None:
    cache = OpenAICache()
    for name in ("one", "two"):
        metered = cache.meter(request(said("user", (5_000, "same"), (9, name)), model="gpt-5.5"))
    assert metered.read == 4_096


def test_explicit_mode_without_breakpoints_does_not_use_the_cache() -> None:
    cache = OpenAICache()
    asked = request(said("user", (5_000, "usr")), **explicit())
    assert [parts(cache.meter(asked)) for _ in range(2)] == [(0, 0, 5_000)] * 2


def test_keep_the_prefix_stable() -> None:
    """Stable instructions with a breakpoint, then dynamic ones, then the question."""
    cache = OpenAICache()
    for number, expected in ((1, (0, 3_000, 70)), (2, (3_000, 0, 70))):
        asked = request(
            said("developer", (3_000, "stbl", True)),
            said("developer", (50, f"dyn{number}")),
            said("user", (20, f"qst{number}")),
            model="gpt-6.1-sol",
            **explicit(),
        )
        assert parts(cache.meter(asked)) == expected


def test_the_agent_with_forks() -> None:
    """A breakpoint after each tool result: a fork reads up to there, implicitly or not."""
    call = {"type": "function_call", "call_id": "call_123", "name": "f", "arguments": "{}"}
    output: Json = {
        "type": "function_call_output",
        "call_id": "call_123",
        "output": [
            {
                "type": "input_text",
                "text": text_of(900, "res"),
                "prompt_cache_breakpoint": POINT,
            }
        ],
    }
    start = (said("developer", (2_000, "dev")), said("user", (30, "can")), call, output)
    answer: Json = {"role": "assistant", "content": text_of(40, "ans")}
    settings: Json = {"prompt_cache_key": "agent_123_v1:user_456"}
    cache = OpenAICache()
    first = cache.meter(request(*start, **settings))
    assert first.fresh == 0
    for fork in ("one", "two"):
        asked = request(*start, answer, said("user", (25, fork)), **settings)
        assert parts(cache.meter(asked)) == (first.total, 65, 0)
    other = request(*start, answer, said("user", (25, "one")), prompt_cache_key="agent:other")
    assert cache.meter(other).read == 0, "another key is another cache"


def test_switching_to_explicit_mode_does_not_find_an_implicit_prefix() -> None:
    start = (said("developer", (1_500, "dev")), said("user", (500, "usr")))
    cache = OpenAICache()
    assert parts(cache.meter(request(*start))) == (0, 2_000, 0)
    follow = (said("user", (100, "next", True)),)
    assert cache.meter(request(*start, *follow, **explicit())).read == 0
    cache = OpenAICache()
    cache.meter(request(*start))
    pinned = (start[0], said("user", (500, "usr", True)), *follow)
    assert cache.meter(request(*pinned, **explicit())).read == 2_000, "at the same boundary"
    cache = OpenAICache()
    cache.meter(request(*start))
    assert cache.meter(request(*start, *follow)).read == 2_000, "or in implicit mode"


def test_extending_a_message_moves_its_end() -> None:
    developer = said("developer", (200, "dev"))
    cache = OpenAICache()
    cache.meter(request(developer, said("user", (2_000, "A"))))
    longer = request(developer, said("user", (2_000, "A"), (500, "B")))
    assert cache.meter(longer).read == 0
    cache = OpenAICache()
    cache.meter(request(developer, said("user", (2_000, "A", True))))
    pinned = request(developer, said("user", (2_000, "A", True), (500, "B")))
    assert cache.meter(pinned).read == 2_200, "a breakpoint behind A in both"


def test_developer_messages_in_mid_conversation_are_no_boundaries() -> None:
    start = (said("developer", (1_500, "dev")), said("user", (100, "usr")))
    for marked in (False, True):
        cache = OpenAICache()
        late = said("developer", (300, "late", marked))
        cache.meter(request(*start, late, **(explicit() if marked else {})))
        asked = request(*start, late, said("user", (10, "q")), **explicit() if marked else {})
        assert cache.meter(asked).read == (1_900 if marked else 1_600)


def test_a_prefix_has_at_least_1024_tokens() -> None:
    for size, written in ((1_023, 0), (1_024, 1_024)):
        cache = OpenAICache()
        asked = request(said("user", (size, "usr")))
        assert parts(cache.meter(asked)) == (0, written, size - written)
        assert parts(cache.meter(asked)) == (written, 0, size - written)


@pytest.mark.parametrize("mode", ["implicit", "explicit"])
def test_the_latest_breakpoints_are_written(mode: str) -> None:
    """Four in explicit mode; three and the implicit one in the other."""
    turns = [said("user", (1_100, str(n), True)) for n in range(6)]
    cache = OpenAICache()
    cache.meter(request(*turns, said("user", (10, "end")), prompt_cache_options={"mode": mode}))
    found = [
        copy.deepcopy(cache).meter(request(*turns[: n + 1], **explicit())).read // 1_100
        for n in range(6)
    ]
    assert found == ([0, 0, 0, 4, 5, 6] if mode == "implicit" else [0, 0, 3, 4, 5, 6])


@pytest.mark.parametrize(("later", "found"), [(20, True), (21, False)])
def test_reading_looks_at_twenty_earlier_endings(later: int, found: bool) -> None:
    cache = OpenAICache()
    start = said("user", (2_000, "usr"))
    cache.meter(request(start))
    turns = [said("user", (10, str(n))) for n in range(later)]
    assert cache.meter(request(start, *turns)).read == (2_000 if found else 0)


@pytest.mark.parametrize(("written", "found"), [(2, True), (3, False), (10, False), (11, True)])
def test_reading_looks_at_the_first_two_and_the_latest_fifty_breakpoints(
    written: int, found: bool
) -> None:
    def turns(count: int, marked: range) -> list[Json]:
        return [said("user", (1_100, str(n), n in marked)) for n in range(1, count + 1)]

    cache = OpenAICache()
    cache.meter(request(*turns(written, range(written, written + 1)), **explicit()))
    read = cache.meter(request(*turns(60, range(61)), **explicit())).read
    assert read == (written * 1_100 if found else 0)


def test_lifetimes() -> None:
    cache = OpenAICache()
    asked = request(said("user", (2_000, "usr")))
    cache.meter(asked)
    for pause, read in ((1_799, 2_000), (1_799, 2_000), (1_800, 0)):
        cache.entries.now += pause
        assert cache.meter(asked).read == read
    long = request(said("user", (2_000, "long")), prompt_cache_options={"ttl": "12h"})
    cache.meter(long)
    cache.entries.now += 43_199
    assert cache.meter(long).read == 2_000


@pytest.mark.parametrize(
    "change",
    [
        {"model": "gpt-6.1-sol"},
        {"tools": [tool_of(200)]},
        {"parallel_tool_calls": False},
        {"text": {"format": {"type": "json_object"}}},
        {"text": {"verbosity": "low"}},
        {"reasoning": {"effort": "high"}},
        {"instructions": "Be brief."},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_settings_that_change_the_prefix(change: Json) -> None:
    cache = OpenAICache()
    asked = request(said("user", (2_000, "usr")))
    cache.meter(asked)
    assert cache.meter(request(said("user", (2_000, "usr")), **change)).read == 0
    assert cache.meter(asked).read == 2_000


def test_tools_that_are_loaded_later_keep_the_prefix() -> None:
    search = {"type": "tool_search", "execution": "client", "parameters": {}, "description": "."}
    late = {**tool_of(400), "name": "late", "defer_loading": True}
    start = said("user", (2_000, "usr"))
    cache = OpenAICache()
    before = cache.meter(request(start, tools=[search]))
    assert cache.meter(request(start, tools=[search, late])).read == before.total
    loaded: Json = {"type": "additional_tools", "role": "developer", "tools": [late]}
    after = cache.meter(request(start, loaded, said("user", (9, "go")), tools=[search, late]))
    assert after.read == before.total
    assert after.total > before.total + 400


def test_older_models_know_no_breakpoints() -> None:
    for asked in (
        request(said("user", (10, "usr", True)), model="gpt-5.5"),
        request(said("user", (10, "usr")), model="gpt-4o", **explicit()),
    ):
        with pytest.raises(RefusedError, match="doesn't support"):
            OpenAICache().meter(asked)


def test_shrinking_below_the_minimum_costs_more() -> None:
    """Across 10 requests, 1,024 cached tokens cost less than 221 that aren't, not than 220."""
    cache = OpenAICache()
    asked = request(said("developer", (1_024, "dev", True)), **explicit())
    billed = sum(cache.meter(asked).billed() for _ in range(10))
    assert 10 * 220 < billed < 10 * 221
    assert billed / 1_024 == pytest.approx(2.15), "one write and nine reads"


def test_chat_completions_are_the_same() -> None:
    part: Json = {"type": "text", "text": text_of(2_000, "sys"), "prompt_cache_breakpoint": POINT}
    call: Json = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    start: list[Json] = [{"role": "system", "content": [part]}, {"role": "user", "content": "Q?"}]
    more = [
        *start,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": text_of(100, "res")},
    ]
    cache = OpenAICache()
    before = cache.meter({"model": "gpt-5.6", "messages": start})
    after: Json = {"model": "gpt-5.6", "messages": more}
    check("openai", after)
    metered = cache.meter(after)
    assert parts(before) == (0, before.total, 0)
    assert parts(metered) == (before.total, metered.total - before.total, 0)
    for wrong in (more[:-1], [*more, more[-1]]):
        with pytest.raises(RefusedError, match="tool call"):
            cache.meter({"model": "gpt-5.6", "messages": wrong})
