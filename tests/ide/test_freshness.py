"""Answers are of now: after edits, renames, deletions and checkouts, here and in a new process."""

import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pathspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.repositories import git

from foldline.backends import LocalFileBackend, SmartFileAccess, WorkspaceIndex
from foldline.backends.base.waiting import run
from foldline.backends.engine import Confirmation, Engine, EngineQuery
from foldline.backends.formatting.parts import plain
from foldline.backends.outlines.locations import Position
from foldline.ide.errors import REFUSALS
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.pages import ask
from foldline.ide.operations.reading import read_arguments

BY_VERB = {operation.verb: operation for operation in OPERATIONS}
# What is asked about a name, about a file, and about a name in a file.
OF_NAMES = {"refs": "name", "search": "query", "grep": "pattern", "context": "query"}
OF_FILES = ("outline", "read", "lines")
OF_BOTH = ("symbol", "definition", "implementations", "calls", "hover")
NAMES = ("PathSpec", "match_file", "Pattern", "RegexPattern", "lookup_pattern", "inner", "fresh")
COMMITS = 4
# What a line becomes; with None, five are deleted, and with "all", every one.
TEXTS = st.sampled_from(["", "fresh()", "def inner(): ...", None, "all"])


@cache
def history() -> TemporaryDirectory[str]:
    """A repository of a package's files: a few, all, then some moved, then some edited."""
    folder = TemporaryDirectory()
    root = Path(folder.name)
    package = root / "pathspec"
    source = Path(pathspec.__file__).parent
    git(root, "init", "-q", "-b", "main")
    for number in range(COMMITS):
        if number == 0:
            package.mkdir()
            shutil.copy(source / "pattern.py", package)
            (root / "notes.md").write_text("# PathSpec\n\nmatch_file\n")
            (package / "__init__.py").write_text("")
        elif number == 1:
            shutil.copy(source / "pathspec.py", package)
            shutil.copy(source / "util.py", package)
        elif number == 2:
            (package / "pathspec.py").rename(package / "moved.py")
            (package / "util.py").rename(root / "util.py")
            (root / "run.zig").write_text("\nmatch_file\n")
        else:
            text = (package / "moved.py").read_text()
            (package / "moved.py").write_text("import os\n" + text.replace("match_file", "fresh"))
            (package / "pattern.py").unlink()
        git(root, "add", ".")
        git(root, "commit", "-qm", str(number))
        git(root, "branch", f"b{number}")
    return folder


class Confirming(Engine, EngineQuery):
    """Confirms nothing, and is asked early about what the index knows, as language servers are."""

    name = "engine"
    needs_targets = True

    def __init__(self, files: LocalFileBackend) -> None:
        self._files = files

    def begin(self, name: str, scope: str | None, since: float) -> EngineQuery:
        return self

    def prefetch(self, targets: Sequence[Position]) -> None:
        assert targets

    async def seen(self, seconds: float) -> object:
        return self._files.versions.on_disk(time.monotonic())

    async def confirm(
        self, targets: Sequence[Position], candidates: Sequence[str], seconds: float
    ) -> Confirmation:
        return Confirmation((), "engine")


def answer(access: SmartFileAccess, verb: str, **values: object) -> str:
    operation = BY_VERB[verb]
    arguments = read_arguments(operation.arguments, values)
    try:
        _, lines = run(ask(operation, access, arguments))
    except REFUSALS as error:
        return f"{type(error).__name__}: {error}"
    return plain(lines)


class Changes(RuleBasedStateMachine):
    """Whatever happens to the files, answers are those of a first process with an empty index."""

    numbers = st.integers(0, 1_000)

    @initialize()
    def start(self) -> None:
        self.folder = TemporaryDirectory()
        self.root = Path(self.folder.name) / "root"
        subprocess.run(["git", "clone", "-q", history().name, str(self.root)], check=True)
        self.indexes = count()
        self.accesses = [self.open("kept"), self.open("kept")]
        self.paths: list[str] = []

    def open(self, index: str) -> SmartFileAccess:
        files = LocalFileBackend(self.root)
        location = Path(self.folder.name) / index
        index_of_files = WorkspaceIndex(files, location, patience=None)
        return SmartFileAccess(files, None, Confirming(files), index=index_of_files)

    def file(self, number: int) -> Path:
        """One of the files that there are."""
        found = sorted(path for path in self.root.rglob("*") if path.is_file())
        found = [path for path in found if ".git/" not in str(path)]
        file = found[number % len(found)] if found else self.root / "none.py"
        self.paths.append(file.relative_to(self.root).as_posix())
        return file

    @rule(number=numbers, line=numbers, text=TEXTS)
    def edit(self, number: int, line: int, text: str | None) -> None:
        file = self.file(number)
        with suppress(OSError):
            lines = file.read_text().split("\n")
            at = line % len(lines)
            lines[at : at + (text is None) * 5] = [] if text is None else [text]
            file.write_text("\n".join(lines) if text != "all" else "")

    @rule(number=numbers, name=st.sampled_from(["a.py", "z.py", "b.zig", "a/b.py"]))
    def move(self, number: int, name: str) -> None:
        with suppress(OSError):
            (self.root / name).parent.mkdir(exist_ok=True)
            self.file(number).rename(self.root / name)

    @rule(number=numbers, way=st.sampled_from(["nothing", "folder", "link", "dangling", "outside"]))
    def remove(self, number: int, way: str) -> None:
        file = self.file(number)
        with suppress(OSError):
            text = file.read_text()
            file.unlink()
            if way == "folder":
                file.mkdir()
                (file / "inner.py").write_text(text)
            elif way == "outside":
                (self.root.parent / "outside.py").write_text(text)
                file.symlink_to(self.root.parent / "outside.py")
            elif way != "nothing":
                file.symlink_to(self.file(number) if way == "link" else "nowhere.py")

    @rule(number=st.integers(0, COMMITS - 1), clean=st.booleans())
    def checkout(self, number: int, clean: bool) -> None:
        git(self.root, "checkout", "-qf", f"origin/b{number}")
        if clean:
            git(self.root, "clean", "-qfdx")

    @rule(which=st.sampled_from([0, 1]))
    def restart(self, which: int) -> None:
        self.accesses[which].close()
        self.accesses[which] = self.open("kept")

    @rule(
        which=st.sampled_from([0, 1]),
        verb=st.sampled_from([*OF_NAMES, *OF_FILES, *OF_BOTH, "tree"]),
        name=st.sampled_from(NAMES),
        number=numbers,
    )
    def question(self, which: int, verb: str, name: str, number: int) -> None:
        known = self.paths[-1] if self.paths and number % 4 == 0 else None
        path = known or self.file(number).relative_to(self.root).as_posix()
        values: dict[str, object] = {}
        if verb in OF_NAMES:
            values = {OF_NAMES[verb]: name}
        elif verb != "tree":
            values = {"path": path} if verb in OF_FILES else {"path": path, "name": name}
        self.check(which, [(verb, values)])

    @invariant()
    def references_are_of_now(self) -> None:
        if hasattr(self, "indexes"):
            self.check(0, [("refs", {"name": name, "budget": None}) for name in NAMES])

    def check(self, which: int, questions: Sequence[tuple[str, Mapping[str, object]]]) -> None:
        """The answers are those of an empty index, and lines are those of their files."""
        first = self.open(f"new{next(self.indexes)}")
        try:
            for verb, values in questions:
                found = answer(self.accesses[which], verb, **values)
                assert found == answer(first, verb, **values), (verb, values)
                if verb == "refs":
                    self.are_on_disk(found)
        finally:
            first.close()

    def are_on_disk(self, text: str) -> None:
        path = ""
        for line in text.split("\n"):
            shown = re.match(r"  (\d+) [^:]*: (.*)", line)
            if shown is None:
                path = line
                continue
            lines = (self.root / path).read_text().split("\n")
            assert lines[int(shown[1]) - 1].strip().startswith(shown[2].rstrip("…"))

    @rule(number=numbers, line=numbers, text=TEXTS)
    def pages(self, number: int, line: int, text: str | None) -> None:
        """A page that follows a change skips and repeats no line, or says that it may."""
        file = self.file(number)
        path = file.relative_to(self.root).as_posix()
        try:
            page = self.accesses[0].read_text(path, budget=300)
            before = self.accesses[0].file_backend.read_source(path).lines
            if page.cursor is None or page.cut:
                return
            self.edit(number, line, text)
            following = self.accesses[1].read_text(path, budget=300, cursor=page.cursor)
            now = self.accesses[1].file_backend.read_source(path).lines
        except REFUSALS:
            return
        if "missing here or repeated" not in following.note:
            assert not text or following.text.startswith(before[page.end])
        if "changed" not in following.note:
            assert now[: page.end] == before[: page.end]

    def teardown(self) -> None:
        if hasattr(self, "accesses"):
            for access in self.accesses:
                access.close()
            self.folder.cleanup()


TestChanges = Changes.TestCase
TestChanges.settings = settings(settings.get_profile("costly"), stateful_step_count=14)
TestChanges = pytest.mark.slow(TestChanges)
