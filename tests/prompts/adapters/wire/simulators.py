"""Providers on loopback that keep a prompt cache by their provider's rule.

A simulator checks each request against the SDK's types, answers with the next message of its
script, whole or streamed as requested, and counts the input by the rule that `anthropic_rule` or
`openai_rule` states. What is wrong is answered with status 400, as the provider would.

    script = [Said(calls=(("read", {"path": "a"}),)), Said("Done.")]
    with serving(AnthropicSimulator(script)) as simulator:
        simulator.adapter(model="claude-opus-5-5").evaluate(template)
        assert simulator.metered[1].read > 0.9 * simulator.metered[0].total
        assert simulator.kept_shares() == [1.0]
        simulator.clock += 301  # The entries of five minutes are gone.

A script can also be a function of the request, such as `lambda request: Said("Done.")`.
"""

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from foldline.prompts.adapters import BaseAdapter

from ..providers import Json, Provider, Reply
from ..responses_wire import OpenAIResponsesWire
from ..wires import AnthropicWire, OpenAIWire, Said, Wire
from . import context_editing
from .anthropic_rule import AnthropicCache
from .openai_rule import OpenAICache
from .prefix import Metered, RefusedError, canonical, tokens_of
from .validation import UnlikeError, check

Script: TypeAlias = Sequence[Said] | Callable[[Json], Said]


class Simulator(Provider):
    """A provider with a prompt cache.

    Attributes:
        metered: What each request was billed for.
        refusals: What was wrong with the requests that were refused.
    """

    wire: Wire
    cache: AnthropicCache | OpenAICache

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script
        self.metered: list[Metered] = []
        self.refusals: list[str] = []

    def adapter(self, **settings: Any) -> BaseAdapter:
        """An adapter that talks to the simulator; by default without another try."""
        return self.wire.adapter(self, **{"max_retries": 0, **settings})

    @property
    def clock(self) -> float:
        """The time in seconds; it stands still but for the tests."""
        return self.cache.entries.now

    @clock.setter
    def clock(self, now: float) -> None:
        self.cache.entries.now = now

    def kept_shares(self) -> list[float]:
        """For each request but the first: the share of the one before that it begins with."""
        return [
            now.kept / before.total if before.total else 1.0
            for before, now in itertools.pairwise(self.metered)
        ]

    def next_reply(self) -> Reply:
        request = self.requests[-1]
        try:
            check(self.wire.api, request, beta="anthropic-beta" in self.headers[-1])
            metered, extra = self.meter(request)
        except (RefusedError, UnlikeError) as wrong:
            self.refusals.append(str(wrong))
            return Reply(self.wire.error(str(wrong)), 400)
        self.metered.append(metered)
        number = len(self.metered)
        if callable(self._script):
            said = self._script(request)
        elif number <= len(self._script):
            said = self._script[number - 1]
        else:
            return Reply(self.wire.error("the script is over"), 418)
        said = replace(
            said,
            tag=f"{number}_{said.tag}",
            found=tuple(self.search(request, said.search)) if said.search else (),
        )
        usage = self.usage(metered, output_tokens(said))
        if request.get("stream"):
            pieces = self.wire.streamed(said, usage, request["model"])
            return Reply(pieces=[_with_extra(piece, extra) for piece in pieces])
        reply = self.wire.whole(said, usage, request["model"])
        assert isinstance(reply.body, dict)
        reply.body |= extra
        return reply

    def search(self, request: Json, query: str) -> Iterator[Json]:
        """The deferred tools that a tool search finds: whose name or description has the query."""
        raise NotImplementedError

    def meter(self, request: Json) -> tuple[Metered, Json]:
        """What a request is billed for, and what else the answer says."""
        raise NotImplementedError

    def usage(self, metered: Metered, output: int) -> Json:
        """The usage in the provider's form."""
        raise NotImplementedError


class AnthropicSimulator(Simulator):
    """Anthropic's Messages API."""

    wire: Wire = AnthropicWire()

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.cache: AnthropicCache = AnthropicCache()

    def meter(self, request: Json) -> tuple[Metered, Json]:
        header = self.headers[-1].get("anthropic-beta", "")
        betas = frozenset(name.strip() for name in header.split(",") if name)
        shown, applied = context_editing.edited(request, betas, _size)
        extra = {"context_management": {"applied_edits": applied}} if applied else {}
        return self.cache.meter(shown), extra

    def search(self, request: Json, query: str) -> Iterator[Json]:
        tools = request["tools"]
        assert any(tool.get("type") == "tool_search_tool_bm25_20251119" for tool in tools)
        for tool in tools:
            if tool.get("defer_loading") and query in tool["name"] + tool["description"]:
                yield tool

    def usage(self, metered: Metered, output: int) -> Json:
        five, hour = metered.written.get("5m", 0), metered.written.get("1h", 0)
        return {
            "input_tokens": metered.fresh,
            "cache_read_input_tokens": metered.read,
            "cache_creation_input_tokens": five + hour,
            "cache_creation": {
                "ephemeral_5m_input_tokens": five,
                "ephemeral_1h_input_tokens": hour,
            },
            "output_tokens": output,
        }


class OpenAISimulator(Simulator):
    """OpenAI's chat completions.

    Args:
        hidden: See `OpenAICache`.
        interval: See `OpenAICache`.
    """

    wire: Wire = OpenAIWire()

    def __init__(self, script: Script, *, hidden: int = 0, interval: int | None = None) -> None:
        super().__init__(script)
        self.cache: OpenAICache = OpenAICache(hidden=hidden, interval=interval)

    def meter(self, request: Json) -> tuple[Metered, Json]:
        return self.cache.meter(request), {}

    def usage(self, metered: Metered, output: int) -> Json:
        return {
            "prompt_tokens": metered.total,
            "completion_tokens": output,
            "total_tokens": metered.total + output,
            "prompt_tokens_details": {
                "cached_tokens": metered.read,
                "cache_write_tokens": sum(metered.written.values()),
            },
        }


class OpenAIResponsesSimulator(OpenAISimulator):
    """OpenAI's Responses."""

    wire = OpenAIResponsesWire()

    def search(self, request: Json, query: str) -> Iterator[Json]:
        assert {"type": "tool_search"} in request["tools"]
        for space in request["tools"]:
            if space["type"] == "namespace":
                deferred = (tool for tool in space["tools"] if tool.get("defer_loading"))
                found = [t for t in deferred if query in t["name"] + t["description"]]
                if found:
                    yield {**space, "tools": found}

    def usage(self, metered: Metered, output: int) -> Json:
        return {
            "input_tokens": metered.total,
            "input_tokens_details": {
                "cached_tokens": metered.read,
                "cache_write_tokens": sum(metered.written.values()),
            },
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": metered.total + output,
        }


def output_tokens(said: Said) -> int:
    return tokens_of(said.text + said.thought + canonical(said.calls))


def _with_extra(piece: str, extra: Json) -> str:
    """An event of a stream; the one that ends a message says what else there is."""
    begin = "event: message_delta\ndata: "
    if not extra or not piece.startswith(begin):
        return piece
    return f"{begin}{json.dumps(json.loads(piece.removeprefix(begin)) | extra)}\n\n"


def _size(request: Json) -> int:
    # Another cache, so that measuring leaves no trace.
    return AnthropicCache().meter(request).total
