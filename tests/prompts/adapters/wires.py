"""The protocols: the same things said in each, whole or as a stream."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from foldline.prompts.adapters import BaseAdapter
from foldline.prompts.adapters.anthropic import AnthropicAdapter
from foldline.prompts.adapters.openai import OpenAIAdapter

from .providers import Json, Provider, Reply

MODEL = "test-model-1"


@dataclass(frozen=True)
class Said:
    """What the model is to say, in no particular protocol."""

    text: str = ""
    calls: tuple[tuple[str, object], ...] = ()
    stop: str = "end"
    """`end`, `length`, `refusal` or `none`."""
    thought: str = ""
    """Its reasoning, where the protocol gives that back to be sent again."""
    search: str = ""
    """What it searches tools for, before its calls; the simulators answer it."""
    pauses: bool = False
    """True if the provider interrupts the message, to be continued."""
    found: tuple[Json, ...] = ()
    """The definitions of the tools that the search finds; set by the simulators."""
    tag: str = ""
    """A part of the ids, so that those of several messages differ."""

    def ids(self) -> list[str]:
        return [f"call_{self.tag}{index}" for index in range(len(self.calls))]


class Wire(Protocol):
    """One provider's protocol."""

    name: str
    api: str
    """The name of the protocol for `wire.validation.check`."""

    def adapter(self, provider: Provider, **settings: Any) -> BaseAdapter: ...

    def whole(self, said: Said, usage: Json | None = None, model: str = MODEL) -> Reply: ...

    def streamed(self, said: Said, usage: Json | None = None, model: str = MODEL) -> list[str]: ...

    def error(self, message: str) -> Json: ...

    def sent(self, request: Json) -> list[Json]:
        """The messages of a request, its results included."""
        ...

    def tools(self, request: Json) -> list[Json]:
        """The tools of a request: name, description and the schema as `parameters`."""
        ...

    def tool_results(self, request: Json) -> list[tuple[str, str, bool]]:
        """The id, text and success of the tool results that a request tells last."""
        ...


class OpenAIWire:
    """How OpenAI's chat completions look."""

    name = "openai"
    api = "openai"

    def adapter(self, provider: Provider, **settings: Any) -> BaseAdapter:
        settings = {"model": "test-model", "api_key": "test", **settings}
        return OpenAIAdapter(base_url=f"{provider.url}/v1", **settings)

    def whole(self, said: Said, usage: Json | None = None, model: str = MODEL) -> Reply:
        message: Json = {"role": "assistant", "content": said.text or None}
        if said.stop == "refusal":
            message = {"role": "assistant", "content": None, "refusal": said.text}
        if said.calls:
            message["tool_calls"] = [
                {
                    "id": id_,
                    "type": "function",
                    "function": {"name": name, "arguments": text_of_arguments(arguments)},
                }
                for id_, (name, arguments) in zip(said.ids(), said.calls, strict=True)
            ]
        choice: Json = {"index": 0, "message": message, "finish_reason": self._finish(said)}
        return Reply(self._completion("chat.completion", [choice], usage or self._usage(), model))

    def streamed(self, said: Said, usage: Json | None = None, model: str = MODEL) -> list[str]:
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        field_name = "refusal" if said.stop == "refusal" else "content"
        deltas += [{field_name: word} for word in words(said.text)]
        for index, (name, arguments) in enumerate(said.calls):
            first = {"index": index, "id": said.ids()[index], "type": "function"}
            deltas.append({"tool_calls": [{**first, "function": {"name": name, "arguments": ""}}]})
            deltas += [
                {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
                for piece in halves(text_of_arguments(arguments))
            ]
        chunks: list[list[Json]] = [
            [{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas
        ]
        chunks.append([{"index": 0, "delta": {}, "finish_reason": self._finish(said)}])
        kind = "chat.completion.chunk"
        events = [self._completion(kind, chunk, None, model) for chunk in chunks]
        events.append(self._completion(kind, [], usage or self._usage(), model))
        return [*(f"data: {json.dumps(event)}\n\n" for event in events), "data: [DONE]\n\n"]

    def error(self, message: str) -> Json:
        return {"error": {"message": message, "type": "test", "code": None, "param": None}}

    def sent(self, request: Json) -> list[Json]:
        messages: list[Json] = request["messages"]
        return messages

    def tools(self, request: Json) -> list[Json]:
        return [tool["function"] for tool in request.get("tools", ())]

    def tool_results(self, request: Json) -> list[tuple[str, str, bool]]:
        told = []
        for message in reversed(request["messages"]):
            if message["role"] != "tool":
                break
            text = message["content"]
            told.append((message["tool_call_id"], text, not text.startswith("Error: ")))
        return told[::-1]

    def _finish(self, said: Said) -> str | None:
        if said.stop == "none":
            return None
        if said.stop == "length":
            return "length"
        return "tool_calls" if said.calls else "stop"

    def _usage(self) -> Json:
        return {
            "prompt_tokens": 20,
            "completion_tokens": 5,
            "total_tokens": 25,
            "prompt_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 3},
        }

    def _completion(self, kind: str, choices: list[Json], usage: Json | None, model: str) -> Json:
        return {
            "id": "c",
            "object": kind,
            "created": 1,
            "model": model,
            "choices": choices,
            "usage": usage,
        }


class AnthropicWire:
    """How Anthropic's messages look."""

    name = "anthropic"
    api = "anthropic"

    def adapter(self, provider: Provider, **settings: Any) -> BaseAdapter:
        settings = {"model": "test-model", "api_key": "test", **settings}
        return AnthropicAdapter(base_url=provider.url, **settings)

    def whole(self, said: Said, usage: Json | None = None, model: str = MODEL) -> Reply:
        content: list[Json] = [self._thinking(said)] if said.thought else []
        content += [{"type": "text", "text": said.text}] if said.text else []
        content += self._search(said)
        content += [
            {"type": "tool_use", "id": id_, "name": name, "input": arguments}
            for id_, (name, arguments) in zip(said.ids(), said.calls, strict=True)
        ]
        usage = usage or {**self._usage(), "output_tokens": 5}
        body = {**self._message(said, model), "content": content, "usage": usage}
        return Reply(body | self._end(said))

    def streamed(self, said: Said, usage: Json | None = None, model: str = MODEL) -> list[str]:
        started = {**(usage or self._usage()), "output_tokens": 1}
        events: list[Json] = [
            {"type": "message_start", "message": {**self._message(said, model), "usage": started}}
        ]
        blocks: list[tuple[Json, list[Json]]] = []
        if said.thought:
            thinking = self._thinking(said)
            pieces: list[Json] = [
                {"type": "thinking_delta", "thinking": said.thought},
                {"type": "signature_delta", "signature": thinking["signature"]},
            ]
            blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, pieces))
        if said.text:
            deltas = [{"type": "text_delta", "text": word} for word in words(said.text)]
            blocks.append(({"type": "text", "text": ""}, deltas))
        blocks += [(block, []) for block in self._search(said)]
        for id_, (name, arguments) in zip(said.ids(), said.calls, strict=True):
            start = {"type": "tool_use", "id": id_, "name": name, "input": {}}
            pieces = [
                {"type": "input_json_delta", "partial_json": piece}
                for piece in halves(text_of_arguments(arguments))
            ]
            blocks.append((start, pieces))
        for index, (start, deltas) in enumerate(blocks):
            events.append({"type": "content_block_start", "index": index, "content_block": start})
            events += [
                {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
            ]
            events.append({"type": "content_block_stop", "index": index})
        if said.stop != "none":
            output = 5 if usage is None else usage["output_tokens"]
            end = {"type": "message_delta", "delta": self._end(said)}
            events += [{**end, "usage": {"output_tokens": output}}, {"type": "message_stop"}]
        return [_event(event) for event in events]

    def error(self, message: str) -> Json:
        return {"type": "error", "error": {"type": "test", "message": message}}

    def sent(self, request: Json) -> list[Json]:
        messages: list[Json] = request["messages"]
        return messages

    def tools(self, request: Json) -> list[Json]:
        return [{**tool, "parameters": tool["input_schema"]} for tool in request.get("tools", ())]

    def tool_results(self, request: Json) -> list[tuple[str, str, bool]]:
        return [
            (block["tool_use_id"], block["content"], not block["is_error"])
            for block in request["messages"][-1]["content"]
        ]

    def _thinking(self, said: Said) -> Json:
        return {"type": "thinking", "thinking": said.thought, "signature": f"of {said.thought}"}

    def _end(self, said: Said) -> Json:
        reasons = {"length": "max_tokens", "refusal": "refusal", "none": None}
        usual = "pause_turn" if said.pauses else "tool_use" if said.calls else "end_turn"
        return {"stop_reason": reasons.get(said.stop, usual), "stop_sequence": None}

    def _usage(self) -> Json:
        return {
            "input_tokens": 9,
            "cache_read_input_tokens": 8,
            "cache_creation_input_tokens": 3,
            "output_tokens": 1,
        }

    def _search(self, said: Said) -> list[Json]:
        if not said.search:
            return []
        found = [{"type": "tool_reference", "tool_name": tool["name"]} for tool in said.found]
        return [
            {
                "type": "server_tool_use",
                "id": f"srvtoolu_{said.tag}",
                "name": "tool_search_tool_bm25",
                "input": {"query": said.search},
            },
            {
                "type": "tool_search_tool_result",
                "tool_use_id": f"srvtoolu_{said.tag}",
                "content": {"type": "tool_search_tool_search_result", "tool_references": found},
            },
        ]

    def _message(self, said: Said, model: str) -> Json:
        return {
            "id": f"m{said.tag}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }


def _event(event: Json) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


@dataclass
class Line:
    """One adapter against the provider on loopback, streaming or not."""

    wire: Wire
    provider: Provider
    streaming: bool
    heard: list[str] = field(default_factory=list)

    def adapter(self, **settings: Any) -> BaseAdapter:
        return self.wire.adapter(self.provider, **settings)

    def reply(self, said: Said) -> Reply:
        if self.streaming:
            return Reply(pieces=self.wire.streamed(said))
        return self.wire.whole(said)

    def will_say(self, *said: Said) -> None:
        self.provider.will(*map(self.reply, said))

    @property
    def on_text(self) -> Callable[[str], object] | None:
        return self.heard.append if self.streaming else None


def text_of_arguments(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def words(text: str) -> list[str]:
    return [f"{word} " for word in text.split(" ")[:-1]] + text.split(" ")[-1:] if text else []


def halves(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]
