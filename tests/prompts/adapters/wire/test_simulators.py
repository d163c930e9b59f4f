"""The simulators over HTTP, as the SDKs see them."""

import contextlib
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from ..providers import Json, serving
from ..wires import Said
from .prefix import text_of
from .simulators import (
    AnthropicSimulator,
    OpenAIResponsesSimulator,
    OpenAISimulator,
    Script,
    Simulator,
)

KINDS = [AnthropicSimulator, OpenAISimulator, OpenAIResponsesSimulator]
SEARCH = Said("Let me look.", (("search", {"query": "a"}), ("search", {"query": "b"})))
PROMPT = text_of(2_000, "long")


class Talk:
    """A conversation with one of the SDKs, whole or streamed: text and calls come back."""

    def __init__(self, simulator: Simulator, streaming: bool) -> None:
        self.simulator = simulator
        self.streaming = streaming
        self.texts: list[str] = []
        self.calls: list[tuple[str, str]] = []
        self.sent: list[Json] = []

    @contextlib.contextmanager
    def client(self) -> Iterator[Any]:
        settings: Json = {"api_key": "test", "max_retries": 0}
        if isinstance(self.simulator, AnthropicSimulator):
            with anthropic.Anthropic(base_url=self.simulator.url, **settings) as client:
                yield client
        else:
            with openai.OpenAI(base_url=f"{self.simulator.url}/v1", **settings) as client:
                yield client

    def ask(self, text: str) -> None:
        self.sent.append({"role": "user", "content": text})
        with self.client() as client:
            if isinstance(self.simulator, AnthropicSimulator):
                self._anthropic(client)
            elif isinstance(self.simulator, OpenAIResponsesSimulator):
                self._responses(client)
            else:
                self._chat(client)

    def _anthropic(self, client: anthropic.Anthropic) -> None:
        settings: Any = {
            "model": "claude-opus-5-5",
            "max_tokens": 100,
            "messages": self.sent,
            "cache_control": {"type": "ephemeral"},
        }
        if self.streaming:
            with client.messages.stream(**settings) as stream:
                message = stream.get_final_message()
        else:
            message = client.messages.create(**settings)
        self.texts.append("".join(b.text for b in message.content if b.type == "text"))
        uses = [block for block in message.content if block.type == "tool_use"]
        self.calls += [(use.id, use.name) for use in uses]
        said = [self._bare(block.to_dict()) for block in message.content]
        self.sent.append({"role": "assistant", "content": said})
        results = [{"type": "tool_result", "tool_use_id": u.id, "content": "."} for u in uses]
        if results:
            self.sent.append({"role": "user", "content": results})

    def _bare(self, block: Any) -> Json:
        return {key: value for key, value in block.items() if value is not None}

    def _chat(self, client: openai.OpenAI) -> None:
        settings: Any = {"model": "gpt-5.6", "messages": self.sent}
        if self.streaming:
            with client.chat.completions.stream(**settings) as stream:
                completion: Any = stream.get_final_completion()
        else:
            completion = client.chat.completions.create(**settings)
        message = completion.choices[0].message
        self.texts.append(message.content or "")
        calls = message.tool_calls or []
        self.calls += [(call.id, call.function.name) for call in calls]
        said: Json = {"role": "assistant", "content": message.content}
        if calls:
            said["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.function.name, "arguments": call.function.arguments},
                }
                for call in calls
            ]
        self.sent.append(said)
        self.sent += [{"role": "tool", "tool_call_id": c.id, "content": "."} for c in calls]

    def _responses(self, client: openai.OpenAI) -> None:
        settings: Any = {"model": "gpt-5.6", "input": self.sent}
        if self.streaming:
            with client.responses.stream(**settings) as stream:
                response: Any = stream.get_final_response()
        else:
            response = client.responses.create(**settings)
        self.texts.append(response.output_text)
        calls = [item for item in response.output if item.type == "function_call"]
        self.calls += [(call.call_id, call.name) for call in calls]
        if response.output_text:
            self.sent.append({"role": "assistant", "content": response.output_text})
        for call in calls:
            made = {"call_id": call.call_id, "name": call.name, "arguments": call.arguments}
            self.sent.append({"type": "function_call", **made})
        for call in calls:
            output = {"call_id": call.call_id, "output": "."}
            self.sent.append({"type": "function_call_output", **output})


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streaming(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@contextlib.contextmanager
def talking(kind: Any, script: Script, streaming: bool = False) -> Iterator[Talk]:
    with serving(kind(script)) as simulator:
        yield Talk(simulator, streaming)


def test_a_conversation_that_grows_is_read_from_the_cache(kind: Any, streaming: bool) -> None:
    with talking(kind, [SEARCH, Said("Fine."), Said("Done.")], streaming) as talk:
        for text in (PROMPT, "And?", "Then?"):
            talk.ask(text)
        assert talk.simulator.refusals == []
        assert talk.texts == ["Let me look.", "Fine.", "Done."]
        assert [name for _, name in talk.calls] == ["search", "search"]
        assert len({id_ for id_, _ in talk.calls}) == 2
        first, second, third = talk.simulator.metered
        assert (first.read, first.fresh) == (0, 0)
        assert (second.read, third.read) == (first.total, second.total)
        assert talk.simulator.kept_shares() == [1.0, 1.0]


def test_the_usage_is_what_the_rule_says(kind: Any, streaming: bool) -> None:
    with talking(kind, [Said("One."), Said("Two.")], streaming) as talk:
        talk.ask(PROMPT)
        talk.ask("More.")
        usage = talk.simulator.usage(talk.simulator.metered[1], 3)
        flat = str(usage)
        assert "2000" in flat
        metered = talk.simulator.metered[1]
        assert metered.read == 2_000
        assert metered.total == metered.read + metered.fresh + sum(metered.written.values())


def test_a_script_can_answer_the_request(kind: Any) -> None:
    def script(request: Json) -> Said:
        return Said(str(len(request.get("messages") or request["input"])))

    with talking(kind, script) as talk:
        talk.ask("One.")
        talk.ask("Two.")
        assert talk.texts == ["1", "3"]


def test_time_is_the_tests_own(kind: Any) -> None:
    with talking(kind, [Said("A."), Said("B.")]) as talk:
        talk.ask(PROMPT)
        talk.simulator.clock += 1_800
        talk.ask("Later.")
        assert talk.simulator.metered[1].read == 0


def test_what_the_sdks_types_do_not_know_is_refused(kind: Any) -> None:
    with talking(kind, [Said("Never.")]) as talk:
        talk.sent.append({"role": "user", "content": "Hi.", "surprise": 1})
        with pytest.raises((anthropic.BadRequestError, openai.BadRequestError)):
            talk.ask("No.")
        assert "surprise" in talk.simulator.refusals[0]
        assert talk.simulator.metered == []


def test_a_refused_request_says_why(kind: Any) -> None:
    with talking(kind, [Said("Never.")]) as talk:
        result: Json = {"role": "user", "content": []}
        if kind is AnthropicSimulator:
            result["content"] = [{"type": "tool_result", "tool_use_id": "no", "content": "."}]
        elif kind is OpenAISimulator:
            result = {"role": "tool", "tool_call_id": "no", "content": "."}
        else:
            result = {"type": "function_call_output", "call_id": "no", "output": "."}
        talk.sent.append(result)
        with pytest.raises((anthropic.BadRequestError, openai.BadRequestError), match="no"):
            talk.ask("No.")


def test_context_editing_clears_old_results() -> None:
    def result(number: int) -> list[Json]:
        id_ = f"c{number}"
        use: Json = {"type": "tool_use", "id": id_, "name": "read", "input": {}}
        return [
            {"role": "assistant", "content": [use]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": id_, "content": text_of(1_000, id_)}
                ],
            },
        ]

    turns = [{"role": "user", "content": "Go."}, *(m for n in range(5) for m in result(n))]
    edit: Json = {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "input_tokens", "value": 4_000},
        "keep": {"type": "tool_uses", "value": 2},
    }
    with serving(AnthropicSimulator(lambda _: Said("Done."))) as simulator:
        settings: Json = {"base_url": simulator.url, "api_key": "test", "max_retries": 0}
        with anthropic.Anthropic(**settings) as client:
            for at_least, cleared in ((100, 3), (5_000, 0)):
                clear = {"type": "input_tokens", "value": at_least}
                asked: Any = {
                    "model": "claude-opus-5-5",
                    "max_tokens": 10,
                    "betas": ["context-management-2025-06-27"],
                    "messages": turns,
                    "context_management": {"edits": [{**edit, "clear_at_least": clear}]},
                }
                message = client.beta.messages.create(**asked)
                total = simulator.metered[-1].total
                if cleared:
                    (applied,) = message.context_management.applied_edits
                    assert applied.cleared_tool_uses == cleared
                    assert 2_000 < total < 2_100
                else:
                    assert message.context_management is None
                    assert total > 5_000
