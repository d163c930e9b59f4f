"""Every process ends soon after its client has left, and leaves none behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.backends.lsp.faulty import FILES, SERVER
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.real

# Three seconds are what is meant; where it hung, it was for a minute or for good.
END_SECONDS = 5.0
LOOPING = (
    "import time\nfrom foldline.prompts import Prompt\n\ntime.sleep(3600)\nprompt = Prompt()\n"
)
GREETING = """from foldline.prompts import MarkdownSection, PromptTemplate

greeting = PromptTemplate[None](
    ns="shop", key="greeting", sections=[MarkdownSection[None](title="A", key="a", template="Hi")]
)
"""


class Running:
    """A process of foldline, and all that it has started."""

    def __init__(
        self, *arguments: str, cwd: Path, log: Path | None = None, program: str | None = None
    ) -> None:
        run = ("-m", "foldline.agent") if program is None else ("-c", program)
        with (log or Path(os.devnull)).open("w") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, *run, *arguments],
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        self.children: list[psutil.Process] = []
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.to, self.back = self.process.stdin, self.process.stdout

    def end(self, leave: Callable[[], None]) -> int:
        """Let the client leave; returns the exit status once everything is gone."""
        self.children = psutil.Process(self.process.pid).children(recursive=True)
        leave()
        status = self.process.wait(END_SECONDS)
        _, alive = psutil.wait_procs(self.children, timeout=END_SECONDS)
        assert alive == []
        return status

    def kill(self) -> None:
        for process in self.children:
            if process.is_running():
                process.kill()
        self.process.kill()
        self.process.wait()
        self.to.close()
        self.back.close()


class LanguageClient(Running):
    """A client of `foldline serve` that reads nothing but the answer to `initialize`."""

    def __init__(self, root: Path, *, log: Path | None = None, program: str | None = None) -> None:
        super().__init__("serve", "--stdio", cwd=root, log=log, program=program)
        self._count = 0
        self.send(
            "initialize",
            {
                "processId": None,
                "capabilities": {},
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": "root"}],
                "initializationOptions": {"trusted": True},
            },
        )
        self.answer()
        self.send("initialized", {}, notify=True)

    def send(self, method: str, params: object, *, notify: bool = False) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if not notify:
            self._count += 1
            message["id"] = self._count
        body = json.dumps(message).encode()
        self.to.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.to.flush()

    def command(self, name: str, /, **arguments: object) -> None:
        self.send(
            "workspace/executeCommand",
            {"command": f"foldline.server.{name}", "arguments": [arguments]},
        )

    def answer(self) -> Any:
        """The next answer to a request of ours."""
        while True:
            length = 0
            while line := self.back.readline().strip():
                if line.startswith(b"Content-Length:"):
                    length = int(line.partition(b":")[2])
            message = json.loads(self.back.read(length))
            if "method" not in message:
                return message

    def leave(self) -> None:
        self.to.close()

    def shut_down(self) -> None:
        self.send("shutdown", None)
        self.send("exit", None, notify=True)


class AgentClient(Running):
    """A client of `foldline mcp`."""

    def __init__(self, root: Path, *options: str) -> None:
        super().__init__("mcp", "--root", str(root), *options, cwd=root)
        self._count = 0
        client = {"name": "raw", "version": "0"}
        self.send(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client},
        )
        self.back.readline()
        self.send("notifications/initialized", {}, notify=True)

    def send(self, method: str, params: object, *, notify: bool = False) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if not notify:
            self._count += 1
            message["id"] = self._count
        self.to.write(json.dumps(message).encode() + b"\n")
        self.to.flush()

    def call(self, tool: str, **arguments: object) -> None:
        self.send("tools/call", {"name": tool, "arguments": arguments})

    def leave(self) -> None:
        self.to.close()


@pytest.fixture
def started() -> Iterator[list[Running]]:
    """What a test has started; it is killed where it has not ended."""
    running: list[Running] = []
    yield running
    for item in running:
        item.kill()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder whose language server never answers about references."""
    root, state = tmp_path / "workspace", tmp_path / "state"
    for path in (root, state):
        path.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    (root / "looping.py").write_text(LOOPING)
    command = json.dumps([sys.executable, str(SERVER), str(state), "never answers"])
    (root / "pyproject.toml").write_text(
        f'[tool.foldline.lsp]\nuse = ["faulty"]\n[tool.foldline.lsp.servers.faulty]\n'
        f'command = {command}\nlanguages = ["python"]\n'
    )
    return root


def freeze_server(root: Path) -> None:
    """Stop the language server by a signal once it was asked for references."""
    state = root.parent / "state"
    wait_until(lambda: _holds(state / "requests", "textDocument/references"))
    psutil.Process(int((state / "pids").read_text())).suspend()


def _holds(path: Path, text: str) -> bool:
    return path.exists() and text in path.read_text()


@pytest.mark.parametrize("shuts_down", [False, True])
def test_the_language_server_ends_while_questions_wait(
    workspace: Path, started: list[Running], *, shuts_down: bool
) -> None:
    client = LanguageClient(workspace)
    started.append(client)
    for name in ("pay", "shop", "pay"):
        client.command("code.findReferences", name=name, seconds=600)
    freeze_server(workspace)
    client.end(client.shut_down if shuts_down else client.leave)


def test_the_language_server_ends_while_the_file_system_is_walked(started: list[Running]) -> None:
    client = LanguageClient(Path("/"))
    started.append(client)
    for name in ("code.tree", "code.searchFiles", "code.findReferences", "prompt.list"):
        client.command(name, **({"name": "walk"} if name == "code.findReferences" else {}))
    client.command("status")
    client.end(client.leave)


def test_the_language_server_ends_while_a_prompt_runs(
    workspace: Path, started: list[Running]
) -> None:
    client = LanguageClient(workspace)
    started.append(client)
    client.command("prompt.render", uri=(workspace / "looping.py").as_uri(), name="prompt")
    wait_until(lambda: bool(psutil.Process(client.process.pid).children()))
    client.end(client.leave)


@pytest.mark.parametrize("command", ["preview", "serve"])
def test_the_language_server_ends_quietly_with_a_preview(
    workspace: Path, started: list[Running], tmp_path: Path, command: str
) -> None:
    """The client leaves without `shutdown`, while a worker waits for the next render."""
    (workspace / "greeting.py").write_text(GREETING)
    log = tmp_path / "log"
    client = LanguageClient(workspace, log=log)
    started.append(client)
    uri = (workspace / "greeting.py").as_uri()
    client.command("prompt.preview", uri=uri, name="greeting")
    client.command(f"prompt.{command}", uri=uri, name="greeting")
    for _ in range(2):
        assert "error" not in client.answer()
    assert client.end(client.leave) == 1
    assert log.read_text() == ""


def test_the_language_server_ends_by_an_interrupt_though_its_input_goes_on(
    workspace: Path, started: list[Running]
) -> None:
    client = LanguageClient(workspace)
    started.append(client)
    client.command("status")
    assert "result" in client.answer()
    assert client.end(lambda: client.process.send_signal(signal.SIGINT)) == 1


NEVER_STOPS = """
import asyncio, sys
from foldline.ide.lifecycle import end_process
from foldline.server import transport
from foldline.server.app import create_server

def create():
    server = create_server()
    # As asyncio awaits the end of a subprocess whose start was cancelled.
    server.stop = asyncio.Event().wait
    return server

end_process(transport.serve_stdio(create))
"""


@pytest.mark.parametrize("shuts_down", [False, True])
def test_the_language_server_ends_at_exit_though_something_never_stops(
    workspace: Path, started: list[Running], *, shuts_down: bool
) -> None:
    client = LanguageClient(workspace, program=NEVER_STOPS)
    started.append(client)
    if shuts_down:
        status = client.end(client.shut_down)
    else:
        status = client.end(lambda: client.send("exit", None, notify=True))
    assert status == int(not shuts_down)


def test_the_agents_server_ends_while_questions_wait(
    workspace: Path, started: list[Running]
) -> None:
    client = AgentClient(workspace, "--trust")
    started.append(client)
    for _ in range(8):
        client.call("find_references", name="pay")
    freeze_server(workspace)
    assert client.end(client.leave) == 0


def test_the_agents_server_ends_while_the_file_system_is_walked(started: list[Running]) -> None:
    client = AgentClient(Path("/"))
    started.append(client)
    client.call("get_tree")
    client.call("grep_in_files", pattern="walk")
    client.call("search_for_files", query="walk")
    client.call("find_references", name="walk")
    assert client.end(client.leave) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_line_ends_by_a_signal(
    workspace: Path, started: list[Running], number: signal.Signals
) -> None:
    arguments = ("refs", "pay", "--trust", "--seconds", "600")
    running = Running(*arguments, cwd=workspace)
    started.append(running)
    freeze_server(workspace)
    status = running.end(lambda: running.process.send_signal(number))
    assert status == (130 if number == signal.SIGINT else -signal.SIGTERM)
