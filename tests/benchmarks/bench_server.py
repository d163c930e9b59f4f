"""How quick the server is while a prompt is typed, beside Python language servers on one file.

    uv run python -m tests.benchmarks.bench_server [--keys N] [--only foldline] [--json]

Two modules of 3,000 lines are typed into: one of many small prompts, and one of a single prompt of
200 sections. Every server gets the same modules and the same keys. The others are found on PATH
(`jedi-language-server`, `pylsp`, `ty`) and are left out where they are missing. They answer other
questions than we do: compare ratios, not merits. Times are wall clock, as an editor waits; on a
shared machine look at medians and at the ratios within one run. The load is that of the machine,
this benchmark included, before and after.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.measurement import Measurement, as_json

DEADLINE = 60.0
STARTS = 7
LINES = 3_000
SECTIONS = 200
LENSES = (100, 200, 400)
PAUSE = 0.09
"""Seconds between the keys of somebody who types fast."""

SERVERS = {
    "foldline": [sys.executable, "-m", "foldline.agent", "serve", "--stdio"],
    "jedi-language-server": ["jedi-language-server"],
    "pylsp": ["pylsp"],
    "ty": ["ty", "server"],
}

HEAD = """\
from dataclasses import dataclass, field
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility
"""

UNIT = '''

@dataclass(frozen=True)
class Params{i}:
    """The parameters of prompt {i}."""

    name: str
    focus: str = field(default="security", metadata={{"description": "What to look at."}})
    depth: int = 3


def guidance_{i}():
    return MarkdownSection[Params{i}](
        title="Guidance",
        key="guidance",
        template="""
        You review code of ${{name}} with a focus on ${{focus}}.
        Be brief, be kind, and go ${{depth}} levels deep.
        - first rule
        - second rule
        """,
    )


PROMPT_{i} = PromptTemplate(
    ns="bench/demo",
    key="prompt-{i}",
    sections=[
        guidance_{i}(),
        MarkdownSection[Params{i}](
            title="Reference",
            key="reference",
            template="""
            A long reference for ${{name}}.
            It goes on with words and more words, so that the summary is well below its size.
            """,
            summary="Reference for ${{name}}.",
            visibility=SectionVisibility.SUMMARY,
            children=[
                MarkdownSection[None](title="Child", key="child", template="Nothing in it."),
            ],
        ),
    ],
)
'''


SECTION = '''        MarkdownSection[Params](
            title="Section {i}",
            key="section-{i}",
            template="""
            You review code of ${{name}} with a focus on ${{focus}}, as part {i} says.
            Be brief, be kind, and go ${{depth}} levels deep.
            - first rule of {i}
            - second rule of {i}
            - third rule of {i}
            - fourth rule of {i}
            - fifth rule of {i}
            It goes on with words and more words, as prompts do.
            """,{summary}
        ),
'''
SUMMARY = """
            summary="Section {i} is for ${{name}}.",
            visibility=SectionVisibility.SUMMARY,"""


def large(sections: int) -> str:
    """A module of one prompt; every fifth section is summarized, and the last one."""
    head = UNIT[: UNIT.index("\n\ndef guidance")].format(i="")
    text = [HEAD, head, '\n\nPROMPT = PromptTemplate(\n    ns="bench/demo",\n    key="large",\n']
    text.append("    sections=[\n")
    for i in range(sections):
        summary = SUMMARY.format(i=i) if i % 5 == 0 or i == sections - 1 else ""
        text.append(SECTION.format(i=i, summary=summary))
    return "".join([*text, "    ],\n)\n"])


def module(lines: int) -> str:
    """A prompt module of about so many lines."""
    parts = [HEAD]
    count = HEAD.count("\n")
    while count < lines:
        part = UNIT.format(i=len(parts) - 1)
        parts.append(part)
        count += part.count("\n")
    return "".join(parts)


@dataclass
class Result:
    """What one server took for one module; times in milliseconds."""

    server: str
    module: str
    times: dict[str, list[float]] = field(default_factory=dict)
    memory_mb: float = 0.0

    def p(self, name: str, percent: int) -> float | None:
        """A percentile of the times of a request."""
        values = self.times.get(name)
        if not values:
            return None
        if len(values) == 1:
            return values[0]
        return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]

    def note(self, name: str, begin: float) -> None:
        """Note what has passed since `begin`."""
        self.times.setdefault(name, []).append((time.perf_counter() - begin) * 1e3)


class Client:
    """The least that speaks LSP: what it adds to the times is the same for every server."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # A server of a user has its bytecode on disk.
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        )
        self.messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self.next_id = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                return
            self.messages.put(json.loads(stream.read(length)))

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self.process.stdin
        assert stream is not None
        stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        stream.flush()

    def notify(self, method: str, params: object) -> None:
        self.send({"method": method, "params": params})

    def request(self, method: str, params: object) -> Any:
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": params})
        return self.wait(
            lambda message: message.get("id") == self.next_id and "method" not in message
        )

    def wait(self, wanted: Any) -> Any:
        """The first message that is wanted; questions of the server are answered on the way."""
        end = time.monotonic() + DEADLINE
        while True:
            message = self.messages.get(timeout=max(0.01, end - time.monotonic()))
            if "method" in message and "id" in message:
                items = message.get("params", {}).get("items", [])
                answer = [None] * len(items) if "configuration" in message["method"] else None
                self.send({"id": message["id"], "result": answer})
            if wanted(message):
                return message

    def memory(self) -> float:
        """The resident memory in megabytes."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return 0.0
        for line in status.read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def close(self) -> None:
        try:
            self.request("shutdown", None)
            self.notify("exit", None)
            self.process.wait(5)
        except (queue.Empty, subprocess.TimeoutExpired, BrokenPipeError):
            self.process.kill()


def start(command: list[str], folder: Path) -> Client:
    """A server that has answered `initialize` for the workspace `folder`."""
    client = Client(command)
    capabilities = {
        "textDocument": {
            "publishDiagnostics": {},
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        }
    }
    params = {
        "processId": None,
        "rootUri": folder.as_uri(),
        "workspaceFolders": [{"uri": folder.as_uri(), "name": "bench"}],
        "capabilities": capabilities,
    }
    client.request("initialize", params)
    client.notify("initialized", {})
    return client


def measure_starts(servers: dict[str, list[str]], folder: Path) -> dict[str, list[float]]:
    """Start → `initialize` of each server, by turns, in milliseconds, after one not timed."""
    times: dict[str, list[float]] = {name: [] for name in servers}
    for turn in range(STARTS + 1):
        for name, command in servers.items():
            begin = time.perf_counter()
            client = start(command, folder)
            if turn:
                times[name].append((time.perf_counter() - begin) * 1e3)
            client.close()
    return times


class Typist:
    """Somebody who types into a module, at the end of a line of it."""

    def __init__(self, client: Client, result: Result, uri: str, text: str) -> None:
        self.client = client
        self.result = result
        self.uri = uri
        self.version = 1
        lines = text.split("\n")
        # A rule in the middle of the module; a mistake behind it moves with each key, so that the
        # diagnostics are others every time.
        middle = len(lines) // 2
        self.line = next(i for i in range(middle, len(lines)) if "rule" in lines[i])
        self.start = self.column = len(lines[self.line])
        self.notify_open(text)
        self.change(self.column, self.column, "${nope}")
        self.ask("documentSymbol", "")

    def notify_open(self, text: str) -> None:
        document = {"uri": self.uri, "languageId": "python", "version": 1, "text": text}
        self.client.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, start: int, end: int, text: str) -> None:
        """Replace a part of the line."""
        self.version += 1
        low, high = ({"line": self.line, "character": at} for at in (start, end))
        document = {"uri": self.uri, "version": self.version}
        edit = {"range": {"start": low, "end": high}, "text": text}
        self.client.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [edit]}
        )

    def type(self, text: str) -> None:
        """Type a key, before the mistake."""
        self.change(self.column, self.column, text)
        self.column += len(text)

    def diagnosed(self, name: str, begin: float) -> None:
        """Wait for the diagnostics of what was typed last."""
        if self.result.server != "foldline":
            return
        self.client.wait(
            lambda message: (
                message.get("method") == "textDocument/publishDiagnostics"
                and message["params"].get("version") == self.version
            )
        )
        self.result.note(name, begin)

    def ask(self, method: str, name: str) -> Any:
        """Ask something about the place where it's typed."""
        document: dict[str, object] = {"textDocument": {"uri": self.uri}}
        if method in ("completion", "hover"):
            # Behind `${` of the mistake.
            document["position"] = {"line": self.line, "character": self.column + 2}
        begin = time.perf_counter()
        answer = self.client.request(f"textDocument/{method}", document)
        if name:
            self.result.note(name, begin)
        return answer["result"]

    def types(self, keys: int, name: str, pause: float = 0.0) -> None:
        """Type keys; their diagnostics are awaited, or come while the next ones are typed."""
        for key in range(keys):
            begin = time.perf_counter()
            self.type("a b c. "[key % 7])
            self.diagnosed(name, begin)
            time.sleep(max(0.0, pause - (time.perf_counter() - begin)))

    def asks(self, keys: int) -> None:
        """Ask right after each key."""
        for _ in range(keys):
            for method in ("completion", "hover", "documentSymbol"):
                self.type("x")
                self.ask(method, method)

    def lenses(self, times: int) -> None:
        """Ask for the lenses after a key."""
        for _ in range(times):
            self.type("x")
            self.ask("codeLens", "codeLens")


def measure(result: Result, command: list[str], text: str, keys: int, folder: Path) -> Result:
    """What a server takes for a module and the same keys."""
    client = start(command, folder)
    try:
        typist = Typist(client, result, (folder / "prompt.py").as_uri(), text)
        # What a server loads or compiles with its first answers isn't measured.
        typist.types(5, "")
        typist.asks(1)
        result.times.clear()
        typist.asks(keys)
        if result.server == "foldline":
            typist.types(keys, "typed")
            typist.types(keys, "typed at 90 ms", PAUSE)
        result.memory_mb = client.memory()
    finally:
        client.close()
    return result


def measure_lenses(sections: int, times: int, folder: Path) -> Result:
    """What the lenses of a prompt of so many sections take."""
    result = Result("foldline", f"{sections} sections")
    client = start(SERVERS["foldline"], folder)
    try:
        typist = Typist(client, result, (folder / "prompt.py").as_uri(), large(sections))
        typist.lenses(2)
        result.times.clear()
        typist.lenses(times)
        result.memory_mb = client.memory()
    finally:
        client.close()
    return result


def measure_workspace(files: int, text: str) -> dict[str, float]:
    """Finding a symbol in a workspace of many such modules: time and memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for index in range(files):
            (folder / f"prompts_{index}.py").write_text(text.replace("PROMPT_", f"P{index}_"))
        client = start(SERVERS["foldline"], folder)
        try:
            begin = time.perf_counter()
            client.request("workspace/symbol", {"query": f"P{files - 1}_1"})
            first = (time.perf_counter() - begin) * 1e3
            begin = time.perf_counter()
            client.request("workspace/symbol", {"query": f"P{files - 1}_2"})
            again = (time.perf_counter() - begin) * 1e3
            return {"first": first, "again": again, "memory_mb": client.memory()}
        finally:
            client.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument("--only", choices=SERVERS, help="measure one server")
    parser.add_argument("--workspace", type=int, default=0, help="also with so many modules")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    load = [os.getloadavg()]
    modules = {"many small prompts": module(LINES), f"{SECTIONS} sections": large(SECTIONS)}
    found = {name: command for name, command in SERVERS.items() if shutil.which(command[0])}
    for missing in SERVERS.keys() - found:
        print(f"{missing}: not on PATH, left out", file=sys.stderr)
    if options.only:
        found = {options.only: found[options.only]}
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "prompt.py").write_text(modules["many small prompts"])
        starts = measure_starts(found, folder)
        for shape, text in modules.items():
            (folder / "prompt.py").write_text(text)
            for server, command in found.items():
                result = Result(server, shape)
                try:
                    results.append(measure(result, command, text, options.keys, folder))
                except queue.Empty:
                    print(f"{server}: no answer within {DEADLINE:.0f} s, left out", file=sys.stderr)
                result.times["initialize"] = starts[server]
        if "foldline" in found:
            results += [measure_lenses(count, options.keys // 4, folder) for count in LENSES]
    text = modules["many small prompts"]
    workspace = measure_workspace(options.workspace, text) if options.workspace else None
    load.append(os.getloadavg())
    if options.json:
        print(as_json(measurements(results, load[-1][0])))
        return
    shown = ", ".join(f"{before:.1f}" for before, _, _ in load)
    print(f"milliseconds as median/p95; load before and after: {shown}")
    for result in results:
        print(f"{result.server}, {result.module}, {result.memory_mb:.0f} MB")
        for name, (median, most) in percentiles(result).items():
            print(f"    {name:24}{median:>8.1f} /{most:>7.1f}")
    if workspace is not None:
        print(
            f"workspace of {options.workspace} modules: first symbol {workspace['first']:.0f} ms, "
            f"next {workspace['again']:.0f} ms, {workspace['memory_mb']:.0f} MB"
        )


WORK = {
    "typed": ("key → diagnostics", 20),
    "typed at 90 ms": ("key → diagnostics, typed at 90 ms a key", 20),
    "completion": ("completion after a key", 15),
    "hover": ("hover after a key", 15),
    "documentSymbol": ("document symbols after a key", 15),
    "codeLens": ("code lenses", 20),
}


def measurements(results: list[Result], load: float) -> list[Measurement]:
    """Our times, beside those of the other servers for the same module and keys."""
    made: list[Measurement] = []
    for result in results:
        if result.server != "foldline":
            continue
        others = [other for other in results if other.module == result.module]
        for name, (work, goal) in WORK.items():
            values = result.times.get(name)
            # Lenses grow with the sections: the goal is for those of one size.
            if not values or (name == "codeLens" and result.module != f"{SECTIONS} sections"):
                continue
            anchors = {
                other.server: other.times[name]
                for other in others
                if other.server != "foldline" and other.times.get(name)
            }
            fastest = min(
                anchors, key=lambda server: statistics.median(anchors[server]), default=""
            )
            made.append(
                Measurement(
                    work=f"{work}, {result.module}",
                    values=tuple(values),
                    goal=goal,
                    anchor=fastest,
                    anchor_values=tuple(anchors.get(fastest, ())),
                    load=round(load, 1),
                )
            )
    return made


def percentiles(result: Result) -> dict[str, tuple[float, float]]:
    """The median and the 95th percentile of each kind of request."""
    return {name: (result.p(name, 50) or 0.0, result.p(name, 95) or 0.0) for name in result.times}


if __name__ == "__main__":
    main()
