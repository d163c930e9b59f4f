"""What outlines, the index and references cost on Django, as ratios in one run.

    uv run python -m tests.benchmarks.bench_ast [--json]

The Django sdist, and for `--json` the wheel of Home Assistant, are downloaded once. With `--json`
it prints what a user waits for instead, by the clock: questions to a process that has answered
others, of which Home Assistant's show how they grow. `bench_start` has commands.

Seconds of the table are of the processor, those of child processes such as `rg` included, the least
of three rounds: on a machine that others use too, the clock would measure them.
"""

import ast
import multiprocessing
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table
from tests.backends.corpora import home_assistant
from tests.benchmarks.measurement import Measurement, as_json

from foldline.backends import LocalFileBackend, SmartFileAccess, WorkspaceIndex
from foldline.backends.base.languages import is_indexed, parser_for
from foldline.backends.outlines.outlines import outline_source

ROUNDS = 3
QUESTIONS = 9
WORD = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
NAMES = (
    "QuerySet",
    "HttpResponse",
    "select_related",
    "ModelForm",
    "get_object_or_404",
    "Prefetch",
    "JSONField",
    "csrf_exempt",
    "ImproperlyConfigured",
    "url_has_allowed_host_and_scheme",
)


def main() -> None:
    """Measure, and print the table, or with `--json` what a user waits for."""
    if "--json" in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as cache:
            os.environ["FOLDLINE_CACHE_DIR"] = cache
            measured = questions("Django", load_corpus())
            measured += questions("Home Assistant", home_assistant())
            print(as_json(measured))
        return
    django = load_corpus()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FOLDLINE_CACHE_DIR"] = cache
        table = Table(
            "measure", "value", "beside", "ratio", "bound", title=f"Django, {sys.platform}"
        )
        bench_outlines(django, table)
        bench_index(django, table)
        bench_references(django, table)
        table.add_row("peak memory, index and references", f"{peak_memory(django):.0f} MB")
    Console(width=120).print(table)


def questions(corpus: str, root: Path) -> list[Measurement]:
    """Questions to a process that has answered each once."""
    access = SmartFileAccess.for_workspace(root, patience=None)
    asked: list[tuple[str, Callable[[], object], float]] = [
        ("search, 1 KB", lambda: access.search_files(issue(root, 1_000), budget=2_000), 300),
        ("search, 8 KB", lambda: access.search_files(issue(root, 8_000), budget=2_000), 300),
        ("syntax references, `Model`", lambda: uses(access, "Model"), 250),
        ("syntax references, `self`", lambda: uses(access, "self"), 250),
    ]
    measured = []
    for name, ask, goal in asked:
        ask()
        times = tuple(milliseconds(ask) for _ in range(2 if "self" in name else QUESTIONS))
        measured.append(
            Measurement(work=f"{corpus}: {name}", values=times, goal=goal, statistic="median")
        )
    access.close()
    return measured


def uses(access: SmartFileAccess, name: str) -> object:
    """The first page of the uses of a name, without a language server."""
    return access.find_references(name, seconds=0, budget=2_500)


def issue(root: Path, size: int) -> str:
    """A text with the words of a project, as somebody would paste it."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))[::97])
    lines = (line for text in texts for line in text.splitlines()[::7] if line.strip())
    return "\n".join(lines)[:size]


def milliseconds(work: Callable[[], object]) -> float:
    """How long the work takes by the clock."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1_000


def load_corpus() -> Path:
    """The unpacked Django sdist."""
    from tests.backends.corpora import django

    return django()


def bench_outlines(django: Path, table: Table) -> None:
    """Outlines of all files beside parsing alone and beside `ast`."""
    files = [path.read_bytes() for path in sorted(django.rglob("*.py"))]
    parser = parser_for("python")
    # Parsing and walking take turns file by file, so that both see the same machine.
    parse_seconds, outline_seconds, slowest = [], [], []
    for _ in range(ROUNDS):
        parsing = outlining = 0.0
        single: list[float] = []
        for data in files:
            start = time.process_time()
            parser.parse(data)
            middle = time.process_time()
            outline_source("python", data)
            end = time.process_time()
            parsing += middle - start
            outlining += end - middle
            single.append(end - middle)
        parse_seconds.append(parsing)
        outline_seconds.append(outlining)
        slowest.append(statistics.quantiles(single, n=100)[98])
    with_ast = least(lambda: [ast_outline(data) for data in files])
    outline = min(outline_seconds)
    ratio = min(
        outlined / parsed for outlined, parsed in zip(outline_seconds, parse_seconds, strict=True)
    )
    row(table, "outlines of all files beside parse", outline, min(parse_seconds), ratio, 1.35)
    row(table, "outlines of all files beside ast", outline, with_ast, outline / with_ast, 1.0)
    table.add_row("one outline, mean", f"{outline / len(files) * 1000:.2f} ms", "", "", "5 ms")
    table.add_row("one outline, 99 of 100", f"{min(slowest) * 1000:.1f} ms")


def ast_outline(data: bytes) -> int:
    """How many definitions `ast` sees: its parse and the cheapest walk."""
    try:
        tree = ast.parse(data)
    except SyntaxError:
        return 0
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return sum(isinstance(node, kinds) for node in ast.walk(tree))


def bench_index(django: Path, table: Table) -> None:
    """Building the index beside reading and tokenising; starting with one that is there."""
    paths = [
        django / stamp.path for stamp in LocalFileBackend(django).walk() if is_indexed(stamp.path)
    ]
    tokenise: list[float] = []
    build: list[float] = []
    warm: list[float] = []
    for number in range(ROUNDS):
        tokenise.append(seconds(lambda: [set(WORD.findall(path.read_bytes())) for path in paths]))
        location = Path(tempfile.mkdtemp()) / f"{number}.sqlite3"
        bring_up = partial(refresh, django, location)
        build.append(seconds(bring_up))
        bring_up()  # Sees that nothing was changed while it was built.
        warm.append(seconds(bring_up))
        shutil.rmtree(location.parent)
    row(table, "index build beside read and tokenise", min(build), min(tokenise),
        min(build) / min(tokenise), 2.0)  # fmt: skip
    row(table, "warm start beside build", min(warm), min(build), min(warm) / min(build), 0.05)


def refresh(django: Path, location: Path) -> None:
    """Open the index at `location`, bring it up to date and close it."""
    index = WorkspaceIndex(LocalFileBackend(django), location)
    index.refresh()
    index.close()


def bench_references(django: Path, table: Table) -> None:
    """References to ten symbols beside `rg -w` and beside parsing everything."""
    access = SmartFileAccess.for_workspace(django, patience=None)
    access.find_references("nothing")
    ripgrep = shutil.which("rg", path=str(Path(sys.executable).parent)) or shutil.which("rg")
    everything = least(
        lambda: [
            outline_source("python", path.read_bytes()) for path in sorted(django.rglob("*.py"))
        ]
    )
    ours: list[float] = []
    theirs: list[float] = []
    for name in NAMES:
        mine, total = measure(partial(count_references, access, name))
        ours.append(mine)
        if ripgrep:
            command = [ripgrep, "-w", "--type=py", "-n", name, str(django)]
            theirs.append(measure(partial(run, command))[0])
            beside = f"rg {theirs[-1] * 1000:.0f} ms"
        else:
            beside = "no rg"
        table.add_row(f"references to {name}", f"{mine * 1000:.0f} ms", beside, f"{total} uses")
    typical = statistics.median(ours)
    table.add_row("references, median", f"{typical * 1000:.0f} ms", "", "", "250 ms")
    if theirs:
        row(table, "references beside rg -w", typical, statistics.median(theirs),
            typical / statistics.median(theirs), None)  # fmt: skip
    row(table, "references beside parsing all", typical, everything, typical / everything, None)
    access.close()


def count_references(access: SmartFileAccess, name: str) -> int:
    """How many uses the name has."""
    return access.find_references(name).total


def peak_memory(django: Path) -> float:
    """The most megabytes that a fresh process held while it indexed and answered."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(measure_memory, (str(django),))


def measure_memory(django: str) -> float:
    """Index, ask for every name, and tell this process's peak in megabytes."""
    os.environ["FOLDLINE_CACHE_DIR"] = tempfile.mkdtemp()
    access = SmartFileAccess.for_workspace(django, patience=None)
    for name in NAMES:
        access.find_references(name)
    access.close()
    shutil.rmtree(os.environ["FOLDLINE_CACHE_DIR"])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row(  # noqa: PLR0917 - the columns of the table.
    table: Table, name: str, value: float, beside: float, ratio: float, bound: float | None
) -> None:  # fmt: skip
    """One line of the table; a ratio over its bound is marked."""
    mark = "" if bound is None or ratio <= bound else "  over"
    table.add_row(
        name, f"{value:.3f} s", f"{beside:.3f} s", f"{ratio:.3f}{mark}", f"{bound or ''}"
    )  # fmt: skip


def least(work: Callable[[], object]) -> float:
    """The least processor seconds of some rounds."""
    return min(seconds(work) for _ in range(ROUNDS))


def seconds(work: Callable[[], object]) -> float:
    """The processor seconds of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(work: Callable[[], int]) -> tuple[float, int]:
    """The least processor seconds in some rounds, and the result."""
    times = []
    result = 0
    for _ in range(ROUNDS):
        start = processor()
        result = work()
        times.append(processor() - start)
    return min(times), result


def processor() -> float:
    """Processor seconds of this process and of the children that ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def run(command: list[str], folder: Path | None = None) -> int:
    """How many lines a command prints."""
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, cwd=folder)
    return done.stdout.count(b"\n")


if __name__ == "__main__":
    main()
