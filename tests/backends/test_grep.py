"""Grep: linear time, honest totals, pages."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import (
    GrepMatch,
    GrepResults,
    InvalidArgumentError,
    LocalFileBackend,
    MemoryFileBackend,
    SmartFileAccess,
)
from foldline.backends.base import bounded_regex
from foldline.backends.base.waiting import run
from foldline.backends.files.base import FileBackend
from foldline.backends.search import grep as searching
from foldline.backends.search.grep import required_parts
from foldline.backends.search.walks import Walks
from foldline.backends.text import format_grep

FILES: dict[str, str | bytes] = {
    "a.py": "import os\n\ndef f():\n    return os.name\n",
    "src/b.py": "x = 1\r\nos = 2\r\n",
    "c.md": "# os\n",
    "image.png": b"\x89PNG\0os",
    ".gitignore": "*.log\n",
    "d.log": "os\n",
}


@pytest.fixture(params=["re2", "regex"], scope="module", autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """RE2, and what stands in for it where it isn't installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded_regex, "HAS_RE2", request.param == "re2")
        patch.setattr(bounded_regex, "GREP_SECONDS", 1.0)
        yield request.param


def grep(files: FileBackend, pattern: str, glob: str | None = None, **options: Any) -> GrepResults:
    return run(searching.grep(files, Walks(files), None, pattern, glob, **options))


def found(pattern: str, glob: str | None = None, **options: int) -> list[tuple[str, int, str]]:
    results = grep(MemoryFileBackend(FILES), pattern, glob, **options)
    return [(result.path, result.line, result.text) for result in results]


def test_lines_of_text_files_that_are_not_ignored() -> None:
    assert found(r"\bos\b") == [
        ("a.py", 1, "import os"),
        ("a.py", 4, "    return os.name"),
        ("c.md", 1, "# os"),
        ("src/b.py", 2, "os = 2"),
    ]


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("^os", [("src/b.py", 2)]),
        ("OS", []),
        (r"1\r?$", [("src/b.py", 1)]),
        (r"f\(\):\s+return", []),
        ("^$", [("a.py", 2)]),
    ],
)
def test_a_pattern_matches_within_lines(pattern: str, lines: list[tuple[str, int]]) -> None:
    assert [(path, line) for path, line, _ in found(pattern, "*.py")] == lines


def test_case_globs_and_ignored_files_are_options() -> None:
    assert [path for path, *_ in found("OS", "src", ignore_case=True)] == ["src/b.py"]
    assert [path for path, *_ in found("os", "*.log", no_ignore=True)] == ["d.log"]
    assert [path for path, *_ in found("os", "a.py")] == ["a.py", "a.py"]


def test_lines_around_a_match() -> None:
    (match,) = grep(MemoryFileBackend(FILES), "def", context=2)
    assert match == GrepMatch(
        "a.py", 3, "def f():", 1, ("import os", ""), ("    return os.name",)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", r"missing \)"),
        (r"(a)\1", "back-references"),
        ("(?=a)", "look-around"),
        ("[", r"]|character set"),
    ],
)
def test_a_pattern_that_does_not_compile_says_what_is_missing(
    engine: str, pattern: str, message: str
) -> None:
    if engine == "regex" and message in ("back-references", "look-around"):
        assert isinstance(found(pattern), list)  # `regex` has them; a clock bounds it instead.
        return
    with pytest.raises(InvalidArgumentError, match=message) as refused:
        found(pattern)
    # Only the engine that lacks them says so.
    assert ("no look-around" in str(refused.value)) == (engine == "re2")


def test_no_pattern_can_hang_it(engine: str) -> None:
    files = MemoryFileBackend({"a.txt": "a" * 200_000 + "!\n", "b.txt": "a" * 300 + "!\n"})
    outcomes: set[object] = set()
    for pattern in ("(a+)+$", "(a|a)*b", "(a*)*c", "(a|aa)+$", "a?" * 50 + "a" * 50 + "b"):
        try:
            outcomes.add(grep(files, pattern).total)
        except InvalidArgumentError as error:
            outcomes.add("takes too long" in str(error))
    assert outcomes == ({0} if engine == "re2" else {0, True})


def test_no_ignore_pattern_can_hang_it() -> None:
    files: dict[str, str | bytes] = {"a" * 250 + f"{n}.py": "x" for n in range(20)}
    files[".gitignore"] = "a*" * 60 + "b\n*.log\n"
    files["a.log"] = "x"
    assert grep(MemoryFileBackend(files), "x").total == 20


@given(
    st.sampled_from(["a", "^a", "a$", "[^a]", r"\w+", r"a\s*b", r"\bb", "^$", "é", "(?i)É?a", "$"]),
    st.lists(st.text(alphabet="ab\r é\ufffd", max_size=6), max_size=6),
)
def test_both_engines_find_the_same(pattern: str, lines: list[str]) -> None:
    files = MemoryFileBackend({"a.txt": "\n".join(lines)})
    results = []
    for has_re2 in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bounded_regex, "HAS_RE2", has_re2)
            results.append(grep(files, pattern))
    assert results[0] == results[1]


def test_pages_cover_every_match_once_and_fit_the_budget() -> None:
    files = MemoryFileBackend({f"f{n}.txt": "match me\n" * (n * 3) for n in range(8)})
    whole = grep(files, "match")
    seen: list[GrepMatch] = []
    cursor = None
    while True:
        page = grep(files, "match", budget=500, cursor=cursor)
        assert len(format_grep(page).encode()) <= 500
        assert (page.total, page.files) == (84, 7)
        seen += page
        cursor = page.cursor
        if cursor is None:
            break
    assert tuple(seen) == whole.matches


def test_a_long_line_is_cut_around_its_match() -> None:
    files = MemoryFileBackend({"a.txt": "x" * 9000 + "needle" + "y" * 9000})
    text = format_grep(grep(files, "needle"))
    assert "needle" in text
    assert len(text) < 400


def test_what_could_not_be_searched_is_said() -> None:
    files = MemoryFileBackend({"big.txt": "a" * 100, "a.txt": "b"}, size_limit=50)
    results = grep(files, "a")
    assert (results.total, results.searched) == (0, 1)
    assert "big.txt" in results.reason
    assert "no line of 1 files matches" in results.reason


@given(st.lists(st.text(alphabet="ab\r é", max_size=6), max_size=6))
def test_every_line_is_found_by_its_number(lines: list[str]) -> None:
    text = "\n".join(lines)
    backend = MemoryFileBackend({"a.txt": text})
    expected = [
        (number, line)
        for number, line in enumerate(backend.read_source("a.txt").lines, 1)
        if "a" in line
    ]
    assert [(item.line, item.text) for item in grep(backend, "a")] == expected
    for item in grep(backend, "a"):
        assert item.text[item.column - 1] == "a"


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("def get_", ["def", "get_"]),
        (r"\bclass \w+Form\b", ["class", "Form"]),
        ("colou?r", ["colo"]),
        ("ab+c{2}de*", ["ab", "de"]),
        (r"\.save\(", ["save"]),
        ("(get)?set", ["set"]),
        ("[gs]et_all[]x]", ["et_all"]),
        ("one|two", []),
        ("(?i)todo", []),
        (r"\x41bc", []),
        (r"\Qa.b\E", []),
        ("a)b", []),
    ],
)
def test_words_that_every_match_has(pattern: str, parts: list[str]) -> None:
    expected = [part for part in parts if len(part) > 1]
    if pattern == "ab+c{2}de*":
        expected = ["ab"]
    assert required_parts(pattern) == expected


PIECES = st.sampled_from([*"ab_1.*+?^$-{}()[]|\\", "ab", "b1", r"\w", r"\b", "[^a", "{2}", "a]"])


@given(st.lists(PIECES, max_size=8).map("".join), st.text("ab_1 -.]", max_size=12))
def test_a_match_has_all_the_words_that_are_required(pattern: str, text: str) -> None:
    try:
        matches = found_in(pattern, text)
    except InvalidArgumentError:
        return
    if matches:
        assert all(part in text for part in required_parts(pattern))


def found_in(pattern: str, text: str) -> int:
    return grep(MemoryFileBackend({"a.py": text}), pattern).total


def test_an_index_leaves_out_files_and_no_match(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    plain = LocalFileBackend(tmp_path)
    with closing(SmartFileAccess.for_workspace(tmp_path)) as access:
        access.find_references("os")
        for pattern in ("import", "return os", "nothing", "def|os", "o"):
            assert access.grep(pattern) == grep(plain, pattern)
        (tmp_path / "src" / "b.py").write_text("x = nothing\n")
        (tmp_path / "src" / "new.py").write_text("nothing\n")
        (tmp_path / "a.py").unlink()
        access.file_backend.set_overlay("buffer.py", "nothing = 1\n")
        assert [match.path for match in access.grep("nothing")] == [
            "src/b.py",
            "src/new.py",
            "buffer.py",
        ]


def test_a_thousand_groups_are_searched_for_like_none(engine: str) -> None:
    """Noted for each line, they would take an hour; what stands in for RE2 refuses them."""
    files = MemoryFileBackend({"a.py": "x\n" * 200_000})
    pattern = f"{'(' * 990}x{')' * 990}"
    if engine == "re2":
        assert grep(files, pattern).total == 200_000
    else:
        with pytest.raises(InvalidArgumentError, match="pattern"):
            grep(files, pattern)
