"""The first answers are given before the SDK is loaded, and are those of the SDK."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.agent.mcp import wire
from foldline.agent.mcp.first_calls import answer_calls
from foldline.agent.mcp.handshake import FACTS, LONGEST, Line, Opening
from foldline.agent.mcp.stdio import Options, _list_tools, _open_folders

from .mcp_process import EXAMPLE, SECONDS, command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.agent.folders import Folders

MAKER = Path(__file__).parents[2] / "server" / "make_mcp_handshake.py"
RECORDED = json.loads(FACTS.read_bytes())
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def _load_maker() -> Any:
    spec = spec_from_file_location("make_mcp_handshake", MAKER)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


maker = _load_maker()


class Output(io.BytesIO):
    """Collects answers; `arrived` is set by each."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived = Event()

    def write(self, data: Any) -> int:
        count = super().write(data)
        self.arrived.set()
        return count

    @property
    def messages(self) -> list[Any]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


def opened(*messages: object) -> tuple[Opening, Output]:
    """A session that began with these lines, after the first of them."""
    lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in messages]
    output = Output()
    opening = Opening(io.BytesIO(b"".join(line + b"\n" for line in lines)), output)
    opening.greet()
    return opening, output


def texts(lines: Iterator[Line]) -> list[Any]:
    return [json.loads(line.text) for line in lines]


def test_the_file_is_as_fresh_as_what_it_tells() -> None:
    assert maker.facts() == RECORDED, "run `python server/make_mcp_handshake.py`"


VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
OTHERS = ["2026-07-28", "2030-01-01", "1", "", "2025-11-25 ", "zzz"]


@pytest.mark.parametrize("version", [*VERSIONS, *OTHERS])
def test_every_version_is_negotiated_as_the_sdk_does(version: str) -> None:
    request = maker.initialize(version)
    opening, output = opened(request)
    assert output.messages == maker.sdk_answers(Options(), request)
    assert opening.answered == 1
    expected = version if version in VERSIONS else VERSIONS[-1]
    assert output.messages[0]["result"]["protocolVersion"] == expected


TEXT = st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 1 << 40) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


def of_type(kind: Any) -> st.SearchStrategy[Any]:
    """JSON of a type as `fits` reads it."""
    if isinstance(kind, dict):
        required = {name[:-1]: of_type(of) for name, of in kind.items() if name.endswith("!")}
        known = {name: of for name, of in kind.items() if not name.endswith("!") and of != ["of"]}
        optional = {name: of_type(of) for name, of in known.items()}
        return st.fixed_dictionaries(required, optional=optional)
    if isinstance(kind, list):
        form, *kinds = kind
        if form in ("list", "map"):
            inner = of_type(kinds[0])
            return (
                st.lists(inner, max_size=2)
                if form == "list"
                else st.dictionaries(TEXT, inner, max_size=2)
            )
        return st.sampled_from(kinds) if form == "of" else st.one_of(*map(of_type, kinds))
    return {"bool": st.booleans(), "int": st.integers(-9, 9), "str": TEXT}[kind]


@given(st.data())
def test_what_is_answered_at_once_is_nothing_that_the_sdk_refuses(data: st.DataObject) -> None:
    params = data.draw(of_type(RECORDED["initialize"]["params!"]))
    if data.draw(st.booleans()):
        # One value, at any depth, becomes any other.
        place: Any = params
        while keys := list(place) if isinstance(place, dict) else list(range(len(place))):
            key = data.draw(st.sampled_from(keys))
            if not isinstance(place[key], (dict, list)) or data.draw(st.booleans()):
                place[key] = data.draw(JSON)
                break
            place = place[key]
    request = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params}
    _, output = opened(request)
    if output.messages:
        assert output.messages == maker.sdk_answers(Options(), request)


def test_tools_are_listed_as_the_sdk_lists_them(tmp_path: Path) -> None:
    for version in VERSIONS:
        first = maker.initialize(version)
        asked = maker.sdk_answers(Options(roots=(tmp_path,)), first, INITIALIZED, LIST)[1]
        opening, output = opened(first, INITIALIZED, LIST)
        opening.list_tools(())
        assert texts(opening.lines()) == [first, INITIALIZED]
        assert output.messages[1:] == [asked]
        everything = maker.sdk_answers(maker._EVERY_TOOL, first, INITIALIZED, LIST)[1]
        opening, output = opened(first, LIST)
        opening.list_tools([tool["name"] for tool in RECORDED["for_prompts"]])
        assert texts(opening.lines()) == [first]
        assert output.messages[1:] == [everything]


def test_a_list_that_comes_before_the_tools_are_known_waits_for_them() -> None:
    first = maker.initialize("2025-06-18")
    opening, output = opened(first, LIST, {**LIST, "id": 3})
    output.arrived.clear()
    opening.list_tools(())
    assert output.arrived.wait(SECONDS)
    assert texts(opening.lines()) == [first]
    assert [message["id"] for message in output.messages] == [1, 2, 3]


def test_what_is_never_known_is_left_to_the_sdk() -> None:
    first = maker.initialize("2025-06-18")
    other = {"jsonrpc": "2.0", "id": 4, "method": "prompts/list"}
    opening, output = opened(first, LIST, INITIALIZED, other)
    replayed = texts(opening.lines())
    assert replayed[0] == first
    assert sorted(map(str, replayed)) == sorted(map(str, [first, LIST, INITIALIZED, other]))
    assert len(output.messages) == 1


def call(id_: int | str, tool: str, /, **arguments: object) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}


async def first_answers(
    root: Path, count: int, *messages: object, at_once: bool = True, fails: bool = False
) -> tuple[list[Any], list[Any]]:
    """The first answers of a session, and the lines that it left to the SDK.

    The client leaves after so many answers, or when a message needs the SDK. Tools are listed
    `at_once`, or when the folder was looked at.
    """
    reading, writing = os.pipe()
    options = Options(roots=(root,))
    workspace = options.workspace()

    def folders() -> Folders:
        if fails:
            raise ZeroDivisionError
        return _open_folders(options, workspace)

    answers: list[Any] = []
    with os.fdopen(reading, "rb") as stdin, os.fdopen(writing, "wb") as client:

        class Client(Output):
            def write(self, data: Any) -> int:
                answers.append(json.loads(data))
                if len(answers) == count:
                    client.close()
                return len(data)

        client.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
        client.flush()
        opening = Opening(stdin, Client())
        opening.greet()
        if at_once:
            opening.list_tools(())
        async with asyncio.timeout(SECONDS):
            needed = await answer_calls(
                opening,
                folders,
                lambda: _list_tools(opening, options, workspace),
            )
        assert needed is (len(answers) < count)
        client.close()
        left = texts(opening.lines())
    await workspace.stop(1)
    return answers, left


CALLS = [
    call(3, "get_tree"),
    call(4, "search_for_files", query="session store"),
    call("a", "grep_in_files", pattern="def sign_\\w+", context=1),
    call(6, "get_file_outline", path="auth/service.py"),
    call(7, "read_symbol", path="auth/service.py", name="AuthService.sign_out"),
    call(8, "read_lines", path="auth/errors.py", start=1, end=2),
    call(9, "find_references", name="SessionStore"),
    call(10, "read_file", path="README.md", budget=100_000),
    call(11, "generate_scoped_context", paths=["auth/errors.py"]),
    call(12, "read_symbol", path="auth/service.py", name="AuthServce"),
    call(13, "read_file"),
    call(14, "read_file", path="../secret"),
    call(15, "get_tree", cursor="refs@1", odd=[None, {"a": 1.5}]),
    {"jsonrpc": "2.0", "id": 16, "method": "tools/call", "params": {"name": "get_tree"}},
    {
        "jsonrpc": "2.0",
        "id": 17,
        "method": "tools/call",
        "params": {"name": "get_tree", "arguments": None, "_meta": {"progressToken": 1, "a": {}}},
    },
]


@pytest.mark.parametrize("version", VERSIONS)
def test_calls_are_answered_as_the_sdk_answers_them(version: str) -> None:
    first = maker.initialize(version)
    answers, left = asyncio.run(first_answers(EXAMPLE, len(CALLS) + 1, first, INITIALIZED, *CALLS))
    assert left == [first, INITIALIZED]
    expected = maker.sdk_answers(Options(roots=(EXAMPLE,)), first, INITIALIZED, *CALLS)
    by_id = {answer["id"]: answer for answer in answers}
    assert len(by_id) == len(answers)
    assert [by_id[one["id"]] for one in expected] == expected


PROMPT = """from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility
template = PromptTemplate(
    ns="a", key="b", sections=(
        MarkdownSection(title="C", key="c", template="d", visibility=SectionVisibility.SUMMARY,
                        summary="e"),
    ),
)
"""


def test_a_later_list_has_the_tools_of_a_prompt_that_was_written_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "prompt.py").write_text(PROMPT)
    first = maker.initialize("2025-06-18")
    # The first list is of a folder that had no prompts.
    answers, _ = asyncio.run(first_answers(tmp_path, 3, first, LIST, call(3, "get_tree")))
    assert answers[1]["result"] == {"tools": RECORDED["tools"]}
    answers, _ = asyncio.run(first_answers(tmp_path, 2, first, INITIALIZED, LIST, at_once=False))
    names = [tool["name"] for tool in answers[1]["result"]["tools"]]
    assert names[-2:] == ["open_sections", "read_section"]


def test_every_tool_for_code_is_called_above() -> None:
    called = {one["params"]["name"] for one in CALLS}
    assert called == {tool["name"] for tool in RECORDED["tools"]}


def test_what_fails_before_a_call_is_left_to_the_sdk(tmp_path: Path) -> None:
    lines = [maker.initialize("2025-06-18"), INITIALIZED, call(3, "get_tree")]
    answers, left = asyncio.run(first_answers(tmp_path, 2, *lines, fails=True))
    assert (len(answers), left) == (1, lines)


NEEDS_SDK: dict[str, dict[str, Any]] = {
    "another request": {"jsonrpc": "2.0", "id": 4, "method": "prompts/list"},
    "a notification": {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
    "an answer": {"jsonrpc": "2.0", "id": 4, "result": {}},
    "a tool that isn't there": call(4, "get_outline", path="a.py"),
    "a tool of prompts": call(4, "open_sections", prompt="a"),
    "no arguments": call(4, "get_tree") | {"params": {"name": "get_tree", "arguments": []}},
    "a task": call(4, "get_tree") | {"params": {"name": "get_tree", "task": {}}},
    "an initialized request": {**INITIALIZED, "id": None},
}  # fmt: skip


@pytest.mark.parametrize("case", NEEDS_SDK)
def test_what_is_more_than_a_call_needs_the_sdk(case: str, tmp_path: Path) -> None:
    first = maker.initialize("2025-06-18")
    lines = (first, INITIALIZED, NEEDS_SDK[case])
    answers, left = asyncio.run(first_answers(tmp_path, 2, *lines))
    assert len(answers) == 1
    assert left == list(lines)


def test_a_call_that_is_cancelled_is_left_to_the_sdk_before_its_cancellation() -> None:
    first, asked = maker.initialize("2025-06-18"), call(5, "get_tree")
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    opening, output = opened(first, INITIALIZED, asked, cancel, {**LIST, "id": 5})
    passed: list[Any] = []
    needs = Event()
    opening.pass_on(passed.append, lambda needed: needs.set() if needed else None)
    assert needs.wait(SECONDS)
    assert passed == [asked]
    # A second request of that id can't be told from the first one.
    assert texts(opening.lines()) == [first, INITIALIZED, asked, cancel, {**LIST, "id": 5}]
    opening.answer(5, {})
    assert len(output.messages) == 1


@given(st.data())
def test_a_call_that_is_answered_at_once_is_one_that_the_sdk_takes(data: st.DataObject) -> None:
    params = data.draw(of_type(RECORDED["requests"][2]["params!"]))
    params[data.draw(st.sampled_from(["arguments", "_meta", "task", "name", "a"]))] = data.draw(
        JSON
    )
    request = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}
    opening, _ = opened(maker.initialize("2025-06-18"), request)
    if len(passed := texts(opening.lines())) == 1:
        message = wire.parse(Line(json.dumps(request).encode()))
        assert isinstance(message, types.JSONRPCRequest)
        types.CallToolRequestParams.model_validate(message.params, by_name=False)
    else:
        assert passed[1] == request


ODD: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"GET /",
    "a batch": b"[%b]" % json.dumps(maker.initialize("2025-06-18")).encode(),
    "another method": json.dumps(LIST).encode(),
    "a later protocol's first request": b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}',
    "a notification": b'{"jsonrpc":"2.0","method":"initialize","params":{}}',
    "no params": b'{"jsonrpc":"2.0","id":1,"method":"initialize"}',
    "half a character": json.dumps(maker.initialize("\ud800")).encode(),
    "no number of JSON": json.dumps(
        maker.initialize("1", capabilities={"a": float("nan")})
    ).encode(),
    "deep nesting": json.dumps(maker.initialize("1")).encode()[:-1]
    + b',"x":' + b"[" * 900 + b"]" * 900 + b"}",
    "a truth value as the id": json.dumps({**maker.initialize("1"), "id": True}).encode(),
    "a long line": json.dumps(maker.initialize("x" * LONGEST)).encode(),
    "bytes that are not UTF-8": b'{"jsonrpc":"2.0","id":"\xff","method":"initialize"}',
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
def test_whatever_is_odd_is_left_to_the_sdk(case: str) -> None:
    opening, output = opened(ODD[case], LIST)
    opening.list_tools(())
    assert output.messages == []
    assert opening.answered is None
    assert [line.text for line in opening.lines()] == [
        ODD[case] + b"\n",
        json.dumps(LIST).encode() + b"\n",
    ]


@pytest.mark.real
def test_the_first_answers_wait_for_none_of_the_libraries(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "def loads(self, name, *_):\n"
        "    if name == 'mcp' or name == 'mcp_types':\n"
        "        print(*sys.modules, file=sys.stderr, flush=True)\n"
        "        raise ModuleNotFoundError(name=name)\n"
        "sys.meta_path.insert(0, type('Finder', (), {'find_spec': loads})())\n"
        "import importlib.util\n"
        "importlib.util.find_spec = lambda name: name\n"
        "from foldline.agent import cli\n"
        f"cli.main(['mcp', '--root', {str(tmp_path)!r}])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    (tmp_path / "a.py").write_text("def f(): ...\n")
    begin = (maker.initialize("2025-06-18"), LIST, call(3, "get_file_outline", path="a.py"))
    process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in begin))
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in begin]
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert "def f" in answers[2]["result"]["content"][0]["text"]
    # The SDK is loaded for the first message that needs it.
    ping = {"jsonrpc": "2.0", "id": 4, "method": "ping"}
    _, loaded = process.communicate(json.dumps(ping).encode() + b"\n", timeout=SECONDS)
    modules = set(loaded.decode().splitlines()[0].split())
    assert {"foldline.agent.mcp.prompt_needs", "foldline.agent.mcp.calls"} <= modules
    assert not modules & {
        "anyio",
        "foldline.agent.instructions",
        "foldline.ide.analysis",
        "foldline.prompts",
        "httpx",
        "jedi",
        "lsprotocol",
        "mcp",
        "multiprocessing",
        "pydantic",
        "pygls",
        "rs_bpe",
    }


@pytest.mark.real
def test_every_request_of_a_session_is_answered_once_and_in_one_voice(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(): ...\n")
    call = {"name": "get_file_outline", "arguments": {"path": "a.py"}}
    messages = [
        maker.initialize("2025-06-18"),
        INITIALIZED,
        LIST,
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call},
        {**LIST, "id": 4},
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    ]
    process = subprocess.Popen(
        command(), cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(5)]
    rest, _ = process.communicate(timeout=SECONDS)
    assert rest == b""
    assert process.returncode == 0
    by_id = [answer for answer in answers if answer["id"] != 1]
    assert sorted(answer["id"] for answer in by_id) == [2, 3, 4]
    first, last = (answer["result"] for answer in by_id if answer["id"] in (2, 4))
    assert first == last
    assert [answer["result"] for answer in answers if answer["id"] == 1][1] == {}
