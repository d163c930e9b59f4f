"""The simulators refuse what a provider refuses; adapters' tests show what they answer."""

import json
from http.client import HTTPConnection
from typing import Any

import pytest

from ..providers import Json, serving
from ..wires import Said
from .simulators import AnthropicSimulator, OpenAIResponsesSimulator, OpenAISimulator, Simulator

QUESTION: Json = {"role": "user", "content": "Hi."}
USE: Json = {"type": "tool_result", "tool_use_id": "none", "content": "."}
OUTPUT: Json = {"type": "function_call_output", "call_id": "none", "output": "."}
# The path, the list of messages, what else a request has, and a result of no call.
KINDS: list[tuple[type[Simulator], str, str, Json, Json]] = [
    (
        AnthropicSimulator,
        "/v1/messages",
        "messages",
        {"model": "claude-opus-5-5", "max_tokens": 9},
        {"role": "user", "content": [USE]},
    ),
    (
        OpenAISimulator,
        "/v1/chat/completions",
        "messages",
        {"model": "gpt-5.6"},
        {"role": "tool", "tool_call_id": "none", "content": "."},
    ),
    (OpenAIResponsesSimulator, "/v1/responses", "input", {"model": "gpt-5.6"}, OUTPUT),
]


@pytest.mark.parametrize(
    ("kind", "path", "name", "more", "lost"), KINDS, ids=lambda value: str(value)[:9]
)
def test_what_a_provider_refuses_is_refused(
    kind: type[Simulator], path: str, name: str, more: Json, lost: Json
) -> None:
    def status(*messages: Json) -> int:
        connection = HTTPConnection("127.0.0.1", simulator.server.server_port)
        connection.request("POST", path, json.dumps({**more, name: messages}))
        answer: Any = connection.getresponse()
        answer.read()
        connection.close()
        return int(answer.status)

    with serving(kind([Said("Fine.")])) as simulator:
        assert status({**QUESTION, "surprise": 1}) == 400
        assert "surprise" in simulator.refusals[0]
        assert status(QUESTION, lost) == 400
        assert "none" in simulator.refusals[1]
        assert simulator.metered == []
        assert status(QUESTION) == 200
        assert len(simulator.metered) == 1
