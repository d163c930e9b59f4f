"""Answers the first requests before the SDK is loaded: `initialize`, `tools/list`, calls for code.

Agents wait for these answers while they start, some for one second only, and loading the SDK takes
most of that. The first two are constant but for the protocol's version and the tools that the
prompts of a workspace need: `handshake.json` has them, made by `server/make_mcp_handshake.py` of
the SDK's own answers. Only requests that the SDK is sure to accept are answered here.

At the first message that needs the SDK, it reads the same lines from the first one, so that its
session is as if it had answered: its own answer to `initialize` isn't sent, and what has its answer
isn't replayed. A call that is still running is: the SDK makes it again, and can cancel it.
"""

from __future__ import annotations

import json
import queue
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

FACTS = Path(__file__).with_name("handshake.json")

MAX_LINE_BYTES = 1 << 23
# The part of a longer line that is stored, at either end: enough for its id.
END_BYTES = 1 << 12
# Longer requests are left to the SDK.
LONGEST = 1 << 16
# The SDK refuses what is nested deeper.
MOST_NESTED = 150
_INITIALIZED = {"jsonrpc!": ["of", "2.0"], "method!": ["of", "notifications/initialized"]}
# Lines that wait for the SDK; a client that sends more waits, too.
MOST_WAITING = 16


class Line(NamedTuple):
    """One line of input; if too long, it is `cut` to its two ends."""

    text: bytes
    cut: bool = False


class _Waiting(NamedTuple):
    """A request that waits for its answer, after so many lines for the SDK."""

    request: dict[str, Any]
    line: Line
    after: int


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
        self._begin: Callable[[dict[str, Any]], object] = self._answer_list
        self._end: Callable[[bool], object] | None = None
        self._ended: bool | None = None
        self._waiting: dict[int | str, _Waiting] = {}
        self._queued = 0

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
        self._queue(line)
        if line is not None:
            # A daemon: a read that never returns must not delay the exit of the process.
            threading.Thread(target=self._read, name="reader", daemon=True).start()

    def list_tools(self, names: Collection[str]) -> None:
        """Answer `tools/list` with the tools for code, and those of `names` for prompts.

        It answers later ones likewise, until they are passed on.
        """
        with self._lock:
            for_prompts = [tool for tool in self._facts["for_prompts"] if tool["name"] in names]
            self._tools = [*self._facts["tools"], *for_prompts]
            for waiting in tuple(self._waiting.values()):
                self._answer_list(waiting.request)

    def pass_on(
        self, begin: Callable[[dict[str, Any]], object], end: Callable[[bool], object]
    ) -> None:
        """Pass each request that waits to `begin`, as it comes, which leads to its answer.

        `end` gets True at the first message that needs the SDK, and False at EOF before any.
        """
        with self._lock:
            self._begin, self._end = begin, end
            for waiting in self._waiting.values():
                begin(waiting.request)
            if self._ended is not None:
                end(self._ended)

    def answer(self, id_: int | str, result: Mapping[str, Any]) -> None:
        """Answer a request that waits, unless the SDK has it by now."""
        with self._lock:
            if self._waiting.pop(id_, None) is not None:
                self._answer(id_, result)

    def lines(self) -> Iterator[Line]:
        """Yield every line that isn't answered by now; from now on, none is answered here."""
        with self._lock:
            self._open = False
            waiting, self._waiting = self._waiting, {}
        for number, line in enumerate(iter(self._lines.get, None), start=1):
            yield line
            yield from (one.line for one in waiting.values() if one.after == number)

    def _read(self) -> None:
        while (line := read_line(self._stdin)) is not None:
            if not self._takes(line):
                # Before the queue is full, and this waits.
                if self._queued > 1 or not _is_initialized(line):
                    self._needs_sdk(needed=True)
                self._queue(line)
        self._needs_sdk(needed=False)
        self._queue(None)

    def _takes(self, line: Line) -> bool:
        """Return True for a line that has its answer, or that gets it from here."""
        if not self._open:
            return False
        request = _request(line, self._facts["requests"])
        with self._lock:
            if request is None or not self._open or request["id"] in self._waiting:
                return False
            self._waiting[request["id"]] = _Waiting(request, line, self._queued)
            self._begin(request)
        return True

    def _answer_list(self, request: dict[str, Any]) -> None:
        if request["method"] == "tools/list" and self._tools is not None:
            del self._waiting[request["id"]]
            self._answer(request["id"], {"tools": self._tools})

    def _queue(self, line: Line | None) -> None:
        self._queued += 1
        self._lines.put(line)

    def _needs_sdk(self, *, needed: bool) -> None:
        with self._lock:
            if self._ended is None:
                self._ended = needed
                if self._end is not None:
                    self._end(needed)

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


def _is_initialized(line: Line) -> bool:
    message = _request(line, _INITIALIZED)
    return message is not None and "id" not in message


def refuse_constant(name: str) -> object:
    """Refuse `NaN` and `Infinity`, which Python takes for JSON."""
    raise ValueError(f"{name} is not a number of JSON")
