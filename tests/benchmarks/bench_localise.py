"""How well a search finds the file that a question is about.

    uv run python -m tests.benchmarks.bench_localise [--sdists] [--ablate] [--limit N] [--json]

114 reports of faults in Django, matplotlib and scikit-learn are searched for, each in the release
before its repair; the file that was changed is the gold one. The reports are those of these three
projects in SWE-bench Lite; `localise_tasks.jsonl` has them. The releases are downloaded once, as
wheels; with `--sdists` Django's tests and documentation are there too.

*Recall* is how often the gold file is among the first 1, 5, 10 or 20. *Identifiers* asks with the
words of a report that look like names in code only. *In 300 bytes* is what fits an answer of that
size: how often it has the gold file, and which part of its files are gold ones. *To the functions*
are the bytes from there on, by the rules of `bench_reach`. The questions about other languages
(`localise_others.jsonl`) were written before the sources were searched.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from tests.backends.corpora import sdist, wheel
from tests.benchmarks.ablation import SIGNALS, write_ablation
from tests.benchmarks.localise_others import OTHERS, other_sources
from tests.benchmarks.measurement import Measurement, as_json

from foldline.backends import SmartFileAccess
from foldline.backends.formatting.budget import SEARCH_BUDGET
from foldline.backends.ranking import weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TASKS = Path(__file__).with_name("localise_tasks.jsonl")
FIRST = (1, 5, 10, 20)
SMALL = 300
GOAL = 300.0
REACH_GOAL = 2400.0
_LINUX = ("--platform=manylinux1_x86_64", "--platform=manylinux_2_17_x86_64")
PYTHONS = {"scikit-learn-0.21.1": "37"}
_NAME = re.compile(r"[A-Za-z_][\w.]*\w(?:\(\))?")
_LIKE_CODE = re.compile(r"\w_\w|^_\w|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w\.\w|\(\)\Z")


@dataclass(frozen=True, slots=True)
class Task:
    """A report, and the files and functions that its repair changed."""

    id: str
    package: str
    version: str
    issue: str
    files: tuple[str, ...]
    functions: tuple[str, ...]

    @property
    def identifiers(self) -> str:
        """The words that look like names in code; the title where there are none."""
        names = dict.fromkeys(
            word.removesuffix("()") for word in _NAME.findall(self.issue) if _LIKE_CODE.search(word)
        )
        return " ".join(names) or self.issue.partition("\n")[0]


@dataclass(slots=True)
class Outcome:
    """The places of the gold files, from 1, and what it took."""

    places: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    shown: list[tuple[int, int]] = field(default_factory=list)

    def recall(self, first: int) -> float:
        """In percent."""
        return 100 * sum(place <= first for place in self.places) / len(self.places)

    @property
    def precision(self) -> float:
        """The part of the files in small answers that are gold, in percent."""
        return 100 * sum(gold for gold, _ in self.shown) / sum(shown for _, shown in self.shown)

    @property
    def small_recall(self) -> float:
        """How often a small answer has the gold file, in percent."""
        return 100 * sum(gold > 0 for gold, _ in self.shown) / len(self.shown)

    def line(self, name: str) -> str:
        recall = "/".join(f"{self.recall(first):.1f}" for first in FIRST)
        text = f"{name:34} {len(self.places):4}  {recall:>21} %"
        if self.shown:
            text += (
                f"  in {SMALL} bytes: {self.small_recall:.1f} %, precision {self.precision:.1f} %"
            )
        if self.milliseconds:
            middle = statistics.median(self.milliseconds)
            text += f"  {middle:6.0f} ms, worst {max(self.milliseconds):6.0f} ms"
        return text


def tasks() -> list[Task]:
    """All tasks, those of one release together."""
    lines = TASKS.read_text(encoding="utf-8").splitlines()
    return [
        Task(**{**row, "files": tuple(row["files"]), "functions": tuple(row["functions"])})
        for row in map(json.loads, lines)
    ]


def sources(task: Task, *, sdists: bool = False) -> Path:
    """The release that a task is about."""
    name = f"{task.package}-{task.version}"
    if task.package == "Django":
        get = sdist if sdists else wheel
        return get(task.package, task.version)
    python = PYTHONS.get(name, "310")
    return wheel(task.package, task.version, f"--python-version={python}", *_LINUX)


def releases(*, sdists: bool, limit: int | None) -> Iterator[tuple[Path, list[Task]]]:
    """Each release with its tasks."""
    for _, group in groupby(tasks()[:limit], key=lambda task: (task.package, task.version)):
        some = list(group)
        yield sources(some[0], sdists=sdists), some


def run(*, sdists: bool = False, limit: int | None = None) -> dict[str, Outcome]:
    """Ask everything, and return the outcomes by what was asked."""
    outcomes: dict[str, Outcome] = defaultdict(Outcome)
    for root, some in releases(sdists=sdists, limit=limit):
        with workspace(root) as access:
            for task in some:
                outcome = ask(access, task.issue, task.files)
                for name in ("reports", f"reports, {task.package}"):
                    add(outcomes[name], outcome)
                add(outcomes["identifiers"], ask(access, task.identifiers, task.files))
    for language, questions in groupby(OTHERS, key=lambda other: other.language):
        with workspace(other_sources(language)) as access:
            for other in questions:
                outcome = ask(access, other.question, other.files)
                add(outcomes[f"questions, {language}"], outcome)
    return outcomes


def ablate(*, sdists: bool = False, limit: int | None = None) -> None:
    """Write the table of what each signal is worth for the reports."""
    outcomes: dict[tuple[str, bool], Outcome] = defaultdict(Outcome)
    whole = weights.HAND_SET
    for root, some in releases(sdists=sdists, limit=limit):
        with workspace(root) as access:
            for name, change in SIGNALS.items():
                for learned in (False, True):
                    weights.HAND_SET = replace(whole, learned=learned, **change)
                    for task in some:
                        found = access.search_files(task.issue, budget=4 * SEARCH_BUDGET)
                        place = place_of(task.files, (hit.path for hit in found))
                        add(outcomes[name, learned], Outcome([place]))
            weights.HAND_SET = whole
        print(root.name, flush=True)
    write_ablation(
        "Reports",
        f"The {len(outcomes['all signals', True].places)} reports of the benchmark. Learned "
        "weights are those of `learned.json`, learned with all signals.",
        [
            (
                name,
                [outcomes[name, False].recall(first) for first in FIRST],
                [outcomes[name, True].recall(first) for first in FIRST],
            )
            for name in SIGNALS
        ],
    )


@contextmanager
def workspace(root: Path) -> Iterator[SmartFileAccess]:
    """Access to an indexed folder."""
    access = SmartFileAccess.for_workspace(root, patience=None)
    access.search_files("nothing")
    try:
        yield access
    finally:
        access.close()


def ask(access: SmartFileAccess, question: str, files: tuple[str, ...]) -> Outcome:
    """One search, without a limit and in a small answer."""
    started = time.perf_counter()
    access.search_files(question, budget=SEARCH_BUDGET)
    took = 1000 * (time.perf_counter() - started)
    found = access.search_files(question)
    small = [hit.path for hit in access.search_files(question, budget=SMALL)]
    place = place_of(files, (hit.path for hit in found))
    return Outcome([place], [took], [(len({*small} & {*files}), len(small))])


def place_of(gold: Iterable[str], paths: Iterable[str]) -> float:
    """The first place of a gold file, from 1."""
    wanted = {*gold}
    return next((n for n, path in enumerate(paths, 1) if path in wanted), float("inf"))


def add(total: Outcome, one: Outcome) -> None:
    total.places += one.places
    total.milliseconds += one.milliseconds
    total.shown += one.shown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sdists", action="store_true", help="Django with tests and documentation")
    parser.add_argument("--limit", type=int, help="only the first tasks")
    parser.add_argument("--ablate", action="store_true", help="without one signal after the other")
    parser.add_argument("--json", action="store_true", help="measurements for the page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FOLDLINE_CACHE_DIR"] = cache
        if options.ablate:
            ablate(sdists=options.sdists, limit=options.limit)
            return
        outcomes = run(sdists=options.sdists, limit=options.limit)
        rows = [*measurements(outcomes), *reaches(options.limit)]
        if options.json:
            print(as_json(rows))
            return
        for name, outcome in outcomes.items():
            print(outcome.line(name), flush=True)
        for row in rows[len(outcomes) :]:
            print(f"{row.work}: {row.median:,.0f} bytes")


def measurements(outcomes: dict[str, Outcome]) -> list[Measurement]:
    """The times, with the recall in the name of the work."""
    return [
        Measurement(
            work=f"search with {name}: "
            + "/".join(f"{outcome.recall(first):.0f}" for first in FIRST)
            + " % in the first 1/5/10/20",
            values=tuple(outcome.milliseconds),
            goal=GOAL,
            statistic="p95",
        )
        for name, outcome in outcomes.items()
    ]


def reaches(limit: int | None) -> list[Measurement]:
    """The bytes from the file to its changed functions, asked with the report."""
    from tests.benchmarks import bench_reach  # It imports this module.

    rows = []
    for name, asked in bench_reach.ASKED.items():
        found = bench_reach.run(asked=asked, limit=limit)
        named = statistics.mean(100 * one.named for one in found)
        rows.append(
            Measurement(
                work=f"to the functions, {name}: {named:.0f} % of outlines name them",
                values=tuple(float(one.bytes) for one in found),
                unit="B",
                goal=REACH_GOAL if asked else None,
                statistic="median",
            )
        )
    return rows


if __name__ == "__main__":
    main()
