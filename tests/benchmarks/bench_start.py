"""How long every shell takes from spawn to its first answer, beside anchors in the same run.

    uv run python -m tests.benchmarks.bench_start [FOLDER] [--rounds N] [--only TEXT] [--json]

FOLDER is the workspace that commands and agents are asked about, by default Django's sdist, which
is downloaded once. Its index is built before. The rows take turns, and the first turn isn't timed.
Times are wall clock, as a user waits, and busy machines lengthen them; `--processor` prints
the processor time of the whole process instead. Anchors that aren't installed are left out.
`--phases` prints where the commands' processor time goes, as a table.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from tests.benchmarks.bench_server import Client
from tests.benchmarks.measurement import Measurement, as_json, children_seconds

from foldline.backends import LocalFileBackend, WorkspaceIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A user's installation has its bytecode on disk.
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
PROGRAMS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"

RAW_LOOP = """
import json, sys
stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
while line := stdin.readline():
    length = int(line.split(b":")[1]); stdin.readline()
    message = json.loads(stdin.read(length))
    if "id" in message:
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}).encode()
        stdout.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body)); stdout.flush()
    if message["method"] == "exit":
        break
"""
PYGLS = """
import ast
from lsprotocol import types
from pygls.lsp.server import LanguageServer
server = LanguageServer("a", "1")
def symbols(nodes):
    kinds = {ast.ClassDef: 5, ast.FunctionDef: 12, ast.AsyncFunctionDef: 12}
    for node in nodes:
        if type(node) in kinds:
            place = types.Range(
                types.Position(node.lineno - 1, 0), types.Position(node.end_lineno - 1, 0)
            )
            kind = types.SymbolKind(kinds[type(node)])
            inner = list(symbols(node.body))
            yield types.DocumentSymbol(node.name, kind, place, place, children=inner)
@server.feature("textDocument/documentSymbol")
def answer(params):
    text = server.workspace.get_text_document(params.text_document.uri).source
    return list(symbols(ast.parse(text).body))
server.start_io()
"""
SDK = """
import asyncio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def tools(context, params):
    return types.ListToolsResult(tools=[])
async def call(context, params):
    return types.CallToolResult(content=[])
async def main():
    server = Server("a", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
asyncio.run(main())
"""


# What the smallest program with options imports.
IMPORTS = "import json, re, argparse, pathlib"
# Tells the time of each profiled function by its file, once the command is done.
PROFILE = """
import cProfile, json, pstats, sys
from foldline.agent import cli
profile = cProfile.Profile()
profile.runcall(cli.main, sys.argv[1:])
found = [(key[0], key[2], row[2]) for key, row in pstats.Stats(profile).stats.items()]
print(json.dumps(found), file=sys.stderr)
"""
PACKAGES = {
    "backends/files": "files and their list",
    "backends/index": "index",
    "backends/ranking": "ranking",
    "backends/search": "search",
    "backends/references": "references",
    "backends/outlines": "outlines",
    "backends/parsers": "outlines",
    "backends/formatting": "the page",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """The workspace, and what is asked about in it."""

    folder: Path
    name: str
    file: str


@dataclass
class Row:
    """One program; `run` yields the name of each moment when it has come."""

    name: str
    run: Callable[[], Iterator[str]]
    goals: dict[str, float] = field(default_factory=dict)
    anchor: str = ""
    factors: dict[str, float] = field(default_factory=dict)
    """Goals as multiples of the anchor."""
    wall: dict[str, list[float]] = field(default_factory=dict)
    processor: list[float] = field(default_factory=list)

    def turn(self, *, timed: bool) -> None:
        before = children_seconds()
        began = time.perf_counter()
        for moment in self.run():
            if timed:
                self.wall.setdefault(moment, []).append((time.perf_counter() - began) * 1e3)
        if timed:
            self.processor.append((children_seconds() - before) * 1e3)


def rows(subject: Subject) -> list[Row]:
    """Everything that is installed."""
    python, foldline = [sys.executable, "-c"], _found("foldline")

    def command(*words: str, imports: float | None = None) -> Row:
        """A row; with `imports` its goal is so many times what Python needs to import a few."""
        name = " ".join(word for word in words if word not in (subject.name, subject.file))
        run = _command([*foldline, *words], subject.folder)
        if imports is not None:
            return Row(f"foldline {name}", run, anchor="python imports", factors={"": imports})
        goals = {"": 30.0 if words == ("--version",) else 150.0}
        return Row(f"foldline {name}", run, goals, "python" if words == ("--version",) else "rg")

    known = [
        Row("python", _command([*python, "pass"], subject.folder)),
        Row("python imports", _command([*python, IMPORTS], subject.folder)),
        Row("rg", _command([*_found("rg"), "-w", subject.name], subject.folder)),
        command("--version"),
        command("tree"),
        command("refs", "--seconds", "0", subject.name),
        command("search", subject.name),
        command("grep", subject.name),
        command("lines", subject.file, "1-20", imports=4.0),
        command("read", subject.file, imports=4.0),
        command("outline", subject.file, imports=5.0),
        command("symbol", subject.file, subject.name, imports=5.0),
        Row("raw loop", _editor([*python, RAW_LOOP], subject)),
        Row("pygls alone", _editor([*python, PYGLS], subject)),
        Row("pylsp", _editor(_found("pylsp"), subject)),
        Row("jedi-language-server", _editor(_found("jedi-language-server"), subject)),
        Row(
            "foldline serve",
            _editor([*foldline, "serve"], subject),
            anchor="pygls alone",
            factors={"document symbols": 1.0},
        ),
        Row("mcp alone", _agent([*python, SDK], subject)),
        Row(
            "foldline mcp",
            _agent([*foldline, "mcp", "--root", str(subject.folder)], subject),
            anchor="mcp alone",
            factors={"first outline": 1.1},
        ),
    ]
    missing = {name for name in ("rg", "pylsp", "jedi-language-server") if not _found(name)}
    for name in sorted(missing):
        print(f"{name}: not on PATH, left out", file=sys.stderr)
    return [row for row in known if row.name not in missing]


def _found(program: str) -> list[str]:
    place = shutil.which(program, path=PROGRAMS)
    return [place] if place else []


def _command(words: list[str], folder: Path) -> Callable[[], Iterator[str]]:
    """A command that runs to its end."""

    def run() -> Iterator[str]:
        nowhere = subprocess.DEVNULL
        subprocess.run(
            words,
            cwd=folder,
            env=ENVIRONMENT,
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
            check=False,
        )
        yield ""

    return run


def _editor(words: list[str], subject: Subject) -> Callable[[], Iterator[str]]:
    """A language server, as an editor asks it that opens a file."""

    def run() -> Iterator[str]:
        client = Client(words)
        _initialize(client, subject.folder)
        yield "initialize"
        file = subject.folder / subject.file
        opened = {"uri": file.as_uri(), "languageId": "python", "version": 1}
        text = file.read_text()
        client.notify("textDocument/didOpen", {"textDocument": {**opened, "text": text}})
        asked = {"textDocument": {"uri": file.as_uri()}}
        client.request("textDocument/documentSymbol", asked)
        yield "document symbols"
        client.close()

    return run


def _initialize(client: Client, folder: Path) -> None:
    folders = [{"uri": folder.as_uri(), "name": folder.name}]
    params = {"rootUri": folder.as_uri(), "workspaceFolders": folders, "capabilities": {}}
    client.request("initialize", {"processId": None, **params})
    client.notify("initialized", {})


def _agent(words: list[str], subject: Subject) -> Callable[[], Iterator[str]]:
    """An MCP server, as an agent asks it."""

    def run() -> Iterator[str]:
        process = subprocess.Popen(
            words,
            cwd=subject.folder,
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def send(**message: object) -> None:
            stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            stdin.flush()

        def ask(number: int, method: str, **params: object) -> None:
            send(id=number, method=method, params=params)
            while json.loads(stdout.readline()).get("id") != number:
                pass

        client = {"name": "bench", "version": "0"}
        ask(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        yield "initialize"
        send(method="notifications/initialized")
        ask(2, "tools/list")
        yield "tools/list"
        ask(3, "tools/call", name="get_file_outline", arguments={"path": subject.file})
        yield "first outline"
        stdin.close()
        process.wait()

    return run


def memory(subject: Subject) -> list[Measurement]:
    """Resident memory of `foldline serve` after references that a language server confirmed."""
    client = Client([*_found("foldline"), "serve"])
    _initialize(client, subject.folder)
    asked = {"name": subject.name, "seconds": 60}
    command = {"command": "foldline.server.code.findReferences", "arguments": [asked]}
    for _ in range(2):
        client.request("workspace/executeCommand", command)
    own = psutil.Process(client.process.pid)
    processes = [own, *own.children(recursive=True)]
    sizes = [process.memory_info().rss / 1e6 for process in processes]
    client.close()
    return [
        Measurement(work="memory of foldline serve", values=(sizes[0],), unit="MB", goal=120),
        Measurement(
            work="memory with its language server", values=(sum(sizes),), unit="MB", goal=600
        ),
    ]


def phases(subject: Subject) -> str:
    """Where the processor time of the commands goes, as a table in Markdown.

    What follows the imports is shared out as a profile of the main thread has it.
    """
    python = _processor([sys.executable, "-c", "pass"], subject.folder)
    lines = [
        "Processor time of the commands, by phase:",
        "",
        "| command | all | Python | modules of others | modules of foldline | the work |",
        "|---|---|---|---|---|---|",
    ]
    for words in (
        ["tree"],
        ["outline", subject.file],
        ["refs", "--seconds", "0", subject.name],
        ["search", subject.name],
        ["grep", subject.name],
    ):
        whole = _processor([*_found("foldline"), *words], subject.folder)
        own, others = _imports([*_found("foldline"), *words], subject.folder)
        left = max(whole - python - own - others, 0.0)
        name = " ".join(word for word in words if word not in (subject.name, subject.file))
        times = (whole, python, others, own)
        cells = [f"`{name}`", *(f"{time:.0f} ms" for time in times), _work(words, subject, left)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _processor(words: list[str], folder: Path, rounds: int = 5) -> float:
    """The least processor time of a command, in milliseconds."""
    times = []
    for _ in range(rounds):
        before = children_seconds()
        next(_command(words, folder)())
        times.append((children_seconds() - before) * 1e3)
    return min(times)


def _imports(words: list[str], folder: Path, rounds: int = 5) -> tuple[float, float]:
    """Milliseconds for importing foldline's modules, and those of others: the least of each."""
    least: dict[str, float] = {}
    for _ in range(rounds):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", *words],
            cwd=folder,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
        for line in re.finditer(r"^import time: +(\d+) \| +\d+ \| *(\S+)$", done.stderr, re.M):
            least[line[2]] = min(int(line[1]) / 1e3, least.get(line[2], 1e9))
    own = sum(time for module, time in least.items() if module.startswith("foldline"))
    return own, sum(least.values()) - own


def _work(words: list[str], subject: Subject, milliseconds: float) -> str:
    """The shares of packages in what a command does after the imports."""
    done = subprocess.run(
        [sys.executable, "-c", PROFILE, *words],
        cwd=subject.folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    shares: dict[str, float] = {}
    for file, function, seconds in json.loads(done.stderr.splitlines()[-1]):
        package = "/".join(file.rpartition("/foldline/")[2].split("/")[:2])
        work = PACKAGES.get(package)
        if work is None and "lock" in function:
            work = "other threads"
        elif work is None and function.startswith("<built-in method posix"):
            work = "calls of the system"
        if work is not None:
            shares[work] = shares.get(work, 0.0) + seconds
    total = sum(shares.values()) or 1.0
    most = sorted(shares.items(), key=lambda share: -share[1])[:4]
    return f"{milliseconds:.0f} ms: " + ", ".join(
        f"{name} {100 * seconds / total:.0f} %" for name, seconds in most
    )


def measurements(timed: list[Row], *, processor: bool) -> list[Measurement]:
    """What was measured, goals and anchors beside it."""
    by_name = {row.name: row for row in timed}
    found = []
    for row in timed:
        moments = {"": row.processor} if processor else row.wall
        anchor = by_name.get(row.anchor)
        for moment, values in moments.items():
            beside = anchor and (anchor.processor if processor else anchor.wall[moment])
            found.append(
                Measurement(
                    work=f"{row.name}: {moment}" if moment else row.name,
                    values=tuple(values),
                    goal=None if processor else row.goals.get(moment),
                    factor=None if processor else row.factors.get(moment),
                    statistic="median",
                    anchor=row.anchor if beside else "",
                    anchor_values=tuple(beside or ()),
                )
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="the workspace (default: Django)")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--name", default="HttpResponse", help="a symbol of the workspace")
    parser.add_argument("--file", default="django/http/response.py", help="a file of it")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds this")
    parser.add_argument("--processor", action="store_true", help="processor time instead")
    parser.add_argument("--phases", action="store_true", help="where the commands' time goes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = options.folder.resolve() if options.folder else _django()
    subject = Subject(folder, options.name, options.file)
    if options.phases:
        print(phases(subject))
        return
    with closing(WorkspaceIndex(LocalFileBackend(folder), patience=None)) as index:
        index.refresh()
    timed = [row for row in rows(subject) if options.only in row.name]
    for turn in range(options.rounds + 1):
        for row in timed:
            row.turn(timed=turn > 0)
    found = measurements(timed, processor=options.processor)
    if not options.only:
        found += memory(subject)
    if options.json:
        print(as_json(found))
        return
    print(f"{folder.name}, Python {platform.python_version()}, {os.cpu_count()} processors")
    for one in found:
        figures = f"{one.minimum:8.1f} {one.median:8.1f} {one.p95:8.1f} {one.unit}"
        goal = "" if one.limit is None else f"  goal {one.limit:g}{'' if one.is_met else ' missed'}"
        print(f"{one.work:36} {figures}  load {one.load:g}{goal}")


def _django() -> Path:
    from tests.backends.corpora import django

    return django()


if __name__ == "__main__":
    main()
