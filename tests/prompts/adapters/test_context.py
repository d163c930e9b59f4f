"""The adapters' loop applies a context policy before each request, on both wires."""

import itertools
from collections.abc import Callable
from typing import Any

from foldline.prompts import (
    ContextPolicy,
    MarkdownSection,
    Priority,
    PromptTemplate,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.adapters import RecordingAdapter, ScriptedAdapter, ScriptedTurn
from foldline.prompts.adapters.transcript import ScriptedCall
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.runtime import evaluate_with_disclosure

from .providers import Json
from .wire.anthropic_rule import AnthropicCache
from .wire.openai_rule import OpenAICache
from .wire.validation import check
from .wires import Line, Said

BODY = "x" * 1000
STUB = "removed to save room; call it again]"


@FrozenDataclass()
class Path:
    path: str


@FrozenDataclass()
class Lines:
    path: str
    start: int


def read(params: Path, *, context: ToolContext) -> ToolResult[str]:
    if params.path == "missing":
        raise LookupError("no such file " + "!" * 500)
    text = f"{params.path} {BODY}"
    return ToolResult(value=text, summary=f"outline of {params.path}", priority=Priority.LOW)


def search(params: Path, *, context: ToolContext) -> ToolResult[str]:
    return ToolResult(value=f"hits {params.path} {BODY}", priority=Priority.HIGH)


def lines(params: Lines, *, context: ToolContext) -> ToolResult[str]:
    return ToolResult(value=f"lines {params.start} {BODY}")


def prompt(policy: ContextPolicy | None = None) -> PromptTemplate[None]:
    tools: list[Tool[Any, Any]] = [
        Tool[Path, str](name="read", description="Reads.", handler=read, context_policy=policy),
        Tool[Path, str](name="search", description="Searches.", handler=search),
        Tool[Lines, str](name="lines", description="Shows lines.", handler=lines),
    ]
    section = MarkdownSection[None](title="T", key="t", template="Find it.", tools=tools)
    return PromptTemplate(ns="n", key="k", sections=[section])


CALLS: list[tuple[tuple[str, dict[str, object]], ...]] = [
    (("search", {"path": "s"}),),
    (("lines", {"path": "l", "start": 7}), ("read", {"path": "a"})),
    (("read", {"path": "missing"}),),
    (("read", {"path": "b"}),),
    (("read", {"path": "c"}),),
]


SCRIPT = [*(Said(calls=calls, tag=f"{n}_") for n, calls in enumerate(CALLS)), Said("Found.")]


def results(request: Json) -> list[str]:
    """The texts of all tool results of a request, in their order."""
    texts: list[str] = []
    for message in request.get("messages") or request["input"]:
        if message.get("role") == "tool":
            texts.append(message["content"])
        elif message.get("type") == "function_call_output":
            texts.append(message["output"])
        elif isinstance(message.get("content"), list):
            texts += [b["content"] for b in message["content"] if b["type"] == "tool_result"]
    return texts


def check_pairs(line: Line) -> None:
    """Every call has its result where the provider wants it."""
    for request in line.provider.requests:
        check(line.wire.api, request)
        if line.wire.api == "anthropic":
            AnthropicCache().meter(request)
        else:
            OpenAICache().meter(request)


def run(line: Line, evaluate: Callable[..., object], **settings: Any) -> list[list[str]]:
    """The tool results of each request."""
    line.will_say(*SCRIPT)
    evaluate(line.adapter(**settings))
    check_pairs(line)
    return [[text[:24] for text in results(request)] for request in line.provider.requests]


def test_without_a_policy_every_request_holds_everything(line: Line) -> None:
    sent = run(line, lambda adapter: adapter.evaluate(prompt(), on_text=line.on_text))
    assert [len(texts) for texts in sent] == [0, 1, 3, 4, 5, 6]
    assert sent[-1][:3] == ["hits s " + "x" * 17, "lines 7 " + "x" * 16, "a " + "x" * 22]


def test_old_results_are_sent_as_their_summaries(line: Line) -> None:
    policy = ContextPolicy(keep_turns=2)
    sent = run(
        line,
        lambda adapter: adapter.evaluate(prompt(), context_policy=policy, on_text=line.on_text),
    )
    assert [texts[2] for texts in sent[2:]] == ["a " + "x" * 22] * 2 + ["outline of a"] * 2
    assert sent[-1][4:] == ["b " + "x" * 22, "c " + "x" * 22]


def test_a_budget_removes_the_least_useful_and_says_what(line: Line) -> None:
    policy = ContextPolicy(keep_turns=1, budget=500)
    line.will_say(*SCRIPT)
    line.adapter(context_policy=policy).evaluate(prompt(), on_text=line.on_text)
    last = results(line.provider.requests[-1])
    assert last[0] == f"[search s: {STUB}"
    assert last[1] == f'[lines {{"path": "l", "start": 7}}: {STUB}'
    assert last[3] == f"[read missing: {STUB}"
    assert [text[:12] for text in (last[2], last[4])] == ["outline of a", "outline of b"]
    assert last[5] == f"c {BODY}"
    check_pairs(line)


def test_what_was_removed_stays_removed(line: Line) -> None:
    policy = ContextPolicy(keep_turns=1, budget=1_500)
    sent = run(
        line,
        lambda adapter: adapter.evaluate(prompt(), context_policy=policy, on_text=line.on_text),
    )
    for number in range(6):
        texts = [texts[number] for texts in sent if len(texts) > number]
        changes = [before != after for before, after in itertools.pairwise(texts)]
        assert sum(changes) <= 2, texts


def test_the_tools_bring_a_policy_that_adapters_and_evaluations_replace(line: Line) -> None:
    shortening = ContextPolicy(keep_turns=1)
    keeping = ContextPolicy(keep_turns=None)
    for settings, arguments, short in (
        ({}, {}, True),
        ({"context_policy": keeping}, {}, False),
        ({"context_policy": keeping}, {"context_policy": shortening}, True),
    ):
        line.provider.requests.clear()
        sent = run(
            line,
            lambda adapter, arguments=arguments: evaluate_with_disclosure(
                adapter, prompt(shortening), on_text=line.on_text, **arguments
            ),
            **settings,
        )
        assert (sent[-1][2] == "outline of a") is short


def test_a_scripted_model_sees_what_a_provider_would() -> None:
    seen: list[list[str]] = []

    def model(_: object, outcomes: Any) -> ScriptedTurn:
        seen.append([o.result.message or o.result.value for turn in outcomes for o in turn])
        calls = CALLS[len(seen) - 1] if len(seen) <= len(CALLS) else ()
        return ScriptedTurn("", tuple(ScriptedCall(name, args) for name, args in calls))

    adapter = RecordingAdapter(ScriptedAdapter(model))
    adapter.evaluate(prompt(), context_policy=ContextPolicy(keep_turns=1))
    assert seen[-1][2] == "outline of a"
    recorded = adapter.transcript.exchanges[0].turns[1].results
    assert recorded is not None
    assert recorded[1].startswith("a xxx"), "what the tool gave, not what it became"
