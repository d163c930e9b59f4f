"""An editor's end of a language server: it answers what the server asks, as that editor does."""

from __future__ import annotations

import json
import subprocess
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Self

from foldline.server.transport import read_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


class EditorClient:
    """A session with the server that a command starts.

    Attributes:
        answers: The answers by the ids of their requests.
        asked: The requests of the server.
        told: The notifications of the server.
    """

    def __init__(
        self,
        command: Sequence[str],
        settings: Mapping[str, Any],
        cwd: Path,
        env: Mapping[str, str],
        *,
        text_ids: bool = False,
    ) -> None:
        self._log = TemporaryFile()  # noqa: SIM115 - Closed in the end.
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=pipe, stdout=pipe, stderr=self._log
        )
        self.settings = settings
        self.answers: dict[str | int, dict[str, Any]] = {}
        self.asked: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self._text_ids = text_ids
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        self._log.close()

    def send(self, **message: object) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def notify(self, method: str, params: object) -> None:
        self.send(method=method, params=params)

    def ask(self, method: str, params: object) -> str | int:
        """Send a request; returns its id."""
        self._number += 1
        number = str(self._number) if self._text_ids else self._number
        self.send(id=number, method=method, params=params)
        return number

    def wait(self, ids: Iterable[str | int]) -> None:
        """Read until these requests are answered; each may be answered once."""
        assert self.process.stdout is not None
        waiting = set(ids) - self.answers.keys()
        while waiting:
            data = read_message(self.process.stdout)  # type: ignore[arg-type] # It reads bytes.
            assert data is not None, self.log()
            message = json.loads(data)
            if "method" not in message:
                assert message["id"] not in self.answers
                self.answers[message["id"]] = message
                waiting.discard(message["id"])
            elif "id" in message:
                self.asked.append(message)
                self.send(id=message["id"], result=self._result(message))
            else:
                self.told.append(message)

    def result(self, method: str, params: object) -> Any:
        """Return the result of a request."""
        number = self.ask(method, params)
        self.wait([number])
        assert "result" in self.answers[number], self.answers[number]
        return self.answers[number]["result"]

    def leave(self) -> str:
        """End the session as editors do; returns what the server wrote to its log."""
        assert self.result("shutdown", None) is None
        self.notify("exit", None)
        self.process.communicate(timeout=60)
        assert self.process.returncode == 0
        return self.log()

    def log(self) -> str:
        """Return what the server wrote to its log so far."""
        self._log.seek(0)
        return self._log.read().decode()

    def _result(self, message: dict[str, Any]) -> object:
        if message["method"] != "workspace/configuration":
            return None
        return [self.settings.get(item.get("section")) for item in message["params"]["items"]]
