"""Sources that would take a parser's process, memory or time: each gets an answer that says so."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.base.languages import parser_for
from foldline.backends.errors import (
    AmbiguousSymbolError,
    BackendError,
    InvalidArgumentError,
    MissingPathError,
    SymbolNotFoundError,
)
from foldline.backends.files.memory import MemoryFileBackend
from foldline.backends.formatting.text import LONGEST, column_in, cut_bytes, cut_context
from foldline.backends.outlines.outlines import outline_source
from foldline.backends.outlines.syntax import ParseRefusedError, parse, unclosed, yaml_depth
from foldline.backends.references.references import references_in_source

REFUSED = {
    "yaml lists": ("yaml", "- " * 300 + "x\n"),
    "yaml keys": ("yaml", "? " * 300 + "x\n"),
    "yaml values": ("yaml", ": " * 300 + "x\n"),
    "yaml lists below the keys of lists": (
        "yaml",
        "a:\n" + "".join("  " * depth + "- x:\n" for depth in range(190)),
    ),
    "yaml keys below keys": ("yaml", "".join(" " * depth + "a:\n" for depth in range(600))),
    "yaml behind a carriage return": ("yaml", "\r" + "- " * 300),
    "yaml behind an alias": ("yaml", "*a - - " * 300),
    "yaml in a bracket": ("yaml", "? }'" * 300),
    "generics": ("java", "a<" * 5000),
    "generics of C#": ("csharp", "a<" * 5000),
    "open brackets": ("rust", "%w(" * 5000),
    "open brackets in one that is closed": ("rust", "{" + "%w(" * 5000 + "}"),
    "blocks that never end": ("csharp", "a{" * 5000),
    "lines that go on": ("python", "a\\\n" * 20_000),
    "comments that never end": ("ruby", "<!--" * 2000),
}


@pytest.mark.real
@pytest.mark.parametrize(("language", "text"), REFUSED.values(), ids=REFUSED)
def test_a_source_that_would_explode_gets_an_outline_by_indentation(
    language: str, text: str
) -> None:
    program = (
        "import sys; from foldline.backends.outlines.outlines import outline_source;"
        "print(outline_source(sys.argv[1], sys.stdin.buffer.read()).reason)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, language],
        input=text.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"not parsed" in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        "a:\n  - b\n  - c:\n      d: e\n",
        "- - - x\n",
        "? a\n: b\n",
        "{a: {b: c}}\n",
        "x: |\n  - - -\n",
    ],
)
def test_yaml_that_people_write_is_parsed(text: str) -> None:
    assert yaml_depth(text.encode()) < 10
    parse("yaml", text.encode())


def test_brackets_that_are_closed_may_nest() -> None:
    assert unclosed(b"(" * 5000 + b")" * 5000) == 0
    assert unclosed(b"f(" * 600) == 600
    assert unclosed(b'x = "("\n{ y(")") }\n' * 1000) < 2
    assert unclosed(b"if (a < b) { c<d>(); }\n" * 1000) < 2


def test_references_say_which_file_was_not_parsed() -> None:
    files = MemoryFileBackend({"bad.rs": "%w(" * 5000, "good.rs": "fn main() { w(); }\n"})
    found = ASTFileAnalysisBackend(files).find_references("w")
    assert [hit.path for hit in found] == ["good.rs"]
    assert found.coverage == "without bad.rs"
    assert "bad.rs: not parsed" in found.reason


ONE_LINE = {
    "minified": ("javascript", "", "e=e+f(e);", "", "e"),
    "conditionals": ("javascript", "", "e ? ", "", "e"),
    "unions": ("python", "def f(x: ", "e | ", "e): pass\n", "e"),
    "sums": ("python", "x = ", "e + ", "e\n", "e"),
    "elements": ("tsx", "", '<e b="c">', "", "e"),
    "modules": ("rust", "", "mod e {", "}", "e"),
}


def memory(name: str, size: int) -> int:
    language, head, unit, end, word = ONE_LINE[name]
    count = size // len(unit)
    data = f"{head}{unit * count}{end * count if end == '}' else end}".encode()
    tracemalloc.start()
    try:
        found = references_in_source("a", language, data, word)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) >= count
    return peak


@pytest.mark.parametrize("name", ONE_LINE)
def test_references_on_one_line_take_memory_as_the_line_is_long(name: str) -> None:
    small, large = memory(name, 8_000), memory(name, 16_000)
    assert large < 3 * small
    assert large < 20_000_000


@given(st.text(st.sampled_from("ab é🎉…\t"), max_size=900), st.integers(0, 900))
def test_bytes_and_text_are_cut_alike(line: str, column: int) -> None:
    column = min(column, len(line))
    before = "x\n"
    data = f"{before}{line}\nnext".encode()
    at = len(f"{before}{line[:column]}".encode())
    cut = cut_context(line, column)
    assert cut_bytes(data, len(before), at, column) == cut
    assert len(cut) <= LONGEST + 2
    if column < len(line) and not line.startswith("…"):
        assert cut[column_in(cut, column)] == line[column]


LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    "error",
    [
        MissingPathError(LONG, [LONG]),
        SymbolNotFoundError(LONG, LONG, [LONG]),
        AmbiguousSymbolError("a.py", LONG, [f"{LONG}{n}" for n in range(500)]),
        InvalidArgumentError("name", f"{LONG!r} is not an identifier"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_cut_what_they_echo(error: BackendError) -> None:
    assert len(str(error)) <= 1_000
    lists = {"near", "candidates"}
    assert all(len(str(value)) <= 1_000 for name, value in vars(error).items() if name not in lists)


def test_an_error_of_ordinary_length_is_whole() -> None:
    path = "/".join(["folder"] * 40)
    assert path in str(MissingPathError(path))


@pytest.mark.parametrize("language", ["python", "javascript", "rust", "java", "markdown", "json"])
def test_a_tree_is_that_of_a_parse_without_limits(language: str) -> None:
    source = b'# a\nx = 1\nfn f() { return 1; }\n{"a": 1}\n' * 50
    assert str(parse(language, source).root_node) == str(
        parser_for(language).parse(source).root_node
    )


def test_a_parser_that_was_stopped_parses_the_next_source() -> None:
    with pytest.raises(ParseRefusedError):
        parse("ruby", b"<!--" * 2000)
    assert outline_source("ruby", b"def f\nend\n" * 100).symbols[0].name == "f"
