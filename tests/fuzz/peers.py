"""Clients that count: every request is answered once, and never by an internal error."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

INTERNAL_ERROR = -32603


@dataclass
class Tally:
    """Counts of one peer's traffic."""

    requests: int = 0
    answered: int = 0
    refused: int = 0
    twice: list[str] = field(default_factory=list)
    internal: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)


class Peer:
    """A client of one server process, over its standard streams.

    Subclasses say how a message is framed. Requests don't wait: their answers arrive in a thread.
    """

    def __init__(self, command: list[str], cwd: Path, env: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._input, self._output = self.process.stdin, self.process.stdout
        self.tally = Tally()
        self.notified: dict[str, int] = {}
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._sent = 0
        self._waiting: dict[int, tuple[str, float]] = {}
        self._kept: dict[int, Any] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # Framing

    def _write(self, stream: IO[bytes], body: bytes) -> None:
        raise NotImplementedError

    def _messages(self, stream: IO[bytes]) -> Iterator[bytes]:
        raise NotImplementedError

    # Talking

    def request(self, method: str, params: object = None, *, keep: bool = False) -> int:
        """Send a request and return its number; with `keep`, `answer` can wait for it."""
        with self._changed:
            self._sent += 1
            number = self._sent
            self._waiting[number] = (method, time.monotonic())
            self.tally.requests += 1
            if keep:
                self._kept[number] = None
        self._send({"id": number, "method": method, "params": params})
        return number

    def ask(self, method: str, params: object = None, seconds: float = 60.0) -> Any:
        """Send a request and wait for the whole answer message.

        Raises:
            TimeoutError: It isn't answered in time.
        """
        number = self.request(method, params, keep=True)
        with self._changed:
            in_time = self._changed.wait_for(lambda: number not in self._waiting, seconds)
            answer = self._kept.pop(number)
        if not in_time:
            raise TimeoutError(f"{method} was not answered within {seconds:g} s")
        return answer

    def notify(self, method: str, params: object = None) -> None:
        self._send({"method": method, "params": params})

    def settle(self, seconds: float) -> None:
        """Wait for all answers; those that don't come within `seconds` count as unanswered."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting, seconds)
            self.tally.unanswered += [method for method, _ in self._waiting.values()]
            self._waiting.clear()

    def expire(self, seconds: float) -> None:
        """Count as unanswered what has waited longer than `seconds`."""
        before = time.monotonic() - seconds
        with self._changed:
            for number, (method, since) in list(self._waiting.items()):
                if since < before:
                    del self._waiting[number]
                    self.tally.unanswered.append(method)

    @property
    def waiting(self) -> int:
        """The number of requests without an answer yet."""
        return len(self._waiting)

    def leave(self, seconds: float = 30.0) -> int | None:
        """Close the server's input and wait for its end: the exit status, None if it stays."""
        with suppress(OSError):
            self._input.close()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        finally:
            self._reader.join(seconds)
            self._output.close()

    def descendants(self) -> list[psutil.Process]:
        """The processes that the server has started and that live."""
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def _send(self, message: dict[str, object]) -> None:
        known = {name: value for name, value in message.items() if value is not None}
        body = json.dumps({"jsonrpc": "2.0", **known}).encode()
        with self._writing:
            try:
                self._write(self._input, body)
                self._input.flush()
            except (OSError, ValueError):
                return  # The server has ended: what waits counts as unanswered.

    def _read(self) -> None:
        for body in self._messages(self._output):
            message = json.loads(body)
            if "method" in message:
                self._take_call(message)
            else:
                self._take_answer(message)

    def _take_call(self, message: dict[str, Any]) -> None:
        method = message["method"]
        self.notified[method] = self.notified.get(method, 0) + 1
        if "id" in message:
            result = [None] if method == "workspace/configuration" else None
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
            with self._writing:
                self._write(self._input, body)
                self._input.flush()

    def _take_answer(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        error = message.get("error")
        with self._changed:
            if not isinstance(number, int) or number not in self._waiting:
                self.tally.twice.append(json.dumps(message)[:300])
                return
            method, _ = self._waiting.pop(number)
            self.tally.answered += 1
            if error is not None:
                self.tally.refused += 1
                if error.get("code") == INTERNAL_ERROR:
                    self.tally.internal.append(f"{method}: {error.get('message')}"[:500])
            if number in self._kept:
                self._kept[number] = message
            self._changed.notify_all()


class LspPeer(Peer):
    """An editor's connection to `foldline serve`."""

    def __init__(self, root: Path, env: Mapping[str, str], *, trusted: bool) -> None:
        command = [sys.executable, "-m", "foldline.agent", "serve", "--stdio"]
        super().__init__(command, root, env)
        uri = root.as_uri()
        self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": uri,
                "capabilities": {"general": {"positionEncodings": ["utf-32"]}},
                "workspaceFolders": [{"uri": uri, "name": root.name}],
                "initializationOptions": {"trusted": trusted},
            },
        )
        self.notify("initialized", {})

    def command(self, name: str, /, **arguments: object) -> int:
        """Send `foldline.server.<name>`."""
        params = {"command": f"foldline.server.{name}", "arguments": [arguments]}
        return self.request("workspace/executeCommand", params)

    def _write(self, stream: IO[bytes], body: bytes) -> None:
        stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def _messages(self, stream: IO[bytes]) -> Iterator[bytes]:
        while True:
            length = 0
            while (line := stream.readline().strip()) != b"":
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                return
            yield stream.read(length)


class McpPeer(Peer):
    """An agent's connection to `foldline mcp`."""

    def __init__(self, root: Path, env: Mapping[str, str], *, trusted: bool) -> None:
        command = [sys.executable, "-m", "foldline.agent", "mcp", "--root", str(root)]
        super().__init__([*command, *(["--trust"] if trusted else [])], root, env)
        self.ask(
            "initialize",
            {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "soak", "version": "1"},
            },
        )
        self.notify("notifications/initialized")

    def call(self, tool: str, /, **arguments: object) -> int:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def _write(self, stream: IO[bytes], body: bytes) -> None:
        stream.write(body + b"\n")

    def _messages(self, stream: IO[bytes]) -> Iterator[bytes]:
        while line := stream.readline():
            yield line
