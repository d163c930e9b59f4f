"""A preview as a web page: who is let in, who is refused, and what a browser is told."""

import asyncio
import json
import select
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from foldline.ide.previews.session import Preview
from foldline.ide.previews.state import PreviewState
from foldline.ide.render.render import Block
from foldline.server.app import create_server
from foldline.server.http_server import BoundedConnection
from foldline.server.page.feed import Feed
from foldline.server.page.token_store import MAX_TOKENS, TokenStore
from foldline.server.server import FoldlineServer

from .conftest import Connect, Editor, served

SECONDS = 30
PATHS = ("", "page.js", "events", "index.html")


@dataclass
class Visitor:
    """One browser, as far as what it sends goes."""

    authority: str
    path: str
    cookie: str = ""
    connections: list[HTTPConnection] = field(default_factory=list)

    @classmethod
    async def admitted(cls, url: str) -> "Visitor":
        """The browser that opened the address `url`."""
        parts = urlsplit(url)
        visitor = cls(parts.netloc, parts.path)
        answer = await visitor.get(f"?{parts.query}")
        assert answer.status == 200
        visitor.cookie = answer.headers["Set-Cookie"].partition(";")[0]
        return visitor

    async def get(self, path: str = "", **headers: str) -> HTTPResponse:
        return await asyncio.to_thread(self._send, "GET", path, None, headers)

    async def do(self, body: object, **headers: str) -> HTTPResponse:
        """Send an action, as the page itself does unless `headers` say otherwise."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        own = {"Origin": f"http://{self.authority}", "Content-Type": "application/json"}
        return await asyncio.to_thread(self._send, "POST", "actions", data, own | headers)

    def _send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> HTTPResponse:
        connection = HTTPConnection(self.authority, timeout=SECONDS)
        self.connections.append(connection)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        cookies = {"Cookie": self.cookie} if self.cookie else {}
        connection.request(method, self.path + path, body, cookies | named)
        return connection.getresponse()

    @asynccontextmanager
    async def events(self) -> AsyncIterator["Events"]:
        answer = await self.get("events")
        assert answer.status == 200
        try:
            yield Events(answer)
        finally:
            answer.close()

    def close(self) -> None:
        for connection in self.connections:
            connection.close()


class Events:
    def __init__(self, answer: HTTPResponse) -> None:
        self._answer = answer

    async def next(self) -> tuple[str, dict[str, Any]]:
        """The name and the data of the next event."""
        return await asyncio.to_thread(self._next)

    def _next(self) -> tuple[str, dict[str, Any]]:
        name = "message"
        while line := self._answer.readline().decode():
            if line.startswith("event: "):
                name = line[7:].strip()
            if line.startswith("data: "):
                return name, json.loads(line[6:])
        raise AssertionError("the events ended without a word")


@served
async def here() -> AsyncIterator[FoldlineServer]:
    """A server in this process with one preview, of which nothing is rendered."""
    server = create_server()
    server.previews._previews["preview-1"] = Preview("preview-1", "file:///p.py", "p")
    yield server
    await server.pages.stop()
    server.close()


@served
async def url(here: FoldlineServer) -> str:
    return here.pages.serve("preview-1")


@served
async def visitor(url: str) -> AsyncIterator[Visitor]:
    visitor = await Visitor.admitted(url)
    yield visitor
    visitor.close()


@served
async def shown(fresh: Editor) -> AsyncIterator[Visitor]:
    """A browser that shows the example's preview, which a real server serves."""
    fresh.open("reviewer_prompt.py")
    visitor = await Visitor.admitted((await fresh.command("prompt.serve"))["url"])
    yield visitor
    visitor.close()


@pytest.fixture
def stranger(visitor: Visitor) -> Iterator[Visitor]:
    """A browser that knows where the page is, and was not let in."""
    stranger = Visitor(visitor.authority, visitor.path)
    yield stranger
    stranger.close()


@pytest.mark.real
async def test_nothing_listens_before_a_page_is_asked_for_and_then_on_the_loopback_alone(
    fresh: Editor,
) -> None:
    fresh.open("reviewer_prompt.py")
    await fresh.command("prompt.preview")
    assert listening() == []
    await fresh.command("prompt.serve")
    assert listening() == ["127.0.0.1"]


async def test_an_address_opens_once(url: str, visitor: Visitor, stranger: Visitor) -> None:
    query = urlsplit(url).query
    refused = await stranger.get(f"?{query}")
    assert refused.status == 403
    assert refused.headers["Set-Cookie"] is None
    assert b"works once" in refused.read()
    again = await visitor.get(f"?{query}")
    assert (again.status, again.headers["Location"]) == (303, visitor.path)


PARTS = {
    "nothing": b"",
    "a letter": b"G",
    "a head without an end": b"GET / HTTP/1.1\r\nHost: x\r\n",
    "a request that is refused": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a body without an end": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1",
}


@pytest.mark.parametrize("part", PARTS)
async def test_who_sends_slowly_keeps_no_browser_out(url: str, part: str) -> None:
    host, _, port = urlsplit(url).netloc.partition(":")
    with ExitStack() as plugs:
        for _ in range(100):
            plug = plugs.enter_context(socket.create_connection((host, int(port))))
            plug.sendall(PARTS[part])
        visitor = await Visitor.admitted(url)
        assert (await visitor.get("page.js")).status == 200
        visitor.close()


@pytest.mark.parametrize("part", PARTS)
async def test_who_takes_too_long_for_a_head_is_closed(
    url: str, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BoundedConnection, "head_seconds", 0.5)
    host, _, port = urlsplit(url).netloc.partition(":")

    def trickle() -> None:
        # Each byte comes in time; the head as a whole doesn't.
        with socket.create_connection((host, int(port))) as plug:
            plug.sendall(PARTS[part])
            for letter in b"GET / HTTP/1.1\r\nX: " + b"x" * 10_000:
                readable, _, _ = select.select([plug], [], [], 0.02)
                if readable and not plug.recv(1 << 16):
                    return
                plug.sendall(bytes([letter]))
        raise AssertionError("it was not closed")

    with suppress(ConnectionError):
        await asyncio.to_thread(trickle)


async def test_each_asking_gives_another_address_of_the_same_page(
    here: FoldlineServer, visitor: Visitor
) -> None:
    other = await Visitor.admitted(here.pages.serve("preview-1"))
    assert (other.authority, other.path) == (visitor.authority, visitor.path)
    assert other.cookie != visitor.cookie
    assert (await visitor.get()).status == (await other.get()).status == 200
    other.close()


async def test_the_cookie_is_for_this_page_alone_and_out_of_reach_of_scripts(url: str) -> None:
    parts = urlsplit(url)
    visitor = Visitor(parts.netloc, parts.path)
    cookie = (await visitor.get(f"?{parts.query}")).headers["Set-Cookie"]
    assert {part.strip() for part in cookie.split(";")[1:]} == {
        "HttpOnly",
        "SameSite=strict",
        f"Path={parts.path}",
    }
    visitor.close()


@pytest.mark.parametrize("path", [*PATHS, "?token=", "?token=guessed", "?token=%C3%A9%00"])
async def test_without_a_cookie_nothing_is_shown(stranger: Visitor, path: str) -> None:
    assert (await stranger.get(path)).status == 403


async def test_without_a_cookie_nothing_is_done(stranger: Visitor) -> None:
    assert (await stranger.do({"action": "reset"})).status == 403
    stranger.cookie = "foldline=guessed"
    assert (await stranger.do({"action": "reset"})).status == 403


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", ""])
async def test_another_host_is_refused(visitor: Visitor, path: str, host: str) -> None:
    answer = await visitor.get(path, Host=host)
    assert answer.status in (400, 421)
    assert (await visitor.do({"action": "reset"}, Host=host)).status in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:8000"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
        {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "cors"},
    ],
)
async def test_a_request_of_another_page_is_refused(
    visitor: Visitor, headers: dict[str, str]
) -> None:
    for path in PATHS[:3]:
        assert (await visitor.get(path, **headers)).status == 403
    assert (await visitor.do({"action": "reset"}, **headers)).status == 403


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"x" * 20_000, {}, 413),
        (b"{}", {"Content_Type": "text/plain"}, 415),
        (b"{", {}, 400),
        (b"[" * 9_000, {}, 400),
        (b"\xff", {}, 400),
        ({"action": "run"}, {}, 400),
        ({"action": "openSections", "keys": []}, {}, 400),
        ({"action": "openSections", "key": 3}, {}, 400),
        ({"action": "openSections", "key": "reference-dogs"}, {}, 409),
    ],
)
async def test_what_is_no_deed_is_refused(
    visitor: Visitor, body: object, headers: dict[str, str], status: int
) -> None:
    answer = await visitor.do(body, **headers)
    assert answer.status == status
    assert answer.read().strip()


async def test_other_methods_and_paths_are_refused(visitor: Visitor) -> None:
    for path in ("app.py", "..%2fapp.py", "%2e%2e/app.py", "actions"):
        assert (await visitor.get(path)).status in (404, 405)
    answer = await asyncio.to_thread(visitor._send, "PUT", "actions", b"{}", {})
    assert answer.status == 405


async def test_every_answer_forbids_what_the_page_does_not_need(
    visitor: Visitor, stranger: Visitor
) -> None:
    for answer in (await visitor.get(), await visitor.get("page.js"), await stranger.get()):
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "server" not in answer.headers


@pytest.mark.real
async def test_a_browser_is_told_all_and_then_what_changes(fresh: Editor, shown: Visitor) -> None:
    async with shown.events() as events:
        _, first = await events.next()
        assert first["whole"]
        assert [block["id"] for block in first["blocks"]] == first["order"]
        assert (await shown.do({"action": "openSections", "key": "reference-docs"})).status == 204
        _, second = await events.next()
        assert not second["whole"]
        assert "reference-docs/security" in second["order"]
        assert "guidance" not in [block["id"] for block in second["blocks"]]
        await fresh.command("prompt.closePreview", sessionId=first["sessionId"])
        assert (await events.next())[0] == "over"


@pytest.mark.real
async def test_a_page_says_what_is_shown_without_trust(fresh: Editor, shown: Visitor) -> None:
    async with shown.events() as events:
        assert (await events.next())[1]["fidelity"] == "executed"
        fresh.client.protocol.notify("foldline/didChangeTrust", {"trusted": False})
        assert (await events.next())[1]["fidelity"] == "static"


@pytest.mark.real
async def test_an_edit_of_the_unsaved_buffer_reaches_the_browser(
    fresh: Editor, shown: Visitor
) -> None:
    uri = fresh.uri("reviewer_prompt.py")
    text = (fresh.root / "reviewer_prompt.py").read_text(encoding="utf-8")
    async with shown.events() as events:
        await events.next()
        fresh.change(uri, text.replace("You review ${project}", "You read ${project}"))
        _, update = await events.next()
        assert [block["id"] for block in update["blocks"]] == ["guidance"]
        assert "You read auth" in update["blocks"][0]["text"]
        fresh.change(uri, f"{text}\nbroken = (", version=3)
        _, update = await events.next()
        assert "isn't Python" in update["stale"]["message"]
        assert update["blocks"] == []


@pytest.mark.real
async def test_the_markdown_of_a_prompt_makes_no_markup(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(tmp_path, trusted=True)
    template = "<script>x</script> <b>y</b>\\n\\n[z](javascript:alert(1))\\n\\n<img src=x>"
    editor.open(
        "p.py",
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        f's = MarkdownSection[None](title="S", key="s", template="{template}")\n'
        'p = PromptTemplate(ns="n", key="k", sections=[s])\n',
    )
    visitor = await Visitor.admitted((await editor.command("prompt.serve"))["url"])
    async with visitor.events() as events:
        _, state = await events.next()
    visitor.close()
    tokens = json.dumps(state["blocks"][0]["markdown"])
    assert "html_" not in tokens
    assert '"href"' not in tokens


async def test_a_slow_reader_is_told_the_sum_of_what_changed() -> None:
    feed = Feed(state("a", "b"))
    feed.push(state("b", order=("a", "b"), version=2))
    feed.push(state("c", order=("a", "c"), version=3))
    update = await feed.next()
    assert update is not None
    assert (update.whole, update.state.version) == (True, 3)
    assert [block.id for block in update.state.blocks] == ["a", "c"]
    feed.push(state("c", order=("a", "c"), version=4))
    feed.push(None)
    last = await feed.next()
    assert last is not None
    assert (last.whole, last.state.version) == (False, 4)
    assert await feed.next() is None
    assert await feed.next() is None


def test_a_page_remembers_as_many_browsers_as_a_person_has() -> None:
    tokens = TokenStore()
    first = tokens.exchange(tokens.issue())
    for _ in range(MAX_TOKENS - 1):
        tokens.exchange(tokens.issue())
    assert tokens.admits(first)
    tokens.exchange(tokens.issue())
    assert not tokens.admits(first)
    assert not tokens.admits(None)
    assert not tokens.admits("\udcff")


def state(*ids: str, order: tuple[str, ...] | None = None, version: int = 1) -> PreviewState:
    blocks = tuple(
        Block(id_, (id_,), id_, "1", "", 0, "FULL", enabled=True, text="", segments=())
        for id_ in ids
    )
    shown = Preview("preview-1", "file:///p.py", "p").state(blocks)
    return replace(shown, order=order or ids, version=version)


def listening() -> list[str]:
    """The addresses at which the server that was started here accepts connections."""
    (server,) = (child for child in psutil.Process().children() if "serve" in child.cmdline())
    connections = server.net_connections("inet")
    return [
        connection.laddr.ip for connection in connections if connection.status == psutil.CONN_LISTEN
    ]
