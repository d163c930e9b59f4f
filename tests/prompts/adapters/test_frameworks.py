"""The page on other frameworks, run with the real packages, sends what our own adapters send."""

import json
import os
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.prompts import (
    Deadline,
    EvaluationTimeoutError,
    MarkdownSection,
    PromptConfigurationError,
    PromptTemplate,
    SectionVisibility,
    Task,
    TaskSection,
)
from foldline.prompts.adapters import PromptToolset
from foldline.prompts.adapters.disclosure import evaluate_with_disclosure
from foldline.prompts.runtime import Session

from .openings import WIRES
from .providers import Json, Provider, serving
from .responses_wire import OpenAIResponsesWire
from .test_docs import BLOCK, DOCS
from .test_opening import Bench, templates
from .wires import OpenAIWire, Said

Calls = tuple[tuple[str, object], ...]
TOOLS: Calls = (
    ("open_sections", {"section_keys": ["security"], "reason": "Secrets"}),
    ("call_tool", {"name": "explain", "arguments": {}}),
)
# The framework's own way to load it, and then its tool by its own name.
CAPABILITY: Calls = (("load_capability", {"id": "security"}), ("explain", {}))
CHAT, RESPONSES = OpenAIWire(), OpenAIResponsesWire()
SCRIPT = Path(__file__).with_name("scripted_claude.py")
TASK = Task(request="Review auth/tokens.py.")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """The requests of each framework and of our adapter, and what Claude's program got.

    The page runs in a process of its own: the SDKs leave connections to the garbage collector.
    """
    folder = tmp_path_factory.mktemp("frameworks")
    blocks = BLOCK.findall((DOCS / "frameworks.md").read_text(encoding="utf-8"))
    (folder / "page.py").write_text("\n".join(blocks), encoding="utf-8")
    words = [sys.executable, str(SCRIPT), str(folder / "record"), json.dumps(TOOLS)]
    program = folder / "claude"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    with serving(Provider()) as provider:
        chat, loaded, responses = (
            [wire.whole(Said(calls=(call,), tag=call[0])) for call in calls]
            for wire, calls in ((CHAT, TOOLS), (CHAT, CAPABILITY), (RESPONSES, TOOLS))
        )
        provider.will(*chat, CHAT.whole(Said("Tools.")), *loaded, CHAT.whole(Said("Capability.")))
        provider.will(*responses, RESPONSES.whole(Said("Agents.")))
        provider.will(*chat, CHAT.whole(Said("Ours.")))
        environment = {
            "HOME": str(folder),
            "NO_PROXY": "127.0.0.1",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
            "OPENAI_API_KEY": "test",
            "OPENAI_BASE_URL": f"{provider.url}/v1",
            "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
            # Nothing is encrypted here, and reading certificates takes each client 50 ms.
            "SSL_CERT_DIR": str(folder),
        }
        printed = subprocess.run(
            [sys.executable, "page.py"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert printed.returncode == 0, printed.stderr
        namespace: dict[str, Any] = {"__name__": "page"}
        exec(blocks[0], namespace)
        evaluate_with_disclosure(CHAT.adapter(provider), namespace["review"], TASK)
    tools, capability, agents, ours = (provider.requests[at : at + 3] for at in range(0, 12, 3))
    return SimpleNamespace(
        tools=tools,
        capability=capability,
        agents=agents,
        ours=ours,
        claude=json.loads((folder / "record").read_text(encoding="utf-8")),
        review=namespace["review"],
        printed=printed.stdout,
    )


def said(request: Json) -> list[tuple[str, str]]:
    """What a request of chat completions says, by role."""
    return [(m["role"], text_of(m["content"])) for m in request["messages"] if m.get("content")]


def text_of(content: str | list[Json]) -> str:
    """The text of a message; one with a breakpoint of the cache has parts."""
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def offered(tools: list[Json], schema: str = "parameters") -> list[tuple[str, str, object]]:
    """The tools' names, descriptions and schemas, without what a framework adds."""
    return [
        (tool["name"], tool["description"], json.loads(json.dumps(tool[schema], sort_keys=True)))
        for tool in tools
    ]


def test_every_framework_sends_what_our_adapter_sends(page: SimpleNamespace) -> None:
    ours = [said(request) for request in page.ours]
    instructions, user = ours[0]
    results = [text for role, text in ours[-1] if role == "tool"]
    definitions = offered(CHAT.tools(page.ours[0]))
    assert [said(request) for request in page.tools] == ours
    for request in page.agents:
        assert request["instructions"] == instructions[1]
        assert request["input"][0] == {"content": user[1], "role": "user"}
    assert [item["output"] for item in page.agents[-1]["input"] if "output" in item] == results
    claude = page.claude
    assert claude["arguments"][claude["arguments"].index("--system-prompt") + 1] == instructions[1]
    assert claude["prompt"] == user[1]
    assert claude["results"] == [[{"type": "text", "text": text}] for text in results]
    # A framework may close the objects of a schema, and sort its keys.
    for tools in (CHAT.tools(page.tools[0]), page.agents[0]["tools"]):
        assert [tool[:2] for tool in offered(tools)] == [tool[:2] for tool in definitions]
    assert offered(claude["tools"], "inputSchema") == definitions


@pytest.mark.parametrize("framework", ["tools", "agents", "ours"])
def test_what_was_sent_stays_when_a_section_opens(page: SimpleNamespace, framework: str) -> None:
    requests = getattr(page, framework)
    turns = "input" if framework == "agents" else "messages"
    for before, after in pairwise(requests):
        assert after[turns][: len(before[turns])] == before[turns]
        assert after["tools"] == before["tools"]


def test_the_page_prints_what_it_shows(page: SimpleNamespace) -> None:
    first, *answers = page.printed.splitlines()
    assert answers == ["Tools.", "Capability.", "Agents.", "Sdk."]
    shown = (DOCS / "frameworks.md").read_text(encoding="utf-8")
    assert f"```text\n{first}\n```" in shown


def test_a_folded_section_is_a_capability(page: SimpleNamespace) -> None:
    first, loaded, called = page.capability
    rendered = page.review.render(TASK)
    system = [text for role, text in said(first) if role == "system"]
    assert system[0] == rendered.blocks[0].text.strip()
    assert "- security: The rules for secrets and passwords.\n" in system[1]
    assert ("user", rendered.messages[-1].text) in said(first)
    full = rendered.if_opened(("security",))
    assert full not in str(said(first))
    # What was sent stays, and the text that it loads is the one that our tool opens.
    assert loaded["messages"][: len(first["messages"])] == first["messages"]
    assert called["messages"][: len(loaded["messages"])] == loaded["messages"]
    assert any(full in text for _, text in said(loaded))
    assert full in page.ours[1]["messages"][-1]["content"]
    assert [tool["name"] for tool in CHAT.tools(first)] == ["load_capability"]
    assert "explain" in [tool["name"] for tool in CHAT.tools(loaded)]
    assert said(called)[-1] == said(page.ours[-1])[-1]


# The toolset alone


@given(templates(), st.lists(st.integers(0, 400), max_size=4))
@settings(settings.get_profile("costly"))
def test_a_toolset_says_what_an_evaluation_says(
    template: PromptTemplate[None], picks: list[int]
) -> None:
    simulator, model = WIRES["chat completions"]
    with serving(simulator([])) as provider:
        requests, _, _, response = Bench(provider, model).run(template, picks)
    toolset = PromptToolset(template, max_expansions=32)
    first, last = requests[0], requests[-1]
    assert offered([tool._asdict() for tool in toolset.definitions]) == offered(CHAT.tools(first))
    user = [text for role, text in said(first) if role == "user"]
    other = [text for role, text in said(first) if role != "user"]
    assert (toolset.instructions, toolset.input) == ("\n\n".join(other), "".join(user))
    calls = [call["function"] for m in last["messages"] for call in m.get("tool_calls", ())]
    results = [text for role, text in said(last) if role == "tool"]
    assert [toolset.call(call["name"], call["arguments"]) for call in calls] == results
    assert toolset.rendered.text == response.rendered.text


def folded(key: str, **given: object) -> MarkdownSection[None]:
    return MarkdownSection[None](
        title=key.title(),
        key=key,
        template=f"All of {key}.",
        summary=f"{key} in short.",
        visibility=SectionVisibility.SUMMARY,
        **given,  # type: ignore[arg-type]
    )


def template(*sections: MarkdownSection[None]) -> PromptTemplate[str]:
    return PromptTemplate(ns="t", key="t", sections=[*sections, TaskSection[Task]()])


def test_whatever_is_wrong_with_a_call_is_told() -> None:
    toolset = PromptToolset(template(folded("rules")), TASK)
    assert toolset.instructions == ""
    assert "There is no tool 'nothing'" in toolset.call("nothing")
    assert "not JSON" in toolset.call("read_section", "{")
    assert "section_key" in toolset.call("read_section", None)
    assert "did you mean 'rules'" in toolset.call("read_section", {"section_key": "rule"})
    assert "All of rules." in toolset.call("read_section", '{"section_key": "rules"}')


def test_sections_are_granted_until_the_limit() -> None:
    two = PromptTemplate(ns="t", key="t", sections=[folded("a"), folded("b")], disclosure="open")
    toolset = PromptToolset(two, max_expansions=1)
    opened = toolset.call("open_sections", {"section_keys": ["a"], "reason": "?"})
    assert "All of a." in opened
    assert [block.visibility.name for block in toolset.rendered.blocks] == ["FULL", "SUMMARY"]
    refused = toolset.call("open_sections", {"section_keys": ["b"], "reason": "?"})
    assert "All of b." not in refused
    assert "1" in refused


def closed(*, session: Session) -> bool:
    return not session.visibility_overrides()


def test_what_would_change_what_was_sent_is_not_opened() -> None:
    """The model is told why, and the prompt stays as it is."""
    shy = MarkdownSection[None](
        title="Shy",
        key="shy",
        template="Only while the others are closed.",
        enabled=closed,  # type: ignore[arg-type]  # It asks for the session, too.
    )
    prompt = PromptTemplate(
        ns="t", key="t", sections=[folded("a"), folded("b"), shy], disclosure="open"
    )
    toolset = PromptToolset(prompt, session=Session())
    assert "All of a." in toolset.call("open_sections", {"section_keys": ["a"], "reason": "?"})
    before = toolset.rendered.text
    refused = toolset.call("open_sections", {"section_keys": ["b"], "reason": "?"})
    assert refused == "Cannot open 'b' here: the section 'shy' changes, too."
    assert toolset.rendered.text == before


def test_bounds_end_a_call_and_rendered_prompts_are_refused() -> None:
    toolset = PromptToolset(template(folded("rules")), TASK, deadline=Deadline.after(-1))
    with pytest.raises(EvaluationTimeoutError):
        toolset.call("read_section", {"section_key": "rules"})
    with pytest.raises(PromptConfigurationError, match="give a Prompt or a PromptTemplate"):
        PromptToolset(template().render(TASK))  # type: ignore[arg-type]
