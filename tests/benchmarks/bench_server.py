"""How quick the server is while a prompt is typed, beside Python language servers on one file.

    uv run python tests/benchmarks/bench_server.py [--edits N] [--workspace N] [--json]

The file is a prompt module of 3,000 lines; every server gets the same file and the same edits. The
others are found on PATH (`jedi-language-server`, `pylsp`, `ty`) and are left out where they are
missing. They answer other questions than we do: compare ratios, not merits. Times are wall clock,
as an editor waits; on a shared machine look at medians and at the ratios within one run.
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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

DEADLINE = 60.0
STARTS = 7
LINES = 3_000

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
    """What one server took; times in milliseconds."""

    server: str
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


def measure(name: str, command: list[str], text: str, edits: int, folder: Path) -> Result:
    """What a server takes for the same file and the same edits."""
    result = Result(name)
    uri = (folder / "prompt.py").as_uri()
    client = start(command, folder)
    try:
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        client.notify("textDocument/didOpen", {"textDocument": document})
        _edits(client, result, uri, text, edits)
        result.memory_mb = client.memory()
    finally:
        client.close()
    return result


def _edits(client: Client, result: Result, uri: str, text: str, edits: int) -> None:
    units = text.count("PROMPT_")
    lines = text.split("\n")
    for version in range(2, edits + 2):
        unit = (version * 7919) % units
        line = next(i for i, item in enumerate(lines) if item == f"def guidance_{unit}():") + 5
        # A mistake comes and goes, so that every edit changes the diagnostics.
        wrong = version % 2 == 0
        column = lines[line].index("You") if "You" in lines[line] else 8
        typed = "${nope} " if wrong else ""
        old = lines[line]
        lines[line] = old[:column] + typed + old[column:]
        where = {"line": line, "character": column}
        change = {"range": {"start": where, "end": where}, "text": typed}
        target = {"uri": uri, "version": version}
        begin = time.perf_counter()
        client.notify(
            "textDocument/didChange", {"textDocument": target, "contentChanges": [change]}
        )
        if result.server == "foldline" and wrong:
            client.wait(
                lambda message, version=version: (
                    message.get("method") == "textDocument/publishDiagnostics"
                    and message["params"].get("version") == version
                )
            )
            _note(result, "didChange → diagnostics", begin)
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column + 4}}
        for method, params in (
            ("textDocument/completion", place),
            ("textDocument/hover", place),
            ("textDocument/documentSymbol", {"textDocument": {"uri": uri}}),
        ):
            begin = time.perf_counter()
            client.request(method, params)
            _note(result, method.partition("/")[2], begin)
        if wrong:
            # Back again, in a version that is not timed.
            end = {"line": line, "character": column + len(typed)}
            undone = {"range": {"start": where, "end": end}, "text": ""}
            lines[line] = old
            client.notify(
                "textDocument/didChange", {"textDocument": target, "contentChanges": [undone]}
            )


def _note(result: Result, name: str, begin: float) -> None:
    result.times.setdefault(name, []).append((time.perf_counter() - begin) * 1e3)


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
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--workspace", type=int, default=0, help="also with so many modules")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    text = module(LINES)
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "prompt.py").write_text(text)
        found = {name: command for name, command in SERVERS.items() if shutil.which(command[0])}
        for missing in SERVERS.keys() - found:
            print(f"{missing}: not on PATH, left out", file=sys.stderr)
        starts = measure_starts(found, folder)
        for server, command in found.items():
            try:
                results.append(measure(server, command, text, options.edits, folder))
                results[-1].times["initialize"] = starts[server]
            except queue.Empty:
                print(f"{server}: no answer within {DEADLINE:.0f} s, left out", file=sys.stderr)
    workspace = measure_workspace(options.workspace, text) if options.workspace else None
    if options.json:
        document = {"results": [asdict(result) for result in results], "workspace": workspace}
        print(json.dumps(document, indent=2))
        return
    names = ("initialize", "didChange → diagnostics", "completion", "hover", "documentSymbol")
    print(f"{LINES} lines, {len(text):,} characters; milliseconds as median/p95")
    print(f"{'':22}" + "".join(f"{name:>26}" for name in names) + f"{'MB':>8}")
    for result in results:
        cells = [
            f"{result.p(name, 50):.1f}/{result.p(name, 95):.1f}" if result.times.get(name) else "-"
            for name in names
        ]
        row = "".join(f"{cell:>26}" for cell in cells)
        print(f"{result.server:22}{row}{result.memory_mb:>8.0f}")
    if workspace is not None:
        print(
            f"workspace of {options.workspace} modules: first symbol {workspace['first']:.0f} ms, "
            f"next {workspace['again']:.0f} ms, {workspace['memory_mb']:.0f} MB"
        )


if __name__ == "__main__":
    main()
