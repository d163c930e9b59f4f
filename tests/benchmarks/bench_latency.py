"""How long `foldline.server.status` waits while the server works on something huge.

    uv run python -m tests.benchmarks.bench_latency [--files N] [--json]

`status` needs nothing of what goes on, so what it waits is what everybody waits: for the event loop
and for the interpreter's lock. Times are wall clock, as an editor waits; on a shared machine look
at the ratio to the anchor, which is a fixed piece of Python timed in the same run.
"""

from __future__ import annotations

import argparse
import json
import queue
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.bench_server import HEAD, LINES, SERVERS, UNIT, Client, module, start

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY_SECONDS = 0.05
DEADLINE = 120.0
EDITS = 120
QUESTIONS = ("documentSymbol", "hover", "completion", "codeLens", "diagnostic")
SECTION = 'MarkdownSection[None](title="S{n}", key="s-{n}", template="Text {n}."),\n'
PROMPT = 'P{n} = PromptTemplate(ns="a", key="k-{n}", sections=[' + SECTION.rstrip(",\n") + "])\n"


def modules() -> dict[str, str]:
    """The texts of the large modules by what they are."""
    unit = len(UNIT.format(i=0))
    sections = "".join(SECTION.format(n=n) for n in range(5_000))
    return {
        "20 MB": HEAD + "".join(UNIT.format(i=n) for n in range(20_000_000 // unit)),
        "5,000 sections": f'{HEAD}P = PromptTemplate(ns="a", key="k", sections=[\n{sections}])\n',
        "12,000 prompts": HEAD + "".join(PROMPT.format(n=n) for n in range(12_000)),
    }


@dataclass(frozen=True)
class Latency:
    """What `status` waited during one piece of work, in milliseconds."""

    work: str
    seconds: float
    worst: float
    p99: float
    ratio: float
    """The worst by the anchor."""


class Arrivals(queue.Queue[Any]):
    """Messages with the times at which they came, as the reading thread puts them here."""

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        super().put((item, time.monotonic()), block, timeout)


class Watched:
    """A server that is asked for its status all the time; one thread sends, one receives."""

    def __init__(self, folder: Path, anchor: float) -> None:
        self.client: Client = start(SERVERS["foldline"], folder)
        self.client.messages = Arrivals()
        self.anchor = anchor
        self._writing = threading.Lock()
        self._sent: dict[int, float] = {}
        self._waits: list[float] = []
        self._ends = threading.Event()
        # What a server loads with its first question isn't measured.
        self.during("start", lambda: [self.status(), self.command("prompt.list")])
        self._sender = threading.Thread(target=self._ask_on, daemon=True)
        self._sender.start()

    def request(self, method: str, params: object, *, timed: bool = False) -> int:
        with self._writing:
            self.client.next_id += 1
            number: int = self.client.next_id
            if timed:
                self._sent[number] = time.monotonic()
            self.client.send({"id": number, "method": method, "params": params})
            return number

    def notify(self, method: str, params: object) -> None:
        with self._writing:
            self.client.notify(method, params)

    def command(self, name: str, **arguments: object) -> int:
        params = {"command": f"foldline.server.{name}", "arguments": [arguments]}
        return self.request("workspace/executeCommand", params)

    def status(self) -> int:
        params = {"command": "foldline.server.status", "arguments": [{}]}
        return self.request("workspace/executeCommand", params, timed=True)

    def during(self, what: str, work: Callable[[], list[int]]) -> Latency:
        """What `status` waited until all requests that `work` returns were answered."""
        begin = time.monotonic()
        missing = set(work())
        while missing:
            missing.discard(self._receive(begin + DEADLINE))
        # What it was asked meanwhile counts too.
        asked = set(self._sent)
        while any(number in self._sent for number in asked):
            self._receive(begin + DEADLINE)
        waits, self._waits = sorted(self._waits) or [0.0], []
        p99 = waits[int(len(waits) * 0.99) - 1] if len(waits) > 1 else waits[0]
        seconds = time.monotonic() - begin
        return Latency(what, seconds, waits[-1], p99, waits[-1] / self.anchor)

    def close(self) -> None:
        self._ends.set()
        self._sender.join()
        self.client.process.kill()
        self.client.process.wait()

    def _ask_on(self) -> None:
        while not self._ends.wait(EVERY_SECONDS):
            self.status()

    def _receive(self, end: float) -> Any:
        """The number of the next answer."""
        arrival: Any = self.client.messages.get(timeout=max(0.01, end - time.monotonic()))
        message, came = arrival
        if "method" in message:
            if "id" in message:
                with self._writing:
                    self.client.send({"id": message["id"], "result": None})
            return None
        number = message["id"]
        if (sent := self._sent.pop(number, None)) is not None:
            self._waits.append((came - sent) * 1e3)
        return number


def anchor() -> float:
    """The milliseconds that a fixed piece of Python takes: the best of five."""

    def once() -> float:
        begin = time.perf_counter()
        sum(number * number for number in range(200_000))
        return (time.perf_counter() - begin) * 1e3

    return min(once() for _ in range(5))


def beside_module(folder: Path, name: str, text: str, unit: float) -> list[Latency]:
    """Open a module, edit it here and there, and ask about it."""
    server = Watched(folder, unit)
    uri = (folder / "prompt.py").as_uri()
    target = {"textDocument": {"uri": uri}}
    lines = text.count("\n")

    def opened() -> list[int]:
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        server.notify("textDocument/didOpen", {"textDocument": document})
        return [server.status()]

    def edited() -> list[int]:
        for number in range(EDITS):
            place = {"line": 10 + number * 7919 % (lines - 20), "character": 0}
            change = {"range": {"start": place, "end": place}, "text": "#"}
            document = {"uri": uri, "version": number + 2}
            server.notify(
                "textDocument/didChange", {"textDocument": document, "contentChanges": [change]}
            )
            time.sleep(EVERY_SECONDS / 2)
        return [server.status()]

    def asked() -> list[int]:
        place = {**target, "position": {"line": lines // 2, "character": 20}}
        return [server.request(f"textDocument/{method}", place) for method in QUESTIONS]

    try:
        return [
            server.during(f"{name}: {what}", work)
            for what, work in (("open", opened), (f"{EDITS} edits", edited), ("questions", asked))
        ]
    finally:
        server.close()


def beside_folder(folder: Path, unit: float) -> list[Latency]:
    """List and search a flat folder of many files."""
    server = Watched(folder, unit)
    works: dict[str, Callable[[], list[int]]] = {
        "tree": lambda: [server.command("code.tree")],
        "grep": lambda: [server.command("code.grep", pattern="needle")],
        "search": lambda: [server.command("code.searchFiles", query="needle")],
        "prompts": lambda: [server.command("prompt.list")],
    }
    try:
        return [server.during(f"folder: {what}", work) for what, work in works.items()]
    finally:
        server.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--files", type=int, default=100_000, help="of the flat folder; 0: none")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    unit = anchor()
    results: list[Latency] = []
    texts = {f"{LINES:,} lines": module(LINES), **modules()}
    for name, text in texts.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                results += beside_module(Path(folder), name, text, unit)
            except queue.Empty:
                print(f"{name}: no answer within {DEADLINE:.0f} s", file=sys.stderr)
    if options.files:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(options.files):
                (Path(folder) / f"m{number}.py").write_text("needle = 1\n")
            results += beside_folder(Path(folder), unit)
    if options.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
        return
    print(f"anchor {unit:.1f} ms; `status` in milliseconds")
    print(f"{'':32}{'took s':>8}{'p99':>8}{'worst':>8}{'by anchor':>11}")
    for result in results:
        row = f"{result.seconds:>8.1f}{result.p99:>8.0f}{result.worst:>8.0f}{result.ratio:>11.1f}"
        print(f"{result.work:32}{row}")


if __name__ == "__main__":
    main()
