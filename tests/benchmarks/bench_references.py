"""How true and how fast references are on Django: each engine alone, and our merged answer.

    uv run python -m tests.benchmarks.bench_references [--json]

The Django sdist is downloaded once. With `--json` it prints what a user waits for: cold starts with
an index on disk and without one, from the start of a process, and new symbols, each in turn with ty
alone. These are first pages, as tools get them; a last row is new symbols with all their uses.

The truth about a symbol is what at least two of the type checkers ty, basedpyright and pyrefly say,
so that they are partly judged by themselves. `first` is the time from the start of a server to its
first complete answer about a class that is used everywhere; `new` is the median for a symbol that
was not asked before in a server that is up, and `again` for one that was. `cpu` is the median of
processor seconds for such a new symbol, ours and the server's together: on a machine that others
use too, it is what can be compared. Our own modules are imported before, as they are in our server;
the command line pays for that once.
"""

import importlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import psutil
from rich.console import Console
from rich.table import Table
from tests.benchmarks.measurement import Measurement, as_json

from foldline.backends import LocalFileBackend, SmartFileAccess, WorkspaceIndex
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.formatting.budget import REFERENCES_BUDGET
from foldline.backends.lsp import LSPBackend

Place = tuple[str, int, int]
Ask = Callable[[str], set[Place]]

HUB = "django.db.models.query.QuerySet"
SYMBOLS = (
    HUB,
    "django.http.response.HttpResponse",
    "django.db.models.query.QuerySet.select_related",
    "django.forms.models.ModelForm",
    "django.shortcuts.get_object_or_404",
    "django.db.models.query.Prefetch",
    "django.views.decorators.csrf.csrf_exempt",
    "django.core.exceptions.ImproperlyConfigured",
    "django.utils.http.url_has_allowed_host_and_scheme",
    "django.db.models.constants.LOOKUP_SEP",
    "django.utils.functional.cached_property",
    "django.db.models.base.Model.full_clean",
)
# With 3,000 uses.
LARGEST = "django.db.models.base.Model"
HUBS = (
    HUB,
    "django.http.response.HttpResponse",
    "django.core.exceptions.ImproperlyConfigured",
    LARGEST,
)
COLD_STARTS = 5
ASK = """
from foldline.backends import SmartFileAccess
access = SmartFileAccess.for_workspace({root!r}, language_servers=True{options})
coverage = access.find_references({symbol!r}, budget={budget}, seconds={patience}).coverage
assert coverage == "complete" or coverage.startswith("partial: text"), coverage
access.close()
"""
PATIENCE = 120.0
MEMORY_STEP = 0.05


@dataclass
class Result:
    """What one engine answered, and what it took."""

    name: str
    places: dict[str, set[Place]] = field(default_factory=dict)
    first: float = 0.0
    new: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    peak: int = 0
    confirmed: dict[str, set[Place]] = field(default_factory=dict)
    partial: dict[str, str] = field(default_factory=dict)


class DirectServer:
    """The least that speaks to a language server: what our own overhead is measured against."""

    def __init__(self, root: Path, command: list[str], ready: str = "") -> None:
        self._root = root
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
        )
        self._open: set[str] = set()
        self._id = 0
        capabilities = {
            "workspace": {"configuration": True, "workspaceFolders": True},
            "window": {"workDoneProgress": True},
        }
        folder = {"uri": root.as_uri(), "name": root.name}
        self._request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri(),
                "workspaceFolders": [folder],
                "capabilities": capabilities,
            },
        )
        self._send({"method": "initialized", "params": {}})
        if ready:
            while not re.search(ready, json.dumps(self._read())):
                pass

    @property
    def pid(self) -> int:
        return self._process.pid

    def references(self, path: str, line: int, column: int) -> set[Place]:
        uri = (self._root / path).as_uri()
        if path not in self._open:
            self._open.add(path)
            text = (self._root / path).read_text(encoding="utf-8")
            document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
            self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        found = self._request(
            "textDocument/references",
            {
                "textDocument": {"uri": uri},
                "position": {"line": line - 1, "character": column - 1},
                "context": {"includeDeclaration": True},
            },
        )
        places = set()
        for reference in found or ():
            path = os.path.relpath(unquote(urlparse(reference["uri"]).path), self._root)
            start = reference["range"]["start"]
            places.add((path, start["line"] + 1, start["character"] + 1))
        return places

    def close(self) -> None:
        with self._process as process:
            process.kill()

    def _request(self, method: str, params: dict[str, Any]) -> Any:
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == self._id and "method" not in message:
                return message.get("result")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        """The next message; what the server asks of us is answered at once."""
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise EOFError("the server ended")
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        if "id" in message and "method" in message:
            items = (message.get("params") or {}).get("items")
            answer = [None] * len(items) if items is not None else None
            self._send({"id": message["id"], "result": answer})
        return message


class MemoryWatch:
    """The most memory that a family of processes held together."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._stop = threading.Event()
        self.peak = 0
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def stop(self) -> int:
        self._stop.set()
        self._thread.join()
        return self.peak

    def _watch(self) -> None:
        while not self._stop.wait(MEMORY_STEP):
            total = 0
            try:
                for item in (self._process, *self._process.children(recursive=True)):
                    total += item.memory_info().rss
            except psutil.Error:
                continue
            self.peak = max(self.peak, total)


def main() -> None:
    """Measure, and print the tables."""
    from tests.backends.corpora import django

    root = django().resolve()
    places = {symbol: definition(root, symbol) for symbol in (*SYMBOLS, LARGEST)}
    programs = Path(sys.executable).parent
    ty = [str(programs / "ty"), "server"]
    if "--json" in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as cache:
            os.environ["FOLDLINE_CACHE_DIR"] = cache
            new = [new_symbols(root, places, ty, budget) for budget in (REFERENCES_BUDGET, None)]
            print(as_json([*cold_starts(root, places, ty), *new]))
        return
    pyright = [str(programs / "basedpyright-langserver"), "--stdio"]
    pyrefly = ["uv", "tool", "run", "--quiet", "pyrefly@1.4.1", "lsp"]
    results = [
        direct("ty", root, places, ty),
        direct("basedpyright", root, places, pyright, r"Found \d+ source file"),
        direct("pyrefly", root, places, pyrefly, stable=True),
    ]
    truth = {symbol: agreed([result.places[symbol] for result in results]) for symbol in SYMBOLS}
    for module in ("connection", "documents", "initialized_server", "readiness"):
        importlib.import_module(f"foldline.backends.lsp.{module}")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FOLDLINE_CACHE_DIR"] = cache
        merged = ours("merged: ty + identifiers", root, servers=True)
        results += [ours("merged: jedi + identifiers", root, servers=False), merged]
    show(results, truth)


def cold_starts(
    root: Path, places: dict[str, tuple[str, int, int]], ty: list[str]
) -> list[Measurement]:
    """The first page about each hub, from the start of a process: with an index or none.

    Both take turns with ty.
    """
    measured = []
    for symbol in HUBS:
        times: dict[str, list[float]] = {"an index": [], "no index": [], "ty": []}
        for number in range(COLD_STARTS + 1):
            for kind, values in times.items():
                start = time.perf_counter()
                if kind == "ty":
                    server = DirectServer(root, ty)
                    server.references(*places[symbol])
                else:
                    ask(root, symbol, is_cold=kind == "no index")
                value = time.perf_counter() - start
                if kind == "ty":
                    server.close()
                if number:  # The first builds the index.
                    values.append(value * 1_000)
        anchors = tuple(times.pop("ty"))
        name = symbol.rpartition(".")[2]
        measured += [
            Measurement(
                work=f"first references of `{name}`, {kind}",
                values=tuple(values),
                statistic="median",
                anchor="ty alone",
                anchor_values=anchors,
                factor=2 if symbol == LARGEST else 1.2 if kind == "an index" else 1.5,
            )
            for kind, values in times.items()
        ]
    return measured


def ask(root: Path, symbol: str, *, is_cold: bool) -> None:
    """Ask in a process, with an empty folder for its index or the one of this process."""
    # Where there should be an index, the first process waits until it is built.
    options = "" if is_cold else ", patience=None"
    asked = {"symbol": symbol, "budget": int(REFERENCES_BUDGET), "patience": PATIENCE}
    code = ASK.format(root=str(root), options=options, **asked)
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, **({"FOLDLINE_CACHE_DIR": empty} if is_cold else {})}
        command = [sys.executable, "-c", code]
        subprocess.run(command, check=True, timeout=PATIENCE, env=environment)


def new_symbols(
    root: Path, places: dict[str, tuple[str, int, int]], ty: list[str], budget: int | None
) -> Measurement:
    """Symbols that were never asked before, from a server that is up, each beside ty."""
    access = SmartFileAccess.for_workspace(root, language_servers=True, patience=None)
    access.find_references(HUB, seconds=PATIENCE)
    server = DirectServer(root, ty)
    server.references(*places[HUB])
    values: list[float] = []
    anchors: list[float] = []
    for symbol in SYMBOLS[1:]:
        start = time.perf_counter()
        access.find_references(symbol, budget=budget, seconds=PATIENCE)
        values.append((time.perf_counter() - start) * 1_000)
        start = time.perf_counter()
        server.references(*places[symbol])
        anchors.append((time.perf_counter() - start) * 1_000)
    server.close()
    access.close()
    return Measurement(
        work="references of a new symbol" + (", all of them" if budget is None else ""),
        values=tuple(values),
        statistic="median",
        anchor="ty alone",
        anchor_values=tuple(anchors),
        factor=1.3,
    )


def definition(root: Path, symbol: str) -> tuple[str, int, int]:
    """Where the symbol is defined: path, line, column."""
    parts = symbol.split(".")
    for end in range(len(parts) - 1, 0, -1):
        path = Path(*parts[:end])
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if (root / file).is_file():
                lines = (root / file).read_text(encoding="utf-8").split("\n")
                return (str(file), *place_of(lines, parts[end:]))
    raise LookupError(symbol)


def place_of(lines: list[str], names: list[str]) -> tuple[int, int]:
    number = 0
    for name in names:
        word = re.escape(name)
        pattern = re.compile(rf"(?:\s*(?:class|def|async def)\s+|(?={word}\s*=))({word})\b")
        while not (match := pattern.match(lines[number])):
            number += 1
    assert match is not None
    return number + 1, match.start(1) + 1


def agreed(answers: list[set[Place]]) -> set[Place]:
    everything = set().union(*answers)
    return {place for place in everything if sum(place in answer for answer in answers) >= 2}


def direct(
    name: str,
    root: Path,
    places: dict[str, tuple[str, int, int]],
    command: list[str],
    ready: str = "",
    *,
    stable: bool = False,
) -> Result:
    """What the server itself answers."""
    result = Result(name)
    start = time.perf_counter()
    server = DirectServer(root, command, ready)
    watch = MemoryWatch(server.pid)
    found = server.references(*places[HUB])
    result.first = time.perf_counter() - start
    deadline = start + PATIENCE
    calm = 0
    while stable and calm < 8 and time.perf_counter() < deadline:
        time.sleep(0.5)
        again = server.references(*places[HUB])
        calm = calm + 1 if again == found else 0
        if not calm:
            result.first = time.perf_counter() - start
        found = again
    measure(result, lambda symbol: server.references(*places[symbol]), psutil.Process(server.pid))
    result.peak = watch.stop()
    server.close()
    return result


def ours(name: str, root: Path, *, servers: bool) -> Result:
    """What `SmartFileAccess` answers; its index is built before, as in a workspace in use."""
    result = Result(name)
    files = LocalFileBackend(root)
    index = WorkspaceIndex(files, patience=None)
    analysis = ASTFileAnalysisBackend(files, index)
    SmartFileAccess(files, analysis, index=index).find_references("QuerySet")
    backend = LSPBackend(files, seconds=PATIENCE, servers=None if servers else [])
    access = SmartFileAccess(files, analysis, backend, index=index)

    def ask(symbol: str) -> set[Place]:
        found = access.find_references(symbol, seconds=PATIENCE)
        if found.coverage != "complete":
            result.partial[symbol] = found.coverage
        keys = {
            (reference.path, reference.line, reference.column): reference.tier
            for reference in found
        }
        result.confirmed[symbol] = {key for key, tier in keys.items() if tier == "confirmed"}
        return set(keys)

    start = time.perf_counter()
    watch = MemoryWatch(os.getpid())
    ask(HUB)
    result.first = time.perf_counter() - start
    measure(result, ask, psutil.Process())
    result.peak = watch.stop()
    access.close()
    return result


def measure(result: Result, ask: Ask, process: psutil.Process) -> None:
    """Every symbol but the hub for the first time, then all of them again."""
    for symbol in SYMBOLS:
        start, spent = time.perf_counter(), processor_seconds(process)
        result.places[symbol] = ask(symbol)
        if symbol != HUB:
            result.new.append(time.perf_counter() - start)
            result.cpu.append(processor_seconds(process) - spent)
    for symbol in SYMBOLS:
        start = time.perf_counter()
        ask(symbol)
        result.again.append(time.perf_counter() - start)


def processor_seconds(process: psutil.Process) -> float:
    """What the process and its children have used so far."""
    times = [item.cpu_times() for item in (process, *process.children(recursive=True))]
    return sum(item.user + item.system for item in times)


def show(results: list[Result], truth: dict[str, set[Place]]) -> None:
    direct_ty, merged = results[0], results[-1]
    table = Table("engine", "precision", "recall", "first s", "new s", "cpu s", "again s", "peak")
    table.title = f"References to {len(SYMBOLS)} symbols of Django"
    for result in results:
        rows = [(result.name, result.places)]
        if result.confirmed:
            rows = [
                (f"{result.name}, confirmed", result.confirmed),
                (f"{result.name}, all", result.places),
            ]
        for name, places in rows:
            precision, recall = score(places, truth)
            table.add_row(
                name,
                f"{precision:.3f}",
                f"{recall:.3f}",
                f"{result.first:.2f}",
                f"{statistics.median(result.new):.3f}",
                f"{statistics.median(result.cpu):.3f}",
                f"{statistics.median(result.again):.3f}",
                f"{result.peak >> 20} MB",
            )
    console = Console(width=120)
    console.print(table)
    bounds = Table("goal", "measured", "bound", "holds")
    confirmed_precision, _ = score(merged.confirmed, truth)
    _, merged_recall = score(merged.places, truth)
    first = merged.first / direct_ty.first
    new = statistics.median(merged.new) / statistics.median(direct_ty.new)
    cpu = statistics.median(merged.cpu) / statistics.median(direct_ty.cpu)
    again = statistics.median(merged.again) / statistics.median(direct_ty.again)
    for goal, value, bound, holds in (
        ("merged recall", merged_recall, "1.00", merged_recall >= 0.9995),
        ("precision of confirmed", confirmed_precision, "≥ 0.99", confirmed_precision >= 0.99),
        ("first complete answer / ty's", first, "≤ 1.2", first <= 1.2),
        ("a new symbol / ty's", new, "≤ 1.3", new <= 1.3),
        ("its processor time / ty's", cpu, "≤ 1.3", cpu <= 1.3),
        ("the same again / ty's", again, "≤ 1.3", again <= 1.3),
    ):
        bounds.add_row(goal, f"{value:.3f}", bound, "yes" if holds else "no")
    console.print(bounds)
    for result in results:
        for symbol, coverage in result.partial.items():
            console.print(f"{result.name}, {symbol}: {coverage}")
    console.print(
        "all beside confirmed: "
        + ", ".join(
            f"{symbol.rpartition('.')[2]} {len(merged.places[symbol])}/{len(found)}"
            for symbol, found in merged.confirmed.items()
        )
    )


def score(places: dict[str, set[Place]], truth: dict[str, set[Place]]) -> tuple[float, float]:
    """Precision and recall over all symbols together."""
    right = sum(len(places[symbol] & truth[symbol]) for symbol in SYMBOLS)
    said = sum(len(places[symbol]) for symbol in SYMBOLS)
    true = sum(len(truth[symbol]) for symbol in SYMBOLS)
    return right / said if said else 0.0, right / true if true else 0.0


if __name__ == "__main__":
    main()
