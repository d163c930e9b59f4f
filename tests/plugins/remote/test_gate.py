"""Who comes in over HTTP, how much of it, and for how long."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import shutil
import signal
import socket
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2
import mcp_types as types
import pytest

from foldline.agent.folder_operations import Answer
from foldline.agent.mcp import calls
from foldline.agent.mcp.stdio import Options
from foldline.plugins.remote import gate
from foldline.plugins.remote.measures import TOO_LATE
from foldline.plugins.remote.serving import Connection, _serve

from ...agent.mcp_process import EXAMPLE
from .apps import BEHIND_A_PROXY, HEADER, OPTIONS, Served, foldline, one_tool, served
from .replicas import ask, call, message, result

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SECONDS = 60


@pytest.fixture
async def proxied() -> AsyncIterator[Served]:
    async with foldline(BEHIND_A_PROXY) as one:
        yield one


@pytest.fixture
async def plain() -> AsyncIterator[Served]:
    async with foldline() as one:
        yield one


async def test_a_request_with_an_identity_is_answered_without_it(proxied: Served) -> None:
    response = await call(
        proxied.client, proxied.url, "get_tree", {HEADER: "somebody-in-particular"}
    )
    assert "review.py" in json.dumps(result(response))
    assert "somebody-in-particular" not in response.text + str(response.headers)


@pytest.mark.parametrize(
    "headers", [{}, {HEADER: ""}, {HEADER: "x" * 257}, {HEADER: "a\tb"}, {"X-User": "me"}], ids=str
)
async def test_a_request_without_an_identity_is_refused(
    proxied: Served, headers: dict[str, str]
) -> None:
    assert (await call(proxied.client, proxied.url, "get_tree", headers)).status_code == 401


async def test_two_identities_are_none(proxied: Served) -> None:
    body, own = message("tools/list")
    headers = [*own.items(), (HEADER, "me"), (HEADER, "you")]
    assert (await proxied.client.post(proxied.url, json=body, headers=headers)).status_code == 401


async def test_the_header_of_another_peer_is_not_believed() -> None:
    elsewhere = (ipaddress.ip_network("10.0.0.0/8"),)
    async with foldline(replace(BEHIND_A_PROXY, trusted_proxies=elsewhere)) as one:
        assert (await call(one.client, one.url, "get_tree", {HEADER: "me"})).status_code == 401


def test_an_ipv4_proxy_is_known_at_a_socket_for_both_versions() -> None:
    one = gate.Gate(None, BEHIND_A_PROXY, None, None)  # type: ignore[arg-type]  # Not used here.
    assert one._is_proxy("::ffff:127.0.0.1")
    assert not one._is_proxy("::ffff:10.0.0.1")
    assert not one._is_proxy("::1")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Host": "127.0.0.1:8000.evil.example"}, 421),
        ({"Host": "localhost:"}, 421),
        ({"Host": "localhost:80:80"}, 421),
        ({"Host": "localhost", "Origin": "http://localhost:1.evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Content-Type": "text/plain"}, 400),
        ({"Accept": "text/html"}, 406),
        ({"Mcp-Method": "tools/list"}, 400),
        ({"MCP-Protocol-Version": "2099-01-01"}, 400),
    ],
    ids=str,
)
async def test_requests_of_other_pages_and_names_are_refused(
    plain: Served, headers: dict[str, str], status: int
) -> None:
    body, own = message("tools/call", name="get_tree", arguments={})
    response = await plain.client.post(plain.url, json=body, headers={**own, **headers})
    assert response.status_code == status
    assert status != 421 or "--allowed-host" in response.text


async def test_an_allowed_page_may_ask_and_read_the_answer() -> None:
    page = "https://app.example.com"
    async with foldline(replace(BEHIND_A_PROXY, allowed_origins=(page,))) as one:
        asks = {"Origin": page, "Access-Control-Request-Method": "POST"}
        first = await one.client.options(one.url, headers=asks)
        assert first.status_code == 200
        response = await ask(one.client, one.url, "tools/list", {"Origin": page, HEADER: "me"})
        assert response.status_code == 200
        assert response.headers["Access-Control-Allow-Origin"] == page
        asks["Origin"] = "https://evil.example"
        assert (await one.client.options(one.url, headers=asks)).status_code == 400


async def test_a_name_is_allowed_with_any_port_and_the_loopback_no_longer_is() -> None:
    async with foldline(replace(OPTIONS, allowed_hosts=("mcp.example.com",))) as one:
        for host in ("mcp.example.com", "mcp.example.com:8443", "MCP.example.com"):
            response = await ask(one.client, one.url, "tools/list", {"Host": host})
            assert response.status_code == 200
        assert (await ask(one.client, one.url, "tools/list")).status_code == 421


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_only_post_is_answered(plain: Served, method: str) -> None:
    response = await plain.client.request(method, plain.url)
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")


async def test_another_path_is_not_found(plain: Served) -> None:
    for path in ("/", "/mcp/", "/mcp/../x", "/.well-known/oauth-protected-resource"):
        response = await plain.client.get(str(httpx2.URL(plain.url).copy_with(path=path)))
        assert response.status_code in (404, 405)


BODIES = {
    "no JSON": b"{",
    "a batch": b"[]",
    "deep": b"[" * 100_000,
    "a long number": b'{"id":' + b"9" * 10_000 + b"}",
    "not UTF-8": b'{"jsonrpc": "\xff"}',
    "half a surrogate": b'{"jsonrpc":"2.0","id":"\\ud800","method":"x"}',
}


@pytest.mark.parametrize("modern", [True, False])
@pytest.mark.parametrize("name", BODIES)
async def test_bodies_that_are_no_requests_are_refused(
    plain: Served, name: str, *, modern: bool
) -> None:
    _, headers = message("tools/list")
    if not modern:
        del headers["MCP-Protocol-Version"]
    headers["Content-Type"] = "application/json"
    response = await plain.client.post(plain.url, content=BODIES[name], headers=headers)
    assert response.status_code == 400
    assert (await ask(plain.client, plain.url, "tools/list")).status_code == 200


@pytest.mark.parametrize("modern", [True, False])
@pytest.mark.parametrize("id_", ["1.5", "true", "NaN", "null", "[1]", '"\\ud800"'])
async def test_a_request_whose_id_is_none_is_answered_with_an_error(
    plain: Served, id_: str, *, modern: bool
) -> None:
    body, headers = message("tools/list")
    if not modern:
        del headers["MCP-Protocol-Version"]
    text = json.dumps(body).replace('"id": 1', f'"id": {id_}')
    headers["Content-Type"] = "application/json"
    response = await plain.client.post(plain.url, content=text, headers=headers)
    assert response.status_code == 400
    code = types.PARSE_ERROR if id_ == "NaN" else types.INVALID_REQUEST
    assert response.json()["error"]["code"] == code
    response = await plain.client.post(plain.url, json={**body, "id": "é"}, headers=headers)
    assert response.json()["id"] == "é"


async def test_an_error_does_not_repeat_a_long_method(plain: Served) -> None:
    body, headers = message("m" * 200_000)
    for name in ("MCP-Protocol-Version", "Mcp-Method"):
        del headers[name]
    response = await plain.client.post(plain.url, json=body, headers=headers)
    assert response.json()["error"]["code"] == types.METHOD_NOT_FOUND
    assert len(response.text) < 1000


async def test_a_huge_body_is_refused_before_it_is_read(plain: Served) -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    declared = await plain.raw(head + b"Content-Length: 100000000000\r\n\r\n")
    assert b" 413 " in declared.partition(b"\r\n")[0]
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    whole = await plain.raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + 5 * chunk)
    assert b" 413 " in whole.partition(b"\r\n")[0]


@pytest.mark.parametrize("coded", ["Content-Length: 4194304", "Transfer-Encoding: chunked"])
async def test_a_client_that_still_sends_a_huge_body_reads_its_refusal(
    plain: Served, coded: str
) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{coded}\r\n\r\n".encode()
    size, end = (b"", b"") if "Length" in coded else (b"400000\r\n", b"\r\n0\r\n\r\n")
    answer = await plain.raw(head + size + b"x" * 4194304 + end)
    assert b" 413 " in answer.partition(b"\r\n")[0]


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 100_000,
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
    ids=["two hosts", "a null", "a long head", "two lengths", "TLS"],
)
async def test_heads_that_are_no_heads_are_refused(plain: Served, head: bytes) -> None:
    answer = await plain.raw(head)
    assert b" 400 " in answer.partition(b"\r\n")[0]


BEGUN = "\r\n".join(
    [
        "POST /mcp HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        "Content-Length: 9",
        *(f"{name}: {value}" for name, value in message("tools/call", name="x")[1].items()),
        "",
        "{",
    ]
).encode()
"""A request with the first byte of its body."""


async def test_a_slow_head_and_a_slow_body_are_given_up(
    plain: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Connection, "head_seconds", 0.2)
    monkeypatch.setattr(gate, "BODY_SECONDS", 0.2)
    assert await plain.raw(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ") == b""
    answer = await plain.raw(BEGUN)
    assert b" 408 " in answer.partition(b"\r\n")[0]
    assert (await call(plain.client, plain.url, "get_tree")).status_code == 200
    assert "Traceback" not in caplog.text


async def test_a_client_that_leaves_within_its_body_is_no_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with foldline(replace(OPTIONS, max_requests=1)) as one:
        _, writer = await asyncio.open_connection(*one.address)
        writer.write(BEGUN)
        async with asyncio.timeout(SECONDS):
            while (await call(one.client, one.url, "get_tree")).status_code != 503:
                pass
            writer.close()
            while (await call(one.client, one.url, "get_tree")).status_code != 200:
                pass
    assert "Traceback" not in caplog.text


async def test_the_body_of_an_answer_does_not_wait_for_its_head(plain: Served) -> None:
    await ask(plain.client, plain.url, "tools/list")
    connections = list(plain.server.server_state.connections)
    assert connections
    for connection in connections:
        assert isinstance(connection, Connection)
        connected = connection.transport.get_extra_info("socket")
        assert connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


class Waiting:
    """A tool that waits to be let go."""

    def __init__(self) -> None:
        self.begun, self.go, self.cancelled = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.calls: asyncio.Queue[None] = asyncio.Queue()

    async def __call__(self, _params: types.CallToolRequestParams) -> types.CallToolResult:
        self.begun.set()
        self.calls.put_nowait(None)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return types.CallToolResult(content=[])


@pytest.mark.parametrize("modern", [True, False])
async def test_a_request_that_takes_too_long_is_ended_with_an_error(*, modern: bool) -> None:
    tool = Waiting()
    async with served(one_tool(tool), replace(OPTIONS, deadline=0.1)) as one:
        body, headers = message("tools/call", name="wait", arguments={})
        if not modern:
            del headers["MCP-Protocol-Version"]
        response = await one.client.post(one.url, json=body, headers=headers)
    assert response.json()["error"]["code"] == TOO_LATE
    assert "more than 0.1 seconds" in response.text
    assert tool.cancelled.is_set()


async def test_more_requests_than_allowed_are_told_to_come_again() -> None:
    tool = Waiting()
    async with served(one_tool(tool), replace(OPTIONS, max_requests=1)) as one:
        first = asyncio.create_task(call(one.client, one.url, "wait"))
        await tool.begun.wait()
        second = await call(one.client, one.url, "wait")
        assert (second.status_code, second.headers["Retry-After"]) == (503, "1")
        ready = await one.client.get(one.url.replace("/mcp", "/readyz"))
        assert ready.status_code == 200
        tool.go.set()
        assert (await first).status_code == 200
        assert (await call(one.client, one.url, "wait")).status_code == 200


async def test_an_identity_leaves_places_to_others() -> None:
    tool = Waiting()
    options = replace(BEHIND_A_PROXY, max_requests=8)
    async with served(one_tool(tool), options) as one, asyncio.TaskGroup() as tasks:

        async def ask_as(identity: str) -> int:
            response = await call(one.client, one.url, "wait", {HEADER: identity})
            if response.status_code == 503:
                assert response.headers["Retry-After"] == "1"
                full.set()
            return response.status_code

        async def taken_by(identity: str) -> int:
            """How many places it gets until it's refused."""
            full.clear()
            begun = 0
            while not full.is_set():
                asked.append(tasks.create_task(ask_as(identity)))
                begun += 1
                ends = [tasks.create_task(full.wait()), tasks.create_task(tool.calls.get())]
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                for end in ends:
                    end.cancel()
            return begun - 1

        full = asyncio.Event()
        asked: list[asyncio.Task[int]] = []
        places = {identity: await taken_by(identity) for identity in ("a", "b", "c", "d")}
        assert places == {"a": 4, "b": 2, "c": 1, "d": 1}
        # All are taken now, and each place comes back.
        assert await ask_as("e") == 503
        tool.go.set()
        assert sorted([await one for one in asked]) == 8 * [200] + 4 * [503]
        tool.go.clear()
        asked.clear()
        assert await taken_by("a") == 4
        tool.go.set()


@pytest.mark.parametrize("modern", [True, False])
async def test_a_request_whose_client_leaves_is_cancelled(*, modern: bool) -> None:
    tool = Waiting()
    async with served(one_tool(tool), replace(OPTIONS, max_requests=1, deadline=3600.0)) as one:
        body, headers = message("tools/call", name="wait", arguments={})
        if not modern:
            del headers["MCP-Protocol-Version"]
        data = json.dumps(body).encode()
        sent = {**headers, "Host": "localhost", "Content-Type": "application/json"}
        lines = [f"{name}: {value}" for name, value in sent.items()]
        head = "\r\n".join(["POST /mcp HTTP/1.1", f"Content-Length: {len(data)}", *lines, "", ""])
        _, writer = await asyncio.open_connection(*one.address)
        writer.write(head.encode() + data)
        await tool.begun.wait()
        writer.transport.abort()
        async with asyncio.timeout(SECONDS):
            await tool.cancelled.wait()
            # Its place is free again.
            tool.go.set()
            while (await call(one.client, one.url, "wait")).status_code != 200:
                pass


async def test_health_is_told_to_anybody_and_names_no_folder(tmp_path: Path) -> None:
    root = tmp_path / "secret-name"
    root.mkdir()
    async with foldline(BEHIND_A_PROXY, roots=(root,)) as one:
        alive, ready = (one.url.replace("/mcp", path) for path in ("/healthz", "/readyz"))
        get = partial(one.client.get, headers={"Host": "10.1.2.3:8000"})
        assert (await get(alive)).text == "alive\n"
        assert (await get(ready)).text == "ready -\n"
        (root / ".git").mkdir()
        (root / ".git" / "HEAD").write_text("0123456789" * 4)
        assert (await get(ready)).text == f"ready {'0123456789' * 4}\n"
        shutil.rmtree(root)
        gone = await get(ready)
        assert (gone.status_code, gone.text) == (503, "a root can't be read\n")
        root.mkdir()
        one.health.draining = True
        assert (await get(ready)).text == "draining\n"
        assert (await get(alive)).status_code == 200


@pytest.fixture
async def draining(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Any, Waiting]]:
    """Starts the server of this process, whose `get_tree` waits to be let go."""
    waiting = Waiting()

    async def call_operation(*_args: object, **_named: object) -> Any:
        await waiting(None)  # type: ignore[arg-type]  # Not used.
        return Answer("done")

    monkeypatch.setattr(calls, "call_operation", call_operation)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    tasks = []

    def start(drain_seconds: float) -> tuple[asyncio.Task[None], str]:
        listening = socket.create_server(("127.0.0.1", 0))
        http = replace(OPTIONS, drain_seconds=drain_seconds)
        options = Options(roots=(EXAMPLE,), remote=True)
        tasks.append(asyncio.create_task(_serve(options, http, listening)))
        return tasks[-1], f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"

    yield start, waiting
    for number, handler in handlers.items():
        signal.signal(number, handler)
    for task in tasks:
        assert task.done()


async def test_a_signal_lets_running_requests_end(draining: Any) -> None:
    start, waiting = draining
    running, url = start(0.0)
    async with httpx2.AsyncClient(timeout=SECONDS) as client:
        request = asyncio.create_task(call(client, url, "get_tree"))
        await waiting.begun.wait()
        signal.raise_signal(signal.SIGTERM)
        async with asyncio.timeout(SECONDS):
            # It no longer listens once it ends, and it ends only after the request.
            while True:
                try:
                    await client.get(url.replace("/mcp", "/readyz"))
                except httpx2.TransportError:
                    break
            assert not running.done()
            waiting.go.set()
            assert (await request).status_code == 200
            await running


@pytest.mark.parametrize("modern", [True, False])
async def test_a_second_signal_sends_running_requests_to_another_server(
    draining: Any, caplog: pytest.LogCaptureFixture, *, modern: bool
) -> None:
    start, waiting = draining
    before = asyncio.all_tasks()
    running, url = start(3600.0)
    body, headers = message("tools/call", name="get_tree", arguments={})
    if not modern:
        del headers["MCP-Protocol-Version"]
    async with httpx2.AsyncClient(timeout=SECONDS) as client:
        request = asyncio.create_task(client.post(url, json=body, headers=headers))
        await waiting.begun.wait()
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        response = await request
        await running
    # What is left would be cancelled when the loop ends, and log that.
    assert asyncio.all_tasks() <= before
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert response.headers["Connection"] == "close"
    assert "Traceback" not in caplog.text


async def test_while_it_drains_it_answers_and_sends_connections_away(draining: Any) -> None:
    start, waiting = draining
    running, url = start(3600.0)
    waiting.go.set()
    async with httpx2.AsyncClient(timeout=SECONDS) as client:
        before = await call(client, url, "get_tree")
        assert before.headers.get("Connection") != "close"
        signal.raise_signal(signal.SIGTERM)
        ready = url.replace("/mcp", "/readyz")
        async with asyncio.timeout(SECONDS):
            while (await client.get(ready)).status_code != 503:
                pass
            response = await call(client, url, "get_tree")
            assert response.status_code == 200
            assert response.headers["Connection"] == "close"
            # It goes on: its clock, which each answer shows, moves twice meanwhile.
            shown = {response.headers["Date"]}
            while len(shown) < 3:
                shown.add((await client.get(ready)).headers["Date"])
            # A second signal waits for nothing.
            signal.raise_signal(signal.SIGTERM)
            await running


def test_the_largest_body_is_small_enough_for_all_requests_at_a_time() -> None:
    assert gate.MAX_BODY_BYTES * OPTIONS.max_requests <= 1 << 24
