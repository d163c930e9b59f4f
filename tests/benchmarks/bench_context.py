"""How precise a packed context is: how much of it belongs to what a report is about.

    uv run --group bench python -m tests.benchmarks.bench_context [--limit N] [--budget BYTES …]
        [--json]

The questions are those of `bench_localise`. Of each context it measures the part of its bytes that
is about the file that was changed, the part that is source of the functions that were changed, and
whether it shows these functions: all of them in full, one in full, or their names.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tests.benchmarks.bench_localise import releases, workspace
from tests.benchmarks.measurement import Measurement, as_json

from foldline.backends.base.waiting import run as wait_for
from foldline.backends.errors import SymbolError
from foldline.backends.formatting.budget import CONTEXT_BUDGET, size_of
from foldline.backends.outlines.symbols import Located, flatten, locate
from foldline.backends.text import format_symbol
from foldline.ide.operations.code_scoped_context import OPERATION, Arguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.benchmarks.bench_localise import Task

    from foldline.backends import SmartFileAccess
    from foldline.backends.models import SymbolDetail
    from foldline.ide.scoped_context import ScopedContext

BUDGETS = (8_000, 12_000)
_GOAL = 500.0
_PART = re.compile(r"lines ([\d, -]+) of \d+-\d+")
_OUTLINE = re.compile(r"^(\S+) \([a-z]+, [\d,]+ lines?\)")


class Lines(NamedTuple):
    """Some lines of a file, both ends included."""

    path: str
    start: int
    end: int

    def overlap(self, other: Lines) -> int:
        """The number of lines that both have."""
        if self.path != other.path:
            return 0
        return max(0, min(self.end, other.end) - max(self.start, other.start) + 1)


@dataclass(frozen=True, slots=True)
class Context:
    """One context, in bytes and shares."""

    size: int
    gold_files: float
    gold_functions: float
    all_shown: bool
    any_shown: bool
    named: bool
    milliseconds: float


def measure(access: SmartFileAccess, task: Task, budget: int) -> Context:
    """Pack the context of a report, and compare it with what was changed."""
    since = time.process_time()
    context, text = packed(access, task.issue, budget)
    took = 1000 * (time.process_time() - since)
    size = size_of(text)
    assert size <= budget, f"{task.id}: {size} bytes"
    bodies = []
    about_file = about_function = 0
    gold = [*_gold(access, task)]
    for detail in context.symbols:
        shown = format_symbol(detail)
        if shown in text:
            first = detail.body_line or detail.line
            lines = Lines(detail.path, first, first + detail.body.count("\n"))
            whole = detail.cursor is None
            bodies.append((lines, whole))
            if lines.path in task.files:
                about_file += size_of(shown)
            for body, number in zip(detail.body.split("\n"), range(first, 1 << 30), strict=False):
                at = Lines(lines.path, number, number)
                if whole and any(at.overlap(one) for one, _ in gold):
                    about_function += size_of(body) + 1
    for path, part in outlines_in(text):
        if path in task.files:
            about_file += size_of(part) + 1
    shown_whole = [
        any(
            whole and one.overlap(gold_lines) == gold_lines.end - gold_lines.start + 1
            for one, whole in bodies
        )
        for gold_lines, _ in gold
    ]
    named = all(re.search(rf"\b{re.escape(name)}\b", text) for _, name in gold)
    return Context(
        size,
        about_file / size,
        about_function / size,
        bool(gold) and all(shown_whole),
        any(shown_whole),
        named,
        took,
    )


def packed(
    access: SmartFileAccess, question: str, budget: int = CONTEXT_BUDGET
) -> tuple[ScopedContext, str]:
    """The context of a question, and its text."""
    arguments = Arguments(query=question, budget=budget)
    context = wait_for(OPERATION.run(access, arguments))
    return context, OPERATION.text(context, arguments)


def numbers_of(detail: SymbolDetail) -> list[int]:
    """The lines of a definition that its body has; a note of a part says which."""
    first = detail.body_line or detail.line
    for note in detail.notes:
        if found := _PART.match(note):
            ranges = (part.partition("-") for part in found[1].split(", "))
            return [n for start, _, end in ranges for n in range(int(start), int(end or start) + 1)]
    return [*range(first, first + detail.body.count("\n") + 1)]


def _gold(access: SmartFileAccess, task: Task) -> Iterator[tuple[Lines, str]]:
    """The lines and the names of the functions that were changed."""
    for function in task.functions:
        path, _, name = function.partition(":")
        symbols = access.get_outline(path).symbols
        try:
            symbol = locate(path, symbols, name).symbol
        except SymbolError:
            same = [one for one in flatten(symbols) if one.qualified_name == name]
            symbol = max(same, key=_length).symbol
        yield Lines(path, symbol.line, symbol.line_end), symbol.name


def _length(located: Located) -> int:
    return located.symbol.line_end - located.symbol.line


def outlines_in(text: str) -> Iterator[tuple[str, str]]:
    """The lines of a context's outlines, with their files."""
    path = ""
    for line in text.split("\n"):
        if not line:
            path = ""
        elif found := _OUTLINE.match(line):
            path = found[1]
        if path:
            yield path, line


def run(budgets: Iterable[int], limit: int | None) -> dict[int, list[Context]]:
    """The contexts of all reports, by budget."""
    found: dict[int, list[Context]] = {budget: [] for budget in budgets}
    for root, some in releases(sdists=False, limit=limit):
        with workspace(root) as access:
            for task in some:
                for budget, contexts in found.items():
                    contexts.append(measure(access, task, budget))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=int, help="only the first tasks")
    parser.add_argument("--budget", type=int, nargs="+", default=BUDGETS, help="bytes")
    parser.add_argument("--json", action="store_true", help="measurements for the page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FOLDLINE_CACHE_DIR"] = cache
        found = run(options.budget, options.limit)
        if options.json:
            print(as_json([measurement(budget, contexts) for budget, contexts in found.items()]))
            return
        for budget, contexts in found.items():
            print(line(budget, contexts), flush=True)


def line(budget: int, contexts: list[Context]) -> str:
    """The figures of one budget."""
    size = statistics.median(one.size for one in contexts)
    took = statistics.median(one.milliseconds for one in contexts)
    one = 100 * sum(context.any_shown for context in contexts) / len(contexts)
    return (
        f"{budget} bytes, {len(contexts)} reports (median {size:.0f}): {shares(contexts)}; "
        f"one in full {one:.1f} %; median {took:.0f} ms of processor time"
    )


def shares(contexts: list[Context]) -> str:
    """How precise the contexts are, over all their bytes and over the reports."""
    whole = sum(one.size for one in contexts)

    def share(name: str) -> str:
        return f"{100 * sum(getattr(one, name) for one in contexts) / len(contexts):.1f} %"

    def bytes_of(name: str) -> str:
        return f"{100 * sum(getattr(one, name) * one.size for one in contexts) / whole:.1f} %"

    return (
        f"changed file {bytes_of('gold_files')} of bytes, functions {bytes_of('gold_functions')}; "
        f"all in full {share('all_shown')}, named {share('named')}"
    )


def measurement(budget: int, contexts: list[Context]) -> Measurement:
    """The processor times, with the shares in the name of the work."""
    return Measurement(
        work=f"{budget:,} bytes: {shares(contexts)}",
        values=tuple(one.milliseconds for one in contexts),
        goal=_GOAL,
        statistic="p95",
    )


if __name__ == "__main__":
    main()
