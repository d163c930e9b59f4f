"""Anthropic's prompt cache, as its documentation states the rule.

Sources, all below https://platform.claude.com/docs/en/: `build-with-claude/prompt-caching` [C],
`build-with-claude/mid-conversation-system-messages` [M], `agents-and-tools/tool-use/
tool-use-with-prompt-caching` [T], `build-with-claude/context-editing` [E], `agents-and-tools/
tool-use/tool-search-tool` [S].

1. A request is rendered as `tools`, then `system`, then `messages`; each tool, each block of the
   system part and each content block is one block. A text instead of a list is one block. [C]
2. A prefix is everything up to and including a block. It is found again only if all of it is the
   same, byte for byte, with the same model. `cache_control` itself isn't part of it. [C]
3. `tool_choice`, thinking, effort and the presence of images belong to the messages; the speed
   and the output's format to the system part and to what is behind it. [C] (Effort and thinking
   void more with some models; here they don't.)
4. Breakpoints are the blocks with `cache_control`, at most four. One at the top level of the
   request is put on the last block that can have one, and counts; if that block already has one
   with the same lifetime, nothing is added. More than four, another lifetime on that block, `1h`
   behind `5m`, or a breakpoint on an empty text or on a deferred tool: status 400. [C]
5. A breakpoint whose prefix is shorter than the model's minimum does nothing. [C]
6. Reading: from the last breakpoint, up to 20 positions are looked at, going back, the
   breakpoint's own first. The first one whose prefix is in the cache is the hit. If there is
   none, the same is done from the breakpoint before, and so on. Consecutive `tool_use` blocks are
   one position, and so are consecutive `tool_result` blocks. [C] (An entry within such a run is
   found, too.)
7. Writing: each breakpoint writes one entry, for its own prefix. [C]
8. With A the tokens up to the hit (or 0), B those up to the last `1h` breakpoint behind it (or A)
   and C those up to the last breakpoint: A is read, B - A is written for an hour, C - B is
   written for five minutes, and the rest is input at the full price. [C]
9. An entry lives five minutes or an hour from the start of the request that wrote or read it. [C]
   (The request's own breakpoints in front of the hit count as read.)
10. A tool with `defer_loading` isn't rendered. Where a `tool_reference` names it, its definition
    is rendered there. [T] A tool search's result has such references. [S]
11. A system message may follow a user's message, and only an assistant's may follow it. [M]
12. Models up to Opus 4.1, Sonnet 4.5 and Haiku 4.5 drop the thinking in front of the last message
    of the user that has more than tool results. [C]

Not simulated: tools that a message changes, documents' citations, server tools but the tool
search, containers, MCP.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .prefix import (
    IMAGE_TOKENS,
    Block,
    Json,
    Metered,
    PrefixCache,
    RefusedError,
    canonical,
    common_tokens,
    digests,
    sums,
    tokens_of,
)

BREAKPOINTS = 4
LOOKBACK = 20
LIFETIMES = {"5m": 300.0, "1h": 3_600.0}

MINIMUMS = {
    512: ["fable-5-1", "mythos-5-1", "opus-5-5", "opus-5", "sonnet-5-5", "fable-5", "mythos-5"],
    1_024: ["opus-4-8", "sonnet-5", "sonnet-4-6", "sonnet-4-5", "opus-4-1", "opus-4", "sonnet-4"],
    2_048: ["mythos-preview", "opus-4-7", "haiku-3-5"],
    4_096: ["opus-4-6", "opus-4-5", "haiku-4-5"],
}
"""Fewest tokens of a prefix by model. No copy of the page that was found names Haiku 5.5."""
DEFAULT_MINIMUM = 1_024

MID_CONVERSATION = ["fable-5-1", "mythos-5-1", "fable-5", "mythos-5", "opus-5-5", "opus-5"]
MID_CONVERSATION += ["opus-4-8", "sonnet-5-5", "haiku-5-5"]
"""The page names neither Sonnet 5.5 nor Haiku 5.5, others do."""
THINKING_IS_DROPPED = ["opus-4-1", "opus-4", "sonnet-4-5", "sonnet-4", "haiku-4-5", "haiku-3-5"]


def model_name(model: str) -> str:
    """The name without the vendor and the date, such as `opus-4-5`."""
    return re.sub(r"-\d{8}$", "", model.removeprefix("claude-"))


def minimum(model: str) -> int:
    name = model_name(model)
    return next((n for n, names in MINIMUMS.items() if name in names), DEFAULT_MINIMUM)


class AnthropicCache:
    """The cache of one workspace."""

    def __init__(self) -> None:
        self.entries = PrefixCache(LIFETIMES)
        self._before: tuple[Block, ...] = ()

    def meter(self, request: Json) -> Metered:
        """What a request is billed for; the cache is as after it.

        Raises:
            RefusedError: The rule refuses the request.
        """
        blocks = tuple(_with_automatic(list(rendered(request)), request.get("cache_control")))
        marks = _breakpoints(blocks)
        tokens = sums(blocks)
        keys = digests(blocks, _salts(request))
        scope = request["model"]
        marks = [place for place in marks if tokens[place] >= minimum(scope)]
        hit = self._hit(scope, blocks, keys, marks)
        read = 0 if hit is None else tokens[hit]
        if hit is not None:
            self.entries.refresh(scope, keys[hit])
        written = {"1h": 0, "5m": 0}
        reached = read
        for lifetime in written:
            ends = [tokens[place] for place in marks if blocks[place].mark == lifetime]
            if ends and ends[-1] > reached:
                written[lifetime] = ends[-1] - reached
                reached = ends[-1]
        for place in marks:
            self.entries.keep(scope, keys[place], blocks[place].mark or "5m")
        kept = common_tokens(self._before, blocks)
        self._before = blocks
        return Metered(blocks, read, written, kept)

    def _hit(
        self, scope: str, blocks: Sequence[Block], keys: Sequence[str], marks: Sequence[int]
    ) -> int | None:
        for mark in reversed(marks):
            position = 0
            for place in range(mark, -1, -1):
                if place == mark or not _one_position(blocks[place], blocks[place + 1]):
                    position += 1
                if position > LOOKBACK:
                    break
                if self.entries.holds(scope, keys[place]):
                    return place
        return None


def rendered(request: Json) -> Iterator[Block]:
    """The request's blocks, in the order in which the model reads them.

    Raises:
        RefusedError: A tool is unknown, or a message stands where it can't.
    """
    messages: list[Json] = request["messages"]
    _check_messages(messages, request["model"])
    tools = {tool["name"]: tool for tool in request.get("tools", ())}
    for tool in tools.values():
        if not tool.get("defer_loading"):
            yield _block("tools", "", tool, "tool", _definition(tool))
        elif tool.get("cache_control"):
            raise RefusedError(f"tools: {tool['name']} is deferred and can't have cache_control")
    if tools and all(tool.get("defer_loading") for tool in tools.values()) and _searches(tools):
        raise RefusedError("tools: the tool search can't be deferred")
    yield from _contents("system", "system", request.get("system", ()), tools)
    users = [n for n, message in enumerate(messages) if message["role"] == "user"]
    thinking_from = 0
    if model_name(request["model"]) in THINKING_IS_DROPPED:
        thinking_from = max((n for n in users if not _only_results(messages[n])), default=0)
    for number, message in enumerate(messages):
        for block in _contents("messages", message["role"], message["content"], tools):
            if number >= thinking_from or "thinking" not in block.kind:
                yield block


def _searches(tools: Mapping[str, Json]) -> bool:
    return any(tool.get("type", "").startswith("tool_search_tool") for tool in tools.values())


def _contents(place: str, role: str, content: object, tools: Mapping[str, Json]) -> Iterator[Block]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    assert isinstance(content, (list, tuple))
    for part in content:
        if part.get("cache_control") and part["type"] == "text" and not part["text"]:
            raise RefusedError("cache_control can't be set for empty text blocks")
        yield _block(place, role, part, part["type"], _shown(part, tools))


def _shown(part: Json, tools: Mapping[str, Json]) -> str:
    """What the model reads of a block."""
    match part["type"]:
        case "text":
            return str(part["text"])
        case "tool_use":
            return f"{part['id']} {part['name']} {canonical(part['input'])}"
        case "tool_result":
            inner = part.get("content", "")
            parts = [{"type": "text", "text": inner}] if isinstance(inner, str) else inner
            shown = "".join(_shown(each, tools) for each in parts)
            return f"{part['tool_use_id']} {part.get('is_error', False)} {shown}"
        case "tool_search_tool_result":
            found = part["content"].get("tool_references", ())
            return f"{part['tool_use_id']} " + "".join(_shown(each, tools) for each in found)
        case "tool_reference":
            return _referenced(part["tool_name"], tools)
        case _:
            return canonical({key: part[key] for key in part if key != "cache_control"})


def _referenced(name: str, tools: Mapping[str, Json]) -> str:
    if name not in tools:
        raise RefusedError(f"tool_reference_unresolved: no tool {name!r} in tools")
    return _definition(tools[name])


def _definition(tool: Json) -> str:
    return canonical({k: v for k, v in tool.items() if k not in ("cache_control", "defer_loading")})


def _block(place: str, role: str, part: Json, kind: str, shown: str) -> Block:
    control = part.get("cache_control")
    tokens = IMAGE_TOKENS if kind in ("image", "document") else tokens_of(shown)
    return Block(place, role, kind, shown, tokens, control and control.get("ttl", "5m"))


def _with_automatic(blocks: list[Block], control: Json | None) -> list[Block]:
    """The blocks with the breakpoint that the top level of the request asks for."""
    if not control:
        return blocks
    lifetime = control.get("ttl", "5m")
    for place in range(len(blocks) - 1, -1, -1):
        block = blocks[place]
        if "thinking" in block.kind or not block.tokens:
            continue
        if block.mark not in (None, lifetime):
            raise RefusedError("cache_control: the last block has another ttl")
        if block.mark is None and sum(b.mark is not None for b in blocks) >= BREAKPOINTS:
            raise RefusedError(f"cache_control: all {BREAKPOINTS} breakpoints are taken")
        blocks[place] = replace(block, mark=lifetime)
        break
    return blocks


def _breakpoints(blocks: Sequence[Block]) -> list[int]:
    marks = [place for place, block in enumerate(blocks) if block.mark is not None]
    if len(marks) > BREAKPOINTS:
        raise RefusedError(
            f"A maximum of {BREAKPOINTS} blocks with cache_control may be provided. "
            f"Found {len(marks)}."
        )
    lifetimes = [blocks[place].mark for place in marks]
    if "5m" in lifetimes and "1h" in lifetimes[lifetimes.index("5m") :]:
        raise RefusedError("a ttl='1h' cache_control block must not come after a ttl='5m' one")
    return marks


def _one_position(block: Block, after: Block) -> bool:
    return block.kind == after.kind and block.kind in ("tool_use", "tool_result")


def _salts(request: Json) -> dict[str, str]:
    output = request.get("output_config", {})
    images = any(part["type"] in ("image", "document") for part in _parts(request))
    return {
        # All three are in front of the first block: without tools the system part begins.
        "tools": "",
        "system": canonical([output.get("format"), request.get("speed")]),
        "messages": canonical(
            [
                output.get("format"),
                request.get("speed"),
                request.get("tool_choice"),
                request.get("thinking"),
                output.get("effort"),
                images,
            ]
        ),
    }


def _parts(request: Json) -> Iterator[Json]:
    for message in request["messages"]:
        if not isinstance(message["content"], str):
            yield from message["content"]


def _only_results(message: Json) -> bool:
    content = message["content"]
    return not isinstance(content, str) and all(part["type"] == "tool_result" for part in content)


def _check_messages(messages: Sequence[Json], model: str) -> None:
    open_calls: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        role = message["role"]
        before = messages[number - 1]["role"] if number else None
        after = messages[number + 1]["role"] if number + 1 < len(messages) else None
        parts = [] if isinstance(message["content"], str) else list(message["content"])
        if role == "system":
            if model_name(model) not in MID_CONVERSATION:
                raise RefusedError("role 'system' is not supported on this model")
            if before not in ("user", "system") or after not in ("assistant", "system", None):
                raise RefusedError(
                    f"messages.{number}: a system message follows a user's message, and ends the "
                    "list or is followed by an assistant's"
                )
            continue
        results = [part["tool_use_id"] for part in parts if part["type"] == "tool_result"]
        if sorted(results) != sorted(open_calls):
            raise RefusedError(
                f"messages.{number}: tool_result blocks {results} don't answer the tool_use blocks "
                f"{open_calls} of the message before"
            )
        open_calls = [part["id"] for part in parts if part["type"] == "tool_use"]
        if len(seen | set(open_calls)) != len(seen) + len(open_calls):
            raise RefusedError(f"messages.{number}: `tool_use` ids must be unique")
        seen.update(open_calls)
    if open_calls:
        raise RefusedError("messages: tool_use without a tool_result after it")
