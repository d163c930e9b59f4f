"""How the work of a question grows with the workspace and the question: calls, not seconds."""

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from foldline.backends import LocalFileBackend, SmartFileAccess, WorkspaceIndex
from foldline.backends.files import local
from foldline.backends.files.ignore import IgnoreRules
from foldline.backends.index import builder
from foldline.backends.models import COMPLETE, References
from foldline.backends.outlines import parsing_pool
from foldline.backends.outlines.parsing import Parsed
from foldline.backends.outlines.parsing_pool import PoolParsing
from foldline.backends.ranking import symbols
from foldline.backends.references import namesakes
from foldline.backends.search.walks import Scope

from .building import half_indexed


def calls(work: Callable[[], object]) -> Counter[str]:
    """The calls that the work makes in this thread, by the names of the functions."""
    counted: Counter[str] = Counter()

    def count(frame: FrameType, event: str, called: object) -> None:
        if event == "call":
            counted[frame.f_code.co_name] += 1
        elif event == "c_call":
            counted[getattr(called, "__qualname__", "")] += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


@pytest.fixture(autouse=True)
def old_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files as they are in a workspace that nobody changed this moment: times tell all of them."""
    for module in (local, builder):
        monkeypatch.setattr(module, "is_racy", lambda *_: False)


def modules(root: Path, files: int) -> Path:
    """Modules with functions of their own; only the first two share a name."""
    for number in range(files):
        folder = root / f"package{number // 10}"
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(f"def f{number}x{line}():\n    return 'word'\n\n\n" for line in range(20))
        (folder / f"m{number}x.py").write_text(text if number > 1 else f"{text}shared = 1\n")
    (root / ".gitignore").write_text("*.log\n/build/\n")
    return root


def workspace(root: Path, files: int) -> SmartFileAccess:
    """The modules, indexed."""
    modules(root, files)
    access = SmartFileAccess.for_workspace(root, patience=None)
    access.search_files("nothing")
    return access


def test_a_glob_is_read_without_a_walk(tmp_path: Path) -> None:
    files = LocalFileBackend(modules(tmp_path, 30))
    counted = calls(lambda: Scope(files, "**/*.py,!package1/**"))
    assert not counted["walk_folder"]


def test_twice_the_words_and_files_take_a_search_less_than_twice_the_work(
    tmp_path: Path,
) -> None:
    counted = []
    for size in (100, 200):
        access = workspace(tmp_path / str(size), size)
        query = " ".join(f"f{number}x3 said{number}" for number in range(size))
        counted.append(calls(lambda: access.search_files(query, budget=2000)))  # noqa: B023
        access.close()
    few, many = counted
    assert many.total() < 1.6 * few.total()  # Most of it is for the files that are shown.
    assert many["_numbers"] == few["_numbers"] == 1


def test_an_index_of_twice_the_files_takes_twice_the_work_and_the_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, sizes = [], []
    monkeypatch.setattr(builder, "_BATCH", 250)  # Several segments.
    for size in (600, 1200):
        index = WorkspaceIndex(
            LocalFileBackend(modules(tmp_path / str(size), size)), tmp_path / f"{size}.sqlite3"
        )
        counted.append(calls(index.refresh))
        index.close()
        sizes.append((tmp_path / f"{size}.sqlite3").stat().st_size)
    few, many = counted
    assert many.total() < 2.2 * few.total()
    assert many["words_of"] - few["words_of"] == 600
    assert sizes[1] < 2.2 * sizes[0]


@pytest.mark.parametrize("size", [100, 200])
def test_first_references_read_each_file_once_for_the_name_and_few_for_its_definition(
    tmp_path: Path, size: int
) -> None:
    with half_indexed(modules(tmp_path, size)) as access:
        found: list[References] = []
        counted = calls(lambda: found.append(access.find_references("shared", seconds=0)))
        assert (found[0].total, found[0].coverage) == (2, COMPLETE)
        # The ignore file too; and the two that have the name are read for definitions.
        assert counted["bytes_of"] == size + 1 + 2
        # Of code, and of texts.
        assert counted["_differences"] <= 2
        # Each part of a query asks for itself.
        since = time.monotonic()
        assert access.index is not None
        for kind in (access.index.files_with, access.index.texts_with):
            asked = [calls(lambda: kind("f1x1", since=since))["bytes_of"] for _ in range(2)]  # noqa: B023
            assert (asked[0] > 0, asked[1]) == (True, 0)


def test_a_search_in_a_folder_reads_no_other_while_the_index_is_built(tmp_path: Path) -> None:
    with half_indexed(modules(tmp_path, 100)) as access:
        assert access.index is not None
        within = {f"package3/m3{number}x.py" for number in range(10)}
        terms, words = ["f31x1"], {"f31x1": 1.0}
        look_up = access.index.look_up
        assert calls(lambda: look_up(terms, words=words, within=within))["bytes_of"] == 10


def test_a_second_search_reads_nothing_for_the_index(tmp_path: Path) -> None:
    location = tmp_path / "index.sqlite3"
    files = LocalFileBackend(modules(tmp_path / "modules", 30))
    counted = []
    for _ in range(2):
        index = WorkspaceIndex(files, location)
        counted.append(calls(index.refresh))
        index.close()
    reading = ("bytes_of", "words_of", "write_segment", "keep_listing")
    assert [counted[0][name] for name in reading] == [31, 31, 2, 1]
    assert [counted[1][name] for name in reading] == [0, 0, 0, 0]


@pytest.mark.parametrize("size", [100, 200])
def test_a_changed_file_costs_its_own_words(tmp_path: Path, size: int) -> None:
    access = workspace(tmp_path, size)
    (tmp_path / "package3" / "m31x.py").write_text("def changed(): ...\n")
    assert access.index is not None
    counted = calls(access.index.refresh)
    assert (counted["words_of"], counted["write_segment"], counted["derived"]) == (1, 1, 0)
    few = calls(lambda: access.search_files("changed"))
    report = " ".join(f"word{number}" for number in range(50))
    first, second = (calls(lambda: access.search_files(report)) for _ in range(2))
    access.close()
    # Those of the new segment, by the first long question.
    assert [counted["derived"] for counted in (few, first, second)] == [0, 1, 0]


def test_a_longer_question_reads_no_file_more(tmp_path: Path) -> None:
    access = workspace(tmp_path, 100)
    opened = []
    for lines in (10, 400):
        report = "f3x3 fails\n" + "\n".join(f"the word {n} of f{n}x2" for n in range(lines))
        counted = calls(lambda: access.search_files(report, budget=300))  # noqa: B023
        opened.append((counted["_open_regular"], counted["_numbers"]))
    access.close()
    assert opened[0][1] == opened[1][1] == 1
    assert max(number for number, _ in opened) < 40


def walked(files: LocalFileBackend) -> Counter[str]:
    return calls(lambda: list(files.walk_folder(".", by_level=True)))


@pytest.mark.parametrize("size", [100, 200])
def test_a_list_of_files_reads_each_folder_once_and_is_compared_without_reading_any(
    tmp_path: Path, size: int
) -> None:
    files = LocalFileBackend(modules(tmp_path, size))
    folders = size // 10 + 1
    first = walked(files)
    assert (first["scandir"], first["hidden"]) == (folders, folders)
    assert first["last"] == 0  # No pattern is tried on a single name.
    again = walked(files)
    assert (again["scandir"], again["hidden"], again["open"]) == (0, 0, 0)
    assert size <= again["S_ISREG"] <= size + 10  # Each file is looked at once.
    (tmp_path / "package3" / "new.py").write_text("")
    assert walked(files)["scandir"] == 1


def test_only_names_that_a_pattern_may_match_are_tried(tmp_path: Path) -> None:
    root = modules(tmp_path, 100)
    (root / "package3" / "a.log").write_text("")
    (root / "package3" / "build").mkdir()
    assert walked(LocalFileBackend(root))["last"] == 1


@pytest.mark.parametrize("size", [100, 200])
def test_grep_opens_only_files_with_the_words_of_the_pattern(tmp_path: Path, size: int) -> None:
    access = workspace(tmp_path, size)
    counted = calls(lambda: access.grep(r"^shared = \d"))
    assert access.grep(r"^shared = \d").searched == size + 1
    access.close()
    assert counted["_open_regular"] == 3  # The two files, and one that isn't indexed.


def test_grep_uses_an_index_that_is_current_however_long_the_list_of_files_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(tmp_path, 100).close()
    monkeypatch.setattr("foldline.backends.index.query._WORDS_PATIENCE", -1.0)
    access = SmartFileAccess.for_workspace(tmp_path)
    counted = calls(lambda: access.grep(r"^shared = \d"))
    access.close()
    assert counted["_open_regular"] == 3


def test_grep_indexes_no_files_where_many_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = workspace(tmp_path, 10)
    index = access.index
    assert index is not None
    assert index.wait(30)
    monkeypatch.setattr("foldline.backends.index.reading._MOST_SCANNED", 3)
    begun = []
    for files in (3, 4):
        for number in range(files):
            (tmp_path / f"{files}-{number}.txt").write_text("word\n")
        begun.append(calls(lambda: index.files_without(["nowhere"]))["start"] > 0)
        assert index.wait(30)
    assert begun == [True, False]
    access.close()


@pytest.mark.parametrize("size", [100, 200])
def test_references_open_and_parse_only_files_with_the_name(tmp_path: Path, size: int) -> None:
    access = workspace(tmp_path, size)
    counted = calls(lambda: access.find_references("shared", seconds=0))
    access.close()
    # They are read again for strings that are the name.
    assert (counted["_open_regular"], counted["Parser.parse"]) == (4, 2)


def test_a_name_is_no_path_without_a_look_at_any_folder(tmp_path: Path) -> None:
    access = SmartFileAccess.for_workspace(modules(tmp_path, 100))
    counted = calls(lambda: access.names().place("shared"))
    access.close()
    assert access.names().place("package0/m1x.py:3") == ("package0/m1x.py", "", 3, None)
    assert (counted["posix.scandir"], counted["scandir"], counted["_folder"]) == (0, 0, 0)
    assert counted["lstat"] <= 10


def test_a_file_is_looked_at_three_times_while_it_is_read(tmp_path: Path) -> None:
    modules(tmp_path, 1)
    files = LocalFileBackend(tmp_path)
    counted = calls(lambda: files.load("package0/m0x.py"))
    assert counted["lstat"] + counted["fstat"] == 3


def test_few_sources_start_no_worker_for_a_caller_with_nothing_else_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A parse of more may be slow on a busy machine, and is a worker's then.
    monkeypatch.setattr(parsing_pool, "_WORTH_SENDING", 1_000)
    sources = [Parsed(f"m{n}.py", "python", b"def name(): ...\n" * 80) for n in range(2)]
    uses = []
    for patient in (True, False):
        pool = PoolParsing(1, patient=patient)
        try:
            uses.append([*pool.references(sources, "name")])
            assert (pool._pool is None) is patient
        finally:
            pool.close()
    assert uses[0] == uses[1]
    assert len(uses[0]) == 160


def test_a_large_source_starts_no_worker_for_such_a_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing_pool, "_WORTH_SENDING", 1_000)
    source = Parsed("m.py", "python", b"def name(): ...\n" * 80)
    outlines = []
    for patient in (True, False):
        pool = PoolParsing(1, patient=patient)
        try:
            outlines.append(pool.outline(source).symbols)
            assert (pool._pool is None) is patient
        finally:
            pool.close()
    assert outlines[0] == outlines[1]
    assert len(outlines[0]) == 80


def test_twice_the_uses_take_references_twice_the_work(tmp_path: Path) -> None:
    counted = []
    for size in (100, 200):
        folder = tmp_path / str(size)
        folder.mkdir()
        lines = "".join(f"def f{line}():\n    return name\n\n\n" for line in range(size))
        (folder / "a.py").write_text(f"name = 1\n{lines}")
        access = SmartFileAccess.for_workspace(folder, patience=None)
        access.find_references("nothing")
        counted.append(calls(lambda: access.find_references("name", seconds=0)))  # noqa: B023
        access.close()
    few, many = counted
    assert many.total() < 2.2 * few.total()
    assert many["Parser.parse"] == few["Parser.parse"]


@pytest.mark.parametrize("index", [True, False])
def test_twice_the_receivers_take_telling_namesakes_apart_twice_the_work(
    tmp_path: Path, index: bool
) -> None:
    """Where each is looked for by a name that as many files assign to."""
    counted = []
    for size in (20, 40):
        folder = tmp_path / str(size)
        folder.mkdir()
        for owner in ("Query", "Other"):
            text = f"class {owner}:\n    def pick(self):\n        return self\n"
            (folder / f"{owner.lower()}.py").write_text(text)
        for number in range(size):
            text = f"from query import Query\n\n\nclass M{number}:\n    objects = Query()\n"
            (folder / f"models{number}.py").write_text(text)
            text = f"from models{number} import M{number}\n\nM{number}.objects.pick()\n"
            (folder / f"uses{number}.py").write_text(text)
        access = (
            SmartFileAccess.for_workspace(folder, patience=None)
            if index
            else SmartFileAccess(LocalFileBackend(folder))
        )
        access.find_references("nothing")
        counted.append(calls(lambda: access.find_references("Query.pick", seconds=0)))  # noqa: B023
        access.close()
    few, many = counted
    assert many["told_apart"] == 1
    assert many["resolve"] > 40
    assert many.total() < 2.2 * few.total()
    # Each file with the name, and what it imports.
    assert many["Parser.parse"] <= 2 * few["Parser.parse"]


def test_a_receiver_is_looked_for_once_in_a_function(tmp_path: Path) -> None:
    for owner in ("Query", "Other"):
        text = f"class {owner}:\n    def pick(self):\n        return self\n"
        (tmp_path / f"{owner.lower()}.py").write_text(text)
    text = "def use(query: Query):\n" + "    query.pick()\n" * 90
    (tmp_path / "use.py").write_text(f"from query import Query\n\n\n{text}")
    access = SmartFileAccess.for_workspace(tmp_path, patience=None)
    access.find_references("nothing")
    namesakes._types_of.cache_clear()
    found = access.find_references("Query.pick", seconds=0)
    access.close()
    assert len(found.references) == 92
    assert namesakes._types_of.cache_info().misses == 1


@pytest.mark.parametrize("files", [60, 120])
def test_references_to_a_common_name_parse_what_a_page_can_show(tmp_path: Path, files: int) -> None:
    for number in range(files):
        (tmp_path / f"m{number:03}.py").write_text("self = 1\n" + "self.go()\n" * 9)
    access = SmartFileAccess.for_workspace(tmp_path, patience=None)
    access.search_files("nothing")
    counted = calls(lambda: access.find_references("self", budget=300, seconds=0))
    whole = access.find_references("self", seconds=0)
    page = access.find_references("self", budget=300, seconds=0)
    access.close()
    assert counted["Parser.parse"] == 24  # The first 8 have too few uses, the next 16 enough.
    assert page.coverage == f"partial: stopped before {files - 24} more files; give a scope"
    assert page.references == whole.references[: len(page)]
    assert (whole.total, whole.coverage) == (10 * files, "complete")


def test_the_line_of_a_minified_file_is_read_once_for_all_that_it_defines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "".join(f"function f{number}(x){{return load(x)}}" for number in range(50))
    (tmp_path / "a.min.js").write_text(f"{line}class Mini{{}}\n")
    read: list[str] = []
    words_of = symbols.words_of

    def recorded(text: str) -> Counter[str]:
        read.append(text)
        return words_of(text)

    monkeypatch.setattr(symbols, "words_of", recorded)
    access = SmartFileAccess.for_workspace(tmp_path)
    assert access.get_outline("a.min.js", query="load x").matches
    assert sum("return" in text for text in read) == 1
    read.clear()
    access.get_outline("a.min.js", query="Mini")
    assert read == []


def test_a_deep_path_costs_a_look_for_each_folder(tmp_path: Path) -> None:
    def looks(depth: int) -> int:
        folder = tmp_path / "/".join(["d"] * depth)
        folder.mkdir(parents=True, exist_ok=True)
        rules = IgnoreRules(tmp_path)
        work = calls(lambda: rules.for_path(f"{'d/' * depth}f.py"))
        return work["lstat"] + work["stat"]

    assert 0 < looks(40) < 2.2 * looks(20)


def test_rules_of_a_folder_far_below_are_found_from_the_outermost_on(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\n")
    far = "d/" * 2_000 + "d"
    assert IgnoreRules(tmp_path).hidden(far, [("a.log", False), ("a.py", False)]) == {"a.log"}
