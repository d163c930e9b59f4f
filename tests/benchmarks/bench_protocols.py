"""How foldline does by the protocols of others, on tasks that we may look at.

    uv run --group bench --with pyarrow python -m tests.benchmarks.bench_protocols [FOLDER]
        [--only NAME] [--limit N] [--json]

Nothing of others is kept here: FOLDER, or else the variable `FOLDLINE_PROTOCOLS`, names theirs.
With the variable, `tests.benchmarks.run protocols` writes the page.

- `git/NAME`: clones, called as in SWE-bench (`django`) or in semble's `repos.json` (`cobra`).
- `swebench_lite.parquet`: only the rows of `localise_tasks.jsonl` are read.
- `regions/NAME.jsonl`: what other tools returned for the tasks, as in roust's `lab`: for each
  `instance_id`, the `regions` of each path, or none where it failed. The page has `full300_v11`
  and, as `roust-bm25`, `lite300_bm25` of narehart/roust 3dcd905, which has the parquet file, too.
- `semble/`: of its `benchmarks`, `repos.json`, `annotations/`, and results as `published.json`: for
  the page `semble-hybrid-0332378809c5`, with the annotations of the same commit.

*roust's protocol*: each report is asked once, in a checkout of the commit before the repair, with
tests and documentation; the answer is a context (`generate_scoped_context`) of at most 8,192 tokens
of cl100k. FILE, FUNCTION and LINE are how often it has all files, functions or lines of the old
sides of the repair's hunks, three lines of context included; without these, *changed lines alone*.
A function counts if one line of it is shown, as roust counts. *Named* is what an outline or a
signature says as well.

*semble's*: NDCG@10 of its queries, but of files instead of chunks, as `search_for_files` finds
files. These queries were asked once, and nothing was chosen by them.

*Context efficiency* is SWE-Explore's formula, the part of the shown lines that were read, over all
lines shown. Its readers are several agents that solved the task; here it's the one of
`replay_sessions.jsonl`, which may have failed. What its own edits moved isn't followed.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import re
import statistics
import subprocess
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.benchmarks.bench_context import numbers_of, outlines_in, packed
from tests.benchmarks.bench_localise import Task, tasks, workspace
from tests.benchmarks.bench_replay import SESSIONS
from tests.benchmarks.measurement import Measurement, as_json
from tests.benchmarks.run import PROTOCOLS as VARIABLE

from foldline.backends.files.source import split_lines
from foldline.backends.formatting.budget import CONTEXT_BUDGET, LARGEST_BUDGET, SEARCH_BUDGET
from foldline.backends.text import format_symbol
from foldline.ide.token_counter import token_counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from foldline.backends import SmartFileAccess
    from foldline.ide.scoped_context import ScopedContext

TOKENS = 8_192
FIRST = 10
TRIES = 4
"""Budgets in bytes that are tried for `TOKENS`."""
SEMBLE = (
    *("aiohttp", "alamofire", "chi", "cobra", "ecto", "express"),
    *("fmtlib", "pydantic", "rack", "sinatra", "trpc", "zod"),
)
"""The repositories whose queries are asked. Others are held out, or aren't at hand."""
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_PLACE = re.compile(r"^(\S+?):\d+(?:-\d+)? ", re.M)

Lines: TypeAlias = "Mapping[str, set[int]]"
"""The numbers of lines by path."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A report, the commit before its repair, and the repair's patch."""

    task: Task
    commit: str
    gold: Lines
    changed: Lines

    @property
    def project(self) -> str:
        """The name of its repository."""
        return self.task.id.partition("__")[2].rpartition("-")[0]


@dataclass(frozen=True, slots=True)
class Score:
    """Whether an answer has all of a repair's files, functions and lines, and how many lines."""

    file: bool
    function: bool
    line: bool
    changed: bool
    lines: float
    precision: float


_FAILED = Score(file=False, function=False, line=False, changed=False, lines=0, precision=0)


@dataclass(slots=True)
class Outcome:
    """The scores of one tool, or of one way to ask, and the tokens or files of its answers."""

    scores: list[Score] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)

    def percent(self, name: str) -> float:
        """The mean of a score."""
        return 100 * statistics.fmean(getattr(score, name) for score in self.scores)


def gold_lines(patch: str) -> dict[str, set[int]]:
    """The lines of the old files that the hunks of a patch have; new files have none."""
    found: dict[str, set[int]] = {}
    for path, sign, number in _hunk_lines(patch):
        found.setdefault(path, set()).update(() if sign == "+" else (number,))
    return found


def changed_lines(patch: str) -> dict[str, set[int]]:
    """The lines that a patch removes, and those after which it inserts."""
    found: dict[str, set[int]] = {}
    for path, sign, number in _hunk_lines(patch):
        found.setdefault(path, set()).update((max(number, 1),) if sign != " " else ())
    return found


def _hunk_lines(patch: str) -> Iterator[tuple[str, str, int]]:
    """The path, the sign and the old number of each line; of an insertion, of the line before."""
    path = ""
    number = 0
    left = {"-": 0, "+": 0}
    for line in patch.split("\n"):
        sign = line[:1] or " "
        if any(left.values()):
            for side in left:
                left[side] -= sign in (" ", side)
            number += sign in " -"
            if path and sign in " -+":
                yield path, sign, number
        elif hunk := _HUNK.match(line):
            start, old, new = (int(count or 1) for count in hunk.groups())
            left = {"-": old, "+": new}
            # A hunk without old lines names the line before it.
            number = start - (old > 0)
        elif line.startswith("--- "):
            path = line.removeprefix("--- a/") if line.startswith("--- a/") else ""


def functions_in(text: str) -> list[tuple[str, range]]:
    """The functions and methods of a Python file, with the lines from the first decorator on."""
    return [
        (
            node.name,
            range(min([node.lineno, *(one.lineno for one in node.decorator_list)]), end + 1),
        )
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (end := node.end_lineno) is not None
    ]


def score(
    repair: Repair,
    functions: Iterable[tuple[str, str, range]],
    shown: Lines,
    said: Mapping[str, str],
) -> Score:
    """Compare an answer with a repair: the lines that it shows, and what it says of each file."""
    gold = repair.gold
    common = sum(len(lines & shown.get(path, set())) for path, lines in gold.items())
    total = sum(map(len, gold.values()))
    return Score(
        file=gold.keys() <= shown.keys() | said.keys(),
        function=all(
            not shown.get(path, set()).isdisjoint(lines)
            or re.search(rf"\b{re.escape(name)}\b", said.get(path, "")) is not None
            for path, name, lines in functions
        ),
        line=common == total,
        changed=all(lines <= shown.get(path, set()) for path, lines in repair.changed.items()),
        lines=common / total,
        precision=common / max(sum(map(len, shown.values())), 1),
    )


def shown_in(context: ScopedContext, text: str) -> dict[str, set[int]]:
    """The lines of source in the text of a context."""
    shown: dict[str, set[int]] = defaultdict(set)
    for detail in context.symbols:
        if format_symbol(detail) in text:
            shown[detail.path].update(numbers_of(detail))
    return shown


def said_in(text: str) -> dict[str, str]:
    """What a context's outlines, headers and signatures say of each file."""
    said: dict[str, list[str]] = defaultdict(list)
    for path, line in outlines_in(text):
        said[path].append(line)
    for line in text.split("\n"):
        if place := _PLACE.match(line):
            said[place[1]].append(line)
    return {path: "\n".join(lines) for path, lines in said.items()}


def packed_in_tokens(access: SmartFileAccess, question: str) -> tuple[ScopedContext, str, int]:
    """The largest context found that has at most `TOKENS` tokens, its text, and its tokens."""
    count = token_counter("cl100k").count
    best: tuple[ScopedContext, str, int] | None = None
    budget = 4 * TOKENS
    tried = 0
    while best is None or tried < TRIES:
        context, text = packed(access, question, budget)
        tokens = count(text)
        if tokens <= TOKENS and (best is None or tokens > best[2]):
            best = context, text, tokens
        budget = min(int(budget * TOKENS / tokens), LARGEST_BUDGET)
        tried += 1
    return best


@dataclass(frozen=True, slots=True)
class Clone:
    """A git repository of which any commit can be read."""

    place: Path

    def text(self, commit: str, path: str) -> str | None:
        """A file of a commit; None where it has no such file."""
        done = self._git("show", f"{commit}:{path}")
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None

    def check_out(self, commit: str, place: Path) -> None:
        """Make a folder have the files of a commit, and no others; the clone stays as it is."""
        place.mkdir(exist_ok=True)
        index = {"GIT_INDEX_FILE": f"{place}.index"}
        done = self._git(f"--work-tree={place}", "read-tree", "--reset", "-u", commit, **index)
        if done.returncode:
            raise SystemExit(f"{self.place}: {done.stderr.decode()}")

    def _git(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
        command = ["git", "-C", str(self.place), *arguments]
        return subprocess.run(
            command, capture_output=True, check=False, env={**os.environ, **variables}
        )


def repairs(folder: Path, limit: int | None) -> list[Repair]:
    """The repairs of our tasks, from SWE-bench."""
    wanted = {task.id: task for task in tasks()[:limit]}
    try:
        parquet = import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise SystemExit("pyarrow reads SWE-bench: add `--with pyarrow` to `uv run`") from None
    table = parquet.read_table(
        folder / "swebench_lite.parquet",
        columns=["instance_id", "base_commit", "patch"],
        filters=[("instance_id", "in", [*wanted])],
    )
    rows: dict[str, dict[str, str]] = {row["instance_id"]: row for row in table.to_pylist()}
    return [
        Repair(task, row["base_commit"], gold_lines(row["patch"]), changed_lines(row["patch"]))
        for name, task in wanted.items()
        for row in (rows[name],)
    ]


def localised(folder: Path, scratch: Path, limit: int | None) -> list[Measurement]:
    """Our contexts by roust's protocol, and against what an agent read."""
    outcomes: dict[str, Outcome] = defaultdict(Outcome)
    read: dict[str, list[tuple[float, float]]] = defaultdict(list)
    others = {file.stem: _regions(file) for file in sorted((folder / "regions").glob("*.jsonl"))}
    sessions = _sessions()
    for repair in repairs(folder, limit):
        clone = Clone(folder / "git" / repair.project)
        functions = [
            (path, name, lines)
            for path, gold in repair.gold.items()
            if path.endswith(".py")
            for name, lines in functions_in(clone.text(repair.commit, path) or "")
            if not gold.isdisjoint(lines)
        ]
        for name, regions in others.items():
            shown = regions.get(repair.task.id)
            result = _FAILED if shown is None else score(repair, functions, shown, {})
            outcomes[name].scores.append(result)
        with checked_out(clone, repair.commit, scratch / repair.project) as access:
            question = repair.task.issue
            context, text, tokens = packed_in_tokens(access, question)
            shown = shown_in(context, text)
            hits = access.search_files(question, budget=SEARCH_BUDGET)
            for name, one in (
                ("shown", score(repair, functions, shown, {})),
                ("named", score(repair, functions, shown, said_in(text))),
                ("found", score(repair, functions, {hit.path: set() for hit in hits}, {})),
            ):
                outcomes[name].scores.append(one)
            outcomes["shown"].sizes.append(tokens)
            outcomes["found"].sizes.append(len(hits))
            was_read = lines_read(clone, repair.commit, sessions.get(repair.task.id, []))
            if was_read:
                answers: dict[str, Lines] = dict(
                    zip(_BUDGETS, (shown, shown_in(*packed(access, question))), strict=True)
                )
                answers |= {
                    name: regions.get(repair.task.id) or {} for name, regions in others.items()
                }
                for name, lines in answers.items():
                    read[name].append(agreement(was_read, lines))
    return [*_localised(outcomes, [*others]), *_efficiencies(read)]


@contextmanager
def checked_out(
    clone: Clone, commit: str, place: Path, root: str = ""
) -> Iterator[SmartFileAccess]:
    """Access to a folder of a commit."""
    clone.check_out(commit, place)
    with workspace(place / root) as access:
        yield access


def _regions(file: Path) -> dict[str, Lines | None]:
    ours = {task.id for task in tasks()}
    rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return {
        row["instance_id"]: None
        if row.get("error") or row.get("regions") is None
        else {
            path: {number for start, end in spans for number in range(start, end + 1)}
            for path, spans in row["regions"].items()
        }
        for row in rows
        if row["instance_id"] in ours
    }


def _sessions() -> dict[str, list[dict[str, Any]]]:
    rows = map(json.loads, SESSIONS.read_text(encoding="utf-8").splitlines())
    return {row["id"]: [step for step in row["steps"] if step["tool"] == "read"] for row in rows}


def lines_read(clone: Clone, commit: str, steps: Iterable[Mapping[str, Any]]) -> Lines:
    """The lines of Python files that an agent was sent."""
    read: dict[str, set[int]] = defaultdict(set)
    for step in steps:
        for path in (step.get("path") or "", f"lib/{step.get('path')}"):
            text = clone.text(commit, path) if path.endswith(".py") else None
            if text is None:
                continue
            count = len(split_lines(text))
            start = step.get("start", 1)
            numbers = range(start, min(start + step.get("lines", count), count + 1))
            sent = split_lines(text)[start - 1 : numbers.stop - 1]
            # Less is the message of a tool that refused.
            if step["bytes"] >= sum(len(line.encode()) for line in sent):
                read[path].update(numbers)
    return read


def agreement(gold: Lines, shown: Lines) -> tuple[float, float]:
    """The part of the lines shown that are gold, and of the gold lines that are shown."""
    common = sum(len(lines & gold.get(path, set())) for path, lines in shown.items())
    return tuple(common / max(sum(map(len, one.values())), 1) for one in (shown, gold))  # type: ignore[return-value]


def _localised(outcomes: Mapping[str, Outcome], others: Sequence[str]) -> Iterator[Measurement]:
    for name, ways in _ROWS.items():
        for way, work in ways.items():
            beside = others if way == "shown" else ()
            yield _percent(
                work.format(files=statistics.median(outcomes["found"].sizes)),
                outcomes[way].percent(name),
                {other: outcomes[other].percent(name) for other in beside},
            )
    tokens = tuple(outcomes["shown"].sizes)
    yield Measurement(work=f"tokens of {len(tokens)} answers", values=tokens, unit="tokens")


_ROWS = {
    "file": {
        "shown": "FILE: shown",
        "named": "FILE: shown or named",
        "found": "FILE: named by `search_for_files` (median: {files:g} files)",
    },
    "function": {"shown": "FUNCTION: a line shown", "named": "FUNCTION: a line shown, or named"},
    "line": {"shown": "LINE: shown"},
    "changed": {"shown": "changed lines alone: shown"},
    "lines": {"shown": "gold lines shown, mean"},
    "precision": {"shown": "lines shown that are gold, mean"},
}


def _efficiencies(read: Mapping[str, list[tuple[float, float]]]) -> Iterator[Measurement]:
    means = {
        name: [100 * statistics.fmean(column) for column in zip(*found, strict=True)]
        for name, found in read.items()
    }
    others = {name: means[name][0] for name in means if name not in _BUDGETS}
    for name in _BUDGETS:
        efficiency, recall = means[name]
        yield _percent(
            f"context efficiency against one agent's reads, {name} ({recall:.0f} % shown)",
            efficiency,
            others if name == _BUDGETS[0] else {},
        )


_BUDGETS = f"{TOKENS:,} tokens", f"{CONTEXT_BUDGET:,} bytes"


def _percent(work: str, value: float, others: Mapping[str, float]) -> Measurement:
    anchor = ", ".join(f"{name} {other:.1f}" for name, other in others.items())
    return Measurement(work=work, values=(value,), unit="%", anchor=anchor)


def ndcg(places: Iterable[int], relevant: int) -> float:
    """NDCG@10 of what was found at these places, from 1, of so many that are relevant."""
    if not relevant:
        return 0.0
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(relevant, FIRST) + 1))
    return sum(1 / math.log2(place + 1) for place in places if place <= FIRST) / ideal


def queried(folder: Path, scratch: Path, limit: int | None) -> list[Measurement]:
    """NDCG@10 of semble's queries, by repository, beside what semble published."""
    semble = folder / "semble"
    specs = {row["name"]: row for row in _json(semble / "repos.json")}
    published = {
        row["repo"]: 100 * row["ndcg10"] for row in _json(semble / "published.json")["repos"]
    }
    rows: dict[str, list[float]] = {}
    for name in SEMBLE[:limit]:
        spec = specs[name]
        root = spec.get("benchmark_root") or ""
        clone = Clone(folder / "git" / name)
        queries = _json(semble / "annotations" / f"{name}.json")
        place = scratch / name
        with checked_out(clone, spec["revision"], place, root) as access:
            files = [file for file in (place / root).rglob("*") if file.is_file()]
            paths = [file.relative_to(place / root).as_posix() for file in files]
            rows[name] = [100 * _asked(access, query, paths) for query in queries]
    means = {name: statistics.fmean(row) for name, row in rows.items()}
    each = [
        f"{name} {means[name]:.1f}/{published[name]:.1f}"
        for name in sorted(means, key=lambda name: means[name] - published[name])
    ]
    work = f"NDCG@10 of files, mean, and each beside semble's: {', '.join(each)}"
    theirs = statistics.fmean(published[name] for name in means)
    return [_percent(work, statistics.fmean(means.values()), {"semble": theirs})]


def _asked(access: SmartFileAccess, query: Mapping[str, Any], paths: Sequence[str]) -> float:
    targets = [
        target if isinstance(target, str) else target["path"]
        for target in (*query["relevant"], *query.get("secondary", ()))
    ]
    known = {target for target in targets if any(_same(path, target) for path in paths)}
    found = [hit.path for hit in access.search_files(query["query"])]
    places = [
        next((n for n, path in enumerate(found, 1) if _same(path, target)), FIRST + 1)
        for target in known
    ]
    return ndcg(places, len(known))


def _same(path: str, target: str) -> bool:
    """Whether one of two paths is the end of the other."""
    return f"/{path}".endswith(f"/{target}") or f"/{target}".endswith(f"/{path}")


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


PROTOCOLS = {"roust": localised, "semble": queried}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get(VARIABLE))
    parser.add_argument("--only", choices=PROTOCOLS, help="one protocol")
    parser.add_argument("--limit", type=int, help="only the first tasks, or repositories")
    parser.add_argument("--json", action="store_true", help="measurements for the page")
    options = parser.parse_args()
    if options.folder is None:
        parser.error(f"name the folder with what others published, or set {VARIABLE}")
    if not token_counter("cl100k").exact:
        parser.error("tokens can only be estimated: install foldline[tokens]")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["FOLDLINE_CACHE_DIR"] = f"{scratch}/cache"
        rows = [
            row
            for name, protocol in PROTOCOLS.items()
            if options.only in (None, name)
            for row in protocol(options.folder.resolve(), Path(scratch), options.limit)
        ]
    if options.json:
        print(as_json(rows))
        return
    for row in rows:
        print(f"{row.work:90} {row.median:9,.1f} {row.unit}  {row.anchor}")


if __name__ == "__main__":
    main()
