"""The tree: complete in its counts, whatever the budget shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import FileTree, InvalidArgumentError, MemoryFileBackend, TreeEntry
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
