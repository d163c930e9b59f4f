"""What the plan of a prompt keeps in the providers' caches, on the wire."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest

from foldline.prompts import (
    MarkdownSection,
    PerRequest,
    PerSession,
    PromptTemplate,
    Role,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.dataclasses import FrozenDataclass

from .providers import serving
from .wire.simulators import AnthropicSimulator, OpenAIResponsesSimulator, OpenAISimulator
from .wires import Said

RULES = "Compare the receipt with the order before you promise a refund. " * 400


@FrozenDataclass()
class Desk:
    customer: Annotated[str, PerSession]
    now: Annotated[str, PerRequest]


@FrozenDataclass()
class Place:
    name: str


def look(params: Place, *, context: ToolContext) -> ToolResult[None]:
    return ToolResult("Nothing.", success=True)


LOOK = Tool[Place, None](name="look", description="Looks. " * 800, handler=look)


def template(role: Role, *, tools: bool = False) -> PromptTemplate[None]:
    return PromptTemplate(
        ns="t",
        key="desk",
        sections=[
            MarkdownSection[None](
                title="Rules",
                key="rules",
                template=RULES,
                role=role,
                tools=[LOOK] if tools else [],
            ),
            MarkdownSection[Desk](
                title="Customer", key="customer", template=f"${{customer}}\n{RULES}", role=role
            ),
            MarkdownSection[Desk](title="Now", key="now", template="${now}"),
            TaskSection[Task](),
        ],
    )


def run(
    simulator: Callable[[list[Said]], Any],
    model: str,
    prompt: PromptTemplate[None],
    asked: list[tuple[str, str]],
) -> Any:
    """The simulator after a request for each customer and time."""
    with serving(simulator([Said("Done.") for _ in asked])) as provider:
        adapter = provider.adapter(model=model)
        for customer, now in asked:
            adapter.evaluate(prompt, Desk(customer, now), Task(f"It is {now}, what now?"))
        assert provider.refusals == []
        return provider


@pytest.mark.parametrize("role", [Role.SYSTEM, Role.USER])
@pytest.mark.parametrize(
    ("simulator", "model"),
    [
        (AnthropicSimulator, "claude-opus-5-5"),
        (OpenAISimulator, "gpt-5.6"),
        (OpenAIResponsesSimulator, "gpt-5.6"),
    ],
)
def test_a_request_reads_what_others_wrote(
    simulator: Callable[[list[Said]], Any], model: str, role: Role
) -> None:
    asked = [("Ada", "noon"), ("Ada", "one"), ("Bob", "two")]
    metered = run(simulator, model, template(role), asked).metered
    rules, whole = metered[0].total * 0.45, metered[0].total * 0.95
    assert metered[0].read == 0
    assert metered[1].read > whole  # All but the time and the task.
    assert rules < metered[2].read < whole  # The rules, without what belongs to Ada.


def test_tools_are_kept_though_all_of_the_text_changes() -> None:
    prompt = PromptTemplate[None](
        ns="t",
        key="desk",
        sections=[
            MarkdownSection[Desk](title="Now", key="now", template="${now}", tools=[LOOK]),
            TaskSection[Task](),
        ],
    )
    asked = [("Ada", "noon"), ("Ada", "one")]
    provider = run(AnthropicSimulator, "claude-opus-5-5", prompt, asked)
    assert provider.metered[1].read > 1_000


def test_a_prompt_too_short_to_be_kept_is_sent_whole() -> None:
    prompt = PromptTemplate[None](
        ns="t",
        key="desk",
        sections=[
            MarkdownSection[None](title="Rules", key="rules", template="Be kind."),
            TaskSection[Task](),
        ],
    )
    with serving(AnthropicSimulator([Said("Done.")])) as provider:
        provider.adapter(model="claude-opus-5-5").evaluate(prompt, Task("Go."))
        [request] = provider.requests
    assert request["messages"] == [{"role": "user", "content": prompt.render(Task("Go.")).text}]
    assert "cache_control" not in request


def test_who_wants_no_cache_gets_none() -> None:
    with serving(AnthropicSimulator([Said("Done.")])) as provider:
        adapter = provider.adapter(model="claude-opus-5-5", options={"cache_control": None})
        adapter.evaluate(template(Role.SYSTEM, tools=True), Desk("Ada", "noon"), Task("Go."))
        assert "cache_control" not in str(provider.requests[0])


def test_models_without_breakpoints_get_none() -> None:
    asked = [("Ada", "noon")]
    provider = run(OpenAISimulator, "gpt-4o", template(Role.SYSTEM), asked)
    assert "prompt_cache_breakpoint" not in str(provider.requests[0])
