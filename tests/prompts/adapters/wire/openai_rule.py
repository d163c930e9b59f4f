"""OpenAI's prompt cache, as its documentation states the rule.

Sources, all below https://developers.openai.com/api/docs/guides/, as of October 2026, for chat
completions and for Responses: `prompt-caching`, `tools-tool-search`.

A request is rendered as the settings that the provider turns into instructions (the output's
schema, effort, verbosity, `parallel_tool_calls`), then the tools, then `instructions` and the
messages or input items in their order; each content part is one block. A prefix is found again
only if all of it is the same, with the same model and the same `prompt_cache_key`. Deferred tools
aren't rendered; the tools that a tool search or `additional_tools` brings are, where they stand.

From GPT-5.6 on:

1. An explicit breakpoint is a content part with `prompt_cache_breakpoint`.
2. The implicit breakpoint, unless `prompt_cache_options.mode` is `explicit`, is the end of the
   latest eligible message. Eligible are the user's messages, the last tool result of consecutive
   ones, and the last of the developer's (or system) messages that the conversation begins with.
3. Reading: the boundaries that are looked at are the first 2 and the latest 50 explicit
   breakpoints, and in implicit mode also the implicit one, up to 20 eligible endings before it,
   and the end of the developer's messages at the start. The longest prefix of them that is in the
   cache is read. (The SDK's types speak of the latest 80; what holds with 50 holds with 80.)
4. Writing: the latest 3 explicit breakpoints and the implicit one, or the latest 4 in explicit
   mode; each for its own prefix, from 1,024 tokens on. The tokens between what is read and the
   last written breakpoint are written, and the rest is input at the full price.
5. An entry lives 30 minutes (or 12 hours) from its last write or read.

Before GPT-5.6 nothing is declared or paid for writing: prefixes end at regular intervals (2,048
tokens for GPT-5.5; the page leaves the others' open: 128 here), counted from the start of the
hidden instructions, and are read from 1,024 tokens on. What is reported is without the hidden
tokens, and rounded down to a multiple of 128.

Not simulated: the routing to machines, compaction, images' sizes.
"""

import re
from collections.abc import Iterator, Sequence
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

MINIMUM = 1_024
STEP = 128
WRITES = 4
FIRST_READS, LATEST_READS, EARLIER_ENDINGS = 2, 50, 20
LIFETIMES = {"30m": 1_800.0, "12h": 43_200.0}
INHERITED = "inherited"
"""The mark of a breakpoint that has the lifetime of the request."""
RETENTION = {"in_memory": 300.0, "24h": 1_800.0}


def declares(model: str) -> bool:
    """True for models with breakpoints, from GPT-5.6 on; unknown names are taken for new ones."""
    found = re.match(r"gpt-(\d+)(?:\.(\d+))?", model)
    old = re.match(r"o\d", model) is not None
    return not old and (found is None or (int(found[1]), int(found[2] or 0)) >= (5, 6))


class OpenAICache:
    """The cache of one organization.

    Args:
        hidden: The tokens of the provider's own instructions, for the models before GPT-5.6.
        interval: The tokens between two breakpoints of such a model.
    """

    def __init__(self, *, hidden: int = 0, interval: int | None = None) -> None:
        self.entries = PrefixCache(LIFETIMES)
        self._hidden = hidden
        self._interval = interval
        self._before: tuple[Block, ...] = ()
        self._requests: list[tuple[str, float, tuple[Block, ...]]] = []

    def meter(self, request: Json) -> Metered:
        """What a request is billed for; the cache is as after it.

        Raises:
            RefusedError: The model can't do what the request asks for.
        """
        blocks = tuple(rendered(request))
        kept = common_tokens(self._before, blocks)
        self._before = blocks
        scope = canonical([request["model"], request.get("prompt_cache_key")])
        if declares(request["model"]):
            if request.get("prompt_cache_retention") and request.get("prompt_cache_options"):
                raise RefusedError("prompt_cache_retention can't be used with prompt_cache_options")
            read, written = self._declared(request, scope, blocks)
        else:
            if request.get("prompt_cache_options") or any(block.mark for block in blocks):
                raise RefusedError(f"{request['model']} doesn't support prompt_cache_options")
            read, written = self._regular(request, scope, blocks), {}
        return Metered(blocks, read, written, kept)

    def _declared(
        self, request: Json, scope: str, blocks: Sequence[Block]
    ) -> tuple[int, dict[str, int]]:
        options = request.get("prompt_cache_options") or {}
        lifetime = options.get("ttl", "30m")
        implicit = options.get("mode", "implicit") == "implicit"
        marks = [place for place, block in enumerate(blocks) if block.mark is not None]
        looked_at = {*marks[:FIRST_READS], *marks[-LATEST_READS:]}
        writes = marks[-WRITES:]
        if implicit:
            endings = eligible_endings(blocks)
            looked_at |= {*endings[-EARLIER_ENDINGS - 1 :]}
            looked_at |= {place for place in endings if blocks[place].role == "developer"}
            writes = sorted({*marks[-WRITES + 1 :], *endings[-1:]})
        tokens = sums(blocks)
        keys = digests(blocks, {})
        hits = [place for place in looked_at if self.entries.holds(scope, keys[place])]
        read = 0
        if hits:
            self.entries.refresh(scope, keys[max(hits)])
            read = tokens[max(hits)]
        written: dict[str, int] = {}
        reached = read
        for place in writes:
            if tokens[place] < MINIMUM:
                continue
            own = blocks[place].mark
            lasting = lifetime if own in (None, INHERITED) else own
            self.entries.keep(scope, keys[place], lasting)
            if tokens[place] > reached:
                written[lasting] = written.get(lasting, 0) + tokens[place] - reached
                reached = tokens[place]
        return read, written

    def _regular(self, request: Json, scope: str, blocks: tuple[Block, ...]) -> int:
        interval = self._interval or (2_048 if request["model"].startswith("gpt-5.5") else STEP)
        alive = RETENTION[request.get("prompt_cache_retention") or "in_memory"]
        now = self.entries.now
        self._requests = [one for one in self._requests if now < one[1]]
        common = max(
            (common_tokens(b, blocks) for s, _, b in self._requests if s == scope), default=0
        )
        self._requests.append((scope, now + alive, blocks))
        matched = (common + self._hidden) // interval * interval - self._hidden
        return matched // STEP * STEP if matched >= MINIMUM else 0


def eligible_endings(blocks: Sequence[Block]) -> list[int]:
    """The last blocks of the eligible messages, in order."""
    ends = [place for place, block in enumerate(blocks) if block.ends]
    found = []
    leading = True
    for index, place in enumerate(ends):
        role = blocks[place].role
        after = blocks[ends[index + 1]].role if index + 1 < len(ends) else None
        if (
            role == "user"
            or (role == "tool" and after != "tool")
            or (role == "developer" and leading and after != "developer")
        ):
            found.append(place)
        leading = leading and role == "developer"
    return found


def rendered(request: Json) -> Iterator[Block]:
    """The request's blocks, in the order in which the model reads them."""
    settings = [
        request.get("response_format") or (request.get("text") or {}).get("format"),
        request.get("reasoning_effort") or (request.get("reasoning") or {}).get("effort"),
        request.get("verbosity") or (request.get("text") or {}).get("verbosity"),
        request.get("parallel_tool_calls"),
    ]
    if any(setting is not None for setting in settings):
        shown = canonical(settings)
        yield Block("tools", "", "settings", shown, tokens_of(shown) if settings[0] else 0)
    for tool in request.get("tools", ()):
        yield from _tools([tool])
    if request.get("instructions"):
        shown = str(request["instructions"])
        yield Block("messages", "developer", "text", shown, tokens_of(shown), ends=True)
    if "messages" in request:
        yield from _chat(request["messages"])
    else:
        items = request.get("input", ())
        yield from _items([{"role": "user", "content": items}] if isinstance(items, str) else items)


def _tools(tools: Sequence[Json]) -> Iterator[Block]:
    for tool in tools:
        if tool.get("type") == "namespace":
            inner = [each for each in tool["tools"] if not each.get("defer_loading")]
            shown = canonical([tool["name"], tool.get("description")])
            yield Block("tools", "", "tool", shown, tokens_of(shown))
            yield from _tools(inner)
        elif not tool.get("defer_loading"):
            shown = canonical({k: v for k, v in tool.items() if k != "defer_loading"})
            yield Block("tools", "", "tool", shown, tokens_of(shown))


def _chat(messages: Sequence[Json]) -> Iterator[Block]:
    waiting: set[str] = set()
    for number, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                raise RefusedError(f"messages.{number}: no tool call {message['tool_call_id']!r}")
            waiting.remove(message["tool_call_id"])
        elif waiting:
            raise RefusedError(f"messages.{number}: tool calls without an answer: {waiting}")
        calls = message.get("tool_calls") or ()
        waiting |= {call["id"] for call in calls}
        extra = "".join(canonical(call) for call in calls) + message.get("tool_call_id", "")
        yield from _message(role, message.get("content"), extra)
    if waiting:
        raise RefusedError(f"messages: tool calls without an answer: {waiting}")


def _items(items: Sequence[Json]) -> Iterator[Block]:
    waiting: set[str] = set()
    for number, item in enumerate(items):
        match item.get("type", "message"):
            case "message":
                yield from _message(item["role"], item["content"])
            case "function_call":
                waiting.add(item["call_id"])
                yield from _message("assistant", None, canonical(_bare(item)))
            case "function_call_output":
                if item["call_id"] not in waiting:
                    raise RefusedError(f"input.{number}: no tool call {item['call_id']!r}")
                waiting.remove(item["call_id"])
                yield from _message("tool", item["output"], item["call_id"])
            case "additional_tools" | "tool_search_output":
                yield from _message("assistant", None, canonical(_undeferred(item)))
            case "reasoning":
                # What was thought is billed as input when it is sent again.
                size = tokens_of(item.get("encrypted_content") or "")
                shown = canonical(_bare(item))
                yield Block("messages", "assistant", "reasoning", shown, size, ends=True)
            case _:
                yield from _message("assistant", None, canonical(item))
    if waiting:
        raise RefusedError(f"No tool output found for function call {sorted(waiting)}.")


def _message(role: str, content: object, extra: str = "") -> Iterator[Block]:
    """The blocks of a message; `extra` is what it has besides its content."""
    role = {"system": "developer"}.get(role, role)
    found = [_part(role, part) for part in _parts(content)]
    if extra:
        # A result begins with the call that it answers, and an answer ends with its calls.
        found.insert(0 if role == "tool" else len(found), _part(role, {"text": extra}))
    yield from found[:-1]
    if found:
        yield replace(found[-1], ends=True)


def _parts(content: object) -> Sequence[Json]:
    if isinstance(content, str):
        return [{"text": content}]
    return content if isinstance(content, (list, tuple)) else ()


def _part(role: str, part: Json) -> Block:
    point = part.get("prompt_cache_breakpoint")
    bare = {key: value for key, value in part.items() if key != "prompt_cache_breakpoint"}
    kind = part.get("type", "text")
    shown = part["text"] if "text" in part else canonical(bare)
    size = IMAGE_TOKENS if "image" in kind or "file" in kind else tokens_of(shown)
    mark = point and point.get("ttl", INHERITED)
    return Block("messages", role, "text" if "text" in part else kind, shown, size, mark)


def _bare(item: Json) -> Json:
    return {key: value for key, value in item.items() if key not in ("id", "status")}


def _undeferred(item: Json) -> list[Json]:
    return [
        {key: value for key, value in tool.items() if key != "defer_loading"}
        for tool in item["tools"]
    ]
