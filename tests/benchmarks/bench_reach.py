"""How many bytes it takes from a file to the functions in it that a repair changed.

    uv run python -m tests.benchmarks.bench_reach [--limit N] [--budget BYTES] [--worst]

The tasks are those of `bench_localise`. The file is known; its outline is read, with the report as
the question or without one, and then the source of every changed function, page by page to the
end of its code; comments that an answer folds are left so. *All for the report* asks for the
functions with the report, too: of a long one, the lines that match are shown. All answers have
their default budgets. Of a class that a repair adds members to, the first answer counts: its head
and its members.

*Named* is how often the outline names all of the functions, each in its class. *Bytes* has the
median of the tasks, and *against files* what is saved of reading the files whole.
"""

from __future__ import annotations

import argparse
import re
import statistics
from typing import TYPE_CHECKING, Literal, NamedTuple

from tests.benchmarks.bench_localise import releases

from foldline.backends import SmartFileAccess
from foldline.backends.formatting.budget import OUTLINE_BUDGET, SYMBOL_BUDGET, size_of
from foldline.backends.text import format_outline, format_symbol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.benchmarks.bench_localise import Task

Asked = Literal["", "outline", "all"]
ASKED: dict[str, Asked] = {
    "outline": "",
    "outline for the report": "outline",
    "all for the report": "all",
}


class Reach(NamedTuple):
    """The bytes of the answers that a task took, and of the file."""

    id: str
    outline: int
    symbols: int
    file: int
    named: bool

    @property
    def bytes(self) -> int:
        return self.outline + self.symbols


def run(*, asked: Asked, budget: int = OUTLINE_BUDGET, limit: int | None = None) -> list[Reach]:
    """What each task took; what is `asked` has the report as its question."""
    found = []
    for root, some in releases(sdists=False, limit=limit):
        access = SmartFileAccess.for_workspace(root)
        found += [reach(access, task, asked=asked, budget=budget) for task in some]
        access.close()
    return found


def reach(
    access: SmartFileAccess, task: Task, *, asked: Asked, budget: int = OUTLINE_BUDGET
) -> Reach:
    """What one task took."""
    (path,) = task.files
    names = [function.partition(":")[2] for function in task.functions]
    outline = access.get_outline(path, query=task.issue if asked else None)
    query = task.issue if asked == "all" else None
    text = format_outline(outline, budget)
    assert size_of(text) <= budget
    symbols = sum(size_of(page) for name in names for page in pages(access, path, name, query))
    size = size_of(access.read_file(path))
    return Reach(task.id, size_of(text), symbols, size, all(is_named(text, n) for n in names))


def pages(access: SmartFileAccess, path: str, name: str, query: str | None = None) -> Iterator[str]:
    """The answers that have a symbol's code; with a `query`, the one that has what matches it."""
    cursor = None
    while True:
        page = access.read_symbol(path, name, budget=SYMBOL_BUDGET, cursor=cursor, query=query)
        yield format_symbol(page)
        cursor = page.cursor
        is_left = cursor is not None and "for the rest" in page.notes[-1]
        if not is_left or page.kind == "class" or query is not None:
            return


def is_named(text: str, name: str) -> bool:
    """An outline's text has the name, and in the block of the definition that it is in."""
    first, _, rest = name.partition(".")
    leaf = re.compile(rf"(?<!\w){re.escape(name.rpartition('.')[2])}(?!\w)")
    head = re.compile(rf"(?<!\w){re.escape(first)}(?!\w)")
    # The first line tells of the file, the last one of what is left out.
    for block in blocks(text.split("\n")[1:]):
        if not rest:
            if head.search(block):
                return True
        elif not re.match(r"\d", block):
            # A line of names: `Cart 12 (total 13, add 20), order 30`.
            for found in re.finditer(r"([^\s,()]+)(?: \d+)? \(([^()]*)\)", block):
                if found[1] == first and leaf.search(found[2]):
                    return True
        elif head.search(block.partition("\n")[0]) and leaf.search(block.partition("\n")[2]):
            return True
    return False


def blocks(lines: Iterable[str]) -> Iterator[str]:
    """Lines that begin at the left, each with the indented ones below it."""
    block: list[str] = []
    for line in lines:
        if line.startswith(("(", "imports ")):
            continue
        if block and not line.startswith(" "):
            yield "\n".join(block)
            block = []
        block.append(line)
    if block:
        yield "\n".join(block)


def line(name: str, found: list[Reach]) -> str:
    """A line of the table."""
    every, files = sum(one.bytes for one in found), sum(one.file for one in found)
    return (
        f"{name:24} named {100 * statistics.mean(one.named for one in found):5.1f} %  "
        f"bytes {statistics.median(one.bytes for one in found):6,.0f}  "
        f"outline {statistics.median(one.outline for one in found):6,.0f}  "
        f"total {every:8,}  against files {100 * every / files - 100:.1f} %"
    )


def row(name: str, found: list[Reach]) -> str:
    """A line of the page's table."""
    every, files = sum(one.bytes for one in found), sum(one.file for one in found)
    return (
        f"| {name} | {100 * statistics.mean(one.named for one in found):.0f} % "
        f"| {statistics.median(one.bytes for one in found):,.0f} | {every:,} "
        f"| {100 * every / files - 100:.1f} % |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=int, help="only the first tasks")
    parser.add_argument("--budget", type=int, default=OUTLINE_BUDGET, help="of the outlines")
    parser.add_argument("--worst", action="store_true", help="also print the largest tasks")
    options = parser.parse_args()
    for name, asked in ASKED.items():
        found = run(asked=asked, budget=options.budget, limit=options.limit)
        print(line(name, found), flush=True)
        print("  not named:", *(one.id for one in found if not one.named))
        if options.worst:
            for one in sorted(found, key=lambda one: -one.bytes)[:10]:
                print("  ", *one)


if __name__ == "__main__":
    main()
