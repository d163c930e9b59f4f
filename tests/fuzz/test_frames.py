"""Frames that break the rules: what can be answered is, and the server lives or leaves cleanly."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from .conftest import TIME_LIMIT, seeds
from .session import Session

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.real

SERVE = (sys.executable, "-m", "foldline.agent", "serve", "--stdio")
METHODS = (
    "textDocument/hover", "textDocument/codeLens", "workspace/executeCommand", "workspace/symbol",
    "textDocument/didOpen", "initialize", "foldline/didChangeTrust", "unknown", "", "$/unknown",
)  # fmt: skip
STATUS = {"command": "foldline.server.status", "arguments": []}


def frame(body: bytes, header: bytes | None = None) -> bytes:
    head = b"Content-Length: %d" % len(body) if header is None else header
    return head + b"\r\n\r\n" + body


def body(message: object) -> bytes:
    return json.dumps(message).encode()


class Sender:
    """Makes one frame after the other, and keeps count of what must be answered."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.expected: Counter[object] = Counter()
        self.nameless = 0

    def frame(self, number: int) -> bytes:
        """A frame that leaves the framing whole, whatever is in it."""
        kinds = (
            self._request, self._request, self._status, self._notification, self._nonsense,
            self._answer, self._cancel, self._headers, self._no_message,
        )  # fmt: skip
        return self.choose.choice(kinds)(number)

    def _params(self) -> object:
        document = {"textDocument": {"uri": "file:///a.py"}}
        return self.choose.choice([None, [], {}, 3, "text", document, {"query": "x"}, [document]])

    def _request(self, number: int) -> bytes:
        self.expected[number] += 1
        method = self.choose.choice(METHODS)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": self._params()}
        return frame(body(message))

    def _status(self, number: int) -> bytes:
        self.expected[f"s{number}"] += 1
        method = "workspace/executeCommand"
        message = {"jsonrpc": "2.0", "id": f"s{number}", "method": method, "params": STATUS}
        return frame(body(message))

    def _notification(self, number: int) -> bytes:
        method = self.choose.choice(METHODS)
        return frame(body({"jsonrpc": "2.0", "method": method, "params": self._params()}))

    def _nonsense(self, number: int) -> bytes:
        self.nameless += 1
        return frame(
            self.choose.choice(
                [
                    b"{",
                    b"nonsense",
                    b"\xff\xfe\x00",
                    b"[1,",
                    b"{}{}",
                    b"\xef\xbb\xbf{}",
                    b"[" * 100_000,
                ]
            )
        )

    def _no_message(self, number: int) -> bytes:
        """Valid JSON without an id to answer to."""
        self.nameless += 1
        request = {"jsonrpc": "2.0", "id": number, "method": "textDocument/hover"}
        messages = [
            3, None, "text", [], [request], {}, {"id": 3}, {"jsonrpc": "2.0"},
            {**request, "id": None}, {**request, "id": [1]}, {**request, "id": 1.5},
            {**request, "id": True},
        ]  # fmt: skip
        return frame(body(self.choose.choice(messages)))

    def _answer(self, number: int) -> bytes:
        ids = [0, number - 1, number, f"s{number - 1}", "never", None, [1], {}, 1.5]
        outcome: dict[str, object] = self.choose.choice(
            [{"result": 1}, {"error": {}}, {"error": 3}, {"result": None}]
        )
        return frame(body({"jsonrpc": "2.0", "id": self.choose.choice(ids), **outcome}))

    def _cancel(self, number: int) -> bytes:
        ids = [0, number - 1, f"s{number - 1}", number, "never", None, [1], {}, -1, 1 << 80]
        params: object = self.choose.choice([{"id": self.choose.choice(ids)}, {}, None, []])
        return frame(body({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": params}))

    def _headers(self, number: int) -> bytes:
        """A request behind headers that are unusual, and allowed."""
        self.expected[number] += 1
        content = body({"jsonrpc": "2.0", "id": number, "method": "unknown"})
        length = b"Content-Length: %d" % len(content)
        kind = b"Content-Type: application/vscode-jsonrpc; charset=utf-8"
        headers = [length + b"\r\n" + kind, kind + b"\r\n" + length, b"X-Y: z\r\n" + length]
        headers += [b"garbage\r\n" + length, b"\r\n\r\n" + length]
        return frame(content, self.choose.choice(headers))


def started(root: Path) -> Session:
    session = Session(SERVE)
    session.send({"jsonrpc": "2.0", "id": "start", "method": "initialize"})
    session.wait(["start"])
    assert "error" in session.answers.pop("start")[0], "params are missing"
    params = {"capabilities": {}, "rootUri": root.as_uri()}
    session.send({"jsonrpc": "2.0", "id": "start", "method": "initialize", "params": params})
    session.wait(["start"])
    assert "result" in session.answers.pop("start")[0]
    return session


@pytest.mark.timeout(TIME_LIMIT)
def test_every_frame_that_can_be_answered_is_answered_once(tmp_path: Path) -> None:
    for seed in seeds(4):
        with started(tmp_path) as session:
            sender = Sender(seed)
            stream = b"".join(sender.frame(number) for number in range(1, 400))
            while stream:
                # In pieces of any size, as a pipe may deliver them.
                size = sender.choose.choice([1, 7, 100, 5_000, 1 << 16])
                session.write(stream[:size])
                stream = stream[size:]
            session.send({"jsonrpc": "2.0", "id": "end", "method": "shutdown"})
            session.wait(["end", *sender.expected])
            counts = {key: len(answers) for key, answers in session.answers.items()}
            assert counts.pop("end") == 1, f"seed {seed}"
            assert counts.pop(None, 0) == sender.nameless, f"seed {seed}"
            assert counts == sender.expected, f"seed {seed}"
            assert not session.garbage, f"seed {seed}"
            session.send({"jsonrpc": "2.0", "method": "exit"})
            assert session.process.wait(timeout=30) == 0, f"seed {seed}"


LOST = (
    b"Content-Length: 100\r\n\r\n{}",
    b"Content-Length: -5\r\n\r\n{}",
    b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n{}",
    b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n{}",
    b"Content-Length: five\r\n\r\n{}",
    b"Content-Length: 5",
    b"Content-Length: 0\r\n\r\n",
    b"content-length: 2\r\n\r\n{}",
    b"\r\n" * 1_000,
    b"\0" * 10_000,
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"x" * (8 << 20),
)
# Each starts a server.
SLOW = [pytest.param(lost, marks=pytest.mark.slow) for lost in LOST[1:]]


@pytest.mark.parametrize("lost", [LOST[0], *SLOW], ids=lambda lost: repr(lost[:24]))
def test_input_that_ends_in_a_lost_frame_ends_the_server(lost: bytes) -> None:
    params: dict[str, object] = {"processId": None, "rootUri": None, "capabilities": {}}
    first = frame(body({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
    done = subprocess.run(SERVE, input=first + lost, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stdout.count(b"Content-Length: ") <= 2
    assert b'"serverInfo"' in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_a_huge_message_is_answered(tmp_path: Path) -> None:
    with started(tmp_path) as session:
        document = {"uri": "file:///a.py", "languageId": "python", "version": 1}
        text = "x" * (32 << 20)
        session.notify("textDocument/didOpen", {"textDocument": {**document, "text": text}})
        assert "result" in session.ask("workspace/executeCommand", STATUS)
