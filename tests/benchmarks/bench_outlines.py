"""What a language server changes in outlines, and what it costs: Django, rxjs, Python's headers.

Run it with `uv run python -m tests.benchmarks.bench_outlines`. What is missing of the corpora and
of npm's servers is downloaded once.

The first table compares the definitions of a server with those of the tree, by name and line of the
name: `both`, in the `tree` alone, in the `server` alone. Of both, `kind` and `lines` are the shares
that are equal; the lines that a server gives to a name alone count as different. `added` are the
definitions that the server adds to the merged outlines, `text` the size of these against those of
the tree, `believed` the share of its answers that was used.

The second deletes one bracket, quote or keyword from files of Django, and compares with the outline
of the whole file: the share of its definitions that is found under the right name, those with the
right lines, and wrong definitions for each hundred right ones.

The third gives milliseconds of the clock, median and 95th percentile, for a file that is `new`, for
one that was `edited`, and for the same text `again`; `answered` is the share of the new and edited
ones to which the server contributed in time.
"""

import random
import re
import statistics
import sysconfig
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from foldline.backends import LocalFileBackend, SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.lsp import Limits, LSPBackend, ServerSpec
from foldline.backends.models import FileOutline
from foldline.backends.outlines.symbols import flatten
from foldline.backends.text import format_outline

PATIENT = Limits(symbols=60.0)
MOST_FILES = 150
MUTATIONS = 4
_SPOTS = re.compile(r"[()\[\]:{}\"']|def |class ")

Definition = tuple[str, int]


@dataclass
class Corpus:
    """Files of one language, and the server that reads them."""

    name: str
    root: Path
    paths: list[str]
    spec: ServerSpec | None

    def open(self, limits: Limits) -> tuple[SmartFileAccess, LSPBackend | None]:
        """An access whose server, if there is one, is up."""
        files = LocalFileBackend(self.root, no_ignore=True)
        server = None
        if self.spec is not None:
            server = LSPBackend(
                files, trusted=True, seconds=60, limits=limits, servers=[self.spec], jedi=False
            )
            server.get_outline(self.paths[0])
        return SmartFileAccess(files, ASTFileAnalysisBackend(files), server), server


@dataclass
class Times:
    """The seconds of each question, by kind."""

    new: list[float] = field(default_factory=list)
    edited: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    answered: int = 0


def main() -> None:
    """Measure, and print the tables."""
    found = list(corpora())
    console = Console(width=120)
    agreement = Table(
        *("corpus", "server", "files", "both", "tree", "server", "kind", "lines"),
        *("added", "text", "believed"),
        title="Agreement",
    )
    for corpus in found:
        compare(corpus, agreement)
    console.print(agreement)
    broken = Table("answer", "found", "with lines", "wrong per 100", title="Broken files, Django")
    break_files(found[0], broken)
    console.print(broken)
    times = Table(
        *("corpus", "server", "new", "edited", "again", "answered"),
        title="Milliseconds, median / 95th percentile",
    )
    for corpus in found:
        if corpus is found[0] or corpus.root != found[0].root:
            add_times(times, replace(corpus, spec=None))
        add_times(times, corpus)
    console.print(times)


def corpora() -> Iterable[Corpus]:
    """The corpora with each of their servers."""
    from tests.backends.corpora import django, node_modules
    from tests.backends.lsp.programs import spec_from_npm, spec_of

    root = django() / "django"
    python = sample(root, "py")
    yield Corpus("Django", root, python, spec_of("ty"))
    yield Corpus("Django", root, python, spec_of("basedpyright"))
    root = node_modules() / "node_modules/rxjs/src"
    script = sample(root, "ts")
    yield Corpus("rxjs", root, script, spec_from_npm("tsgo"))
    yield Corpus("rxjs", root, script, spec_from_npm("typescript-language-server"))
    root = Path(sysconfig.get_paths()["include"])
    yield Corpus("C headers", root, sample(root, "h"), spec_of("clangd"))


def sample(root: Path, extension: str) -> list[str]:
    """Some files below `root`, always the same ones."""
    paths = [
        str(path.relative_to(root))
        for path in sorted(root.rglob(f"*.{extension}"))
        if 1_000 < path.stat().st_size < 200_000 and "locale" not in path.parts
    ]
    return sorted(random.Random(1).sample(paths, min(len(paths), MOST_FILES)))


def definitions(outline: FileOutline) -> dict[Definition, tuple[str, int, int]]:
    return {
        (found.symbol.name, found.symbol.name_line): (
            str(found.symbol.kind),
            found.symbol.line,
            found.symbol.line_end,
        )
        for found in flatten(outline.symbols)
    }


def compare(corpus: Corpus, table: Table) -> None:
    """Add the row of the corpus."""
    access, server = corpus.open(PATIENT)
    trees, _ = replace(corpus, spec=None).open(PATIENT)
    count: Counter[str] = Counter()
    assert server is not None
    assert corpus.spec is not None
    for path in corpus.paths:
        tree_outline, merged_outline = trees.get_outline(path), access.get_outline(path)
        tree, merged = definitions(tree_outline), definitions(merged_outline)
        alone = definitions(server.get_outline(path))
        both = tree.keys() & alone.keys()
        count["both"] += len(both)
        count["tree"] += len(tree.keys() - both)
        count["server"] += len(alone.keys() - both)
        count["kind"] += sum(tree[key][0] == alone[key][0] for key in both)
        count["lines"] += sum(tree[key][1:] == alone[key][1:] for key in both)
        count["added"] += len(merged.keys() - tree.keys())
        count["text"] += len(format_outline(merged_outline).encode())
        count["tree text"] += len(format_outline(tree_outline).encode())
        count["believed"] += "+" in merged_outline.backend
        assert tree.keys() <= merged.keys()
    access.close()
    table.add_row(
        corpus.name,
        corpus.spec.name,
        str(len(corpus.paths)),
        *(str(count[key]) for key in ("both", "tree", "server")),
        *(percent(count[key], count["both"]) for key in ("kind", "lines")),
        str(count["added"]),
        percent(count["text"], count["tree text"]),
        percent(count["believed"], len(corpus.paths)),
    )


def break_files(corpus: Corpus, table: Table) -> None:
    """Add a row for each way to answer about broken files."""
    access, server = corpus.open(PATIENT)
    trees = ASTFileAnalysisBackend(access.file_backend)
    assert server is not None
    chosen = random.Random(2)
    count: Counter[tuple[str, str]] = Counter()
    whole = 0
    for path in chosen.sample(corpus.paths, 40):
        text = access.file_backend.read_source(path).text
        truth = shown(trees.get_outline(path))
        for spot in chosen.choices([match.span() for match in _SPOTS.finditer(text)], k=MUTATIONS):
            blank = " " * len(text[slice(*spot)].rstrip())
            broken = text[: spot[0]] + blank + text[spot[0] + len(blank) :]
            access.file_backend.set_overlay(path, broken)
            whole += len(truth)
            for name, outline in (
                ("tree", trees.get_outline(path)),
                ("server", server.get_outline(path)),
                ("both", access.get_outline(path)),
            ):
                found = shown(outline)
                right = found.keys() & truth.keys()
                count[name, "found"] += len(right)
                count[name, "lines"] += sum(found[key] == truth[key] for key in right)
                count[name, "wrong"] += len(found.keys() - right)
            access.file_backend.remove_overlay(path)
    access.close()
    for name in ("tree", "server", "both"):
        table.add_row(
            name,
            percent(count[name, "found"], whole),
            percent(count[name, "lines"], whole),
            f"{100 * count[name, 'wrong'] / count[name, 'found']:.2f}",
        )


def shown(outline: FileOutline) -> dict[Definition, tuple[int, int]]:
    """The definitions by qualified name, without names in functions."""
    return {
        (found.qualified_name, found.symbol.name_line): (found.symbol.line, found.symbol.line_end)
        for found in flatten(outline.symbols)
        if found.symbol.kind != "variable"
        or not any(parent.kind in {"function", "method"} for parent in found.enclosing)
    }


def add_times(table: Table, corpus: Corpus) -> None:
    """Add the row of the corpus: what a caller waits for outlines."""
    access, _ = corpus.open(Limits())
    times = Times()
    for path in corpus.paths[1:]:
        times.answered += measure(access, path, times.new)
        text = access.file_backend.read_source(path).text
        access.file_backend.set_overlay(path, f"{text}\n")
        times.answered += measure(access, path, times.edited)
        measure(access, path, times.again)
        access.file_backend.remove_overlay(path)
    access.close()
    table.add_row(
        corpus.name,
        corpus.spec.name if corpus.spec else "none",
        *(milliseconds(seconds) for seconds in (times.new, times.edited, times.again)),
        percent(times.answered, len(times.new) + len(times.edited)),
    )


def measure(access: SmartFileAccess, path: str, seconds: list[float]) -> bool:
    """Note the seconds of one outline; returns whether a server had a part in it."""
    started = time.perf_counter()
    outline = access.get_outline(path)
    seconds.append(time.perf_counter() - started)
    return "+" in outline.backend


def milliseconds(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    high = ordered[int(len(ordered) * 0.95)]
    return f"{statistics.median(ordered) * 1000:.1f} / {high * 1000:.1f}"


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


if __name__ == "__main__":
    main()
