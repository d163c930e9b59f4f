"""Random ignore files over random trees: foldline hides what git hides, for the same line."""

import os
import random
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline.backends import IgnoredPathError, LocalFileBackend
from foldline.backends.files.ignore import IgnoreRules

NAMES = (
    *"abd",
    "ab",
    "a.c",
    "b.c",
    "b.py",
    "c d",
    "e ",
    "é",
    "[",
    "#x",
    "!y",
    "d-",
    "^",
    "A",
    "B.PY",
    "x*",
)
PIECES = (
    *"ab*?!/[]\\ .-^cd#", "**/", "/**", "**", "/**/", "*.c", "a/", "d/", "[ab]", "[!a]", "[^b]",
    "[a-c]", "[]a]", "[[:alpha:]]", "[[:punct:]-]", "[[:no:]]", "[a\\]]", "[\\-a]", "[a-\\b]",
    "[c-a]",
    "\\*", "\\ ", "\\!", "\\#", "é", "e ", "\t", "\\", "b.py", "x*", "?.c", "\r", "***",
)  # fmt: skip
WHOLE = (
    "a", "/a", "a/", "*.c", "!a.c", "d/*", "!d/a", "**/b", "a/**", "d/**/b", "?b", "[ab].c", "*",
    "!*/", "/d/b.c", "d/**/", "d**/b.c", "a**", "**/d/**", "\\#x", "\\!y", "e\\ ", "c d",
    "!*", "/*", "D/*", "[A-C]", "*.C", "/B.py",
    "!/a", "d", "[!a]*", "d/*/b", "*/b", "**", "a/**/d/**/b.c", "*d*/*b*", "# a", "", "  ", "d/?",
)  # fmt: skip
GIT = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


class Case:
    """A repository with a random tree, random ignore files, and some files added to its index."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self._random = root, random.Random(seed)
        self._any_case = self._random.random() < 0.3
        version = self._random.choice("2234")
        # As `git init` and `git config` would write it, in a third of the time of a case.
        for folder in ("objects", "refs"):
            (root / ".git" / folder).mkdir(parents=True)
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (root / ".git" / "config").write_text(
            f"[core]\nignorecase = {str(self._any_case).lower()}\n[index]\nversion = {version}\n"
        )
        self.files = self._tree()
        folders = sorted({"", *(path.rpartition("/")[0] for path in self.files)})
        self._ignore_file(root / ".git" / "info" / "exclude", 0.3)
        for folder in folders:
            self._ignore_file(root / folder / ".gitignore", 0.3 if folder else 1)
        tracked = [path for path in self.files if self._random.random() < 0.15]
        if tracked:
            self.git("add", "-f", "--", *(f":(literal){path}" for path in tracked))
        if tracked and version == "3":
            self.git("rm", "-q", "--cached", "--", f":(literal){tracked[0]}")
            self.git("add", "-fN", "--", f":(literal){tracked[0]}")

    def git(self, *arguments: str, given: bytes = b"", codes: tuple[int, ...] = (0,)) -> bytes:
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments],
            input=given, capture_output=True, env=GIT, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode in codes, done.stderr
        return done.stdout

    def entries(self) -> Iterator[tuple[str, bool]]:
        """All files, and all folders above them, with a mark."""
        folders = {
            "/".join(parts[:count])
            for path in self.files
            for parts in [path.split("/")]
            for count in range(1, len(parts))
        }
        yield from ((path, False) for path in self.files)
        yield from ((path, True) for path in sorted(folders))

    def _tree(self) -> list[str]:
        paths: set[str] = set()
        # Of two names that differ in case, git knows one.
        names = self._random.sample(NAMES, len(NAMES))
        names = [*{name.lower(): name for name in names}.values()] if self._any_case else names
        for _ in range(self._random.randint(2, 12)):
            path = "/".join(self._random.choices(names, k=self._random.randint(1, 4)))
            above = [path[:at] for at, letter in enumerate(path) if letter == "/"]
            if not paths.intersection(above) and not any(p.startswith(f"{path}/") for p in paths):
                paths.add(path)
        for path in paths:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text("")
        return sorted(paths)

    def _ignore_file(self, file: Path, chance: float) -> None:
        if self._random.random() < chance:
            lines = [self._line() for _ in range(self._random.randint(1, 6))]
            end = self._random.choice(("\n", "\n", "\r\n", ""))
            mark = self._random.choice(("", "", "", "\ufeff"))
            file.parent.mkdir(exist_ok=True)
            file.write_bytes((mark + "\n".join(lines) + end).encode())

    def _line(self) -> str:
        if self._random.random() < 0.4:
            return self._random.choice(WHOLE)
        line = "".join(self._random.choices(PIECES, k=self._random.randint(1, 5)))
        # A name of the tree in it, so that it matches something.
        name = self._random.choice(self.files).rpartition("/")[2]
        line = line.replace("b", name, 1) if self._random.random() < 0.3 else line
        return "!" * (self._random.random() < 0.2) + line


def compare(root: Path, seed: int) -> None:
    case = Case(root, seed)
    files = LocalFileBackend(root)
    shown = case.git("ls-files", "-co", "--exclude-standard", "-z").decode().split("\0")
    assert sorted(stamp.path for stamp in files.walk()) == sorted(filter(None, shown)), seed
    # Without the index, the last matching line decides, which git names.
    (root / ".git" / "index").unlink(missing_ok=True)
    rules = IgnoreRules(root)
    entries = [*case.entries()]
    given = b"".join(path.encode() + b"\0" for path, _ in entries)
    asked = ("check-ignore", "--no-index", "-v", "-n", "-z", "--stdin")
    # A source, a line, its pattern, and the path, for each.
    patterns = case.git(*asked, given=given, codes=(0, 1)).split(b"\0")[2::4]
    for (path, is_folder), pattern in zip(entries, patterns, strict=True):
        hidden = rules.for_path(path, is_folder=is_folder)
        told = pattern.decode() if not pattern.startswith(b"!") else ""
        assert (hidden.pattern if hidden else "").rstrip("\r ") == told.rstrip(" "), (seed, path)


@pytest.mark.parametrize("seed", range(40))
def test_git_hides_the_same_files_for_the_same_patterns(tmp_path: Path, seed: int) -> None:
    compare(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(40, 1_540, 100))
def test_git_hides_the_same_files_in_thousands_of_trees(tmp_path: Path, first: int) -> None:
    for seed in range(first, first + 100):
        compare(tmp_path / str(seed), seed)


def git(root: Path, *arguments: str) -> None:
    options = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    allowed = ("-c", "protocol.file.allow=always")
    subprocess.run(
        ["git", "-C", str(root), *options, *allowed, *arguments],
        env=GIT, check=True, capture_output=True, timeout=60,
    )  # fmt: skip


def write(root: Path, *paths: str, text: str = "") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def listed(root: Path) -> list[str]:
    return sorted(stamp.path for stamp in LocalFileBackend(root).walk())


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """`build/` and `*.gen` are ignored; `build/a.py` and `sub/x.gen` are tracked all the same."""
    root = tmp_path / "repository"
    write(root, "build/a.py", "sub/x.gen", "sub/b.py")
    write(root, ".gitignore", text="build/\n*.gen\n")
    git(root, "init", "-q")
    git(root, "add", "-f", ".")
    git(root, "commit", "-qm", "first")
    write(root, "build/b.py", "sub/y.gen")
    return root


def test_what_git_tracks_is_read_though_a_pattern_matches_it(repository: Path) -> None:
    assert listed(repository) == [".gitignore", "build/a.py", "sub/b.py", "sub/x.gen"]
    files = LocalFileBackend(repository)
    assert files.read_file("build/a.py") == ""
    with pytest.raises(IgnoredPathError) as caught:
        files.read_file("build/b.py")
    assert (caught.value.pattern, caught.value.source) == ("build/", ".gitignore")
    assert listed(repository / "sub") == ["b.py", "x.gen"]


def test_dot_ignore_hides_what_git_tracks(repository: Path) -> None:
    write(repository, ".ignore", text="sub/x.gen\n")
    assert listed(repository) == [".gitignore", ".ignore", "build/a.py", "sub/b.py"]


def test_what_is_added_to_the_index_shows_at_once(repository: Path) -> None:
    files = LocalFileBackend(repository)
    assert "build/b.py" not in [stamp.path for stamp in files.walk()]
    git(repository, "add", "-f", "build/b.py")
    assert "build/b.py" in [stamp.path for stamp in files.walk()]
    git(repository, "rm", "-q", "--cached", "build/b.py")
    assert "build/b.py" not in [stamp.path for stamp in files.walk()]


def test_an_index_that_says_the_same_anew_lists_no_folder_again(repository: Path) -> None:
    files = LocalFileBackend(repository)
    listing = files.versions.listing(time.monotonic())
    git(repository, "update-index", "--force-write-index")
    assert files.versions.listing(time.monotonic()) is listing


@pytest.mark.parametrize("kind", ["worktree", "submodule", "clone"])
def test_every_kind_of_checkout_has_an_index_of_its_own(
    repository: Path, tmp_path: Path, kind: str
) -> None:
    other = tmp_path / "other"
    if kind == "worktree":
        git(repository, "worktree", "add", "-q", str(other))
    else:
        write(other, ".gitignore", text="*.gen\nbuild/\n")
        git(other, "init", "-q")
        add = ("submodule", "add", "-q", "-f") if kind == "submodule" else ("clone", "-q")
        git(other, *add, str(repository), "build/lib")
        other /= "build/lib"
        # The folder above hides all of what is in a clone in it.
        found = LocalFileBackend(other.parent.parent).is_ignored("build/lib/build/a.py")
        assert found == (kind == "clone")
    assert listed(other) == [".gitignore", "build/a.py", "sub/b.py", "sub/x.gen"]


def test_hashes_may_be_longer(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    write(tmp_path, ".gitignore", text="*.gen\n")
    write(tmp_path, "a.gen", "some/long/path/b.gen")
    git(tmp_path, "add", "-f", ".")
    assert listed(tmp_path) == [".gitignore", "a.gen", "some/long/path/b.gen"]


@pytest.mark.parametrize("what", ["split", "cut", "noise", "version", "out", "huge"])
def test_an_index_that_is_not_read_is_said(repository: Path, tmp_path: Path, what: str) -> None:
    index = repository / ".git" / "index"
    data = index.read_bytes()
    if what == "split":
        git(repository, "update-index", "--split-index")
    elif what == "out":
        index.rename(tmp_path / "moved")
        index.symlink_to(tmp_path / "moved")
    else:
        broken = {
            "cut": data[:150],
            "noise": data[:12] + random.Random(1).randbytes(500),
            "version": data[:4] + b"\0\0\0\x09" + data[8:],
            # Each path would begin with all of the one before.
            "huge": b"DIRC\0\0\0\4\xff\xff\xff\xff" + (bytes(60) + b"\x0f\xff\0a\0") * 9_000,
        }
        index.write_bytes(broken[what])
    tree = LocalFileBackend(repository).get_tree()
    assert tree.reason.startswith("git's index ")
    assert tree.reason.endswith(": what git tracks may be hidden")
    assert tree.files >= 2


def test_hostile_patterns_take_no_time(tmp_path: Path) -> None:
    name = "a" * 250
    deep = "/".join(["a"] * 300)
    write(tmp_path, f"{name}/{name}", f"{deep}/x")
    lines = (
        "*a" * 120 + "*b",
        "**/a" * 300 + "/**/b",
        "/" + "*a*/" * 300 + "b",
        "[!b]*" * 60 + "b",
    )
    write(tmp_path, ".gitignore", text="\n".join(lines))
    assert listed(tmp_path) == sorted([".gitignore", f"{name}/{name}", f"{deep}/x"])


@pytest.mark.parametrize(
    "line",
    [
        "d/**/", "d**/n.py", "**/e/**", "d/e**/", "[z-a].py", "[^d].py", "[!z].py",
        "[[:alpha:]].py", "\\z.py", "[]z].py", "d/*/", "/?.py", "z.py  ", "d[!^]*",
    ],
)  # fmt: skip
def test_stars_and_ranges_mean_what_they_mean_to_git(tmp_path: Path, line: str) -> None:
    write(tmp_path, "d/n.py", "d/e/n.py", "dx/n.py", "dn.py", "z.py", "y/d/e/f/n.py")
    write(tmp_path, ".gitignore", text=f"{line}\n")
    git(tmp_path, "init", "-q")
    shown = subprocess.check_output(
        ["git", "-C", str(tmp_path), "ls-files", "-o", "--exclude-standard"], text=True, env=GIT
    )
    assert listed(tmp_path) == sorted(shown.split())
    assert len(listed(tmp_path)) < 7


def test_a_name_may_share_nothing_with_a_long_one_before(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "index.version", "4")
    names = ("a" * 200 + ".gen", "a" * 200 + "b.gen", "b.gen", "c" * 250 + ".gen", "d.gen")
    write(tmp_path, *names, "e.gen")
    write(tmp_path, ".gitignore", text="*.gen\n")
    git(tmp_path, "add", "-f", *names)
    assert listed(tmp_path) == [".gitignore", *names]


@pytest.mark.parametrize("seed", range(12))
def test_the_line_that_an_ignored_entry_is_told_with_shows_it(tmp_path: Path, seed: int) -> None:
    case = Case(tmp_path, seed)
    for path, is_folder in case.entries():
        shown: set[str] = set()
        while hidden := IgnoreRules(tmp_path).for_path(path, is_folder=is_folder):
            assert hidden.entry not in shown, (path, hidden)
            shown.add(hidden.entry)
            said = re.fullmatch("the line '(.+)' in (.+) shows it", hidden.cure)
            assert said is not None
            file = tmp_path / said[2]
            before = file.read_bytes() if file.exists() else b""
            file.write_bytes(before + f"\n{said[1]}\n".encode())
