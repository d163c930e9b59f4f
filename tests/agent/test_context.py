"""What the tools' results say about their place in a conversation, in every shell."""

import asyncio
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks import bench_session
from tests.prompts.adapters.providers import Provider, serving
from tests.prompts.adapters.responses_wire import OpenAIResponsesWire
from tests.prompts.adapters.test_context import results
from tests.prompts.adapters.wires import AnthropicWire, Line, OpenAIWire, Said, Wire
from tests.rows import slow

from foldline.agent.cli import main
from foldline.agent.mcp.stdio import Options
from foldline.agent.tools import CONTEXT_POLICY, code_tools
from foldline.ide.operations import OPERATIONS
from foldline.ide.workspace import Workspace
from foldline.prompts import ContextPolicy, MarkdownSection, Priority, PromptTemplate, ToolContext
from foldline.prompts.context import Message, Role

from .mcp_process import connect_here

TURNS = 30
CODE = "\n\n".join(
    f'def step_{number}(value: int) -> int:\n    """Do step {number}."""\n'
    + "".join(f"    value = value * {number} + {line}\n" for line in range(12))
    + "    return value\n"
    for number in range(12)
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(TURNS):
        (tmp_path / f"module_{number}.py").write_text(CODE.replace("step", f"step_{number}"))
    (tmp_path / "notes.txt").write_text("just a line of text\n" * 400)
    (tmp_path / "short.txt").write_text("just\ntext\n")
    return tmp_path


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    workspace = Workspace.at(root)
    yield workspace
    workspace.close()


def call(workspace: Workspace, tool_name: str, /, **arguments: object) -> Any:
    tool = next(tool for tool in code_tools(workspace) if tool.name == tool_name)
    return tool.handler(tool.decode(arguments), context=ToolContext())


def test_a_read_file_carries_its_outline_in_python(workspace: Workspace) -> None:
    result = call(workspace, "read_file", path="module_3.py")
    assert "    return value" in result.value
    assert "def step_3_0(value: int) -> int" in result.summary
    assert "return value" not in result.summary
    assert result.priority is Priority.LOW
    notes = call(workspace, "read_file", path="notes.txt")
    assert notes.summary.startswith("notes.txt (unknown, 400 lines)")
    assert call(workspace, "read_file", path="short.txt").summary is None, "it's no longer than it"


def test_an_old_read_of_a_file_without_definitions_is_shortened(workspace: Workspace) -> None:
    messages = []
    for path in ("notes.txt", "module_1.py", "module_2.py", "module_3.py"):
        result = call(workspace, "read_file", path=path)
        summary, priority = result.summary, result.priority
        read = Message(Role.TOOL, result.value, "read_file", path, summary, priority)
        messages += [Message(Role.ASSISTANT, "calls"), read]
    assert messages[1].size > 7_000
    assert CONTEXT_POLICY.apply(messages).messages[1].size < 200


def test_a_read_file_carries_its_outline_over_mcp(root: Path) -> None:
    async def read() -> Any:
        async with connect_here(Options(roots=(root,))) as client:
            return await client.call_tool("read_file", {"path": "module_3.py"})

    result = asyncio.run(read())
    assert result.meta["foldline/priority"] == "low"
    assert "def step_3_0(value: int) -> int" in result.meta["foldline/summary"]
    assert "def step_3_0" in result.content[0].text
    assert len(result.content) == 1


def test_the_outline_names_the_folder_where_there_are_several(tmp_path: Path) -> None:
    roots = []
    code = "def f() -> None:\n" + "    print('longer than its outline')\n" * 9
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(code)
        roots.append(tmp_path / name)

    async def read() -> Any:
        async with connect_here(Options(roots=tuple(roots))) as client:
            return await client.call_tool("read_file", {"path": "two/a.py"})

    assert asyncio.run(read()).meta["foldline/summary"].startswith("two/a.py")


def test_a_read_file_carries_its_outline_in_json(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", "module_3.py", "--root", str(root), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert "def step_3_0(value: int) -> int" in answer["_summary"]
    assert answer["priority"] == "low"
    assert main(["read", "notes.txt", "--root", str(root), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)["_summary"]
    assert summary.startswith("notes.txt (unknown, 400 lines)")


def test_results_have_the_specified_priorities() -> None:
    priorities = {operation.tool: operation.priority for operation in OPERATIONS if operation.tool}
    high = {name for name, priority in priorities.items() if priority == "high"}
    low = {name for name, priority in priorities.items() if priority == "low"}
    assert high == {"get_tree", "search_for_files", "grep_in_files", "get_file_outline"}
    assert low == {"read_file"}
    assert priorities["read_symbol"] == priorities["find_references"] == "medium"


def test_compact_results_have_no_summary(workspace: Workspace) -> None:
    assert call(workspace, "get_file_outline", path="module_1.py").summary is None
    assert call(workspace, "read_symbol", path="module_1.py", name="step_1_2").summary is None
    assert call(workspace, "search_for_files", query="step").summary is None


def thirty_turns(line: Line, workspace: Workspace, **settings: object) -> list[list[str]]:
    """The tool results of each request of an agent that reads and searches for thirty turns."""
    section = MarkdownSection[None](
        title="T", key="t", template="Find the bug.", tools=code_tools(workspace)
    )
    prompt = PromptTemplate[None](ns="n", key="k", sections=[section])
    for turn in range(TURNS):
        path = {"path": f"module_{turn}.py"}
        calls: list[tuple[str, object]] = [("read_file", path)]
        if turn % 3 == 0:
            calls.append(("get_file_outline", path))
        if turn % 5 == 0:
            calls.append(("read_symbol", {**path, "name": f"step_{turn}_4"}))
        line.will_say(Said(calls=tuple(calls)))
    line.will_say(Said("Found it."))
    adapter = line.adapter(max_turns=TURNS + 1)
    assert adapter.evaluate(prompt, on_text=line.on_text, **settings).text == "Found it."  # type: ignore[arg-type]  # As given.
    return [results(request) for request in line.provider.requests]


@pytest.mark.parametrize("streaming", [False, *slow(True)], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "wire", [OpenAIWire(), OpenAIResponsesWire(), AnthropicWire()], ids=lambda wire: wire.api
)
def test_an_agent_of_thirty_turns(wire: Wire, streaming: bool, workspace: Workspace) -> None:
    with serving(Provider()) as provider:
        line = Line(wire, provider, streaming)
        whole = thirty_turns(line, workspace, context_policy=ContextPolicy(keep_turns=None))
        provider.requests.clear()
        managed = thirty_turns(line, workspace)
    sizes = [[sum(map(len, texts)) for texts in sent] for sent in (whole, managed)]
    assert [len(texts) for texts in managed] == [len(texts) for texts in whole]
    # Without a policy, each request holds all that was ever read.
    assert all(before == after[: len(before)] for before, after in itertools.pairwise(whole))
    # With it, the last turns are whole, older files are outlines, and the budget holds.
    assert managed[-1][-3:] == whole[-1][-3:]
    assert managed[-1][0].startswith(("module_0.py (python", "[read_file module_0.py: removed"))
    assert CONTEXT_POLICY.budget is not None
    last_turns = 20_000
    assert max(sizes[1]) <= CONTEXT_POLICY.budget + last_turns < max(sizes[0]) / 4
    assert sum(sizes[1]) < sum(sizes[0]) / 3
    outlines = [t for t in managed[-1] if t.startswith("module_") and "return value" not in t]
    assert outlines, "navigation stays longest"
    for texts, originals in zip(managed, whole, strict=True):
        for text, original in zip(texts, originals, strict=True):
            assert text == original or text.startswith("[") or len(text) < len(original)


def test_a_session_costs_a_third_of_whole_files_and_a_policy_less() -> None:
    session = bench_session.SESSIONS[0]
    ways = bench_session.run(session, bench_session.load(session))
    whole = ways["whole files"].sent
    assert len(ways["tools"].steps) == 15
    assert ways["tools"].sent <= 0.35 * whole
    assert ways["tools and policy"].sent <= 0.2 * whole
    assert ways["tools and policy"].sent < ways["tools"].sent
