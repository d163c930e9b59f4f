"""The server as a process, asked by the SDK's own client over standard input and output."""

import asyncio
import io
import json
import select
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError

from foldline.agent.mcp import lines

from .mcp_process import EXAMPLE, SECONDS, call, command, connect

pytestmark = pytest.mark.real

NAMES = [
    "get_tree",
    "search_for_files",
    "grep_in_files",
    "get_file_outline",
    "read_symbol",
    "read_lines",
    "find_references",
    "read_file",
    "generate_scoped_context",
]
FOR_PROMPTS = ["open_sections", "read_section"]
PROMPT = """from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility
template = PromptTemplate(ns="a", key="b", sections=[
    MarkdownSection(title="C", key="c", template="d", visibility=SectionVisibility.SUMMARY,
                    summary="e"),
])
"""


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_client_lists_and_calls_every_tool(mode: str) -> None:
    async with connect("--root", str(EXAMPLE), mode=mode) as client:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == NAMES + FOR_PROMPTS
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed.tools)
        answers = {
            "get_tree": await call(client, "get_tree"),
            "search_for_files": await call(client, "search_for_files", query="session store"),
            "grep_in_files": await call(client, "grep_in_files", pattern="def sign_\\w+"),
            "get_file_outline": await call(client, "get_file_outline", path="auth/service.py"),
            "read_symbol": await call(
                client, "read_symbol", path="auth/service.py", name="AuthService.sign_out"
            ),
            "read_lines": await call(client, "read_lines", path="auth/errors.py", start=1, end=2),
            "find_references": await call(client, "find_references", name="SessionStore"),
            "read_file": await call(client, "read_file", path="README.md", budget=20_000),
            "generate_scoped_context": await call(
                client,
                "generate_scoped_context",
                paths=["auth/errors.py"],
                supporting=["auth/tokens.py"],
            ),
        }
        assert list(answers) == NAMES
        assert not any(is_error for _, is_error in answers.values())
        expected = {
            "get_tree": "  service.py ",
            "search_for_files": "auth/sessions.py",
            "grep_in_files": "async def sign_out",
            "get_file_outline": "class AuthService",
            "read_symbol": "async def sign_out(self, token: str) -> None:",
            "read_lines": (EXAMPLE / "auth" / "errors.py").read_text().splitlines()[0],
            "find_references": "auth/sessions.py",
            "read_file": (EXAMPLE / "README.md").read_text().rstrip(),
            "generate_scoped_context": "class TokenSigner",
        }
        for name, part in expected.items():
            assert part in answers[name][0], name


HOSTILE = [
    "../../pyproject.toml",
    "/etc/passwd",
    "auth/../../../pyproject.toml",
    "auth\\..\\..\\..\\pyproject.toml",
    "C:\\Windows\\win.ini",
    "file:///etc/passwd",
    "~/.ssh/id_rsa",
    "",
    ".",
    "\0",
    "a" * 5_000,
    "auth/" * 2_000,
    "auth/servce.py",
]


async def test_hostile_paths_are_errors_that_say_what_to_do_and_the_server_stays() -> None:
    async with connect("--root", str(EXAMPLE)) as client:
        for path in HOSTILE:
            text, is_error = await call(client, "read_file", path=path)
            assert is_error, path
            assert ": " in text
            assert "foldline:" not in text, "an internal failure"
            assert "root:" not in text
        for name, arguments, said in (
            ("read_file", {}, "path: is required"),
            ("read_symbol", {"path": "auth/service.py", "name": "AuthServce"}, "'AuthService'"),
            ("read_lines", {"path": "auth/service.py", "start": "x"}, "expected a whole number"),
            ("get_tree", {"path": "auth/service.py"}, "is a file"),
            ("get_tree", {"cursor": "refs@1"}, "leave it out to start anew"),
            ("get_file_outline", {"path": ["auth"]}, "path: expected a text, got"),
        ):
            text, is_error = await call(client, name, **arguments)
            assert is_error
            assert said in text
        with pytest.raises(MCPError, match="there is get_file_outline") as caught:
            await client.call_tool("get_outline", {})
        assert caught.value.code == types.INVALID_PARAMS
        _, is_error = await call(client, "get_tree")
        assert not is_error


async def test_a_long_answer_is_read_to_its_end_by_cursors(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(3_000)]
    (tmp_path / "long.txt").write_text("\n".join(lines))
    async with connect("--root", str(tmp_path)) as client:
        text: list[str] = []
        cursor: str | None = None
        while True:
            result = await client.call_tool("read_file", {"path": "long.txt", "cursor": cursor})
            (block,) = result.content
            assert isinstance(block, types.TextContent)
            assert len(block.text.encode()) <= 8_000
            _, _, shown = block.text.partition("\n")
            shown, more, note = shown.partition("\n… ask with cursor ")
            text.extend(shown.split("\n"))
            if not more:
                break
            cursor = note.split()[0]
        assert text == lines


async def test_calls_side_by_side_are_each_answered_once() -> None:
    paths = [f"auth/{name}.py" for name in ("errors", "models", "service", "tokens")] * 25
    async with connect("--root", str(EXAMPLE)) as client:
        answers = await asyncio.gather(
            *(call(client, "get_file_outline", path=path) for path in paths)
        )
    assert [text.partition(" ")[0] for text, _ in answers] == paths


def test_nothing_but_protocol_reaches_standard_output_and_garbage_is_survived() -> None:
    requests = [
        "this is no JSON",
        '{"jsonrpc": "2.0", "id": 7}',
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "initialize",
                "params": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "raw", "version": "0"},
                },
            }
        ),
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}',
        '{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "get_tree", '
        '"arguments": null}}',
        '{"jsonrpc": "2.0", "id": 4, "method": "no/such"}',
    ]
    process = subprocess.Popen(
        command("--root", str(EXAMPLE)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n".join(requests) + "\n")
    process.stdin.flush()
    answers: dict[object, dict[str, Any]] = {}
    while not {1, 2, 3, 4} <= answers.keys():
        answer = json.loads(process.stdout.readline())
        assert answer["jsonrpc"] == "2.0"
        answers[answer.get("id")] = answer
    rest, _ = process.communicate(timeout=SECONDS)
    assert rest == ""
    assert process.returncode == 0
    assert answers[1]["result"]["protocolVersion"] == "2025-06-18"
    assert len(answers[2]["result"]["tools"]) == len(NAMES + FOR_PROMPTS)
    assert "auth/" in answers[3]["result"]["content"][0]["text"]
    assert answers[4]["error"]["code"] == types.METHOD_NOT_FOUND


class RawClient:
    """Lines to a server process, and its answers in the order in which they come."""

    def __init__(self, *arguments: str, capabilities: bytes = b"{}") -> None:
        self.process = subprocess.Popen(
            command(*arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.send(INITIALIZE % capabilities)
        self.answer()
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        rest = line + b"\n"
        while rest:
            rest = rest[self.process.stdin.write(rest) :]

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        assert ready, "no answer"
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


@pytest.fixture(scope="module")
def raw() -> Iterator[RawClient]:
    client = RawClient("--root", str(EXAMPLE))
    yield client
    rest, _ = client.process.communicate(timeout=SECONDS)
    assert rest == b""
    assert client.process.returncode == 0


INITIALIZE = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": '
    b'"2025-11-25", "capabilities": %b, "clientInfo": {"name": "raw", "version": "0"}}}'
)
CALL = (
    b'{"jsonrpc": "2.0", "id": %b, "method": "tools/call", "params": {"name": "grep_in_files", '
    b'"arguments": {"pattern": %b}}}'
)


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


UNUSUAL: dict[str, tuple[bytes, object, int | None]] = {
    "half a surrogate pair": (CALL % (b"7", b'"\\ud800"'), 7, None),
    "the other half": (CALL % (b"7", b'"a\\udc00b"'), 7, None),
    "half a pair as the name of a tool": (
        b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\\ud83d"}}',
        7,
        types.INVALID_PARAMS,
    ),
    "half a pair as a method": (
        b'{"jsonrpc": "2.0", "id": 7, "method": "\\ud83d"}',
        7,
        types.METHOD_NOT_FOUND,
    ),
    "half a pair as the id": (CALL % (b'"\\ud83d"', b'"x"'), "\ud83d", types.INVALID_REQUEST),
    "bytes that are not UTF-8": (CALL % (b"7", b'"\xff\xfe"'), 7, None),
    "text that is not JSON": (b"GET / HTTP/1.1", None, types.PARSE_ERROR),
    "a message cut off": (CALL[:60] % b"7", 7, types.PARSE_ERROR),
    "a number that is not JSON": (CALL % (b"7", b"Infinity"), 7, None),
    "a number of 6,000 digits": (CALL % (b"7", b"9" * 6_000), 7, types.PARSE_ERROR),
    "a batch": (b"[" + CALL % (b"7", b'"x"') + b"]", 7, types.INVALID_REQUEST),
    "an empty batch": (b"[]", None, types.INVALID_REQUEST),
    "no object": (b'"tools/list"', None, types.INVALID_REQUEST),
    "no method": (b'{"jsonrpc": "2.0", "id": 7}', 7, types.INVALID_REQUEST),
    "a method that is not text": (
        b'{"jsonrpc": "2.0", "id": 7, "method": 5}',
        7,
        types.INVALID_REQUEST,
    ),
    "params in a list": (
        b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": [1]}',
        7,
        types.INVALID_REQUEST,
    ),
    "a request that is a response too": (
        b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": [1], "result": {}}',
        7,
        types.INVALID_REQUEST,
    ),
    "another version": (
        b'{"jsonrpc": "1.0", "id": 7, "method": "tools/list"}',
        7,
        types.INVALID_REQUEST,
    ),
    "no version": (b'{"id": 7, "method": "tools/list"}', 7, types.INVALID_REQUEST),
    "a fraction as the id": (CALL % (b"7.5", b'"x"'), 7.5, types.INVALID_REQUEST),
    "null as the id": (CALL % (b"null", b'"x"'), None, types.INVALID_REQUEST),
    "a truth value as the id": (CALL % (b"true", b'"x"'), None, types.INVALID_REQUEST),
    "an id out of range": (CALL % (b"1e999", b'"x"'), None, types.INVALID_REQUEST),
    "a large id": (CALL % (b"9" * 50, b'"x"'), int("9" * 50), None),
    "150 levels": (CALL % (b"7", nested(150)), 7, None),
    "250 levels": (CALL % (b"7", nested(250)), 7, types.INVALID_REQUEST),
    "900 levels": (CALL % (b"7", nested(900)), 7, types.INVALID_REQUEST),
    "100,000 levels": (CALL % (b"7", nested(100_000)), 7, types.INVALID_REQUEST),
    "100,000 levels before the id": (
        b'{"method":"tools/call","params":{"arguments":%b},"jsonrpc":"2.0","id":"a"}'
        % nested(100_000),
        "a",
        types.INVALID_REQUEST,
    ),
    "a line that is too long": (CALL % (b"7", b'"%b"' % (b"x" * 9_000_000)), 7, -32600),
    "a line that is too long before the id": (
        b'{"method":"tools/call","params":{"a":"%b"},"id":7,"jsonrpc":"2.0"}' % (b"x" * 9_000_000),
        7,
        types.INVALID_REQUEST,
    ),
    "a cursor of another list": (
        b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"cursor": "x"}}',
        7,
        types.INVALID_PARAMS,
    ),
    "a cursor of 5,000 digits": (
        b'{"jsonrpc": "2.0", "id": 7, "method": "prompts/list", "params": {"cursor": "%b"}}'
        % (b"1" * 5_000),
        7,
        types.INVALID_PARAMS,
    ),
}


@pytest.mark.parametrize("params", ["{}", '{"name": 5}', '{"arguments": {}}'])
@pytest.mark.parametrize("method", ["tools/call", "prompts/get"])
def test_a_call_without_a_name_is_told_what_it_lacks(method: str, params: str) -> None:
    text = f'{{"jsonrpc": "2.0", "id": 7, "method": "{method}", "params": {params}}}'
    message = f'{method} needs the "name" of one, a string'
    refusal = lines.parse(lines.Line(text.encode()))
    assert refusal == lines.Refusal(types.INVALID_PARAMS, message, (7,))


@pytest.mark.parametrize("case", UNUSUAL)
def test_whatever_is_in_a_request_it_is_answered_once_and_so_is_the_next(
    raw: RawClient, case: str
) -> None:
    line, id_, code = UNUSUAL[case]
    raw.send(line)
    answer = raw.answer()
    assert "id" in answer
    assert answer["id"] == id_
    assert answer.get("error", {}).get("code") == code
    if code is not None:
        assert len(answer["error"]["message"]) < 500
    # What isn't a request is not answered.
    raw.send(b"  ")
    raw.send(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 5}')
    raw.send(b'{"jsonrpc": "2.0", "id": 9, "result": {"a": "\\ud800"}}')
    raw.send(b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": 8, "method": "ping"}\r')
    assert raw.answer() == {"jsonrpc": "2.0", "id": 8, "result": {}}


def test_every_request_of_a_batch_is_refused_with_its_id(raw: RawClient) -> None:
    raw.send(b"[" + b", ".join(CALL % (id_, b'"x"') for id_ in (b"1", b'"b"', b"null")) + b", 5]")
    assert [raw.answer()["id"] for _ in range(3)] == [1, "b", None]


def test_every_request_is_answered_once_and_none_that_was_cancelled(tmp_path: Path) -> None:
    client = RawClient(capabilities=b'{"roots": {}}')
    client.send(CALL % (b'"cancelled"', b'"x"'))
    # It waits for what only we can tell.
    assert client.answer()["method"] == "roots/list"
    for line in (
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": '
        b'{"requestId": "cancelled"}}',
        CALL[:60] % b"1",
        b'{"jsonrpc": "2.0", "id": "2", "method": "no/such"}',
        CALL % (b"null", b'"x"'),
        CALL % (b"3", b'"x"'),
        b'{"jsonrpc": "2.0", "id": 4, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 5, "method": "ping"}',
    ):
        client.send(line)
    roots = json.dumps({"roots": [{"uri": tmp_path.as_uri()}]}).encode()
    answered: list[object] = []
    while len(answered) < 6:
        message = client.answer()
        if message.get("method") == "roots/list":
            client.send(b'{"jsonrpc": "2.0", "id": %d, "result": %b}' % (message["id"], roots))
        elif "method" not in message:
            answered.append(message["id"])
    rest, _ = client.process.communicate(timeout=SECONDS)
    assert not [line for line in rest.splitlines() if b'"method"' not in line]
    assert sorted(answered, key=str) == [1, "2", 3, 4, 5, None]


async def test_a_later_list_has_the_tools_of_a_prompt_written_meanwhile(tmp_path: Path) -> None:
    async with connect("--root", str(tmp_path)) as client:

        async def names() -> list[str]:
            return [tool.name for tool in (await client.list_tools()).tools]

        # All are listed while the search for prompts takes too long.
        while await names() != NAMES:
            pass
        (tmp_path / "prompt.py").write_text(PROMPT)
        assert await names() == NAMES + FOR_PROMPTS


# JSON has neither infinity nor NaN.
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
PARAMS = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), PARAMS), st.integers() | st.text(st.characters(codec="utf-8")))
def test_a_request_is_read_with_its_id_whatever_its_params_are(
    params: dict[str, object], id_: object
) -> None:
    request = {"jsonrpc": "2.0", "id": id_, "method": "m", "params": params}
    message = lines.parse(lines.Line(json.dumps(request).encode()))
    assert isinstance(message, types.JSONRPCRequest)
    assert message.id == id_
    lines.serialize(message).decode()


@given(
    st.fixed_dictionaries(
        {"id": PARAMS},
        optional={
            "jsonrpc": st.just("2.0"),
            "method": st.just("m") | PARAMS,
            "params": PARAMS,
        },
    ),
    st.randoms(),
)
def test_what_has_an_id_is_a_request_or_refused_with_that_id(
    members: dict[str, object], random: Random
) -> None:
    shuffled = random.sample(sorted(members), len(members))
    text = json.dumps({name: members[name] for name in shuffled})
    message = lines.parse(lines.Line(text.encode()))
    id_ = members["id"]
    has_id = isinstance(id_, (int, str)) and not isinstance(id_, bool)
    if isinstance(message, types.JSONRPCRequest):
        assert message.id == id_
    else:
        assert isinstance(message, lines.Refusal)
        (answer,) = message.answers()
        assert json.loads(json.dumps(answer, allow_nan=False)) == answer
        if has_id:
            assert answer["id"] == id_


@given(st.binary() | st.text().map(str.encode))
def test_no_line_is_too_odd_to_be_read(line: bytes) -> None:
    message = lines.parse(lines.Line(line))
    if isinstance(message, lines.Refusal):
        json.dumps(message.answers(), allow_nan=False)


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b""))), st.booleans())
def test_a_line_is_read_whole_or_cut_to_its_ends(parts: list[bytes], ended: bool) -> None:
    stream = io.BytesIO(b"\n".join(parts) + b"\n" * ended)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "MAX_LINE_BYTES", 20)
        patch.setattr(lines, "END_BYTES", 5)
        read = list(iter(lambda: lines.read_line(stream), None))
    expected = list(io.BytesIO(stream.getvalue()))
    assert [line.cut for line in read] == [len(line) > 20 for line in expected]
    for line, whole in zip(read, expected, strict=True):
        assert line.text == (whole[:5] + whole[-5:] if line.cut else whole)


def test_a_root_that_is_no_folder_is_refused_at_the_start() -> None:
    refused = subprocess.run(
        command("--root", str(EXAMPLE / "gone")),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
    )
    assert refused.returncode == 2
    assert "--root" in refused.stderr
    assert "no such folder" in refused.stderr
    assert refused.stdout == ""
