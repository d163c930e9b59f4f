"""A server in a process of its own, and all that it answers, by request."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

BOUND = 60.0
"""No answer takes so long, however slow the machine."""


class Session:
    """Sends bytes, and collects every answer in the order in which they come.

    `framed` messages have headers, as those of LSP; the others are a line each, as those of MCP.
    """

    def __init__(self, command: Sequence[str], *, framed: bool = True) -> None:
        self.framed = framed
        self.answers: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)
        self.garbage: list[bytes] = []
        self._number = 0
        self._came = threading.Condition()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def send(self, message: object) -> None:
        body = json.dumps(message).encode()
        self.write(
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body) if self.framed else body + b"\n"
        )

    def request(self, method: str, params: object) -> int:
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def notify(self, method: str, params: object) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: object) -> dict[str, Any]:
        """The one answer to a request."""
        number = self.request(method, params)
        self.wait([number])
        [answer] = self.answers[number]
        return answer

    def wait(self, numbers: Collection[object], seconds: float = BOUND) -> None:
        """Wait until all of these requests are answered."""
        end = time.monotonic() + seconds
        with self._came:
            while missing := [number for number in numbers if not self.answers.get(number)]:
                assert self._reader.is_alive(), f"the server has left; {len(missing)} unanswered"
                assert self._came.wait(end - time.monotonic()), f"not answered: {missing[:5]}"

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while head := stream.readline():
            if not self.framed:
                self._take(head)
                continue
            if not head.startswith(b"Content-Length: "):
                self.garbage.append(head)
                continue
            while stream.readline().strip():
                pass
            self._take(stream.read(int(head.split()[1])))
        with self._came:
            self._came.notify_all()

    def _take(self, body: bytes) -> None:
        message = json.loads(body, parse_constant=_refuse)
        if "method" not in message:
            with self._came:
                self.answers[message.get("id")].append(message)
                self._came.notify_all()
        elif "id" in message:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": None})


def _refuse(name: str) -> object:
    raise AssertionError(f"{name} is no JSON")
