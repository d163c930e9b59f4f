"""Grep: bounded time, honest totals, pages."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
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
    UnreadablePathError,
)
from foldline.backends.base import bounded_regex
from foldline.backends.base.bounded_regex import spans_lines
from foldline.backends.base.waiting import run
from foldline.backends.files.base import FileBackend
from foldline.backends.files.source import Source
from foldline.backends.formatting.budget import GREP_BUDGET
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


@pytest.fixture(scope="module", autouse=True)
def _short_limit() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded_regex, "GREP_SECONDS", 1.0)
        yield


def grep(files: FileBackend, pattern: str, glob: str | None = None, **options: Any) -> GrepResults:
    return run(searching.grep_files(files, Walks(files), None, pattern, glob, **options))


def found(pattern: str, glob: str | None = None, **options: int) -> list[tuple[str, int, str]]:
    results = grep(MemoryFileBackend(FILES), pattern, glob, **options)
    return [(result.path, result.line, result.text) for result in results]


def test_lines_of_text_files_that_are_not_ignored() -> None:
    assert found(r"\bos\b") == [
        ("a.py", 1, "import os"),
        ("a.py", 4, "    return os.name"),
        ("src/b.py", 2, "os = 2"),
        ("c.md", 1, "# os"),
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


@pytest.mark.parametrize(("pattern", "message"), [("(z", r"missing \)"), ("[", "character set")])
def test_a_pattern_that_does_not_compile_says_what_is_missing(pattern: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        found(pattern)


def test_a_pattern_may_look_around_and_refer_back() -> None:
    assert [line for _, line, _ in found(r"(?<=import )os", "a.py")] == [1]
    assert [line for _, line, _ in found(r"o(s)(?! )|(.)\2", "*.py")] == [1, 4]


def test_no_pattern_can_hang_it() -> None:
    files = MemoryFileBackend({"a.txt": "a" * 200_000 + "!\n", "b.txt": "a" * 300 + "!\n"})
    outcomes: set[object] = set()
    for pattern in ("(a+)+$", "(a|a)*b", "(a*)*c", "(a|aa)+$", "a?" * 50 + "a" * 50 + "b"):
        try:
            outcomes.add(grep(files, pattern).total)
        except InvalidArgumentError as error:
            outcomes.add("takes too long" in str(error))
    assert outcomes == {0, True}


def test_no_ignore_pattern_can_hang_it() -> None:
    files: dict[str, str | bytes] = {"a" * 250 + f"{n}.py": "x" for n in range(20)}
    files[".gitignore"] = "a*" * 60 + "b\n*.log\n"
    files["a.log"] = "x"
    assert grep(MemoryFileBackend(files), "x").total == 20


@given(
    st.sampled_from(
        [
            "a",
            "^a",
            "a$",
            "[^a]",
            r"\w+",
            r"a\s*b",
            r"b\s+",
            r"\bb",
            "^$",
            "é",
            "(?i)É?a",
            "a(?!b)",
            "$",
        ]
    ),
    st.lists(st.text(alphabet="ab é\ufffd", max_size=6), max_size=6),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_line_matches_as_if_it_stood_alone(pattern: str, lines: list[str], end: str) -> None:
    text = end.join(lines)
    alone = text.removesuffix("\n").split("\n")
    flags = re.ASCII if pattern.isascii() else 0
    expected = [
        (number, match.start() + 1)
        for number, line in enumerate(alone, 1)
        if (match := re.search(pattern, line, flags))
    ]
    matches = grep(MemoryFileBackend({"a.txt": text}), pattern).matches
    assert [(match.line, match.column) for match in matches] == expected


def pages(files: FileBackend, pattern: str, budget: int, **options: Any) -> list[GrepResults]:
    found = [grep(files, pattern, budget=budget, **options)]
    while found[-1].cursor is not None:
        found.append(grep(files, pattern, budget=budget, cursor=found[-1].cursor, **options))
    return found


def places(matches: Iterable[GrepMatch]) -> list[tuple[str, int]]:
    return [(match.path, match.line) for match in matches]


MATCHING = st.sampled_from(["match", "match = 1", "  match = 1", "a match of its own", "match é"])
LINES = st.lists(st.one_of(MATCHING, st.just("other")), max_size=12).map("\n".join)
NAMES = ["a.py", "src/b.ts", "tests/c.py", "src/d_test.go", "docs/e.md", "f.md", "g.go", "h.rs"]


@given(st.dictionaries(st.sampled_from(NAMES), LINES), st.integers(250, 900), st.integers(0, 1))
def test_pages_have_every_line_once_and_fill_their_budget(
    texts: dict[str, str], budget: int, context: int
) -> None:
    files = MemoryFileBackend({**texts})
    whole = grep(files, "match")
    shown: Counter[str] = Counter()
    seen: list[tuple[str, int]] = []
    for page in pages(files, "match", budget, context=context):
        text = format_grep(page)
        assert len(text.encode()) <= budget
        if page.cursor is not None and budget >= 600:
            assert len(text.encode()) >= 0.8 * budget
        assert (page.total, page.files) == (whole.total, whole.files)
        seen += places(page)
        shown.update(match.path for match in page)
        left = dict(page.counts)
        for path in {match.path for match in page}:
            assert shown[path] + left.get(path, 0) == sum(m.path == path for m in whole)
            assert (
                left.get(path, 0) == 0
                or f"… {left[path]} more in this file" in text
                or not (re.search(f"^{path}$", text, re.MULTILINE))
            )
    assert sorted(seen) == sorted(places(whole))


def test_code_comes_before_tests_and_tests_before_text() -> None:
    files = MemoryFileBackend(dict.fromkeys(["CHANGELOG.md", "b/t_test.go", "b/t.go"], "match"))
    assert [match.path for match in grep(files, "match")] == [
        "b/t.go",
        "b/t_test.go",
        "CHANGELOG.md",
    ]


def test_the_first_page_has_three_lines_of_a_file_until_every_file_is_seen() -> None:
    texts = {name: "".join(f"match {name} {n}\n" for n in range(40)) for name in ("a.py", "b.py")}
    page = grep(MemoryFileBackend({**texts}), "match", budget=305)
    assert format_grep(page).splitlines() == [
        "80 lines in 2 files, 10 shown",
        "a.py",
        *(f"  {n}: match a.py {n - 1}" for n in range(1, 8)),
        "  … 33 more in this file",
        "b.py",
        *(f"  {n}: match b.py {n - 1}" for n in range(1, 4)),
        "  … 37 more in this file",
        "… cursor grep@10",
    ]


def test_lines_of_the_same_text_are_one_line() -> None:
    texts: dict[str, str | bytes] = {f"{n}.py": "import match\n" for n in range(6)}
    texts["0.py"] = "import match\nx\n  import match\n"
    page = grep(MemoryFileBackend(texts), "match", budget=2_500)
    assert format_grep(page).splitlines() == [
        "7 lines in 6 files",
        "0.py",
        "  1: import match",
        "    also 3; 1.py:1; 2.py:1; 3.py:1; 4.py:1; 5.py:1",
    ]
    texts |= dict.fromkeys((f"{n}.py" for n in range(6, 60)), "import match\n")
    page, *others = pages(MemoryFileBackend(texts), "match", 150)
    assert format_grep(page).splitlines()[3:] == [
        "    also 3; 1.py:1; 10.py:1; 11.py:1; 12.py:1; 13.py:1; 14.py:1; 53 more",
        "… cursor grep@8",
    ]  # fmt: skip
    assert sum(map(len, others)) == 53
    assert "  1: import match\n    also " in format_grep(others[0])


def test_files_and_counts_are_shown_in_pages() -> None:
    files = MemoryFileBackend({f"{n:02}.py": "match\n" * (n + 1) for n in range(30)})
    page = grep(files, "match", show="counts", budget=100)
    assert format_grep(page).splitlines()[:3] == [
        "465 lines in 30 files, 5 shown", "00.py: 1", "01.py: 2",
    ]  # fmt: skip
    found = pages(files, "match", 200, show="files")
    assert [path for page in found for path, _ in page.counts] == [f"{n:02}.py" for n in range(30)]
    assert format_grep(found[0]).splitlines()[1:3] == ["00.py", "01.py"]
    with pytest.raises(InvalidArgumentError, match="did you mean 'files'"):
        grep(files, "match", show="file")


ACROSS = {"a.py": "def f(\r\n    a,\r\n) -> int:\r\n    return a\r\n", "b.py": "def f(a): g(\n)\n"}


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        (r"def f\(\n", [("a.py", 1)]),
        (r"f\(\n\s+a,\n\)", [("a.py", 1), ("a.py", 2), ("a.py", 3)]),
        ("f\\(\n    a", [("a.py", 1), ("a.py", 2)]),
        (r"(?s)def.*?return", [("a.py", 1), ("a.py", 2), ("a.py", 3), ("a.py", 4)]),
        (r"\([\s\S]\)", [("b.py", 1), ("b.py", 2)]),
        (r"\)\n", [("b.py", 2)]),
        (r"a\):[^x]*\n", [("b.py", 1), ("b.py", 2)]),
        (r"nothing\n", []),
    ],
)
def test_a_pattern_with_a_newline_matches_across_lines(
    pattern: str, lines: list[tuple[str, int]]
) -> None:
    files = MemoryFileBackend({**ACROSS})
    assert places(grep(files, pattern)) == lines
    assert places(grep(files, pattern, budget=500)) == lines


@pytest.mark.parametrize(
    ("pattern", "across"),
    [
        (r"def [^\n]+", False),
        ("def [^\n]+", False),
        (r"[^]\n]a", False),
        (r'"[^"\\\n]*"', False),
        (r"[^a]\n", True),
        (r"[\n^]", True),
        (r"\[^\n]", True),
        (r"[[^\n]", True),
        (r"[^\n](?s).", True),
        (r"[\s\S]", True),
    ],
)
def test_all_but_a_newline_is_within_a_line(pattern: str, across: bool) -> None:
    """Such a pattern leaves out files by their words, and looks at each line once."""
    assert spans_lines(pattern) == across


def test_all_but_a_newline_matches_the_lines_that_it_did() -> None:
    files = MemoryFileBackend({**ACROSS})
    assert places(grep(files, r"def [^\n]+")) == [("a.py", 1), ("b.py", 1)]
    assert places(grep(files, r"\([^\n]*$")) == [("a.py", 1), ("b.py", 1)]


def test_no_pattern_across_lines_can_hang_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foldline.backends.search.grep.GREP_SECONDS", 1.0)
    monkeypatch.setattr("foldline.backends.base.bounded_regex.GREP_SECONDS", 1.0)
    files = MemoryFileBackend({"a.txt": "a\n" * 400_000})
    with pytest.raises(InvalidArgumentError, match="takes too long"):
        grep(files, r"(?s)a\n.*z|a\n")


def test_a_pattern_that_is_looked_for_in_cubic_time_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="is longer than 2,000 characters"):
        grep(MemoryFileBackend({"a.txt": "a\n"}), "x" * 2_001)


def test_a_pattern_that_only_matches_as_plain_text_is_taken_so() -> None:
    files = MemoryFileBackend({"a.go": "func (r *Repository) ReadBlob()\n", "b.go": "x[0] é*\n"})
    page = grep(files, "func (r *Repository) ReadBlob", budget=2_500)
    assert format_grep(page).splitlines() == [
        "no line as a regular expression; as plain text 1 line in 1 file",
        "a.go",
        "  1: func (r *Repository) ReadBlob()",
    ]
    assert grep(files, "x[0] é*").literal
    assert grep(files, "ReadBlob(").literal == "not a regular expression"
    assert not grep(files, r"func \(r").literal
    assert not grep(files, "x[1]").literal


def test_files_that_are_binary_are_named_so() -> None:
    with_binary = grep(MemoryFileBackend(FILES), "os", "*.png")
    assert with_binary.reason == "no line of 0 files matches; not looked at: 1 binary"


def test_a_long_line_is_cut_around_its_match() -> None:
    files = MemoryFileBackend({"a.txt": "x" * 9000 + "needle" + "y" * 9000})
    text = format_grep(grep(files, "needle"))
    assert "needle" in text
    assert len(text) < 400


def test_what_could_not_be_searched_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"big.txt": "a" * 100, "a.txt": "b", "b.txt": "a", "c.txt": "a"}
    files = MemoryFileBackend(texts, size_limit=50)
    real = files.load

    def load(path: str) -> Source:
        if path in {"b.txt", "c.txt"}:
            raise UnreadablePathError(path, "cannot be read: Permission denied")
        return real(path)

    monkeypatch.setattr(files, "load", load)
    results = grep(files, "a")
    assert (results.total, results.searched) == (0, 1)
    assert results.reason == (
        "no line of 1 file matches; over the size limit and not searched: big.txt; "
        "not readable and not searched: b.txt and 1 more"
    )


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
        ("[0-9a-f]{40} = x{10,}", []),
        ("commit [0-9a-f]{7,40}of", ["commit", "of"]),
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


PIECES = st.sampled_from(
    [*"ab_1.*+?^$-{}()[]|\\", "ab", "b1", r"\w", r"\b", "[^a", "{2}", "{0,10}", "a]"]
)


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
        for pattern in ("import", "return os", "nothing", "def|os", "o", "[a-z]{0,10}os"):
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


def test_a_thousand_groups_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="pattern"):
        grep(MemoryFileBackend({"a.py": "x\n"}), f"{'(' * 990}x{')' * 990}")


def test_a_line_that_stands_alone_has_no_indentation() -> None:
    files = MemoryFileBackend({"a.py": "def f():\n        return match\n"})
    assert format_grep(grep(files, "match")).endswith("\n  2: return match")
    assert format_grep(grep(files, "match", context=1)).endswith(
        "\n  1- def f():\n  2:         return match"
    )


def test_lines_keep_the_nesting_where_it_is_indentation(tmp_path: Path) -> None:
    files = {
        "a.py": "if x:\n    class A:\n        def f(self): ...\n    def g(): ...\n",
        "b.js": "  function f() {\n      function g() {}\n",
        "c.py": "        def alone(): ...\n",
    }
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    found = SmartFileAccess.for_workspace(tmp_path).grep("class|def|function", budget=2_000)
    assert format_grep(found).splitlines()[1:] == [
        "a.py",
        "  2: class A:",
        "  3:     def f(self): ...",
        "  4: def g(): ...",
        "b.js",
        "  1: function f() {",
        "  2: function g() {}",
        "c.py",
        "  1: def alone(): ...",
    ]


NESTED = {
    "cart.py": (
        "class Cart:\n    def total(\n        self,\n    ):\n        if self.empty:\n"
        "        # Nothing to pay.\n\n            log()\n            raise EmptyError\n"
    ),
    "cart.ts": (
        "function total() {\n  if (full) {\n    pay()\n  } else {\n    log()\n"
        "    throw new EmptyError()\n  }\n}\n"
    ),
    "Cart.cs": (
        "class Cart\n{\n    void Total()\n    {\n        try\n        {\n            Log();\n"
        "            throw new EmptyError();\n        }\n    }\n}\n"
    ),
    "tests/test_cart.py": "def test_empty():\n    raises(EmptyError)\n",
}


def test_few_lines_are_shown_with_those_that_they_are_nested_in() -> None:
    access = SmartFileAccess(MemoryFileBackend(NESTED))
    shown = format_grep(access.grep("EmptyError", "cart.py", budget=GREP_BUDGET))
    assert shown.splitlines()[2:] == [
        "  2- def total(",
        "  4- ):",
        "  5-     if self.empty:",
        "  9:         raise EmptyError",
    ]
    shown = format_grep(access.grep("EmptyError", "cart.ts", budget=GREP_BUDGET))
    assert shown.splitlines()[2:] == [
        "  1- function total() {",
        "  2-   if (full) {",
        "  4-   } else {",
        "  6:     throw new EmptyError()",
    ]
    shown = format_grep(access.grep("EmptyError", "Cart.cs", budget=GREP_BUDGET))
    assert shown.splitlines()[2:] == [
        "  1- class Cart",
        "  3-     void Total()",
        "  5-         try",
        "  8:             throw new EmptyError();",
    ]


def test_several_lines_lines_of_tests_and_those_of_a_budget_stand_alone() -> None:
    access = SmartFileAccess(MemoryFileBackend(NESTED))
    for found in (
        access.grep("EmptyError", budget=GREP_BUDGET),
        access.grep("EmptyError", "tests", budget=GREP_BUDGET),
        access.grep("EmptyError", "cart.py", budget=2_500),
        access.grep("EmptyError", "cart.py"),
    ):
        assert not any(match.around for match in found)


def test_some_lines_are_shown_with_what_they_begin_and_what_is_done_else() -> None:
    text = (
        "def pay(strict):\n    if strict:\n        # Not later.\n        raise Late\n"
        "    return None\n\nadd(\n    '--strict',\n    help='no delay',\n    dest='x',\n)\n"
        "# strict: all\n    x = 1\n"
    )
    access = SmartFileAccess(MemoryFileBackend({"pay.py": text}))
    assert format_grep(access.grep("strict", budget=GREP_BUDGET)).splitlines()[2:] == [
        "  1: def pay(strict):",
        "  2:     if strict:",
        "  3-         # Not later.",
        "  4-         raise Late",
        "  5-     return None",
        "  8:     '--strict',",
        "  9-     help='no delay',",
        "  12: # strict: all",
    ]
    many = SmartFileAccess(MemoryFileBackend({"pay.py": 3 * text}))
    assert "raise Late" not in format_grep(many.grep("strict", budget=GREP_BUDGET))
