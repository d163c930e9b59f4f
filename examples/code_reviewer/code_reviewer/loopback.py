"""A provider on loopback that plays the transcript, and keeps a prompt cache.

It speaks Anthropic's Messages, OpenAI's Responses and its chat completions as far as the reviewer
needs them. Its cache follows the rule that the providers have in common: a prefix of the request
that ends at a breakpoint is kept if it is long enough; a later request reads the longest one that
it begins with, and writes up to its own last breakpoint. A token is four bytes of JSON.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from foldline.prompts.adapters import ScriptedTurn, Transcript

Json = dict[str, Any]

SCRIPTED = "scripted"
"""The name of the model that answers."""
SHORTEST = {"anthropic": 512, "openai": 1_024, "openai-responses": 1_024}
"""Fewest tokens of a prefix that is kept, for the models that the reviewer uses by default."""


class PrefixCache:
    """The prefixes of earlier requests that the provider has kept."""

    def __init__(self, shortest: int) -> None:
        self._shortest = shortest
        self._kept: set[bytes] = set()

    def meter(self, blocks: list[tuple[str, bool]]) -> tuple[int, int, int]:
        """Return the tokens that are read, written and fresh of a request.

        Args:
            blocks: Its parts in order, as text, and whether a breakpoint is behind each.
        """
        total = read = reached = 0
        running = hashlib.sha256()
        written: list[bytes] = []
        for text, ends in blocks:
            total += -(-len(text.encode()) // 4)
            running.update(text.encode() + b"\0")
            if running.digest() in self._kept:
                read = total
            if ends and total >= self._shortest:
                written.append(running.digest())
                reached = total
        self._kept.update(written)
        reached = max(reached, read)
        return read, reached - read, total - reached


def messages_blocks(request: Json) -> list[tuple[str, bool]]:
    """The parts of a request to Anthropic; deferred tools are shown where they are referred to."""
    tools = {tool["name"]: tool for tool in request.get("tools", ())}
    parts = [tool for tool in tools.values() if not tool.get("defer_loading")]
    parts += request.get("system", ())
    for message in request["messages"]:
        content = message["content"]
        parts += [{"text": content}] if isinstance(content, str) else content
    blocks = []
    for part in parts:
        shown = {key: value for key, value in part.items() if key != "cache_control"}
        referred = [tools[r["tool_name"]] for r in _references(part)]
        blocks.append((json.dumps([shown, *referred]), "cache_control" in part))
    # The breakpoint that the request asks for as a whole is behind its last part.
    text, ends = blocks[-1]
    return [*blocks[:-1], (text, ends or "cache_control" in request)]


def _references(part: Json) -> list[Json]:
    content = part.get("content")
    inner = content if isinstance(content, list) else []
    return [each for each in inner if each["type"] == "tool_reference"]


def openai_blocks(request: Json) -> list[tuple[str, bool]]:
    """The parts of a request to OpenAI; one breakpoint is behind the last of them."""
    settings = [request.get(key) for key in ("text", "response_format", "tools")]
    blocks = [(json.dumps(settings), False)]
    for item in request.get("input") or request["messages"]:
        content = item.get("content")
        for part in content if isinstance(content, list) else [item]:
            shown = {k: v for k, v in part.items() if k not in ("prompt_cache_breakpoint", "id")}
            blocks.append((json.dumps(shown), "prompt_cache_breakpoint" in part))
    return [*blocks[:-1], (blocks[-1][0], True)]


def message(turn: ScriptedTurn, number: int, usage: tuple[int, int, int], request: Json) -> Json:
    """The model's words in Anthropic's form."""
    read, written, fresh = usage
    calls = _calls(turn, number, {tool["name"] for tool in request.get("tools", ())})
    content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
    content += [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": SCRIPTED,
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": fresh,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens": turn.usage.output,
        },
    }


def response(turn: ScriptedTurn, number: int, usage: tuple[int, int, int], request: Json) -> Json:
    """The model's words in the form of OpenAI's Responses."""
    read, written, fresh = usage
    total, output = read + written + fresh, turn.usage.output
    calls = _calls(turn, number, {tool["name"] for tool in request.get("tools", ())})
    text = {"type": "output_text", "text": turn.text, "annotations": []}
    said = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [text]}
    items: list[Json] = [{**said, "status": "completed"}] if turn.text else []
    items += [
        {"type": "function_call", "id": f"fc_{i}", "call_id": i, "name": n}
        | {"arguments": json.dumps(a), "status": "completed"}
        for i, n, a in calls
    ]
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": SCRIPTED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": total,
            "input_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": total + output,
        },
    }


def completion(turn: ScriptedTurn, number: int, usage: tuple[int, int, int], request: Json) -> Json:
    """The model's words in the form of OpenAI's chat completions."""
    read, written, fresh = usage
    total, output = read + written + fresh, turn.usage.output
    offered = {tool["function"]["name"] for tool in request.get("tools", ())}
    calls = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
        for i, n, a in _calls(turn, number, offered)
    ]
    said: Json = {"role": "assistant", "content": turn.text or None}
    choice = {
        "index": 0,
        "message": said | ({"tool_calls": calls} if calls else {}),
        "finish_reason": "tool_calls" if calls else "stop",
    }
    return {
        "id": f"chatcmpl_{number}",
        "object": "chat.completion",
        "created": 0,
        "model": SCRIPTED,
        "choices": [choice],
        "usage": {
            "prompt_tokens": total,
            "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
            "completion_tokens": output,
            "total_tokens": total + output,
        },
    }


def _calls(turn: ScriptedTurn, number: int, offered: set[str]) -> list[tuple[str, str, object]]:
    """The calls of a message; a tool that isn't offered itself is called by `call_tool`."""
    calls: list[tuple[str, str, object]] = []
    for index, call in enumerate(turn.tool_calls, start=1):
        name, arguments = call.name, call.arguments
        if name not in offered:
            name, arguments = "call_tool", {"name": name, "arguments": arguments}
        calls.append((f"call_{number}_{index}", name, arguments))
    return calls


WIRES = {
    "anthropic": (messages_blocks, message),
    "openai": (openai_blocks, completion),
    "openai-responses": (openai_blocks, response),
}


class Loopback(ThreadingHTTPServer):
    """Answers with the transcript's messages, one after the other."""

    def __init__(self, provider: str, transcript: Transcript) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[Json] = []
        self._blocks, self._answer = WIRES[provider]
        self._cache = PrefixCache(SHORTEST[provider])
        self._turns = [turn for exchange in transcript.exchanges for turn in exchange.turns]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def reply(self, request: Json) -> tuple[int, Json]:
        """The status and the body of the answer."""
        self.requests.append(request)
        number = len(self.requests)
        if number > len(self._turns):
            return 400, {"error": {"type": "invalid_request_error", "message": "That was all."}}
        usage = self._cache.meter(self._blocks(request))
        return 200, self._answer(self._turns[number - 1], number, usage, request)


class _Handler(BaseHTTPRequestHandler):
    server: Loopback

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        status, body = self.server.reply(json.loads(self.rfile.read(length)))
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing of requests on the terminal."""


@contextmanager
def serving(provider: str, transcript: Transcript) -> Iterator[Loopback]:
    """A provider that answers until the context ends."""
    with Loopback(provider, transcript) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
