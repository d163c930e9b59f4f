"""The tree: complete in its counts, whatever the budget shows."""

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import (
    FileTree,
    InvalidArgumentError,
    MemoryFileBackend,
    NoMatchError,
    SmartFileAccess,
    TreeEntry,
)
from foldline.backends.files.listing import FileStamp
from foldline.backends.files.tree import build_tree
from foldline.backends.text import format_size, format_tree

PATHS = ["README.md", "src/a.py", "src/b.py", "src/deep/c.py", "docs/index.md"]


def stamps(paths: list[str]) -> list[FileStamp]:
    return [FileStamp(path, 100, 0) for path in paths]


def test_a_tree_without_budget_shows_everything() -> None:
    assert format_tree(build_tree(".", stamps(PATHS))) == "\n".join(
        [
            "./ 5 files, 500 B",
            "docs/ 1 file, 100 B",
            "  index.md 100 B",
            "src/ 3 files, 300 B",
            "  deep/ 1 file, 100 B",
            "    c.py 100 B",
            "  a.py 100 B",
            "  b.py 100 B",
            "README.md 100 B",
        ]
    )


def test_depth_collapses_and_says_that_there_is_more() -> None:
    tree = build_tree(".", stamps(PATHS), depth=1)
    assert format_tree(tree).splitlines()[1:] == [
        "docs/ 1 file, 100 B …",
        "src/ 3 files, 300 B …",
        "README.md 100 B",
    ]
    assert [entry.collapsed for entry in tree] == [True, True, False]


def test_a_folder_of_the_tree_opens_by_its_path() -> None:
    tree = MemoryFileBackend(dict.fromkeys(PATHS, "x")).get_tree("src/deep")
    assert (tree.path, [entry.path for entry in tree]) == ("src/deep", ["src/deep/c.py"])


def test_a_folder_without_files_says_why() -> None:
    files = MemoryFileBackend({".ignore": "*\n", "a": "x"})
    assert files.get_tree().reason == "all 2 entries are ignored"


NAMES = st.sampled_from(["a", "b.py", "long_name_of_a_file.py", "ü", "x" * 40])


@given(
    paths=st.sets(st.lists(NAMES, min_size=1, max_size=4).map("/".join), min_size=1, max_size=40),
    budget=st.integers(120, 900),
)
def test_a_budget_hides_nothing_silently(paths: set[str], budget: int) -> None:
    files = sorted(p for p in paths if not any(q.startswith(f"{p}/") for q in paths))
    shown: list[TreeEntry] = []
    cursor = None
    while True:
        tree = build_tree(".", stamps(files), budget=budget, cursor=cursor)
        assert tree.files == len(files)
        assert len(format_tree(tree).encode()) <= budget or len(tree.entries) == 1
        shown += tree.entries
        cursor = tree.cursor
        if cursor is None:
            break
    assert sum(entry.files for entry in shown) == len(files)
    check_counts(shown)


@given(
    paths=st.sets(st.lists(NAMES, min_size=1, max_size=4).map("/".join), min_size=1, max_size=90),
    budget=st.integers(600, 2_500),
)
def test_a_budget_is_filled_where_something_is_folded(paths: set[str], budget: int) -> None:
    files = sorted(p for p in paths if not any(q.startswith(f"{p}/") for q in paths))
    tree = build_tree(".", stamps(files), budget=budget)
    assert tree == build_tree(".", reversed(stamps(files)), budget=budget)
    text = format_tree(tree)
    assert len(text.encode()) <= budget
    if len(format_tree(build_tree(".", stamps(files))).encode()) > budget:
        # A folder's first line needs two: its own, and that of the others.
        assert len(text.encode()) >= 0.8 * budget - 100


def test_code_opens_before_tests_and_tests_before_the_rest() -> None:
    folders = (".github", "benchmarks", "changelog", "docs", "pkg", "src", "tests")
    paths = [f"{folder}/{name}_of_it.py" for folder in folders for name in "abcdefgh"]

    def opened(budget: int) -> set[str]:
        tree = build_tree(".", stamps(paths), budget=budget)
        return {entry.name for entry in tree if not entry.collapsed}

    assert opened(360) == {"pkg"}
    assert opened(520) == {"pkg", "src"}
    assert opened(680) == {"pkg", "src", "tests"}
    assert opened(800) == {"pkg", "src", "tests", ".github"}


def test_siblings_of_one_pattern_are_one_line() -> None:
    paths = [f"changelog/0.{n}.1_2025-09-2{n % 10}/pull-{n}" for n in range(41)]
    paths += [f"app/migrations/{n:04}_{'ab'[n % 2]}.py" for n in range(20)]
    paths += ["app/models.py", *(f"app/{name}.{kind}" for name in "pq" for kind in ("md", "json"))]
    text = format_tree(build_tree(".", stamps(paths), budget=400))
    assert text.splitlines() == [
        "./ 66 files, 6.6 KB",
        "app/ 25 files, 2.5 KB",
        "  migrations/ 20 files, 2.0 KB",
        "    20 files like 0000_a.py 2.0 KB",
        "  models.py 100 B",
        "  p.json and 3 more 400 B",
        "changelog/ 41 files, 4.1 KB",
        "  41 folders like 0.0.1_2025-09-20/ 41 files, 4.1 KB …",
    ]
    # A folder that is asked for has all of its names.
    assert len(build_tree("changelog", stamps(paths[:41]), budget=900).entries) > 10
    assert "like" not in format_tree(build_tree(".", stamps(paths)))


def test_a_large_folder_opens_in_part() -> None:
    paths = [f"src/{a}{b}.py" for a in "abcdefgh" for b in "abcdefgh"]
    tree = build_tree(".", stamps(paths), budget=300)
    text = format_tree(tree)
    assert text.splitlines()[:3] == [
        "./ 64 files, 6.4 KB",
        "src/ 64 files, 6.4 KB",
        "  aa.py 100 B",
    ]
    assert text.splitlines()[-1] == "  … 48 more files 4.8 KB"
    check_counts([*tree])


def test_a_query_shows_the_best_ten_files_and_no_other() -> None:
    paths = [f"{folder}/{name}.py" for folder in ("a", "b/c", "d") for name in "mnopqrst"]
    best = ["b/c/n.py", "a/m.py", *(f"d/{name}.py" for name in "mnopqrst"), "a/n.py"]
    tree = build_tree(".", stamps(paths), ranked=best, budget=2_500)
    assert format_tree(tree).splitlines() == [
        "./ 24 files, 2.4 KB",
        "a/ 8 files, 800 B …",
        "  m.py 100 B #2",
        "b/c/ 8 files, 800 B …",
        "  n.py 100 B #1",
        "d/ 8 files, 800 B …",
        *(f"  {name}.py 100 B #{rank}" for rank, name in enumerate("mnopqrst", 3)),
        "(the best 10 of 24 files; without a query, the tree has all)",
    ]


def test_a_chain_of_folders_is_one_line() -> None:
    main, test = "src/main/java/com/shop", "src/test/java/com/shop"
    paths = [f"{main}/Cart.java", f"{main}/Order.java", f"{test}/CartTest.java"]
    tree = build_tree(".", stamps([*paths, "a/b/c.py"]), budget=2_500)
    assert format_tree(tree).splitlines() == [
        "./ 4 files, 400 B",
        "a/b/ 1 file, 100 B",
        "  c.py 100 B",
        "src/ 3 files, 300 B",
        "  main/java/com/shop/ 2 files, 200 B",
        "    Cart.java 100 B",
        "    Order.java 100 B",
        "  test/java/com/shop/ 1 file, 100 B",
        "    CartTest.java 100 B",
    ]
    asked = build_tree(".", stamps(paths), ranked=paths[:1], budget=2_500)
    assert format_tree(asked).splitlines()[1:3] == [
        "src/main/java/com/shop/ 2 files, 200 B …",
        "  Cart.java 100 B #1",
    ]


def test_the_files_of_a_glob_have_their_sizes_and_lines(tmp_path: Path) -> None:
    for path in ("db/a.sql", "db/old/b.sql", "db/c.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("select 1;\n" * 3)
    with closing(SmartFileAccess.for_workspace(tmp_path)) as access:
        assert format_tree(access.get_tree(glob="**/*.{sql,ddl}", budget=500)).splitlines() == [
            "./ 2 files, 60 B",
            "db/ 2 files, 60 B",
            "  old/ 1 file, 30 B",
            "    b.sql 30 B, 3 lines",
            "  a.sql 30 B, 3 lines",
        ]
        assert access.get_tree("db/old", glob="*.sql").files == 1
        with pytest.raises(NoMatchError, match=r"db/ has \.sql \(2\), \.py \(1\)"):
            access.get_tree(glob="db/**/*.ts")


def check_counts(entries: list[TreeEntry]) -> None:
    for entry in entries:
        if entry.folder and not entry.collapsed:
            assert entry.files == sum(child.files for child in entry.children)
            assert entry.size == sum(child.size for child in entry.children)
        check_counts(list(entry.children))


def test_a_hundred_thousand_files_fit_a_budget() -> None:
    many = [f"d{n % 100}/e{n % 1000}/f{n}.py" for n in range(100_000)]
    tree: FileTree = build_tree(".", stamps(many), budget=4000)
    assert tree.files == 100_000
    text = format_tree(tree)
    assert len(text.encode()) <= 4000
    assert len(tree) == 100


def test_a_folder_of_many_files_is_paged() -> None:
    tree = build_tree(".", stamps([f"f{n:05}.py" for n in range(5000)]), budget=1000)
    assert tree.cursor is not None
    assert format_tree(tree).endswith(f"more entries: ask with cursor {tree.cursor}")


def test_a_deep_tree_is_no_crash() -> None:
    tree = build_tree(".", stamps(["/".join(["d"] * 3000) + "/a.py"]))
    assert format_tree(tree).endswith("a.py 100 B")


@pytest.mark.parametrize(
    ("cursor", "budget"), [("refs@1", 100), ("tree@x", 100), (None, 0), ("tree@-1", 5)]
)
def test_a_foreign_cursor_or_an_empty_budget_is_refused(cursor: str | None, budget: int) -> None:
    with pytest.raises(InvalidArgumentError):
        build_tree(".", stamps(PATHS), budget=budget, cursor=cursor)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (23_400, "23 KB"), (5 * 10**9, "5.0 GB")],
)
def test_sizes_fit_a_glance(size: int, text: str) -> None:
    assert format_size(size) == text
