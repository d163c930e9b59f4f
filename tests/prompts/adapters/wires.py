"""The two protocols: the same things said in either, whole or as a stream."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from foldline.prompts.adapters import BaseAdapter
from foldline.prompts.adapters.anthropic import AnthropicAdapter
from foldline.prompts.adapters.openai import OpenAIAdapter

from .providers import Json, Provider, Reply


@dataclass(frozen=True)
class Said:
    """What the model is to say, in no particular protocol."""

    text: str = ""
    calls: tuple[tuple[str, object], ...] = ()
    stop: str = "end"
    """`end`, `length`, `refusal` or `none`."""


class OpenAIWire:
    """How OpenAI's chat completions look."""

    name = "openai"

    def adapter(self, provider: Provider, **settings: Any) -> BaseAdapter:
        return OpenAIAdapter(
            "test-model", base_url=f"{provider.url}/v1", api_key="test", **settings
        )

    def whole(self, said: Said) -> Reply:
        message: Json = {"role": "assistant", "content": said.text or None}
        if said.stop == "refusal":
            message = {"role": "assistant", "content": None, "refusal": said.text}
        if said.calls:
            message["tool_calls"] = [
                {
                    "id": f"call_{index}",
                    "type": "function",
                    "function": {"name": name, "arguments": _text(arguments)},
                }
                for index, (name, arguments) in enumerate(said.calls)
            ]
        choice: Json = {"index": 0, "message": message, "finish_reason": self._finish(said)}
        return Reply(self._completion("chat.completion", [choice], self._usage()))

    def streamed(self, said: Said) -> list[str]:
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        field_name = "refusal" if said.stop == "refusal" else "content"
        deltas += [{field_name: word} for word in _words(said.text)]
        for index, (name, arguments) in enumerate(said.calls):
            first = {"index": index, "id": f"call_{index}", "type": "function"}
            deltas.append({"tool_calls": [{**first, "function": {"name": name, "arguments": ""}}]})
            deltas += [
                {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
                for piece in _halves(_text(arguments))
            ]
        chunks: list[list[Json]] = [
            [{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas
        ]
        chunks.append([{"index": 0, "delta": {}, "finish_reason": self._finish(said)}])
        events = [self._completion("chat.completion.chunk", chunk, None) for chunk in chunks]
        events.append(self._completion("chat.completion.chunk", [], self._usage()))
        return [*(f"data: {json.dumps(event)}\n\n" for event in events), "data: [DONE]\n\n"]

    def error(self, message: str) -> Json:
        return {"error": {"message": message, "type": "test", "code": None, "param": None}}

    def tool_results(self, request: Json) -> list[tuple[str, str, bool]]:
        """The id, text and success of the tool results that a request tells last."""
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
            "prompt_tokens_details": {"cached_tokens": 8},
        }

    def _completion(self, kind: str, choices: list[Json], usage: Json | None) -> Json:
        return {
            "id": "c",
            "object": kind,
            "created": 1,
            "model": "test-model-1",
            "choices": choices,
            "usage": usage,
        }


class AnthropicWire:
    """How Anthropic's messages look."""

    name = "anthropic"

    def adapter(self, provider: Provider, **settings: Any) -> BaseAdapter:
        return AnthropicAdapter("test-model", base_url=provider.url, api_key="test", **settings)

    def whole(self, said: Said) -> Reply:
        content: list[Json] = [{"type": "text", "text": said.text}] if said.text else []
        content += [
            {"type": "tool_use", "id": f"call_{index}", "name": name, "input": arguments}
            for index, (name, arguments) in enumerate(said.calls)
        ]
        usage = {**self._usage(), "output_tokens": 5}
        return Reply({**self._message(), "content": content, "usage": usage} | self._end(said))

    def streamed(self, said: Said) -> list[str]:
        events: list[Json] = [
            {"type": "message_start", "message": {**self._message(), "usage": self._usage()}}
        ]
        blocks: list[tuple[Json, list[Json]]] = []
        if said.text:
            deltas = [{"type": "text_delta", "text": word} for word in _words(said.text)]
            blocks.append(({"type": "text", "text": ""}, deltas))
        for index, (name, arguments) in enumerate(said.calls):
            start = {"type": "tool_use", "id": f"call_{index}", "name": name, "input": {}}
            pieces = [
                {"type": "input_json_delta", "partial_json": piece}
                for piece in _halves(_text(arguments))
            ]
            blocks.append((start, pieces))
        for index, (start, deltas) in enumerate(blocks):
            events.append({"type": "content_block_start", "index": index, "content_block": start})
            events += [
                {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
            ]
            events.append({"type": "content_block_stop", "index": index})
        if said.stop != "none":
            end = {"type": "message_delta", "delta": self._end(said)}
            events += [{**end, "usage": {"output_tokens": 5}}, {"type": "message_stop"}]
        return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]

    def error(self, message: str) -> Json:
        return {"type": "error", "error": {"type": "test", "message": message}}

    def tool_results(self, request: Json) -> list[tuple[str, str, bool]]:
        """The id, text and success of the tool results that a request tells last."""
        return [
            (block["tool_use_id"], block["content"], not block["is_error"])
            for block in request["messages"][-1]["content"]
        ]

    def _end(self, said: Said) -> Json:
        reasons = {"length": "max_tokens", "refusal": "refusal", "none": None}
        usual = "tool_use" if said.calls else "end_turn"
        return {"stop_reason": reasons.get(said.stop, usual), "stop_sequence": None}

    def _usage(self) -> Json:
        return {
            "input_tokens": 9,
            "cache_read_input_tokens": 8,
            "cache_creation_input_tokens": 3,
            "output_tokens": 1,
        }

    def _message(self) -> Json:
        return {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "test-model-1",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }


Wire = OpenAIWire | AnthropicWire


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


def _text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _words(text: str) -> list[str]:
    return [f"{word} " for word in text.split(" ")[:-1]] + text.split(" ")[-1:] if text else []


def _halves(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]
