"""Answers `initialize` and `tools/list` before the SDK is loaded.

Agents wait for these answers while they start, some for one second only, and loading the SDK takes
most of that. Both answers are constant but for the protocol's version and the tools that the
prompts of a workspace need: `handshake.json` has them, made by `server/make_mcp_handshake.py` of
the SDK's own answers. Only requests that the SDK is sure to accept are answered here.

The SDK then reads the same lines from the first one, so that its session is as if it had answered:
its own answer to `initialize` isn't sent, and a `tools/list` that has its answer isn't replayed.
"""

from __future__ import annotations

import json
import queue
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

FACTS = Path(__file__).with_name("handshake.json")

MAX_LINE_BYTES = 1 << 23
# The part of a longer line that is stored, at either end: enough for its id.
END_BYTES = 1 << 12
# Longer requests are left to the SDK.
LONGEST = 1 << 16
# Whether deeper nesting can be read depends on the depth of the call stack.
MOST_NESTED = 600
# Lines that wait for the SDK; a client that sends more waits, too.
MOST_WAITING = 16


class Line(NamedTuple):
    """One line of input; if too long, it is `cut` to its two ends."""

    text: bytes
    cut: bool = False


class Opening:
    """The beginning of a session, and then its lines.

    Attributes:
        answered: The id of the `initialize` request that has its answer; None if it hasn't.
        client: That request's params; None likewise.
    """

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self.answered: int | str | None = None
        self.client: Mapping[str, Any] | None = None
        self._stdin = stdin
        self._stdout = stdout
        self._facts: dict[str, Any] = json.loads(FACTS.read_bytes())
        self._lines: queue.Queue[Line | None] = queue.Queue(MOST_WAITING)
        self._lock = threading.Lock()
        self._open = False
        self._tools: list[Any] | None = None
        self._waiting: list[tuple[int | str, Line]] = []

    def greet(self) -> None:
        """Wait for the first line, and answer it if it is an `initialize` without oddities.

        From then on, a thread reads the lines.
        """
        line = read_line(self._stdin)
        request = line and _request(line, self._facts["initialize"])
        if request:
            params = request["params"]
            result = self._facts["result"]
            if params["protocolVersion"] in self._facts["versions"]:
                result["protocolVersion"] = params["protocolVersion"]
            self._answer(request["id"], result)
            self.answered, self.client = request["id"], params
            self._open = True
        self._lines.put(line)
        if line is not None:
            # A daemon: a read that never returns must not delay the exit of the process.
            threading.Thread(target=self._read, name="reader", daemon=True).start()

    def list_tools(self, names: Collection[str]) -> None:
        """Answer `tools/list` with the tools for code, and those of `names` for prompts."""
        with self._lock:
            for_prompts = [tool for tool in self._facts["for_prompts"] if tool["name"] in names]
            self._tools = [*self._facts["tools"], *for_prompts]
            waiting, self._waiting = self._waiting, []
            for id_, _ in waiting:
                self._answer(id_, {"tools": self._tools})

    def lines(self) -> Iterator[Line]:
        """Yield every line that isn't answered by now; from now on, none is answered here."""
        with self._lock:
            self._open = False
            waiting, self._waiting = self._waiting, []
        for number, line in enumerate(iter(self._lines.get, None)):
            yield line
            if number == 0:
                yield from (held for _, held in waiting)

    def _read(self) -> None:
        while (line := read_line(self._stdin)) is not None:
            if not self._is_answered(line):
                self._lines.put(line)
        self._lines.put(None)

    def _is_answered(self, line: Line) -> bool:
        """Return True for a line that has its answer, or that gets it once the tools are known."""
        if not self._open:
            return False
        request = _request(line, self._facts["list"])
        with self._lock:
            if request is None or not self._open:
                return False
            if self._tools is None:
                self._waiting.append((request["id"], line))
            else:
                self._answer(request["id"], {"tools": self._tools})
        return True

    def _answer(self, id_: int | str, result: Mapping[str, Any]) -> None:
        message = {"jsonrpc": "2.0", "id": id_, "result": result}
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        self._stdout.write(text.encode("utf-8", "replace") + b"\n")


def read_line(stream: BinaryIO) -> Line | None:
    """Return the next line; None at EOF. Never stores more than `MAX_LINE_BYTES`."""
    text = stream.readline(MAX_LINE_BYTES + 1)
    if len(text) <= MAX_LINE_BYTES:
        return Line(text) if text else None
    tail = text[-END_BYTES:]
    while not tail.endswith(b"\n") and (part := stream.readline(END_BYTES)):
        tail = (tail + part)[-END_BYTES:]
    return Line(text[:END_BYTES] + tail, cut=True)


def fits(value: object, kind: Any) -> bool:
    """Return True if a JSON value is of a type as `handshake.json` writes them.

    A type is a name, or an object of the types of the members that are known; a name that ends in
    `!` is required. `["list", type]` is an array, `["map", type]` an object of members with any
    name, `["one", type, …]` one of several types, and `["of", value, …]` one of these values.
    """
    if isinstance(kind, dict):
        return isinstance(value, dict) and all(
            fits(value.get(name.rstrip("!")), of)
            for name, of in kind.items()
            if name.endswith("!") or value.get(name) is not None
        )
    if isinstance(kind, list):
        form, *kinds = kind
        if form == "list":
            return isinstance(value, list) and all(fits(item, kinds[0]) for item in value)
        if form == "map":
            return isinstance(value, dict) and all(fits(item, kinds[0]) for item in value.values())
        if form == "one":
            return any(fits(value, one) for one in kinds)
        return type(value) is str and value in kinds
    if kind == "int":
        return type(value) is int and abs(value) < 1 << 31
    return type(value) is {"bool": bool, "str": str}[kind]


def _request(line: Line, kind: Any) -> dict[str, Any] | None:
    """Return the message if it is of this type."""
    text = line.text
    # Half a character, or what is nested deeper, isn't read by every parser.
    if len(text) > LONGEST or b"\\u" in text or text.count(b"{") + text.count(b"[") > MOST_NESTED:
        return None
    try:
        message = json.loads(text.decode("utf-8"), parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None
    return message if fits(message, kind) else None


def refuse_constant(name: str) -> object:
    """Refuse `NaN` and `Infinity`, which Python takes for JSON."""
    raise ValueError(f"{name} is not a number of JSON")
