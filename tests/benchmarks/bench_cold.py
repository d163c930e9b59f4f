"""What the first answer in a fresh checkout takes: every round begins with an empty cache.

    uv run python -m tests.benchmarks.bench_cold [--rounds N] [--json]

Django's sdist and Home Assistant's wheel are downloaded once. The rows take turns, so that all meet
the same load; `rg --files | rg` is the anchor, `ctags -R` and the full-text index of SQLite (FTS5,
the words of code files, one question by BM25) do what an index does. *Processor* is that of the
whole process with its children. Anchors that aren't installed are left out.

*ansible* is its sdist, 43,000 files with a hundred folders that look like projects, asked through
one `foldline mcp`: a search before anything is indexed, one when the index is complete in the
background, and references that one of ty's servers confirms. Its memory is the proportional share
of all processes, the most of it after an answer.

*While building* asks as many reports as there are of one release, each with an empty index that
answers at once, so that all that the answer has is what it reads itself.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from tests.backends.corpora import django, home_assistant, sdist
from tests.benchmarks.bench_localise import FIRST, Outcome, place_of, releases
from tests.benchmarks.bench_start import PROGRAMS
from tests.benchmarks.measurement import Measurement, as_json, children_seconds

from foldline.backends import LocalFileBackend, SmartFileAccess, WorkspaceIndex
from foldline.backends.formatting.budget import SEARCH_BUDGET

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROUNDS = 3
ANSIBLE = "12.1.0"
COMPLETE_SECONDS = 15.0
ANCHOR = "rg for names and text"
SQLITE = """
import re, sqlite3, sys
from pathlib import Path
folder, *question = sys.argv[1:]
index = sqlite3.connect(":memory:")
index.execute("CREATE VIRTUAL TABLE files USING fts5(path UNINDEXED, text, tokenize=porter)")
texts = ((str(path), path.read_text("utf-8", "replace")) for path in Path(folder).rglob("*.py"))
index.executemany("INSERT INTO files VALUES (?, ?)", texts)
wanted = " OR ".join(question)
order = "SELECT path FROM files WHERE files MATCH ? ORDER BY bm25(files) LIMIT 5"
print(index.execute(order, (wanted,)).fetchall())
"""
COMPLETE = """
import sys
from foldline.backends import SmartFileAccess
access = SmartFileAccess.for_workspace(sys.argv[1], patience=None)
assert access.search_files(sys.argv[2], budget=2000).coverage == "complete"
access.close()
"""


@dataclass
class Row:
    """A program, run in a folder; its goals are seconds of wall clock and of processor time."""

    name: str
    command: Sequence[str]
    folder: Path
    wall_goal: float | None = None
    processor_goal: float | None = None
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    partial: int = 0

    def turn(self) -> None:
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "FOLDLINE_CACHE_DIR": cache}
            before, began = children_seconds(), time.perf_counter()
            done = subprocess.run(
                self.command, cwd=self.folder, env=environment, capture_output=True, check=True
            )
            self.wall.append(1e3 * (time.perf_counter() - began))
            self.processor.append(1e3 * (children_seconds() - before))
            self.partial += b"partial: indexing" in done.stdout


def rows() -> Iterator[Row]:
    """Everything that is installed."""
    corpora = (
        ("Django", django(), "how are migrations ordered", "HttpResponse", (1.0, 1.6, 0.8)),
        ("Home Assistant", home_assistant(), "coordinator update failed retry", "Entity", ()),
    )
    for name, folder, question, symbol, goals in corpora:
        search_wall, search_processor, refs = goals or (1.0, None, None)
        one = question.split()[2]
        yield from (
            row
            for row in (
                Row(
                    f"{name}: first search",
                    [_found("foldline"), "search", question],
                    folder,
                    search_wall,
                    search_processor,
                ),
                Row(
                    f"{name}: first search, complete",
                    [sys.executable, "-c", COMPLETE, str(folder), question],
                    folder,
                    None if goals else 3.0,
                ),
                Row(
                    f"{name}: first refs --seconds 0",
                    [_found("foldline"), "refs", "--seconds", "0", symbol],
                    folder,
                    refs,
                ),
                Row(
                    f"{name}: {ANCHOR}",
                    [
                        "sh",
                        "-c",
                        f"{_found('rg')} --files | {_found('rg')} {one}; {_found('rg')} {one}",
                    ],
                    folder,
                ),
                Row(f"{name}: ctags -R", [_found("ctags"), "-R", "-f", os.devnull, "."], folder),
                Row(
                    f"{name}: BM25 of SQLite",
                    [sys.executable, "-c", SQLITE, str(folder), *question.split()],
                    folder,
                ),
            )
            if row.command[0]
        )


def while_building() -> Outcome:
    """Ask each report of an index that is empty and gets no time.

    A page takes the time that is told, as agents and the command line ask for one; the places are
    those of an answer without a budget.
    """
    outcome = Outcome()
    for folder, tasks in releases(sdists=False, limit=None):
        for task in tasks:
            for budget in (SEARCH_BUDGET, None):
                files = LocalFileBackend(folder)
                index = WorkspaceIndex(files, Path(os.devnull) / "none", patience=0)
                with closing(SmartFileAccess(files, index=index)) as access:
                    began = time.perf_counter()
                    found = access.search_files(task.issue, budget=budget)
                    seconds = time.perf_counter() - began
                if budget is not None:
                    outcome.milliseconds.append(1e3 * seconds)
            outcome.places.append(place_of(task.files, (hit.path for hit in found)))
    return outcome


class Large:
    """`foldline mcp` for ansible with an empty cache; notes the most memory and servers there were.

    Memory is in megabytes.
    """

    def __init__(self, cache: str) -> None:
        self.memory, self.servers = 0.0, 0
        environment = {**os.environ, "FOLDLINE_CACHE_DIR": cache}
        self._process = subprocess.Popen(
            [_found("foldline"), "mcp", "--root", str(sdist("ansible", ANSIBLE))],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        client = {"name": "bench", "version": "0"}
        self._ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)

    def close(self) -> None:
        self._process.communicate()

    def call(self, tool: str, **arguments: object) -> tuple[str, float]:
        """The text of an answer, and its seconds."""
        began = time.perf_counter()
        result = self._ask("tools/call", name=tool, arguments=arguments)
        seconds = time.perf_counter() - began
        own = psutil.Process(self._process.pid)
        family = [own, *own.children(recursive=True)]
        self.memory = max(self.memory, sum(one.memory_full_info().pss for one in family) / 1e6)
        servers = sum(not one.name().startswith(("foldline", "python")) for one in family)
        self.servers = max(self.servers, servers)
        return result["content"][0]["text"], seconds

    def _ask(self, method: str, **params: object) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        stdin.write(json.dumps(message).encode() + b"\n")
        stdin.flush()
        while (answer := json.loads(stdout.readline())).get("id") != 1:
            pass
        return answer["result"]  # type: ignore[no-any-return]


def large() -> list[Measurement]:
    """A workspace with many files and many folders that look like projects."""
    with tempfile.TemporaryDirectory() as cache, closing(Large(cache)) as workspace:
        question = "retry policy when requests are throttled"
        began = time.perf_counter()
        first = workspace.call("search_for_files", query=question)[1]
        # Each question makes the index wait.
        time.sleep(max(COMPLETE_SECONDS - 1 - first, 0))
        while "partial" in workspace.call("search_for_files", query=question)[0]:
            time.sleep(5)
        complete = time.perf_counter() - began
        for name in ("AnsibleAWSModule", "AWSRetry.jittered_backoff", "exec_command"):
            for _ in range(2):
                references = workspace.call("find_references", name=name)[1]
    rows = (
        ("first search through MCP", 1e3 * first, "ms", 2e3),
        ("complete in the background", complete, "s", COMPLETE_SECONDS),
        ("references, asked again", 1e3 * references, "ms", None),
        ("memory of all processes", workspace.memory, "MB", 700.0),
        ("language servers", float(workspace.servers), "processes", 1.0),
    )
    return [
        Measurement(work=f"ansible: {work}", values=(value,), unit=unit, goal=goal)
        for work, value, unit, goal in rows
    ]


def measurements(found: Sequence[Row]) -> list[Measurement]:
    """Wall clock and processor time of each row, beside the anchor in its folder."""
    anchors = {row.folder: row for row in found if row.name.endswith(ANCHOR)}
    others = [row for row in found if row not in anchors.values()]
    result = []
    for row in others:
        anchor = anchors.get(row.folder)
        for kind, goal in (("wall", row.wall_goal), ("processor", row.processor_goal)):
            if kind == "processor" and goal is None:
                continue
            result.append(
                Measurement(
                    work=f"{row.name}, {kind}"
                    + f" ({row.partial} of {len(row.wall)} partial)" * bool(row.partial),
                    values=tuple(getattr(row, kind)),
                    goal=None if goal is None else 1e3 * goal,
                    statistic="median",
                    anchor=ANCHOR if anchor else "",
                    anchor_values=tuple(getattr(anchor, kind)) if anchor else (),
                )
            )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--recall", action="store_true", help="of answers while building")
    parser.add_argument("--json", action="store_true", help="measurements for the page")
    parser.add_argument("--large", action="store_true", help="the rows of ansible alone")
    options = parser.parse_args()
    if options.recall:
        print(while_building().line("reports while building"))
        return
    if options.large:
        for one in large():
            print(f"{one.work:40} {one.figure:8.1f} {one.unit}  goal {one.goal}  load {one.load}")
        return
    found = list(rows())
    for _ in range(options.rounds):
        for row in found:
            row.turn()
    if options.json:
        outcome = while_building()
        shares = "/".join(f"{outcome.recall(first):.0f}" for first in FIRST)
        recall = Measurement(
            work=f"search with reports, nothing indexed: {shares} % in the first 1/5/10/20",
            values=tuple(outcome.milliseconds),
            goal=1e3,
            statistic="median",
        )
        print(as_json([*measurements(found), *large(), recall]))
        return
    for one in measurements(found):
        ratio = ""
        if one.anchor_values:
            ratio = f"{one.median / statistics.median(one.anchor_values):6.1f} of {one.anchor}"
        print(f"{one.work:70} {one.minimum:7.0f} {one.median:7.0f} ms {ratio}  load {one.load}")


def _found(program: str) -> str:
    return shutil.which(program, path=PROGRAMS) or ""


if __name__ == "__main__":
    main()
