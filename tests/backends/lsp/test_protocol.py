"""The messages between foldline and a language server, whatever either sends."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from foldline.backends.errors import LSPDiedError, LSPResponseError
from foldline.backends.lsp.protocol import MAX_UNSENT_BYTES, JsonRpcClient


class Stream:
    """The input of a server: it keeps what was written, and `unsent` bytes wait in it."""

    def __init__(self) -> None:
        self.data = b""
        self.closing = False
        self.unsent = 0
        self.transport = self

    def is_closing(self) -> bool:
        return self.closing

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def write(self, data: bytes) -> None:
        self.data += data

    def messages(self) -> Iterator[dict[str, Any]]:
        while self.data:
            header, _, rest = self.data.partition(b"\r\n\r\n")
            length = int(header.removeprefix(b"Content-Length: "))
            yield json.loads(rest[:length])
            self.data = rest[length:]


@contextmanager
def connected() -> Iterator[tuple[JsonRpcClient, Stream]]:
    stream = Stream()
    yield JsonRpcClient("server", cast("asyncio.StreamWriter", stream)), stream


def fail(_: object) -> None:
    raise RuntimeError("a bug")


@pytest.mark.real
def test_loading_the_client_changes_no_logger_and_needs_no_library_for_servers() -> None:
    program = """
import logging, sys
before = logging.getLogger("pygls.protocol.json_rpc").level
import foldline.backends.lsp
import foldline.backends.lsp.connection, foldline.backends.lsp.initialized_server
assert logging.getLogger("pygls.protocol.json_rpc").level == before
print(*{"pygls", "lsprotocol", "cattrs"} & set(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == ([], "")


@pytest.mark.parametrize(
    ("handler", "reply"),
    [
        (lambda params: params["of"], {"result": [1]}),
        (lambda _: None, {"result": None}),
        (fail, {"error": {"code": -32603, "message": "RuntimeError: a bug"}}),
        (None, {"error": {"code": -32601, "message": "method not found: ask"}}),
    ],
)
def test_a_request_of_the_server_gets_one_reply(
    handler: Callable[[Any], object] | None, reply: dict[str, object]
) -> None:
    with connected() as (client, stream):
        if handler is not None:
            client.on("ask", handler)
        client.receive({"id": "a", "method": "ask", "params": {"of": [1]}})
        assert list(stream.messages()) == [{"jsonrpc": "2.0", "id": "a", **reply}]


def test_a_notification_of_the_server_gets_no_reply() -> None:
    with connected() as (client, stream):
        seen: list[object] = []
        client.on("news", seen.append)
        client.on("bad", fail)
        for method in ("news", "unknown", "bad"):
            client.receive({"method": method, "params": 1})
        assert (seen, stream.data) == ([1], b"")


def test_a_request_is_settled_by_its_own_number_alone() -> None:
    async def ask() -> None:
        with connected() as (client, stream):
            number, future = client.send("add", {"a": 1})
            [sent] = stream.messages()
            assert sent == {"jsonrpc": "2.0", "id": 1, "method": "add", "params": {"a": 1}}
            for odd in (True, "1", None, [1], 2, 1.0):
                client.receive({"id": odd, "result": "wrong"})
            client.receive({})
            assert (number, client.pending, future.done()) == (1, 1, False)
            client.receive({"id": 1, "result": "right"})
            client.receive({"id": 1, "result": "again"})
            assert (await future, client.pending) == ("right", 0)

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"code": -32801, "message": "modified"}, -32801, "modified"),
        ({"code": "x"}, 0, "{'code': 'x'}"),
        ("no", 0, "no"),
    ],
)
def test_an_error_is_read_in_any_form(error: object, code: int, message: str) -> None:
    async def ask() -> None:
        with connected() as (client, _):
            number, future = client.send("add", None)
            client.receive({"id": number, "error": error})
            with pytest.raises(LSPResponseError) as raised:
                await future
            assert (raised.value.code, str(raised.value)) == (code, message)

    asyncio.run(ask())


def test_a_server_that_reads_nothing_is_not_written_to() -> None:
    async def ask() -> None:
        with connected() as (client, stream):
            stream.unsent = MAX_UNSENT_BYTES + 1
            with pytest.raises(BrokenPipeError):
                client.send("add", None)
            client.notify("news", {})
            client.receive({"id": 1, "method": "unknown"})
            assert (client.pending, stream.data) == (0, b"")

    asyncio.run(ask())


def test_when_a_server_dies_every_request_fails() -> None:
    async def ask() -> None:
        with connected() as (client, _):
            futures = [client.send("add", None)[1] for _ in range(2)]
            client.fail_all(LSPDiedError("gone", "server"))
            outcomes = await asyncio.gather(*futures, return_exceptions=True)
            assert list(map(str, outcomes)) == ["server: gone", "server: gone"]
            assert outcomes[0] is not outcomes[1]

    asyncio.run(ask())


async def test_a_server_that_left_a_request_unanswered_is_silent_until_it_answers_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [100.0]
    monkeypatch.setattr("foldline.backends.lsp.protocol.time.monotonic", lambda: clock[0])
    with connected() as (client, _):
        assert client.silence == 0
        for given_up in (1, 2):
            number, _ = client.send("textDocument/references", {})
            assert number == given_up
            clock[0] += 60
            client.drop(number)
        # Nobody waits, and the next would wait in vain.
        assert (client.pending, client.silence) == (0, 120)
        client.receive({"id": 10**9, "result": []})
        client.receive({"id": True, "result": []})
        assert client.silence == 120
        # Late, or the answer to `$/cancelRequest`.
        client.receive({"id": 1, "error": {"code": -32800, "message": "cancelled"}})
        clock[0] += 60
        assert client.silence == 0
