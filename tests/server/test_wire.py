"""The protocol in this process: what stays of a message, and how a session ends."""

import asyncio
import contextlib
import gc
import json
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from foldline.server.app import create_server
from foldline.server.server import FoldlineServer

from .conftest import SERVE
from .test_protocol import LONGEST, initialize, notification, parse, request

pytestmark = pytest.mark.real

MODULE = """
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate

@dataclass(frozen=True)
class Params:
    name: str

p = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[Params](title="T", key="t", template="hello ${name}")])
"""


class Client:
    """Both ends of the wire in this process: messages go in as objects and come out parsed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.uri = (root / "m.py").as_uri()
        self.server = create_server()
        self._answered = asyncio.Event()
        self.server.protocol.set_writer(self)
        self.messages: list[dict[str, Any]] = []
        self._number = 0

    def write(self, data: bytes) -> None:
        self.messages += parse(data)
        self._answered.set()

    def close(self) -> None:
        pass

    def receive(self, message: object) -> None:
        """What the server does with each message that it reads."""
        self.server.protocol.handle_message(json.loads(json.dumps(message)))

    def send(self, method: str, params: object = None, **more: object) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        self.receive(message)

    def request(self, method: str, params: object = None) -> int:
        self._number += 1
        self.send(method, params, id=self._number)
        return self._number

    def command(self, name: str, **arguments: object) -> int:
        params = {"command": f"foldline.server.{name}", "arguments": [arguments]}
        return self.request("workspace/executeCommand", params)

    async def answers(self, *numbers: int) -> list[dict[str, Any]]:
        """The answers to these requests, which are then forgotten."""
        async with asyncio.timeout(LONGEST):
            while True:
                known = {
                    message["id"]: message for message in self.messages if "method" not in message
                }
                if known.keys() >= set(numbers):
                    self.messages.clear()
                    return [known[number] for number in numbers]
                self._answered.clear()
                await self._answered.wait()


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    client = Client(tmp_path)
    started = client.request("initialize", {"capabilities": {}, "rootUri": tmp_path.as_uri()})
    await client.answers(started)
    document = {"uri": client.uri, "languageId": "python", "version": 1, "text": MODULE}
    client.send("textDocument/didOpen", {"textDocument": document})
    yield client
    client.server.close()


def of_every_kind(client: Client, number: int) -> list[int]:
    """Send one message of each kind; returns the numbers of those that are answered."""
    document = {"uri": client.uri}
    position = {"line": 8, "character": 50}
    changed = {"textDocument": {**document, "version": number}}
    client.send("textDocument/didChange", {**changed, "contentChanges": [{"text": MODULE}]})
    # Fails: the document is not open.
    elsewhere = {"textDocument": {"uri": "file:///elsewhere.py", "version": 1}}
    client.send("textDocument/didChange", {**elsewhere, "contentChanges": [{"text": ""}]})
    client.send("workspace/didChangeConfiguration", {"settings": {}})
    client.send("workspace/didChangeWatchedFiles", {"changes": []})
    client.send("foldline/didChangeTrust", {"trusted": "perhaps"})
    client.send("$/cancelRequest", {"id": number})
    client.send("$/unknown")
    return [
        client.command("prompt.list", uri=client.uri),
        client.command("code.readFile", path="m.py"),
        client.command("code.readFile", path="missing.py"),
        client.command("code.outline", budget="much"),
        client.command("prompt.render", uri=client.uri),
        client.command("unknown"),
        client.request("textDocument/hover", {"textDocument": document, "position": position}),
        client.request("textDocument/codeLens", {"textDocument": document}),
        client.request("textDocument/hover", {"textDocument": 7}),
        client.request("unknown/method"),
    ]


async def test_nothing_of_a_message_stays_once_it_is_dealt_with(client: Client) -> None:
    protocol = client.server.protocol
    process = psutil.Process()
    kept = (protocol._request_futures, protocol._result_types, protocol._asked)

    async def rounds(count: int) -> tuple[int, int, int]:
        for _ in range(count):
            await client.answers(
                *(number for index in range(10) for number in of_every_kind(client, index))
            )
        gc.collect()
        kinds = Counter(type(value).__name__ for value in gc.get_objects())
        futures = sum(kinds[name] for name in ("Future", "Task", "traceback", "frame"))
        return sum(map(len, kept)), futures, process.num_fds()

    _, futures_before, opened_before = await rounds(3)
    left, futures, opened = await rounds(60)
    assert left == 0
    # Room for what runs just now, not for one object in a hundred messages.
    assert futures < futures_before + 100
    assert opened < opened_before + 10


async def test_requests_that_the_client_never_answers_are_given_up(client: Client) -> None:
    protocol = client.server.protocol
    asked = [protocol.send_request("$/ask") for _ in range(2_000)]
    assert len(protocol._asked) == len(protocol._result_types) < 500
    assert asked[0].done()
    assert not asked[-1].done()


async def test_an_answer_is_taken_for_our_own_request_alone(client: Client) -> None:
    protocol = client.server.protocol
    asked = protocol.send_request("workspace/workspaceFolders", msg_id="ours")
    number = client.command("code.readFile", path="m.py")
    others: list[object] = [number, "never", [], None, 1.5]
    for wrong in others:
        client.receive({"jsonrpc": "2.0", "id": wrong, "result": None})
        client.receive({"jsonrpc": "2.0", "id": wrong, "error": "a word"})
    client.send("$/cancelRequest", {"id": "ours"})
    assert not asked.done()
    client.receive({"jsonrpc": "2.0", "id": "ours", "result": None})
    assert asked.result() is None
    [answer] = await client.answers(number)
    assert "result" in answer


async def test_an_answer_that_does_not_fit_fails_the_request_that_waits(client: Client) -> None:
    protocol = client.server.protocol
    for wrong in ({"result": 3}, {"result": [{"uri": 3}]}, {"error": 3}, {"error": {"code": "x"}}):
        asked = protocol.send_request("workspace/workspaceFolders", msg_id="ours")
        client.receive({"jsonrpc": "2.0", "id": "ours", **wrong})
        assert asked.exception() is not None


async def test_messages_within_messages_are_data(client: Client) -> None:
    inner = {"jsonrpc": "2.0", "id": 77, "method": "textDocument/hover", "params": 3}
    number = client.command("code.readFile", path=inner)
    [answer] = await client.answers(number)
    assert answer["error"]["code"] == -32602
    assert not client.messages


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "1.0", "id": 5, "method": "textDocument/hover"},
        {"id": 5, "method": "textDocument/hover"},
        {"jsonrpc": "2.0", "id": 5, "method": "textDocument/didOpen", "params": {}},
        {"jsonrpc": "2.0", "id": 5, "method": "exit"},
        {"jsonrpc": "2.0", "id": 5, "method": ["a", "list"]},
    ],
)
async def test_a_request_that_breaks_the_rules_is_refused(
    client: Client, message: dict[str, object]
) -> None:
    client._number = 5
    client.receive(message)
    [answer] = await client.answers(5)
    assert answer["error"]["code"] == -32600


async def test_a_request_whose_number_waits_already_is_refused(client: Client) -> None:
    async def wait(ls: FoldlineServer) -> None:
        await asyncio.Event().wait()

    client.server.command("wait for ever")(wait)
    first = client.request("workspace/executeCommand", {"command": "wait for ever"})
    client._number -= 1
    client.request("workspace/executeCommand", {"command": "wait for ever"})
    [answer] = await client.answers(first)
    assert answer["error"]["code"] == -32600
    client.send("$/cancelRequest", {"id": first})
    [answer] = await client.answers(first)
    assert answer["error"]["code"] == -32800


@pytest.mark.parametrize("value", [float("nan"), object(), {1: {2}}, b"bytes"])
async def test_an_answer_that_is_no_json_is_an_error(client: Client, value: object) -> None:
    async def answer(ls: FoldlineServer) -> object:
        return value

    client.server.command("odd")(answer)
    [answered] = await client.answers(
        client.request("workspace/executeCommand", {"command": "odd"})
    )
    assert answered["error"]["code"] == -32603


async def test_a_cancelled_command_stops(client: Client) -> None:
    stopped = asyncio.Event()

    async def wait(ls: FoldlineServer) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    client.server.command("wait")(wait)
    number = client.request("workspace/executeCommand", {"command": "wait"})
    await asyncio.sleep(0)
    client.send("$/cancelRequest", {"id": number})
    [answer] = await client.answers(number)
    assert answer["error"]["code"] == -32800
    async with asyncio.timeout(LONGEST):
        await stopped.wait()


async def test_shutdown_answers_all_that_waits_once(client: Client) -> None:
    async def stubborn(ls: FoldlineServer) -> str:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "late"

    client.server.command("wait")(stubborn)
    waiting = [client.request("workspace/executeCommand", {"command": "wait"}) for _ in range(30)]
    await asyncio.sleep(0)
    last = client.request("shutdown")
    refused = client.request("textDocument/hover")
    await asyncio.sleep(0.05)
    counts = Counter(message["id"] for message in client.messages)
    codes = {message["id"]: message.get("error", {}).get("code") for message in client.messages}
    assert counts == dict.fromkeys([*waiting, last, refused], 1)
    assert codes == {**dict.fromkeys(waiting, -32800), last: None, refused: -32600}


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], bytes]]:
    """A server whose language server has answered once and then stops, and what it said so far."""
    (tmp_path / "m.py").write_text("def pay():\n    pass\n\npay()\n", encoding="utf-8")
    server = subprocess.Popen(SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(initialize(tmp_path) + references(2, 60))
    server.stdin.flush()
    said = b""
    while b'"id": 2' not in said or not said.endswith(b"}"):
        said += server.stdout.read1(1 << 16)  # type: ignore[attr-defined]  # It is buffered.
    below = psutil.Process(server.pid).children(recursive=True)
    stopped = [child for child in below if child.name() == "ty"]
    assert stopped, "ty does not run"
    for child in stopped:
        child.suspend()
    yield server, said
    server.kill()
    server.communicate()
    for child in stopped:
        if child.is_running():
            child.kill()


def references(number: int, seconds: float) -> bytes:
    arguments = {"name": "pay", "seconds": seconds}
    command = {"command": "foldline.server.code.findReferences", "arguments": [arguments]}
    return request(number, "workspace/executeCommand", command)


def test_a_session_ends_well_while_a_language_server_hangs(
    frozen: tuple[subprocess.Popen[bytes], bytes],
) -> None:
    server, said = frozen
    asked = list(range(10, 40))
    stream = b"".join(references(number, 3) for number in asked)
    rest, _ = server.communicate(
        stream + request(99, "shutdown") + notification("exit"), timeout=LONGEST
    )
    answers = [item for item in parse(said + rest)[2:] if "id" in item]
    assert Counter(answer["id"] for answer in answers) == dict.fromkeys([*asked, 99], 1)
    assert {answer["error"]["code"] for answer in answers if "error" in answer} <= {-32800}
    assert [answer["result"] for answer in answers if answer["id"] == 99] == [None]
    assert server.returncode == 0
