"""The files of the reference deployment, run as docs/09-team.md says."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import ssl
import subprocess
from collections import Counter
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import mcp_types as types
import pytest
import tree_sitter
import tree_sitter_containerfile

from .apps import BEHIND_A_PROXY, one_tool, served
from .balanced import FILES, NAME, Balanced, balanced, make_certificates
from .page_commands import page_commands, volumes
from .replicas import call, result, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[3]
SECONDS = 60
CLIENTS = 40
USERS = ("somebody", *(f"user{number}" for number in range(23)))
LANES = re.findall(r"default-server .*maxconn (\d+)", (FILES / "haproxy.cfg").read_text())
MAX_CONNECTIONS, SLOW_CONNECTIONS = map(int, LANES)
[SHARE] = map(int, re.findall(r"sc_conn_cur\(0\) gt (\d+)", (FILES / "haproxy.cfg").read_text()))
CHECKS = 3
"""So many in turn take a replica out, or in."""
BETWEEN = 200
"""Answers between two events."""


@pytest.fixture(scope="module")
def haproxy(program: Callable[..., str]) -> str:
    return program("haproxy", "/usr/sbin/haproxy")


@pytest.fixture
def deployed(haproxy: str, tmp_path: Path) -> Iterator[Balanced]:
    options = ("--drain", "2", "--log-level", "info")
    with balanced(haproxy, tmp_path, *options, users=USERS) as one:
        yield one


class Load:
    """Clients that ask without a pause, each with connections of its own."""

    def __init__(self, deployed: Balanced) -> None:
        self.answers = self.again = 0
        self.lost: list[str] = []
        self._deployed = deployed
        self._more = asyncio.Condition()
        self._going = True

    async def client(self, user: str) -> None:
        async with self._deployed.client(user) as client:
            while self._going:
                await self._one(client)
                async with self._more:
                    self.answers += 1
                    self._more.notify_all()

    async def more(self, count: int = BETWEEN) -> None:
        """Wait for as many answers more."""
        async with asyncio.timeout(SECONDS), self._more:
            wanted = self.answers + count
            await self._more.wait_for(lambda: self.answers >= wanted)

    def stop(self) -> None:
        self._going = False

    async def _one(self, client: httpx2.AsyncClient) -> None:
        # As the page says: what breaks is asked once more, a second later.
        for last in (False, True):
            try:
                response = await call(
                    client, self._deployed.url, "get_file_outline", path="review.py"
                )
                assert "review.py" in result(response)["content"][0]["text"]
                return
            except (httpx2.TransportError, AssertionError) as error:
                if last:
                    self.lost.append(repr(error))
                self.again += 1
                await asyncio.sleep(1)


async def test_no_request_is_lost_while_a_replica_dies_returns_and_another_leaves(
    deployed: Balanced,
) -> None:
    load = Load(deployed)
    async with asyncio.TaskGroup() as tasks:
        for number in range(CLIENTS):
            tasks.create_task(load.client(USERS[number % len(USERS)]))
        try:
            await load.more()
            first, second = deployed.replicas["a"], deployed.replicas["b"]
            first.process.kill()
            await load.more()
            again = await asyncio.to_thread(deployed.start, "a", first.port)
            second.process.terminate()
            status = await asyncio.to_thread(second.process.wait, SECONDS)
            await load.more()
        finally:
            load.stop()
    assert not load.lost
    assert status == 0
    assert second.ended.wait(SECONDS)
    assert "Traceback" not in "".join(second.lines)
    assert any("get_file_outline for somebody: done" in line for line in again.lines)


async def test_a_dead_replica_takes_no_requests_while_the_other_is_full(
    haproxy: str, tmp_path: Path
) -> None:
    """Of more requests than one replica takes at a time, none fails: the rest waits."""
    full, free, checked = asyncio.Event(), asyncio.Event(), asyncio.Event()
    many, held, checks = len(USERS) * SHARE, 0, 0
    assert many == 2 * MAX_CONNECTIONS
    handlers: list[Any] = []
    asked: list[asyncio.Task[httpx2.Response]] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal held, checks
        handlers.append(asyncio.current_task())
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := (await reader.readuntil(b"\r\n\r\n")).lower():
                if length := re.search(rb"content-length: (\d+)", head):
                    await reader.readexactly(int(length[1]))
                    held += 1
                    if held == MAX_CONNECTIONS:
                        full.set()
                    await free.wait()
                else:
                    checks += 1
                    if checks == 2 * CHECKS:
                        checked.set()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    with ExitStack() as stack:
        deployed = Balanced(make_certificates(tmp_path, *USERS), stack)
        dead, alive = [await asyncio.start_server(answer, "127.0.0.1", 0) for _ in "ab"]
        ports = [one.sockets[0].getsockname()[1] for one in (dead, alive)]
        async with asyncio.timeout(SECONDS), AsyncExitStack() as clients:
            await asyncio.to_thread(deployed.balance, haproxy, *ports)
            await checked.wait()
            dead.close()
            async with asyncio.TaskGroup() as tasks:
                for user in USERS:
                    client = await clients.enter_async_context(deployed.client(user))
                    asked += [
                        tasks.create_task(call(client, deployed.url, "get_tree"))
                        for _ in range(SHARE)
                    ]
                await full.wait()
                while not any("Server replicas/a is DOWN" in line for line in deployed.log):
                    await asyncio.sleep(0.01)
                free.set()
        # Ends the balancer, and so its connections.
        await asyncio.to_thread(stack.close)
        alive.close()
        await asyncio.gather(*handlers)
    assert Counter(one.result().status_code for one in asked) == {200: many}


async def test_who_asks_is_the_name_in_the_certificate_and_nothing_else(deployed: Balanced) -> None:
    async with deployed.client() as client:
        spoofed = {"X-Foldline-User": "root"}
        result(await call(client, deployed.url, "get_tree", spoofed))
        elsewhere = await client.get(deployed.url.replace("/mcp", "/readyz"))
        assert elsewhere.status_code == 404
    without = deployed.certificates.context(None)
    async with httpx2.AsyncClient(verify=without, headers={"Host": NAME}) as client:
        # Where the alert comes while the answer is read, the client tells of it as `ssl` does.
        with pytest.raises((httpx2.TransportError, ssl.SSLError)):
            await call(client, deployed.url, "get_tree")
    for replica in deployed.replicas.values():
        replica.end()
        assert replica.ended.wait(SECONDS)
    lines = [line for one in deployed.replicas.values() for line in one.lines]
    assert any("get_tree for somebody" in line for line in lines)
    assert not any("root" in line and " for " in line for line in lines)


class Held:
    """A tool that holds the calls that have a number."""

    def __init__(self) -> None:
        self.begun, self.cancelled = set[int](), set[int]()

    async def __call__(self, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.arguments:
            self.begun.add(params.arguments["number"])
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.add(params.arguments["number"])
        return types.CallToolResult(content=[])


async def test_who_asks_for_much_waits_alone_and_who_leaves_takes_everything_along(
    haproxy: str, tmp_path: Path
) -> None:
    tool, many = Held(), 60
    options = replace(BEHIND_A_PROXY, allowed_hosts=(NAME,), deadline=3600.0)
    # As it is, but nothing ends because time is up.
    patient = tmp_path / "haproxy.cfg"
    text = (FILES / "haproxy.cfg").read_text()
    patient.write_text(re.sub(r"timeout (queue|server) \d+s", r"timeout \1 1h", text))

    async def counted(what: str) -> int:
        metrics = (await plain.get(deployed.metrics)).text
        [number] = re.findall(rf'haproxy_backend_{what}{{proxy="over_share"}} (\d+)', metrics)
        return int(number)

    with ExitStack() as stack:
        deployed = Balanced(make_certificates(tmp_path, "greedy", "modest"), stack)
        async with (
            served(one_tool(tool), options) as first,
            served(one_tool(tool), options) as second,
            httpx2.AsyncClient() as plain,
            asyncio.timeout(SECONDS),
        ):
            ports = [one.address[1] for one in (first, second)]
            await asyncio.to_thread(deployed.balance, haproxy, *ports, file=patient)
            async with deployed.client("greedy") as greedy, deployed.client("modest") as modest:
                asked = [
                    asyncio.create_task(call(greedy, deployed.url, "wait", number=number))
                    for number in range(many)
                ]
                running = SHARE + 2 * SLOW_CONNECTIONS
                waiting = many - running
                while (len(tool.begun), await counted("current_queue")) != (running, waiting):
                    await asyncio.sleep(0.01)
                result(await call(modest, deployed.url, "wait"))
                for number in set(range(many)) - tool.begun:
                    asked[number].cancel()
                while await counted("current_queue"):
                    await asyncio.sleep(0.01)
                # The log may lose lines that are written at once.
                assert await counted("sessions_total") == many - SHARE
                # None of those that left the queue came to a replica.
                assert len(tool.begun) == running
                for number in tool.begun:
                    asked[number].cancel()
                while tool.cancelled != tool.begun:
                    await asyncio.sleep(0.01)
                elsewhere = await plain.get(deployed.metrics.replace("/metrics", "/"))
                assert elsewhere.status_code == 404
            for one in (first, second):
                one.health.draining = one.server.should_exit = True
            async with deployed.client("modest") as modest:
                status = None
                while status != 503:
                    # A connection that a replica ends may break, as the page says.
                    with contextlib.suppress(httpx2.TransportError):
                        answer = await call(modest, deployed.url, "wait")
                        status = answer.status_code
                assert answer.headers["Retry-After"] == "1"
        await asyncio.to_thread(stack.close)
    lines = [line for line in deployed.log if "POST /mcp" in line]
    assert any("replicas/" in line and " 200 " in line and "{modest}" in line for line in lines)
    assert any(" 503 " in line and "{modest}" in line for line in lines)


def instructions() -> list[tuple[str, str]]:
    """The instructions of the container file, which has no error."""
    source = (FILES / "Containerfile").read_bytes()
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_containerfile.language()))
    tree = parser.parse(source)
    assert not tree.root_node.has_error
    nodes = [node for node in tree.root_node.children if node.type.endswith("_instruction")]
    texts = [source[node.start_byte : node.end_byte].decode() for node in nodes]
    return [(name, rest) for name, _, rest in (text.partition(" ") for text in texts)]


def test_the_container_copies_the_wheel_alone_and_runs_as_a_user() -> None:
    names, by_name = [name for name, _ in instructions()], dict(instructions())
    assert [name for name in names if name in ("COPY", "ADD")] == ["COPY"]
    *copied, _ = by_name["COPY"].split()
    # The engine sees nothing else.
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] != "#"]
    assert ignored[0] == "*"
    assert {line.removeprefix("!") for line in ignored[1:]} == set(copied)
    assert names.index("VOLUME") > names.index("USER") > names.index("RUN")
    user, volume = by_name["USER"], by_name["VOLUME"]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    # A new volume takes over the owner of the folder.
    assert f"mkdir {volume} && chown {user} {volume}" in by_name["RUN"]


def test_the_pages_import_is_of_the_replicas_volume_and_folder() -> None:
    build, serve, load = page_commands("podman")
    assert str((FILES / "Containerfile").relative_to(ROOT)) in build
    served, loaded = volumes(serve), volumes(load)
    entry, by_name = instructions()[-1][1], dict(instructions())
    root = re.findall(r'"([^"]*)"', entry)[-1]
    assert set(served) == {by_name["VOLUME"], root}
    assert served.items() <= loaded.items()
    *verb, file, _, folder = load[load.index("foldline", load.index("foldline") + 1) + 1 :]
    assert (verb, folder) == (["index", "import"], root)
    assert file in loaded


@pytest.mark.slow
def test_the_container_file_makes_a_replica_of_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    """No engine for containers runs here: its steps are done by hand, in a folder for `/`."""
    steps = instructions()
    by_name = dict(steps)

    def at(text: str) -> str:
        return re.sub(r"(?<![\w.])/(opt|tmp|cache|work)\b", rf"{tmp_path}/\1", text)

    def done(command: list[str], environment: dict[str, str]) -> None:
        finished = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert finished.returncode == 0, finished.stdout + finished.stderr

    environment = dict(os.environ)
    shutil.copytree(ROOT / "examples" / "code_reviewer", tmp_path / "work")
    copied = tmp_path / "tmp" / "wheel"
    copied.mkdir(parents=True)
    shutil.copy(wheel, copied)
    # Of an earlier release: it can't be installed.
    (copied / "foldline-0.0.1-py3-none-any.whl").touch()
    [export] = [command for command in page_commands("uv") if command[1] == "export"]
    export[export.index("dist/requirements.txt")] = str(copied / "requirements.txt")
    subprocess.run(export, cwd=ROOT, check=True, capture_output=True)
    for name, rest in steps:
        if name == "ENV":
            for key, value in re.findall(r'(\w+)="([^"]*)"', at(rest)):
                environment[key] = value.replace("$PATH", environment["PATH"])
        if name == "RUN":
            # pip would get each package anew.
            pip = "/opt/foldline/bin/pip install --no-cache-dir"
            assert rest.count(pip) == 2
            cached = rest.replace(pip, "uv pip install --python /opt/foldline/bin/python")
            # Only root may.
            cached = re.sub(r"chown \S+", "test -d", cached)
            done(["sh", "-euc", at(cached)], environment)
    program, *entry = re.findall(r'"([^"]*)"', at(by_name["ENTRYPOINT"]))
    found = shutil.which(program, path=environment["PATH"])
    assert found == f"{tmp_path}/opt/foldline/bin/foldline"
    entry[entry.index("0.0.0.0:8000")] = "0.0.0.0:0"
    entry += ["--allowed-host", NAME]
    with serving(program=(found, *entry), environment=environment) as replica:
        check = at(by_name["HEALTHCHECK"]).replace("127.0.0.1:8000", f"127.0.0.1:{replica.port}")
        done(re.findall(r'"([^"]*)"', check), environment)
        assert replica.end() == 0
