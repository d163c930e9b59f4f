"""Questions about TypeScript, Rust and Go sources, written down before any of them was searched.

Each has the files that a person would open first.
"""

from __future__ import annotations

import json
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


OTHERS = [
    Other(row["language"], row["question"], tuple(row["files"]))
    for row in map(json.loads, Path(__file__).with_suffix(".jsonl").read_text().splitlines())
]


def other_sources(language: str) -> Path:
    """The sources that the questions about a language are about, downloaded once."""
    if language == "TypeScript":
        return npm_package("rxjs", RXJS)
    if language == "Rust":
        return sdist("tokenizers", TOKENIZERS)
    return git_tag("https://github.com/spf13/cobra", COBRA)


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


def git_tag(address: str, tag: str) -> Path:
    """The files of a public repository at a tag, fetched once."""
    place = folder() / "git" / f"{address.rpartition('/')[2]}-{tag}"
    with one_at_a_time(place.name), tempfile.TemporaryDirectory() as scratch:
        if not place.is_dir():
            command = ["git", "clone", "--quiet", "--depth=1", f"--branch={tag}", address]
            run([*command, str(Path(scratch) / "clone")])
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(Path(scratch) / "clone", place)
    return place
