"""Measure the tools' answers on Django, and write `foldline/ide/operations/answer_sizes.py`.

    uv run python -m tests.benchmarks.measure_answers

The Django sdist is downloaded once. Of its package, files that define functions or classes and one
of the definitions in each are drawn at random, with a fixed seed; searches are for their names in
the package. Each answer is made with the default arguments of its tool, without a language
server. What tools, the agent prompt and the MCP instructions say about costs comes from the file
that this writes.
"""

from __future__ import annotations

import datetime
import random
import statistics
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.backends.base.waiting import run
from foldline.backends.errors import BackendError
from foldline.backends.formatting.budget import size_of
from foldline.backends.models import SymbolKind
from foldline.backends.outlines.symbols import flatten
from foldline.ide.operations import OPERATIONS, answer_sizes
from foldline.ide.workspace import AccessOptions, Workspace

from ..backends.corpora import DJANGO, django

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foldline.backends import SmartFileAccess
    from foldline.ide.operations.operation import Operation

TARGET = Path(answer_sizes.__file__ or "")
SAMPLES = 200
# Of questions that search the whole corpus.
SLOW_SAMPLES = 96
SEED = 11
LEAST_ANSWERS = 12


def main() -> None:
    workspace = Workspace.at(django() / "django", access=AccessOptions(patient=True))
    try:
        access = workspace.access(workspace.roots[0])
        sizes = {}
        for tool, asked in questions(access):
            sizes[tool] = measure(access, tool, asked)
            print(f"{tool}: {len(asked)} answers, median {sizes[tool][0]} bytes", flush=True)
    finally:
        workspace.close()
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    TARGET.write_text(page(f"the package of Django {DJANGO}", today, sizes), encoding="utf-8")
    print(TARGET.read_text(encoding="utf-8"))


def questions(
    access: SmartFileAccess, pattern: str = "*.py", samples: int = SAMPLES, slow: int = SLOW_SAMPLES
) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """Yield the arguments of the samples, by tool; `slow` ones search the whole corpus."""
    chance = random.Random(SEED)
    root = access.file_backend.root
    found = (path.relative_to(root) for path in sorted(root.rglob(pattern)))
    every = [path for path in found if not {"locale", "migrations"} & {*path.parts}]
    chance.shuffle(every)
    # Of the folders those with folders: what is in the others, their parents' answers say.
    folders = sorted({path.parent.parent.as_posix() for path in every})
    defining = ((path.as_posix(), _definitions(access, path.as_posix())) for path in every)
    files = list(islice(((path, named) for path, named in defining if named), samples))
    symbols = [(path, chance.choice(named)) for path, named in files]
    names = [name.rpartition(".")[2] for _, name in symbols[:slow]]
    words: list[dict[str, object]] = [
        {"query": name.strip("_").replace("_", " ")} for name in names
    ]
    yield "get_tree", [{"path": path} for path in folders]
    yield "search_for_files", words
    yield "grep_in_files", [{"pattern": rf"\b{name}\b"} for name in names]
    yield "get_file_outline", [{"path": path} for path, _ in files]
    yield "read_symbol", [{"path": path, "name": name, "seconds": 0} for path, name in symbols]
    yield "find_references", [{"name": name, "seconds": 0} for name in names]
    yield "read_file", [{"path": path} for path, _ in files]
    yield "generate_scoped_context", words


def _definitions(access: SmartFileAccess, path: str) -> list[str]:
    """Return the functions, classes and methods of a file."""
    kinds = (SymbolKind.FUNCTION, SymbolKind.CLASS, SymbolKind.METHOD)
    located = flatten(access.get_outline(path).symbols)
    return [one.qualified_name for one in located if one.symbol.kind in kinds]


def measure(
    access: SmartFileAccess, tool: str, asked: Sequence[dict[str, object]]
) -> tuple[int, int]:
    """Return the median and the 90th percentile of a tool's answers, in bytes."""
    operation = next(one for one in OPERATIONS if one.tool == tool)
    sizes = [size for arguments in asked if (size := size_of_answer(access, operation, arguments))]
    assert len(sizes) >= LEAST_ANSWERS, f"{tool} gave {len(sizes)} answers"
    deciles = statistics.quantiles(sizes, n=10)
    return round(statistics.median(sizes)), round(deciles[-1])


def size_of_answer(
    access: SmartFileAccess,
    operation: Operation[Any, Any],
    values: dict[str, object],
) -> int:
    """Return the bytes of one answer; 0 for a refusal, such as that of an ambiguous name."""
    arguments = operation.arguments(**values)
    try:
        return size_of(operation.text(run(operation.run(access, arguments)), arguments))
    except BackendError:
        return 0


def page(corpus: str, date: str, sizes: dict[str, tuple[int, int]]) -> str:
    """Return the module with the measured sizes."""
    rows = "".join(
        f'    "{tool}": AnswerSize({median:_}, {most:_}),\n'
        for tool, (median, most) in sizes.items()
    )
    return f'''\
"""The sizes of the tools' answers under their default budgets.

Written by `python -m tests.benchmarks.measure_answers`; don't edit it.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class AnswerSize(NamedTuple):
    """Bytes of an answer: the median, and what nine of ten answers don't exceed."""

    median: int
    ninetieth: int


CORPUS: Final = "{corpus}"
DATE: Final = "{date}"
SIZES: Final = {{
{rows}}}
'''


if __name__ == "__main__":
    main()
