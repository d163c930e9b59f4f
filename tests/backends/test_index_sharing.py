"""Worktrees and clones share an index file: what one has read costs the others a look, no more."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.repositories import git

from foldline.backends import LocalFileBackend, SmartFileAccess, WorkspaceIndex
from foldline.backends.files import local
from foldline.backends.index import builder, database
from foldline.backends.index.database import SCHEMA_VERSION
from foldline.backends.index.family import family_of, index_location
from foldline.backends.index.postings import LiveIndex
from foldline.backends.index.segments import Building, Part
from foldline.backends.index.sharing import index_status, prune_index
from foldline.backends.index.store import Store
from foldline.backends.index.terms import terms_of
from foldline.backends.index.words import Words, content_key, definitions, words_of

from .test_index import rows


def repository(root: Path, origin: str = "") -> Path:
    """What git writes, as far as it's read."""
    (root / ".git").mkdir(parents=True)
    remote = f'[remote "origin"]\n\turl = {origin}\n' if origin else ""
    (root / ".git" / "config").write_text(f"[core]\n\tbare = false\n{remote}[branch]\n")
    return root


@contextmanager
def index_of(root: Path) -> Iterator[WorkspaceIndex]:
    with closing(WorkspaceIndex(LocalFileBackend(root), patience=None)) as index:
        yield index
        assert not index.trouble


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose words are found, as they are; times tell of every change."""
    found: list[str] = []

    def counted(path: str, data: bytes) -> Words:
        found.append(path)
        return words_of(path, data)

    monkeypatch.setattr(builder, "words_of", counted)
    for module in (local, builder):
        monkeypatch.setattr(module, "is_racy", lambda *_: False)
    return found


# Which workspaces are of one family


@pytest.mark.real
def test_a_worktree_and_its_repository_share_a_file(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q", "-b", "main")
    git(main, "commit", "-qm", "one", "--allow-empty")
    git(main, "worktree", "add", "-q", "../other")
    (tmp_path / "other" / "deep").mkdir()
    git(tmp_path, "clone", "-q", "main", "clone")
    of_main = family_of(main)
    assert family_of(tmp_path / "other") == family_of(tmp_path / "other" / "deep") == of_main
    assert family_of(tmp_path / "clone") == of_main
    # A copy isn't known to the repository.
    shutil.copytree(tmp_path / "other", tmp_path / "copy")
    assert family_of(tmp_path / "copy") == str(tmp_path / "copy")


@pytest.mark.parametrize(
    "origin",
    [
        "https://host.example/team/app.git",
        "https://user:secret@HOST.example/team/app",
        "ssh://git@host.example:2222/team/app.git/",
        "git@host.example:team/app.git",
    ],
)
def test_clones_of_one_origin_share_a_file_however_it_is_reached(
    tmp_path: Path, origin: str
) -> None:
    assert family_of(repository(tmp_path / "a", origin)) == "host.example/team/app"


@pytest.mark.parametrize("origin", ["//host/share/app", "\\\\host\\share", "x" * 3_000, ""])
def test_an_origin_that_is_no_good_is_as_none(tmp_path: Path, origin: str) -> None:
    root = repository(tmp_path / "a", origin)
    assert family_of(root) == str(root / ".git")


HOSTILE_LINKS: dict[str, Callable[[Path, Path], object]] = {
    "of somebody else": lambda link, other: link.write_text(f"gitdir: {other / '.git'}\n"),
    "of somebody else's worktree": lambda link, other: link.write_text(
        f"gitdir: {other / '.git' / 'worktrees' / 'w'}\n"
    ),
    "to a share": lambda link, _: link.write_text("gitdir: //host/share/.git\n"),
    "to nowhere": lambda link, _: link.write_text("gitdir: /nowhere\n"),
    "of two lines": lambda link, other: link.write_text(f"gitdir: {other}\n\n\ngitdir: {other}"),
    "huge": lambda link, _: link.write_text("gitdir: " + "x" * 100_000),
    "bytes": lambda link, _: link.write_bytes(b"gitdir: \xff\0\n"),
    "a pipe": lambda link, _: os.mkfifo(link),
    "a symbolic link": lambda link, other: link.symlink_to(other / ".git" / "worktrees"),
}


@pytest.mark.parametrize("kind", HOSTILE_LINKS)
def test_a_git_file_can_claim_no_folder_that_does_not_know_it(tmp_path: Path, kind: str) -> None:
    other = repository(tmp_path / "other", "https://host.example/private/app")
    worktree = other / ".git" / "worktrees" / "w"
    worktree.mkdir(parents=True)
    (worktree / "gitdir").write_text(f"{tmp_path / 'real' / '.git'}\n")
    (worktree / "commondir").write_text("../..\n")
    root = tmp_path / "hostile"
    root.mkdir()
    HOSTILE_LINKS[kind](root / ".git", other)
    assert family_of(root) == str(root)


def test_a_configuration_that_leads_out_is_not_read(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", "https://host.example/private/app")
    root = repository(tmp_path / "a")
    (root / ".git" / "config").unlink()
    (root / ".git" / "config").symlink_to(other / ".git" / "config")
    assert family_of(root) == str(root)


# What they share


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


ORIGIN = "https://host.example/team/app"


def modules(root: Path, count: int = 30) -> Path:
    return write(
        repository(root, ORIGIN), {f"m{n}.py": f"def f{n}(): word\n" for n in range(count)}
    )


def test_a_second_clone_splits_only_what_differs(tmp_path: Path, split: list[str]) -> None:
    first, second = modules(tmp_path / "a"), modules(tmp_path / "b")
    (second / "m7.py").write_text("def other(): word\n")
    (second / "m8.py").rename(second / "moved.py")
    assert index_location(first) == index_location(second)
    with index_of(first) as index:
        index.refresh()
        assert len(split) == 30
        split.clear()
        with index_of(second) as other:
            assert other.files_with("f8").paths == ("moved.py",)
            assert other.files_with("f7").paths == ()
            assert split == ["m7.py"]
        assert index.files_with("f7").paths == ("m7.py",)
        assert index.files_with("other").paths == ()


def test_to_and_fro_between_branches_splits_each_content_once(
    tmp_path: Path, split: list[str]
) -> None:
    root = modules(tmp_path / "a")
    branches = {
        "main": {f"m{n}.py": f"def f{n}(): word\n" for n in range(4)},
        "topic": {f"m{n}.py": f"def g{n}(): word\n" for n in range(4)},
    }
    with index_of(root) as index:
        index.refresh()
        split.clear()
        for branch, names in (("topic", 4), ("main", 0), ("topic", 0)):
            write(root, branches[branch])
            known = branch == "topic"
            assert len(index.files_with("g1").paths) == known
            assert len(index.files_with("f1").paths) != known
            assert len(split) == names
            split.clear()


def test_what_several_files_have_is_kept_once_and_ranked_as_always(
    tmp_path: Path, split: list[str]
) -> None:
    texts = {f"p{n}/__init__.py": "def same(): thing\n" for n in range(5)} | {"a.py": "thing\n"}
    root = write(tmp_path / "a", texts)
    with index_of(root) as index:
        terms = ["thing", "same", "=same"]
        corpus, postings, _ = index.look_up(terms)
        data = {path: text.encode() for path, text in texts.items()}
        assert rows(corpus, postings) == rows(*LiveIndex(data).look_up(terms)[:2])
        assert len(split) == 2
        assert len(index.files_with("same").paths) == 5
        (root / "p0" / "__init__.py").unlink()
        assert len(index.files_with("same", defined=True).paths) == 4
        assert [*index.last_defined()] == ["same"]


def test_the_same_bytes_are_other_words_in_code_and_in_text(tmp_path: Path) -> None:
    text = "same = same\n"
    root = write(tmp_path / "a", {"a.py": text, "a.txt": text, "a.go": text, "script": text})
    with index_of(root) as index:
        names = rows(*index.look_up(["=same"])[:2])
        assert names == {("=same", "a.py", 0, 1)}
        assert index.texts_with("same").paths == ("a.txt", "script")
    keys = {content_key(path, text.encode()) for path in ("a.py", "b.py", "a.txt", "a.go")}
    assert len(keys) == 3


def test_a_repository_that_claims_an_origin_learns_nothing_and_changes_nothing(
    tmp_path: Path,
) -> None:
    private = modules(tmp_path / "private")
    (private / "secret.py").write_text("def secret_name(): hidden_word\n")
    with index_of(private) as index:
        index.refresh()
        before = index.files_with("word").paths
        root = write(repository(tmp_path / "hostile", ORIGIN), {"a.py": "xyz\n"})
        with index_of(root) as hostile:
            assert hostile.location == index.location
            # Until the words of both are in one segment.
            for number in range(12):
                write(root, {"b.py": f"v{number}\n"})
                hostile.refresh()
            assert hostile.files_with("hidden_word").paths == ()
            assert [*hostile.last_defined()] == []
            assert hostile.look_up(["hidden", "=secret_name"])[1] == {}
            assert "".join(hostile.vocabulary(["secret", "hid", "xy"])) == "xyz"
            assert hostile.files_without(["nothing"]) <= {"a.py", "b.py"}
        assert index.files_with("word").paths == before


def test_names_like_those_of_another_clone_are_not_suggested(tmp_path: Path) -> None:
    with index_of(write(repository(tmp_path / "a", ORIGIN), {"a.py": "handlers = 1\n"})) as index:
        index.refresh()
        root = write(repository(tmp_path / "b", ORIGIN), {"b.py": "rehandlered = 1\n"})
        with closing(SmartFileAccess.for_workspace(root, patience=None)) as access:
            assert [hit.path for hit in access.search_files("handler")] == ["b.py"]


# What is forgotten


def test_merges_keep_what_another_workspace_has(tmp_path: Path, split: list[str]) -> None:
    with index_of(modules(tmp_path / "a")) as first, index_of(modules(tmp_path / "b")) as second:
        second.refresh()
        for number in range(25):
            write(tmp_path / "a", {"m1.py": f"def changed{number}(): ...\n"})
            first.refresh()
        assert cast("int", index_status(first)["segments"]) <= 10
        assert second.files_with("f1").paths == ("m1.py",)
        assert first.files_with("changed24").paths == ("m1.py",)
        assert first.files_with("f1").paths == second.files_with("changed24").paths == ()


def test_what_nothing_has_is_kept_for_some_days(
    tmp_path: Path, split: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, day = modules(tmp_path / "a"), database.today()
    with index_of(root) as index:
        index.refresh()
        for later, contents in ((1, 31), (2, 32), (14, 33), (30, 31)):
            # The sweep comes before what is new, and a day without a change isn't known.
            monkeypatch.setattr(database, "today", lambda later=later: day + later)
            monkeypatch.setattr("foldline.backends.index.store.today", database.today)
            write(root, {"m1.py": f"def changed{later}(): ...\n"})
            index.refresh()
            assert index_status(index)["contents"] == contents


def test_pruning_forgets_workspaces_that_are_gone_and_what_only_they_had(
    tmp_path: Path, split: list[str]
) -> None:
    first, second = modules(tmp_path / "a"), modules(tmp_path / "b", 40)
    old = index_location(first).with_name("old.sqlite3")
    with index_of(second) as other:
        other.refresh()
    with index_of(first) as index:
        index.refresh()
        shutil.rmtree(second)
        old.write_bytes(b"of an earlier version")
        os.utime(old, (0, 0))
        freed = prune_index(index, imported=False)
        assert (freed["files"], old.exists()) == (1, False)
        status = index_status(index)
        assert (status["workspaces"], status["contents"], status["files"]) == (1, 30, 30)
        split.clear()
        assert index.files_with("f29").paths == ("m29.py",)
        assert split == []


def test_words_that_another_process_forgot_meanwhile_are_found_again(
    tmp_path: Path, split: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = modules(tmp_path / "a"), modules(tmp_path / "b")
    with index_of(first) as index:
        index.refresh()
    shutil.rmtree(first)
    forgotten: list[object] = []
    has = Store.has

    def forgets(store: Store, content: bytes) -> bool:
        known = has(store, content)
        if known and not forgotten:
            with closing(Store(index_location(second))) as another:
                forgotten.append(another.change(lambda run: database.sweep(run, at_once=True)))
        return known

    monkeypatch.setattr(Store, "has", forgets)
    with index_of(second) as index:
        assert len(index.files_with("word").paths) == 30
    assert forgotten


def test_words_that_another_process_forgets_between_two_questions_are_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "is_racy", lambda *_: False)
    root = modules(tmp_path / "a")
    with index_of(root) as index:
        # After the second, it is known that the index has all.
        for _ in range(2):
            assert len(index.files_with("word").paths) == 30
            index.refresh()
        with closing(Store(index_location(root))) as another:
            another.change(lambda run: run.execute("UPDATE contents SET artefact = 1"))
            assert another.change(database.forget_imported) == 30
        assert len(index.files_with("word").paths) == 30


def test_indexes_in_one_process_share_their_segments(tmp_path: Path) -> None:
    with index_of(modules(tmp_path / "a")) as one, index_of(modules(tmp_path / "b")) as two:
        assert one.files_with("word").paths == two.files_with("word").paths
        assert (
            one._freshness.opened()._segments._decoded is two._freshness.opened()._segments._decoded
        )
        (first,) = one._freshness.opened()._segments._decoded.segments.values()
        assert len(first.lengths) == 30


RACE = """
import sys
from foldline.backends import LocalFileBackend, WorkspaceIndex
index = WorkspaceIndex(LocalFileBackend(sys.argv[1]), patience=None)
found = len(index.files_with("word").paths)
sys.stdin.read()
for _ in range(3):
    found = len(index.files_with("word").paths)
print(found, index.trouble)
index.close()
"""


@pytest.mark.real
def test_worktrees_that_are_indexed_at_once_write_each_content_once(tmp_path: Path) -> None:
    roots = [modules(tmp_path / f"w{n}", 300) for n in range(4)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for root in roots
    ]
    assert [one.communicate("", timeout=120)[0].strip() for one in running] == ["300"] * 4
    with closing(sqlite3.connect(index_location(roots[0]))) as connection:
        count = "SELECT count(*), sum(length(lengths)) / 4 FROM segments"
        segments, slots = connection.execute(count).fetchone()
        assert (slots, connection.execute("SELECT count(*) FROM contents").fetchone()[0]) == (
            300,
            300,
        )
        assert segments <= 4


def test_other_words_need_another_version() -> None:
    """Contents of one key have one meaning: raise SCHEMA_VERSION, and mend this, if it changes."""
    text = "async def größe(x): UserLogins = HTTPServer2\n\nfunc (s *T) run() {\nconst a_b = 1\n"
    found = [
        (sorted(words.used.items()), sorted(words.defined.items()))
        for path in ("a.py", "a.go", "a.txt")
        for words in [words_of(path, text.encode())]
    ]
    imported = definitions("a.ts", b"import {\n  type Rule,\n} from 'x'\ntype Mine = Rule\n")
    assert imported == [b"Mine"]
    named = [
        definitions("a.rb", b"def a\nclass B\nattr_reader :c, :d\n"),
        terms_of("UserLogins"),
        terms_of("stopped"),
    ]
    named.append(definitions("a.cpp", b"int S::go(int a) {\nS S::operator+(S a) {\n"))
    named.append(definitions("a.rs", b"pub use a::{b as c};\nuse a::d as e;\n"))
    digest = hashlib.blake2b(repr((found, named)).encode(), digest_size=8).hexdigest()
    assert {SCHEMA_VERSION: digest} == {10: "1c716bd8debe85ac"}


def test_a_part_that_is_known_already_is_not_written_again() -> None:
    with closing(Store(None)) as store:
        building = Building()
        building.add(words_of("a.py", b"word"))
        part = Part(False, [content_key("a.py", b"word")], building.segment())
        assert store.update((), (), part)
        assert store.update((), (), part)
        count = "SELECT count(*) FROM segments"
        assert store.look(lambda run: run.execute(count).fetchone()) == (1,)


# Whatever happens to two worktrees


class Checkouts(RuleBasedStateMachine):
    """Two worktrees are edited and checked out: each answers as a fresh index of it does."""

    which = st.sampled_from([0, 1])
    names = st.sampled_from(["a.py", "b.py", "d/a.py", "e.txt"])
    words = st.sampled_from(["one", "two", "three"])

    @initialize()
    def start(self) -> None:
        self.folder = TemporaryDirectory()
        place = Path(self.folder.name)
        self.roots = [repository(place / name, ORIGIN) for name in ("a", "b")]
        self.branches = [{"a.py": "one"}, {"a.py": "two", "b.py": "one", "e.txt": "three"}]
        self.indexes = [self.open(root, place / "kept") for root in self.roots]

    def open(self, root: Path, location: Path) -> WorkspaceIndex:
        return WorkspaceIndex(LocalFileBackend(root), location, patience=None)

    def text(self, word: str) -> str:
        return f"def f_{word}(): {word}\n"

    @rule(which=which, name=names, word=words)
    def edit(self, which: int, name: str, word: str) -> None:
        write(self.roots[which], {name: self.text(word)})

    @rule(which=which, name=names)
    def delete(self, which: int, name: str) -> None:
        (self.roots[which] / name).unlink(missing_ok=True)

    @rule(which=which, branch=st.sampled_from([0, 1]))
    def checkout(self, which: int, branch: int) -> None:
        for name in ("a.py", "b.py", "d/a.py", "e.txt"):
            self.delete(which, name)
        texts = {name: self.text(word) for name, word in self.branches[branch].items()}
        write(self.roots[which], texts)

    @rule(which=which, branch=st.sampled_from([0, 1]))
    def commit(self, which: int, branch: int) -> None:
        found = [path for path in self.roots[which].rglob("*.*") if path.is_file()]
        self.branches[branch] = {
            path.relative_to(self.roots[which]).as_posix(): path.read_text().split()[-1]
            for path in found
            if ".git" not in path.parts
        }

    @rule(which=which)
    def prune(self, which: int) -> None:
        self.indexes[which].upkeep(
            lambda store: store.change(lambda run: database.sweep(run, at_once=True))
        )

    @rule(which=which)
    def restart(self, which: int) -> None:
        self.indexes[which].close()
        self.indexes[which] = self.open(self.roots[which], Path(self.folder.name) / "kept")

    @invariant()
    def answers_are_those_of_a_fresh_index(self) -> None:
        if not hasattr(self, "indexes"):
            return
        terms = ["one", "two", "three", "=f_one", "=f_two"]
        for root, index in zip(self.roots, self.indexes, strict=True):
            with closing(self.open(root, Path(os.devnull) / "none")) as fresh:
                for word in ("one", "two", "three"):
                    assert index.files_with(word).paths == fresh.files_with(word).paths
                    assert index.texts_with(word).paths == fresh.texts_with(word).paths
                found, expected = (
                    (rows(corpus, postings), sorted(corpus.paths))
                    for corpus, postings, _ in (index.look_up(terms), fresh.look_up(terms))
                )
                assert found == expected
                assert {*index.last_defined()} == {*fresh.last_defined()}
                assert not index.trouble

    def teardown(self) -> None:
        for index in getattr(self, "indexes", ()):
            index.close()
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestCheckouts = Checkouts.TestCase
TestCheckouts.settings = settings.get_profile("costly")
TestCheckouts = pytest.mark.slow(TestCheckouts)
