"""Measure what a shared index saves: a fresh clone after an import, ten worktrees, large artefacts.

    uv run python -m tests.benchmarks.measure_index_travel [--rounds N]

Django's sdist becomes a repository, whose index one cache exports and another imports. The commands
after it run in a fresh clone, each after an import of its own; beside them are the same ones with
an empty index, in turn. Seconds are of the processor, with those of child processes; what a
command took by the clock is behind it, which other load of the machine lengthens.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import shutil
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
import psutil
from tests.backends.corpora import django
from tests.benchmarks.bench_start import PROGRAMS
from tests.benchmarks.measurement import children_seconds
from tests.plugins.remote.replicas import call, result, serving

from foldline.backends import LocalFileBackend, WorkspaceIndex
from foldline.backends.index.artefact import write_artefact
from foldline.backends.index.segments import Building, Part
from foldline.backends.index.sharing import import_index
from foldline.backends.index.words import content_key, words_of

COMMANDS = (
    ("outline", "django/http/response.py"),
    ("symbol", "HttpResponse"),
    ("search", "how are migrations ordered"),
    ("refs", "HttpResponse", "--seconds", "0"),
)
WORKTREES = 10
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get_file_outline", {"path": "django/http/response.py"}),
    ("search_for_files", {"query": "how are migrations ordered"}),
    ("find_references", {"name": "HttpResponse"}),
)
PARTS = (50, 100, 200)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="0 measures worktrees alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        main_root = folder / "django"
        shutil.copytree(django(), main_root)
        git(main_root, "init", "-q", "-b", "main")
        git(main_root, "add", "-Af", ".")
        git(main_root, "commit", "-qm", "one")
        if options.rounds:
            fresh_clone(folder, main_root, options.rounds)
        worktrees(folder, main_root)
    if options.rounds:
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
    """Print what a replica with ten worktrees takes beside one with one of them."""
    roots = [main_root]
    for number in range(1, WORKTREES):
        git(main_root, "worktree", "add", "-q", str(folder / f"w{number}"))
        roots.append(folder / f"w{number}")
    costs = [
        asyncio.run(replica_costs(folder / f"of {len(some)}", some)) for some in (roots[:1], roots)
    ]
    for (name, one), ten in zip(costs[0].items(), costs[1].values(), strict=True):
        print(f"{name}: {one:,.2f} for one, {ten:,.2f} for {WORKTREES}: {ten / one:.2f}")


async def replica_costs(cache: Path, roots: list[Path]) -> dict[str, float]:
    """The memory (USS, with children), disk and seconds of `foldline mcp --http` over `roots`.

    Its memory is that after each root was asked for references by itself, too.
    """
    environment = {**os.environ, "FOLDLINE_CACHE_DIR": str(cache)}
    for root in roots:
        foldline(root, cache, "index", "build")
    named = [word for root in roots for word in ("--root", str(root))]
    with serving(*named, environment=environment) as replica:
        async with httpx2.AsyncClient(timeout=120) as client:
            taken = []
            for _ in range(2):
                for tool, values in QUESTIONS:
                    below = f"{roots[0].name}/" * (len(roots) > 1)
                    arguments = {
                        name: f"{below}{value}" if name == "path" else value
                        for name, value in values.items()
                    }
                    began = time.perf_counter()
                    answer = result(await call(client, replica.url, tool, **arguments))
                    taken.append(time.perf_counter() - began)
                    assert not answer.get("isError"), answer
            for root in roots if len(roots) > 1 else ():
                scope = {"name": "HttpResponse", "scope": f"{root.name}/"}
                result(await call(client, replica.url, "find_references", **scope))
        process = psutil.Process(replica.process.pid)
        children = process.children(recursive=True)
        own, others = (sum(uss(one) for one in some) for some in ([process], children))
    disk = sum(file.stat().st_size for file in (cache / "index").iterdir())
    return {
        "disk, MB": disk / 1e6,
        "process, MB": own,
        "children, MB": others,
        "memory, MB": own + others,
        "children": len(children),
        "first references, s": taken[2],
        "again, s": taken[5],
    }


def uss(process: psutil.Process) -> float:
    """The megabytes that only this process has."""
    return float(process.memory_full_info().uss) / 1e6


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
