"""Measure what a shared index saves: a fresh clone after an import, ten worktrees, large artefacts.

    uv run python -m tests.benchmarks.measure_index_travel [--rounds N]

Django's sdist becomes a repository, whose index one cache exports and another imports. The commands
after it run in a fresh clone, each after an import of its own; beside them are the same ones with
an empty index, in turn. Seconds are of the processor, with those of child processes; what a
command took by the clock is behind it, which other load of the machine lengthens.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median

from tests.backends.corpora import django
from tests.benchmarks.bench_start import PROGRAMS
from tests.benchmarks.measurement import children_seconds

from foldline.backends import LocalFileBackend, WorkspaceIndex
from foldline.backends.index.artefact import write_artefact
from foldline.backends.index.segments import Building
from foldline.backends.index.sharing import import_index
from foldline.backends.index.store import Part
from foldline.backends.index.words import content_key, words_of

COMMANDS = (
    ("outline", "django/http/response.py"),
    ("symbol", "HttpResponse"),
    ("search", "how are migrations ordered"),
    ("refs", "HttpResponse", "--seconds", "0"),
)
WORKTREES = 10
# Opens folders and asks of each what loads its words; prints the memory after the first and last.
OPEN = """
import gc, sys
from pathlib import Path
from foldline.backends import SmartFileAccess

def memory():
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

opened, found = [], []
for root in sys.argv[1:]:
    access = SmartFileAccess.for_workspace(root, patience=None)
    access.index.refresh()
    access.search_files("how are migrations ordered", budget=2000)
    access.search_files(" ".join(f"word{n}" for n in range(60)), budget=2000)
    access.find_references("HttpResponse", seconds=0, budget=2000)
    opened.append(access)
    found.append(memory())
print(found[0], found[-1])
for access in opened:
    access.close()
"""
PARTS = (50, 100, 200)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        main_root = folder / "django"
        shutil.copytree(django(), main_root)
        git(main_root, "init", "-q", "-b", "main")
        git(main_root, "add", "-Af", ".")
        git(main_root, "commit", "-qm", "one")
        fresh_clone(folder, main_root, options.rounds)
        worktrees(folder, main_root)
    linear()
    print(f"load {os.getloadavg()[0]:.1f}")


def fresh_clone(folder: Path, main_root: Path, rounds: int) -> None:
    """Print the seconds of each command in a clone, after an import and with an empty index."""
    artefact, clone = folder / "django.flindex", folder / "clone"
    git(folder, "clone", "-q", str(main_root), str(clone))
    print(f"export: {foldline(main_root, folder / 'ci', 'index', 'export', str(artefact))}")
    print(f"artefact: {artefact.stat().st_size:,} bytes")
    taken: dict[str, list[tuple[float, float]]] = {}
    for number in range(rounds):
        for command in COMMANDS:
            for way in ("imported", "empty"):
                cache = folder / f"{way}{number}{command[0]}"
                if way == "imported":
                    imported = foldline(clone, cache, "index", "import", str(artefact))
                    taken.setdefault("import", []).append(imported)
                row = taken.setdefault(f"{command[0]}, {way}", [])
                row.append(foldline(clone, cache, *command))
                shutil.rmtree(cache)
    for name, values in taken.items():
        processor, wall = (median(one) for one in zip(*values, strict=True))
        print(f"{name}: {processor:.2f} s of the processor, {wall:.2f} s by the clock")


def worktrees(folder: Path, main_root: Path) -> None:
    """Print what ten worktrees take beside one: the index file, and the memory of a process."""
    roots = [main_root]
    for number in range(1, WORKTREES):
        git(main_root, "worktree", "add", "-q", str(folder / f"w{number}"))
        roots.append(folder / f"w{number}")
    sizes, memory = [], []
    for some in (roots[:1], roots):
        cache = folder / f"of {len(some)}"
        environment = {**os.environ, "FOLDLINE_CACHE_DIR": str(cache)}
        command = [sys.executable, "-c", OPEN, *map(str, some)]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        memory.append([int(one) for one in done.stdout.split()])
        files = [*(cache / "index").iterdir()]
        sizes.append(sum(file.stat().st_size for file in files if file.suffix == ".sqlite3"))
    one, ten = sizes
    print(f"disk: {one:,} bytes for one, {ten:,} for {WORKTREES} worktrees: {ten / one:.2f}")
    (_, first), (_, last) = memory
    print(f"memory: {first:,} KiB for one folder, {last:,} for {WORKTREES}: {last / first:.2f}")


def linear() -> None:
    """Print how an import grows with its contents, and the memory that it takes."""
    for count in PARTS:
        with tempfile.TemporaryDirectory() as place:
            artefact = Path(place) / "app.flindex"
            with artefact.open("wb") as out:
                write_artefact(out, map(part, range(count)))
            files = LocalFileBackend(place)
            index = WorkspaceIndex(files, Path(place) / "index.sqlite3", patience=None)
            with closing(index):
                before, began = peak(), time.process_time()
                found = import_index(index, artefact).artefact
                seconds = time.process_time() - began
            print(
                f"import: {found.contents:,} contents, {found.bytes:,} bytes: {seconds:.2f} s, "
                f"{1e6 * seconds / found.contents:.1f} µs each, {peak() - before:,} KiB more"
            )


def part(number: int) -> Part:
    """A thousand contents."""
    texts = [f"def f{number}x{line}(): word{line}\n".encode() for line in range(1_000)]
    building = Building()
    for text in texts:
        building.add(words_of("a.py", text))
    return Part(False, [content_key("a.py", text) for text in texts], building.segment())


def peak() -> int:
    """The most memory of this process so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def foldline(root: Path, cache: Path, *words: str) -> tuple[float, float]:
    """The seconds of a command, of the processor and by the clock."""
    environment = {**os.environ, "FOLDLINE_CACHE_DIR": str(cache)}
    program = shutil.which("foldline", path=PROGRAMS) or "foldline"
    before, began = children_seconds(), time.perf_counter()
    subprocess.run([program, *words], cwd=root, env=environment, check=True, capture_output=True)
    return children_seconds() - before, time.perf_counter() - began


def git(root: Path, *words: str) -> None:
    command = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@t", *words]
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
