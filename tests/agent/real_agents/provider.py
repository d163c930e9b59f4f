"""A model provider that plays a script, in the wire formats of the agents that the tests drive.

A script is a list of steps, each the model's answer to one request. `{"call": "get_tree",
"arguments": {}}` calls a tool by the end of the name that the agent gave it, `{"text": "Done."}`
ends the turn, and with `"kill": true` the agent's MCP servers are killed first. Which step is due
follows from how many calls the request holds, so that retries disturb nothing. A request without
tools, such as one for a title, gets a text.
"""

from __future__ import annotations

import json
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import psutil
from tests.loopback import LoopbackServer

SIDE_ANSWER = "A title"


@dataclass
class Request:
    """One request, as the model would see it.

    Attributes:
        tools: The names of the tools.
        results: The texts of the tools' answers so far.
        said: All of it, as JSON.
    """

    tools: list[str]
    results: list[str]
    said: str


@dataclass
class Answer:
    """The model's answer: a text, or a call with its place in the conversation."""

    number: int
    text: str | None = None
    call: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


class ChatCompletions:
    """The requests of opencode."""

    path = "/chat/completions"

    def request(self, body: dict[str, Any]) -> Request:
        tools = [tool["function"]["name"] for tool in body.get("tools") or ()]
        results = [
            _text(message["content"]) for message in body["messages"] if message["role"] == "tool"
        ]
        return Request(tools, results, json.dumps(body))

    def events(self, body: dict[str, Any], answer: Answer) -> list[dict[str, Any]]:
        delta: dict[str, Any] = {"role": "assistant", "content": answer.text}
        if answer.call:
            function = {"name": answer.call, "arguments": json.dumps(answer.arguments)}
            call = {"index": 0, "id": f"call_{answer.number}", "type": "function"}
            delta["tool_calls"] = [{**call, "function": function}]
        reason = "tool_calls" if answer.call else "stop"
        head = {"id": f"chat-{answer.number}", "object": "chat.completion.chunk", "created": 0}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choices = [
            {"index": 0, "delta": delta, "finish_reason": None},
            {"index": 0, "delta": {}, "finish_reason": reason},
        ]
        model = {"model": body.get("model", "")}
        return [{**head, **model, "choices": [one], "usage": usage} for one in choices]


class Responses:
    """The requests of Codex."""

    path = "/responses"

    def request(self, body: dict[str, Any]) -> Request:
        items = body["input"]
        tools = []
        for tool in self._listed(body):
            inner = tool.get("tools") if tool.get("type") == "namespace" else None
            prefix = f"{tool['name']}." if inner else ""
            tools += [f"{prefix}{one.get('name', one.get('type'))}" for one in inner or [tool]]
        results = [
            _text(item.get("output", item.get("tools")))
            for item in items
            if item["type"].endswith("_output")
        ]
        return Request(tools, results, json.dumps(body))

    def events(self, body: dict[str, Any], answer: Answer) -> list[dict[str, Any]]:
        head = {"id": f"response-{answer.number}", "object": "response", "created_at": 0}
        item: dict[str, Any]
        if answer.call == "tool_search":
            item = {"type": "tool_search_call", "execution": "client"}
            item |= {"call_id": f"call_{answer.number}", "arguments": answer.arguments}
        elif answer.call:
            space, _, name = answer.call.rpartition(".")
            item = {"type": "function_call", "call_id": f"call_{answer.number}", "name": name}
            item |= {"arguments": json.dumps(answer.arguments)}
            item |= {"namespace": space} if space else {}
        else:
            content: list[Any] = [{"type": "output_text", "text": answer.text, "annotations": []}]
            item = {"type": "message", "role": "assistant", "content": content}
        item |= {"id": f"item_{answer.number}", "status": "completed"}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        done = {**head, "status": "completed", "output": [item], "usage": usage}
        return [
            {"type": "response.created", "response": {**head, "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": done},
        ]

    @staticmethod
    def _listed(body: dict[str, Any]) -> list[dict[str, Any]]:
        found = [
            tool
            for item in body["input"]
            if item["type"] in ("additional_tools", "tool_search_output")
            for tool in item.get("tools") or ()
        ]
        return [*(body.get("tools") or ()), *found]


class GenerateContent:
    """The requests of Gemini CLI."""

    path = "GenerateContent"

    def request(self, body: dict[str, Any]) -> Request:
        tools = [
            function["name"]
            for tool in body.get("tools") or ()
            for function in tool.get("functionDeclarations") or ()
        ]
        parts = [part for content in body.get("contents") or () for part in content["parts"]]
        results = [
            _text(part["functionResponse"].get("response"))
            for part in parts
            if "functionResponse" in part
        ]
        return Request(tools, results, json.dumps(body))

    def events(self, body: dict[str, Any], answer: Answer) -> list[dict[str, Any]]:
        text = answer.text
        if text == SIDE_ANSWER and "json" in json.dumps(body.get("generationConfig", {})):
            text = json.dumps({"reasoning": "scripted", "next_speaker": "user"})
        part: dict[str, Any] = {"text": text}
        if answer.call:
            call = {"id": f"call_{answer.number}", "name": answer.call, "args": answer.arguments}
            part = {"functionCall": call}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        candidate = {"index": 0, "content": content, "finishReason": "STOP"}
        return [{"candidates": [candidate], "usageMetadata": usage}]


WIRES = (ChatCompletions(), Responses(), GenerateContent())


class ScriptedProvider:
    """Plays a script on the loopback; `requests` holds those that had tools."""

    def __init__(self, steps: list[dict[str, Any]]) -> None:
        self.requests: list[Request] = []
        self._steps = steps
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Write nothing."""

            def do_GET(self) -> None:
                self._send("application/json", b'{"data": [], "models": []}')

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                path = self.path.partition("?")[0]
                wire = next((wire for wire in WIRES if path.endswith(wire.path)), None)
                if wire is None and path.endswith(":generateContent"):
                    wire = WIRES[-1]
                if wire is None:
                    self._send("application/json", b"{}")
                    return
                events = provider.play(wire, body)
                if "alt=sse" in self.path or body.get("stream"):
                    texts = [_event(event) for event in events]
                    end = "data: [DONE]\n\n" if isinstance(wire, ChatCompletions) else ""
                    self._send("text/event-stream", ("".join(texts) + end).encode())
                else:
                    self._send("application/json", json.dumps(events[-1]).encode())

            def _send(self, kind: str, content: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        server = LoopbackServer(Handler)
        self.url = server.url
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def play(self, wire: Any, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Note the request, and return the events of its answer."""
        request = wire.request(body)
        number = len(request.results)
        if not request.tools:
            return wire.events(body, Answer(number, SIDE_ANSWER))  # type: ignore[no-any-return]
        self.requests.append(request)
        step = self._steps[min(number, len(self._steps) - 1)]
        if step.get("kill"):
            _kill_servers()
        name = _offered(step.get("call", ""), request.tools)
        answer = Answer(number, step.get("text"), name, step.get("arguments", {}))
        return wire.events(body, answer)  # type: ignore[no-any-return]


def _kill_servers() -> None:
    """Kill `foldline mcp` among the processes below this one, and wait until it has ended."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "mcp" in process.cmdline() and "foldline" in " ".join(process.cmdline()):
                process.kill()
                process.wait(10)


def _event(event: dict[str, Any]) -> str:
    kind = f"event: {event['type']}\n" if "type" in event else ""
    return f"{kind}data: {json.dumps(event)}\n\n"


def _offered(name: str, tools: list[str]) -> str:
    """The name under which a tool is offered; one that isn't is called as it is."""
    pattern = re.compile(rf"(?:.*[_.])?{re.escape(name)}")
    found = [tool for tool in tools if name and pattern.fullmatch(tool)]
    return next((tool for tool in found if "foldline" in tool), found[0] if found else name)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(_text(part) for part in content)
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        return str(content["text"])
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
