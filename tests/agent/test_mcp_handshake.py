"""The first answers are given before the SDK is loaded, and are those of the SDK."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.agent.mcp.handshake import FACTS, LONGEST, Opening
from foldline.agent.mcp.stdio import Options

from .mcp_process import SECONDS, command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.agent.mcp.handshake import Line

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
        optional = {name: of_type(of) for name, of in kind.items() if not name.endswith("!")}
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
    begin = b"".join(
        json.dumps(one).encode() + b"\n" for one in (maker.initialize("2025-06-18"), LIST)
    )
    written, loaded = process.communicate(begin, timeout=SECONDS)
    assert [json.loads(line)["id"] for line in written.splitlines()] == [1, 2]
    modules = set(loaded.decode().splitlines()[0].split())
    assert "foldline.agent.mcp.prompt_needs" in modules
    assert not modules & {"mcp", "pydantic", "anyio", "foldline.ide.analysis.values", "pygls"}


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
