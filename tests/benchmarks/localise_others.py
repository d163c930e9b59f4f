"""Questions about TypeScript, Rust and Go sources, written down before any of them was searched.

Each has the files that a person would open first.
"""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.backends.corpora import folder, run, sdist
from tests.locks import one_at_a_time

RXJS = "7.8.1"
TOKENIZERS = "0.13.3"
COBRA = "v1.8.1"


class Other(NamedTuple):
    """A question, and the files that it is about."""

    language: str
    question: str
    files: tuple[str, ...]


OTHERS = (
    Other(
        "TypeScript",
        "debounceTime emits the last value too late when the source completes",
        ("src/internal/operators/debounceTime.ts",),
    ),
    Other(
        "TypeScript",
        "BehaviorSubject getValue throws after an error",
        ("src/internal/BehaviorSubject.ts",),
    ),
    Other(
        "TypeScript",
        "retrying should wait with a delay that grows after every failure",
        ("src/internal/operators/retry.ts",),
    ),
    Other(
        "TypeScript",
        "unsubscribing within a teardown leaks the finalizers of the parent subscription",
        ("src/internal/Subscription.ts",),
    ),
    Other(
        "TypeScript",
        "forkJoin with a dictionary of observables never emits",
        ("src/internal/observable/forkJoin.ts",),
    ),
    Other(
        "TypeScript",
        "requests made by ajax don't report the progress of an upload",
        ("src/internal/ajax/ajax.ts",),
    ),
    Other(
        "TypeScript",
        "a replayed value is older than the window time allows",
        ("src/internal/ReplaySubject.ts",),
    ),
    Other(
        "Rust",
        "BPE merges ignore the dropout probability when the cache is used",
        ("tokenizers-lib/src/models/bpe/model.rs", "tokenizers-lib/src/models/bpe/word.rs"),
    ),
    Other(
        "Rust",
        "truncation with a stride drops the overflowing part of a pair",
        ("tokenizers-lib/src/utils/truncation.rs", "tokenizers-lib/src/tokenizer/encoding.rs"),
    ),
    Other(
        "Rust",
        "the unigram trainer prunes too many pieces in the EM loop",
        ("tokenizers-lib/src/models/unigram/trainer.rs",),
    ),
    Other(
        "Rust",
        "added special tokens are split when they are normalized",
        ("tokenizers-lib/src/tokenizer/added_vocabulary.rs",),
    ),
    Other(
        "Rust",
        "byte level pre-tokenizer adds a space before the first word",
        ("tokenizers-lib/src/pre_tokenizers/byte_level.rs",),
    ),
    Other(
        "Rust",
        "padding to a multiple of eight doesn't work with the longest strategy",
        ("tokenizers-lib/src/utils/padding.rs",),
    ),
    Other(
        "Rust",
        "word piece decoder leaves the prefix ## at the start",
        ("tokenizers-lib/src/decoders/wordpiece.rs",),
    ),
    Other(
        "Go",
        "completion script for zsh doesn't list the descriptions of subcommands",
        ("zsh_completions.go",),
    ),
    Other(
        "Go",
        "a required flag isn't reported when the command has a persistent pre run",
        ("command.go",),
    ),
    Other("Go", "validate that exactly n positional arguments are given", ("args.go",)),
    Other(
        "Go", "flags marked as mutually exclusive may be set together", ("flag_groups.go",)
    ),
    Other(
        "Go",
        "suggestions for a mistyped subcommand depend on the case of letters",
        ("command.go", "cobra.go"),
    ),
    Other("Go", "markdown documentation lists hidden flags", ("doc/md_docs.go",)),
)  # fmt: skip


def other_sources(language: str) -> Path:
    """The sources that the questions about a language are about, downloaded once."""
    if language == "TypeScript":
        return npm_package("rxjs", RXJS)
    if language == "Rust":
        return sdist("tokenizers", TOKENIZERS)
    return _git("https://github.com/spf13/cobra", COBRA)


def npm_package(name: str, version: str) -> Path:
    """The unpacked archive of a package of npm, downloaded once."""
    place = folder() / "npm" / f"{name}-{version}"
    with one_at_a_time(place.name), tempfile.TemporaryDirectory() as scratch:
        if not place.is_dir():
            run(["npm", "pack", "--silent", f"{name}@{version}"], cwd=Path(scratch))
            (archive,) = Path(scratch).glob("*.tgz")
            with tarfile.open(archive) as files:
                files.extractall(scratch, filter="data")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(Path(scratch) / "package", place)
    return place


def _git(address: str, tag: str) -> Path:
    place = folder() / "git" / f"{address.rpartition('/')[2]}-{tag}"
    with one_at_a_time(place.name), tempfile.TemporaryDirectory() as scratch:
        if not place.is_dir():
            command = ["git", "clone", "--quiet", "--depth=1", f"--branch={tag}", address]
            run([*command, str(Path(scratch) / "clone")])
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(Path(scratch) / "clone", place)
    return place
