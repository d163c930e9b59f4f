"""Measure what the default budgets cost and lose, and write `tests/benchmarks/BUDGETS.md`.

    uv run python -m tests.benchmarks.measure_budgets

The sources come from the package registries, once. Of each, files and definitions are drawn at
random with a fixed seed, as in `measure_answers`, and every answer is made with the default
arguments of its tool and without a limit.
"""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.backends.corpora import DJANGO, django
from tests.benchmarks import bench_reach
from tests.benchmarks.bench_localise import sources, tasks
from tests.benchmarks.localise_others import RXJS, npm_package
from tests.benchmarks.measure_answers import questions

from foldline.backends.base.waiting import run
from foldline.backends.errors import BackendError
from foldline.backends.formatting.budget import size_of
from foldline.backends.models import FileOutline, SymbolKind
from foldline.backends.outlines.symbols import flatten
from foldline.ide.operations import OPERATIONS
from foldline.ide.workspace import AccessOptions, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foldline.backends import SmartFileAccess
    from foldline.ide.operations.operation import Operation

PAGE = Path(__file__).parents[2] / "tests" / "benchmarks" / "BUDGETS.md"
MATPLOTLIB = "3.7.1"
EXPRESS = "4.21.2"
THREE = "0.170.0"
SAMPLES = 80
SLOW_SAMPLES = 24

HEAD = """\
<!-- Written by `python -m tests.benchmarks.measure_budgets`; don't edit it. -->
# What the default budgets cost and lose

An answer to a model fits a budget, and ends with what it leaves out and how to get it: a cursor, a
name, or a larger budget. A budget that is asked for is filled; by default, an outline's names may
fill 6,000 bytes and its signatures 1,500, the lines of references are shown where they all fit 225
bytes, and long comments are left to a cursor. The tables have, for random files and definitions of
five packages:

- *median* and *90 %*: the bytes of answers with the default budget; nine in ten have fewer than the
  second
- *whole*: how many answers lose nothing
- *shown*: the bytes of these answers, against those of the same answers without a limit; for an
  outline with a `query`, two words, against the outline without one
- *named*: of the functions, classes and methods of the files, how many their outlines name

`read_lines` costs what it is asked for. The answers of language servers (`definition`,
`implementations`, `hover`, `calls`) have 1,500 bytes by default, and are not measured.
"""


class Corpus(NamedTuple):
    """Sources of one kind."""

    name: str
    root: Path
    pattern: str


@dataclass(slots=True)
class Losses:
    """The sizes of a tool's answers, with the default budget and without a limit."""

    sizes: list[tuple[int, int]]
    named: tuple[int, int] = (0, 0)

    def row(self, tool: str, budget: int) -> str:
        """A line of a table."""
        shown = [size for size, _ in self.sizes]
        most = statistics.quantiles(shown, n=10, method="inclusive")[-1]
        # A page of a file has no newline at its end.
        whole = sum(size + 1 >= every for size, every in self.sizes) / len(self.sizes)
        part = min(sum(shown) / sum(every for _, every in self.sizes), 1.0)
        names = f"{100 * self.named[0] / self.named[1]:.1f} %" if self.named[1] else ""
        return (
            f"| `{tool}` | {budget:,} | {statistics.median(shown):,.0f} | {most:,.0f} "
            f"| {100 * whole:.0f} % | {100 * part:.0f} % | {names} |"
        )


def main() -> None:
    parts = [HEAD]
    for corpus in corpora():
        rows = "\n".join(rows_of(corpus))
        parts.append(
            f"## {corpus.name}\n\n| tool | budget | median | 90 % | whole | shown | named |\n"
            f"|---|---|---|---|---|---|---|\n{rows}\n"
        )
        print(parts[-1], flush=True)
    parts.append(reach_table())
    print(parts[-1])
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def corpora() -> Iterator[Corpus]:
    """The packages, those of npm by the folder with their sources."""
    task = next(t for t in tasks() if (t.package, t.version) == ("matplotlib", MATPLOTLIB))
    yield Corpus(f"Django {DJANGO}", django() / "django", "*.py")
    yield Corpus(f"matplotlib {MATPLOTLIB}", sources(task) / "matplotlib", "*.py")
    yield Corpus(f"rxjs {RXJS}", npm_package("rxjs", RXJS) / "src", "*.ts")
    yield Corpus(f"express {EXPRESS}", npm_package("express", EXPRESS), "*.js")
    yield Corpus(f"three {THREE}", npm_package("three", THREE) / "src", "*.js")


def rows_of(corpus: Corpus) -> Iterator[str]:
    """The lines of a corpus's table."""
    workspace = Workspace.at(corpus.root, access=AccessOptions(patient=True))
    try:
        access = workspace.access(workspace.roots[0])
        for tool, asked in questions(access, corpus.pattern, SAMPLES, SLOW_SAMPLES):
            operation = next(one for one in OPERATIONS if one.tool == tool)
            yield losses(access, operation, asked).row(tool, default_budget(operation))
            if tool == "get_file_outline":
                # Keywords, as an agent asks: the name of a definition of another file.
                words = [f"{Path(str(one['path'])).stem} error" for one in asked]
                queried = [{**one, "query": word} for one, word in zip(asked, words, strict=True)]
                found = losses(access, operation, queried)
                yield found.row(f"{tool}` with a `query", default_budget(operation))
    finally:
        workspace.close()


def losses(
    access: SmartFileAccess, operation: Operation[Any, Any], asked: Sequence[dict[str, object]]
) -> Losses:
    """What the answers of a tool cost and lose; those that it refuses don't count."""
    found = Losses([])
    for values in asked:
        try:
            answers = []
            whole = {"budget": None, **({"query": None} if "path" in values else {})}
            for change in ({}, whole if "query" in values else {"budget": None}):
                arguments = operation.arguments(**{**values, **change})
                result = run(operation.run(access, arguments))
                answers.append(operation.text(result, arguments))
        except BackendError:
            continue
        found.sizes.append((size_of(answers[0]), size_of(answers[1])))
        if isinstance(result, FileOutline) and "query" not in values:
            named, every = found.named
            more, names = names_in(answers[0], result)
            found.named = (named + more, every + names)
    return found


def names_in(text: str, outline: FileOutline) -> tuple[int, int]:
    """How many functions, classes and methods a text names, of how many."""
    kinds = {SymbolKind.FUNCTION, SymbolKind.CLASS, SymbolKind.METHOD}
    words = {*re.findall(r"[\w$#]+", text)}
    names = [one.symbol.name for one in flatten(outline.symbols) if one.symbol.kind in kinds]
    return sum({*re.findall(r"[\w$#]+", name)} <= words for name in names), len(names)


def default_budget(operation: Operation[Any, Any]) -> int:
    """The budget of a tool's answers."""
    return int(next(one.default for one in operation.parameters if one.name == "budget"))  # type: ignore[call-overload,no-any-return]  # Each tool has one.


def reach_table() -> str:
    """The table of `bench_reach`."""
    rows = [
        bench_reach.row(name, bench_reach.run(asked=asked))
        for name, asked in bench_reach.ASKED.items()
    ]
    return (
        "## From a file to the function in it that a repair changed\n\n"
        "114 reports of faults in Django, matplotlib and scikit-learn "
        "(`tests/benchmarks/bench_reach.py`); the file is known. Bytes of the outline and of the "
        "changed functions' code, against those of the whole files; *for the report* is with it "
        "as `query`.\n\n"
        "| first answer | functions named | median | total | against files |\n"
        "|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


if __name__ == "__main__":
    main()
