"""Policies with prices against the providers' prompt caches, and handles on the wire."""

import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from foldline.prompts import (
    CachePrices,
    ContextPolicy,
    MarkdownSection,
    Priority,
    PromptTemplate,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.adapters import ScriptedAdapter, ScriptedCall, ScriptedTurn
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError
from foldline.prompts.runtime import ContextReplaced, InProcessEventBus

from .providers import Json, serving
from .wire.simulators import (
    AnthropicSimulator,
    OpenAIResponsesSimulator,
    OpenAISimulator,
    Simulator,
)
from .wires import Said

SETTINGS: list[tuple[Callable[[Any], Simulator], Json]] = [
    (
        AnthropicSimulator,
        {"model": "claude-opus-5-5", "options": {"cache_control": {"type": "ephemeral"}}},
    ),
    (OpenAISimulator, {"model": "gpt-5.6"}),
    (OpenAIResponsesSimulator, {"model": "gpt-5.6"}),
]
TURNS = 24
ROOT = pathlib.Path(__file__).resolve().parents[3]


@FrozenDataclass()
class Path:
    path: str


def read(params: Path, *, context: ToolContext) -> ToolResult[str]:
    text = f"{params.path} ".ljust(6_000, "x")
    return ToolResult(value=text, summary=f"outline of {params.path}", priority=Priority.LOW)


def prompt(*more: Tool[Any, Any]) -> PromptTemplate[None]:
    tools = [Tool[Path, str](name="read", description="Reads.", handler=read), *more]
    section = MarkdownSection[None](
        title="T", key="t", template="Find it. " + "Rules. " * 600, tools=tools
    )
    return PromptTemplate[None](ns="n", key="k", sections=[section])


def bill(
    kind: Callable[[Any], Simulator], settings: Json, policy: ContextPolicy | None
) -> tuple[float, int, list[ContextReplaced]]:
    """The billed-equivalent tokens of a run, the tokens of its last request, and what changed."""
    script = [Said(calls=(("read", {"path": f"m{n}.py"}),)) for n in range(TURNS)]
    bus = InProcessEventBus()
    replaced: list[ContextReplaced] = []
    bus.subscribe(ContextReplaced, replaced.append)
    with serving(kind([*script, Said("Found.")])) as simulator:
        adapter = simulator.adapter(max_turns=TURNS + 1, **settings)
        response = adapter.evaluate(prompt(), bus=bus, context_policy=policy)
        assert response.text == "Found."
        assert simulator.refusals == []
        billed = sum(metered.billed() for metered in simulator.metered)
        assert response.usage.billed() == pytest.approx(billed)
        return billed, simulator.metered[-1].total, replaced


def documented(column: int) -> list[float]:
    """The numbers of a column of the table in the documentation, by policy."""
    page = (ROOT / "docs" / "06-evaluate.md").read_text(encoding="utf-8")
    rows = page.split("| policy | Anthropic |")[1].split("\n\n")[0].splitlines()[2:]
    return [float(row.split("|")[column + 1].replace(",", "")) for row in rows]


@pytest.mark.parametrize(("kind", "settings"), SETTINGS, ids=lambda v: getattr(v, "__name__", ""))
def test_a_policy_with_prices_is_cheaper_than_either(
    kind: Callable[[Any], Simulator], settings: Json
) -> None:
    nothing, all_tokens, _ = bill(kind, settings, ContextPolicy(keep_turns=None))
    always, few_tokens, each_turn = bill(kind, settings, ContextPolicy())
    priced, some_tokens, batches = bill(kind, settings, ContextPolicy(prices=CachePrices()))
    column = 1 if kind is AnthropicSimulator else 2
    assert documented(column) == pytest.approx([nothing, always, priced], rel=0.02)
    if column == 1:
        assert documented(3) == pytest.approx([all_tokens, few_tokens, some_tokens], rel=0.02)
    assert few_tokens < some_tokens < all_tokens
    assert priced < nothing
    assert priced < always
    assert 0 < len(batches) < len(each_turn)
    for batch in batches:
        assert batch.savings is not None
        assert batch.savings.removed >= batch.savings.rewritten


def test_a_handle_returns_what_was_replaced() -> None:
    seen: list[str] = []

    def model(rendered: Any, outcomes: Any) -> ScriptedTurn:
        assert [tool.name for tool in rendered.tools] == ["read", "read_result"]
        seen[:] = [o.result.message or o.result.value for turn in outcomes for o in turn]
        if len(seen) < 3:
            return ScriptedTurn("", (ScriptedCall("read", {"path": f"{len(seen)}.py"}),))
        if len(seen) == 3:
            wrong = ScriptedCall("read_result", {"handle": "r9"})
            return ScriptedTurn("", (ScriptedCall("read_result", {"handle": "r1"}), wrong))
        return ScriptedTurn("Done.")

    policy = ContextPolicy(keep_turns=1, handles=True)
    ScriptedAdapter(model).evaluate(prompt(), context_policy=policy)
    assert seen[0].startswith("outline of 0.py\n[shortened; read_result returns it")
    assert seen[3] == "0.py ".ljust(6_000, "x")
    assert "There is no result 'r9'" in seen[4]


def test_a_tool_of_the_same_name_is_refused() -> None:
    own = Tool[Path, str](name="read_result", description="Mine.", handler=read)
    with pytest.raises(PromptConfigurationError, match="rename it"):
        ScriptedAdapter(lambda *_: "No.").evaluate(
            prompt(own), context_policy=ContextPolicy(handles=True)
        )
