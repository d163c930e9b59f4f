"""Runs all benchmarks, and writes `docs/benchmarks.md` with its plots.

    uv run poe bench [NAME …]

Run it on a machine that does nothing else: the page records the load of each measurement. With
names, only those benchmarks run, and only their tables change.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.measurement import from_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.benchmarks.measurement import Measurement

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
IMAGES = ROOT / "docs" / "images"
PROTOCOLS = "FOLDLINE_PROTOCOLS"
"""The variable that names a folder with what others published: see `bench_protocols`."""
PROTOCOLS_NOTE = """\
The rules, and the data of others that it takes, are in `tests/benchmarks/bench_protocols.py`.
FILE, FUNCTION and LINE are roust's: an answer of at most 8,192 tokens has all of a repair, for LINE
with the three lines around it. Ours is one `generate_scoped_context`, in a checkout with tests and
documentation.

What can't be compared:

- roust is scored by what it published for these 114 tasks, on which both were developed. Its
  README's figures are for 300. It reads the history, too, and fills 8,482 to 8,694 tokens.
- semble ranks parts of files, of which ten may be of one file. A model wrote its queries and judged
  them. Twelve of its 63 repositories were at hand; nothing was tuned on its queries.
- SWE-Explore takes what several agents that solved a task read. Here it's one, which may have
  failed: its figures can't stand beside ours.
"""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A module of this package, and what its table is about.

    Attributes:
        needs: The variable without which it isn't run, and its table stays as it is.
        note: What follows the table.
    """

    name: str
    title: str
    needs: str = ""
    note: str = ""

    @property
    def image(self) -> Path:
        return IMAGES / f"bench-{self.name}.svg"


BENCHMARKS = (
    Benchmark("start", "Starting"),
    Benchmark("cold", "The first answer in a fresh checkout"),
    Benchmark("server", "Typing in a prompt module"),
    Benchmark("preview", "From a key to the preview"),
    Benchmark("references", "References"),
    Benchmark("ast", "Files, outlines and searches"),
    Benchmark("localise", "Finding the file that a report is about"),
    Benchmark("context", "Packing what a report is about"),
    Benchmark("questions", "What an engineer's questions cost"),
    Benchmark("replay", "What an agent would have read"),
    Benchmark("protocols", "By the protocols of others", PROTOCOLS, PROTOCOLS_NOTE),
    Benchmark("render", "The prompt library"),
)

# What keeps a row from its goal, by a pattern of its name; found by profiling.
LIMITS = (
    (
        r"(Django|Home Assistant): first (search|refs)",
        "A fourth of the time is the list of files, which every answer needs; then the files with "
        "the question's rarest words are read and ranked, and those that are shown are parsed.",
    ),
    (
        r"`?foldline (tree|refs|search|grep|outline)",
        "A command is a new process: Python and foldline's modules take 70 to 100 ms before it "
        "looks at anything, and then its list of files is compared with the disk.",
    ),
    (
        r"foldline serve: document symbols",
        "pygls takes as long to import as for `pygls alone`, the types of the protocol half as "
        "long; the rest are foldline's modules and the document.",
    ),
    (
        r"foldline mcp: first outline",
        "Which tools are listed depends on the prompts of the workspace, and before, foldline "
        "looks for them: all files are compared with the disk twice, and their paths with globs. "
        "The first outline of a client that asks for no list takes less than that of `mcp alone`.",
    ),
    (
        r"document symbols after|code lenses",
        "Each entry is an object of the protocol, with four positions that are checked and "
        "encoded; what the key changed is evaluated before.",
    ),
    (
        r"key → preview, 2,000",
        "The module is run afresh after each key: making 2,000 sections and rendering them takes "
        "80 to 100 ms, and their places, costs and cache plan as long again.",
    ),
    (
        r"first references",
        "The language server uses all processors while it starts, and foldline starts beside it. "
        "Foldline's modules, and without an index the list of files, come before that start.",
    ),
    (
        r"of a new symbol",
        "The times of all files are compared first. To tell methods apart, or to show all uses, "
        "each file with the name is parsed.",
    ),
    (
        r"syntax references",
        "All uses are counted, not only those shown, which parses each file that has the name. "
        "Asked again, only changed files are parsed.",
    ),
    (
        r"\d+ questions",
        "Where a word of the question is in the code, a grep and seventeen lines are the shortest "
        "answer. A function is read whole, and a reference or an outline says more than was asked.",
    ),
    (
        r"whole sessions with what we ask",
        "Schemas, instructions and requests cost a tenth of a session. Ranges, shell output and "
        "edits, three quarters of it, cost as much as before.",
    ),
    (
        r"lines not in hand",
        "The first look at a file has room for the two or three definitions that match the report "
        "best; what is edited is often another one.",
    ),
    (
        r"oh-my-posh",
        "Whole code files are a seventh of what agents read there.",
    ),
    (
        r"search, (1|8) KB",
        "The postings of some hundred words are read and scored in Python.",
    ),
)

HEAD = """\
<!-- Written by `uv run poe bench`; don't edit it. -->
# Benchmarks

`uv run poe bench` in a checkout measures all of this. Each table is from one run on one machine,
anchors included: compare ratios. A goal is for the bold figure. *Load* is how many processes wanted
a processor in the minute before.

Beside these: [budgets](../tests/benchmarks/BUDGETS.md), [search](../tests/benchmarks/RANKING.md),
[adopting](../tests/benchmarks/ADOPTING.md), [instructions](../tests/benchmarks/INSTRUCTIONS.md),
[teams](../tests/benchmarks/TEAM.md) and the [data](../tests/benchmarks/DATA.md).

```{toctree}
:hidden:

../tests/benchmarks/BUDGETS
../tests/benchmarks/RANKING
../tests/benchmarks/ADOPTING
../tests/benchmarks/INSTRUCTIONS
../tests/benchmarks/TEAM
../tests/benchmarks/DATA
```
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    names = [benchmark.name for benchmark in BENCHMARKS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    chosen = parser.parse_args().names or names
    unknown = [name for name in chosen if name not in names]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there is {', '.join(names)}")
    sections = dict(sections_of(PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""))
    for benchmark in BENCHMARKS:
        if benchmark.needs and benchmark.needs not in os.environ:
            print(f"{benchmark.title}: left as it is, as {benchmark.needs} isn't set")
        elif benchmark.name in chosen:
            print(f"{benchmark.title} …", flush=True)
            measurements = measure(benchmark)
            plot(benchmark, measurements)
            sections[benchmark.title] = table(benchmark, measurements)
            # After each: a later one may fail.
            texts = [sections[one.title] for one in BENCHMARKS if one.title in sections]
            PAGE.write_text("\n".join([HEAD, *texts]), encoding="utf-8")
    print(PAGE)


def measure(benchmark: Benchmark) -> list[Measurement]:
    """Run a benchmark in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.benchmarks.bench_{benchmark.name}", "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return from_json(done.stdout)


def table(benchmark: Benchmark, measurements: Sequence[Measurement]) -> str:
    """Return the section of a benchmark."""
    lines = [
        f"## {benchmark.title}",
        "",
        f"{time.strftime('%Y-%m-%d')}, {platform.system()}, Python {platform.python_version()}, "
        f"{os.cpu_count()} processors, load {_loads(measurements)}.",
        "",
        "| work | median | p95 | goal | anchor |",
        "|---|---|---|---|---|",
        *map(_row, measurements),
        "",
        *_limits(measurements),
        *([benchmark.note] if benchmark.note else []),
    ]
    if _timed(measurements):
        image = f"images/{benchmark.image.name}"
        lines += [f"![{benchmark.title}: medians, p95 and goals]({image})", ""]
    return "\n".join(lines)


def _limits(measurements: Sequence[Measurement]) -> Iterator[str]:
    """Yield what limits the rows that miss their goals."""
    missed = [row.work for row in measurements if row.is_met is False]
    found = [text for pattern, text in LIMITS if any(re.search(pattern, row) for row in missed)]
    if found:
        yield "What limits the rows that miss their goals:"
        yield ""
        yield from (f"- {text}" for text in found)
        yield ""


def _row(measurement: Measurement) -> str:
    figures = []
    is_one = measurement.minimum == measurement.p95
    for name in ("median",) if is_one else ("median", "p95"):
        text = _number(getattr(measurement, name), measurement.unit)
        is_goals = measurement.limit is not None and (is_one or name == measurement.statistic)
        figures.append(f"**{text}**" if is_goals else text)
    if is_one:
        figures.append("")
    goal = ""
    if measurement.limit is not None:
        goal = f"≤ {_number(measurement.limit, measurement.unit)}"
        if measurement.factor is not None:
            goal += f" ({measurement.factor:g} times)"
        goal += " ✓" if measurement.is_met else " missed"
    anchor = measurement.anchor
    if measurement.anchor_values:
        median = statistics.median(measurement.anchor_values)
        anchor += f" {_number(median, measurement.unit)}"
    return f"| {' | '.join([measurement.work, *figures, goal, anchor])} |"


def _loads(measurements: Sequence[Measurement]) -> str:
    """The loads of a table, from the least to the most."""
    least, most = (pick(one.load for one in measurements) for pick in (min, max))
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


def _number(value: float, unit: str) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def _timed(measurements: Sequence[Measurement]) -> list[Measurement]:
    """What a plot shows."""
    return [measurement for measurement in measurements if measurement.unit == "ms"]


def plot(benchmark: Benchmark, measurements: Sequence[Measurement]) -> None:
    """Draw medians and p95 as bars, with goals and anchors as marks."""
    from matplotlib import pyplot, ticker

    pyplot.rcParams["svg.hashsalt"] = benchmark.name
    rows = _timed(measurements)
    if not rows:
        return
    figure, axes = pyplot.subplots(figsize=(9, 0.8 + 0.42 * len(rows)))
    places = range(len(rows))
    axes.barh(places, [one.p95 for one in rows], height=0.7, color="#f3c9a5", label="p95")
    axes.barh(places, [one.median for one in rows], height=0.4, color="#2b6cb0", label="median")
    for mark, color, label, values in (
        ("|", "#c53030", "goal", [one.limit for one in rows]),
        (
            "D",
            "#4a5568",
            "anchor",
            [statistics.median(one.anchor_values) if one.anchor_values else None for one in rows],
        ),
    ):
        known = [(value, place) for value, place in zip(values, places, strict=True) if value]
        axes.plot(
            [value for value, _ in known],
            [place for _, place in known],
            mark,
            color=color,
            markersize=13 if mark == "|" else 4,
            markeredgewidth=2 if mark == "|" else 1,
            linestyle="",
            label=label,
        )
    axes.set_yticks(places, [one.work for one in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_xlabel("milliseconds")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False)
    axes.grid(axis="x", alpha=0.3)
    figure.tight_layout()
    benchmark.image.parent.mkdir(exist_ok=True)
    figure.savefig(benchmark.image, metadata={"Date": None})
    pyplot.close(figure)


def sections_of(page: str) -> Iterator[tuple[str, str]]:
    """The sections of a page by their titles."""
    for part in re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]:
        yield part.partition("\n")[0].removeprefix("## "), part.rstrip("\n") + "\n"


if __name__ == "__main__":
    main()
