"""Whatever a server says, the merged outline is sound and holds every definition of the tree."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import MemoryFileBackend
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.engine import DocumentSymbols
from foldline.backends.files.source import split_lines
from foldline.backends.lsp import results
from foldline.backends.lsp.document_symbols import is_sound
from foldline.backends.models import FileOutline, SymbolInfo
from foldline.backends.outlines.outline_merge import merge_outline
from foldline.backends.outlines.symbols import flatten

CODES = (
    "",
    "class A:\n    x = 1\n\n    def f(self):\n        y = 2\n\n    def g(self): pass\n\n\nz = A()",
    "import os\n\nclass A(:\n  def f(self:\n    y = (1\n\nclass B:\n  def f(self): return 1\n",
    "@a\n@b(\n  1\n)\ndef f():\n  def g():\n    class H:\n      k = 1\n  return g\n",
    "a = 1; b = 2; c = lambda: 3\nclass X: y = 1; z = 2\n\n\nX()\n",
)
NAMES = ("A", "B", "X", "f", "g", "x", "z", "import", "class", "(*A).f", "f() callback", "", "é")


def outline_of(code: str) -> FileOutline:
    return ASTFileAnalysisBackend(MemoryFileBackend({"a.py": code})).get_outline("a.py")


def check_sound(symbols: Iterable[SymbolInfo], first: int, last: int) -> None:
    for symbol in symbols:
        assert first <= symbol.line <= symbol.name_line <= symbol.line_end <= last
        check_sound(symbol.children, symbol.line, symbol.line_end)


def merged_with(code: str, answer: object) -> FileOutline:
    """The outline of the code with what a server says, after the same steps as in the engine."""
    lines = split_lines(code)
    found = results.read_symbols(answer, lines)
    outline = outline_of(code)
    if not is_sound(found, lines):
        return outline
    return merge_outline(outline, DocumentSymbols(found, code, "server"))


def position() -> st.SearchStrategy[Any]:
    number = st.integers(-2, 12) | st.integers()
    return st.fixed_dictionaries({"line": number, "character": number})


def a_range() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({"start": position(), "end": position()}) | st.none()


def a_symbol(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {
            "name": st.sampled_from(NAMES) | st.integers(),
            "kind": st.integers(-1, 30) | st.text(max_size=1),
            "range": a_range(),
            "selectionRange": a_range(),
            "children": st.lists(children, max_size=4),
        }
    )


ANSWERS = st.recursive(st.none() | st.text(max_size=2) | st.integers(), a_symbol, max_leaves=12)


@st.composite
def plausible(draw: st.DrawFn, first: int, last: int, depth: int = 0) -> list[dict[str, Any]]:
    """Symbols within lines `first` to `last`, from 0, children within their parents."""
    found = []
    for _ in range(draw(st.integers(0, 4))) if depth < 3 and first < last else ():
        line = draw(st.integers(first, last - 1))
        end = draw(st.integers(line, last - 1))
        own = draw(st.integers(line, end))
        found.append(
            {
                "name": draw(st.sampled_from(NAMES)),
                "kind": draw(st.integers(1, 26)),
                "range": span(line, end),
                "selectionRange": span(own, own),
                "children": draw(plausible(line, end + 1, depth + 1)),
            }
        )
    return found


def span(line: int, end: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": 0}, "end": {"line": end, "character": 1}}


def check(code: str, answer: object) -> None:
    alone, merged = outline_of(code), merged_with(code, answer)
    check_sound(merged.symbols, 1, max(alone.line_count, 1))
    kept = [(item.symbol.name, item.symbol.name_line) for item in flatten(merged.symbols)]
    for item in flatten(alone.symbols):
        kept.remove((item.symbol.name, item.symbol.name_line))
    assert len(kept) <= len(list(flatten(results.read_symbols(answer, []))))
    assert (merged.imports, merged.exports) == (alone.imports, alone.exports)
    assert merged.line_count == alone.line_count


@given(st.sampled_from(CODES), st.lists(ANSWERS, max_size=5) | ANSWERS)
def test_any_answer_leaves_the_outline_sound(code: str, answer: object) -> None:
    check(code, answer)


@given(st.data())
def test_any_plausible_answer_leaves_the_outline_sound(data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(CODES))
    check(code, data.draw(plausible(0, len(split_lines(code)))))


def server_symbol(name: str, kind: int, line: int, end: int, own: int, *inner: Any) -> Any:
    return {
        "name": name,
        "kind": kind,
        "range": span(line - 1, end - 1),
        "selectionRange": span(own - 1, own - 1),
        "children": list(inner),
    }


def shape(outline: FileOutline) -> list[tuple[str, str, int, int]]:
    return [
        (item.qualified_name, str(item.symbol.kind), item.symbol.line, item.symbol.line_end)
        for item in flatten(outline.symbols)
    ]


def test_a_definition_that_the_tree_lost_takes_its_place_and_what_is_in_it() -> None:
    code = "lost A(:\n    def f(self):\n        pass\n\n\ndef g():\n    pass\n"
    outline = outline_of(code)
    assert [name for name, *_ in shape(outline)] == ["f", "g"]
    answer = [server_symbol("A", 5, 1, 3, 1), server_symbol("g", 12, 6, 7, 6)]
    merged = merged_with(code, answer)
    assert shape(merged) == [
        ("A", "class", 1, 3),
        ("A.f", "function", 2, 3),
        ("g", "function", 6, 7),
    ]
    assert merged.backend == "server+ast"
    assert merged.symbols[0].signature == "lost A(:"


def test_kinds_become_more_exact_and_never_coarser() -> None:
    code = "class A:\n    def f(self):\n        pass\n\n\nB = 1\n"
    exact = [server_symbol("A", 13, 1, 3, 1), server_symbol("B", 5, 6, 6, 6)]
    assert [kind for _, kind, *_ in shape(merged_with(code, exact))] == ["class", "method", "class"]
    assert merged_with(code, []).backend == "ast"


def test_lines_may_grow_up_to_the_next_definition() -> None:
    code = "# above\ndef f():\n    pass\n    # below\n\n\ndef g():\n    pass\n"

    def lines_of_f(line: int, end: int) -> tuple[int, int]:
        merged = merged_with(code, [server_symbol("f", 12, line, end, 2)])
        return merged.symbols[0].line, merged.symbols[0].line_end

    assert lines_of_f(1, 4) == (1, 4)
    assert lines_of_f(2, 2) == (2, 3)
    assert lines_of_f(1, 7) == (2, 3)


def test_names_may_carry_their_owners() -> None:
    code = "class A:\n    def f(self):\n        pass\n"
    merged = merged_with(code, [server_symbol("A::f", 6, 2, 3, 2)])
    assert (shape(merged), merged.backend) == (shape(outline_of(code)), "server+ast")


def test_in_a_broken_file_names_are_added_but_none_of_functions() -> None:
    code = "if (\nLIMIT = 1\n\ndef f(:\n    y = 2\n    z = 3\n"
    inside = [server_symbol(name, 13, line, line, line) for name, line in (("y", 5), ("z", 6))]
    answer = [
        server_symbol("LIMIT", 13, 2, 2, 2),
        server_symbol("f", 12, 4, 6, 4, inside[0]),
        inside[1],
    ]
    assert [name for name, *_ in shape(outline_of(code))] == ["f"]
    assert [name for name, *_ in shape(merged_with(code, answer))] == ["LIMIT", "f"]
    unknown = merged_with(f"(\n{code[4:]}".replace("def f(:", "f = (:"), answer)
    assert not {"y", "z"} & {name for name, *_ in shape(unknown)}
    sound = merged_with("LIMIT = 1\nclass A:\n    pass\n", [server_symbol("pass", 13, 3, 3, 3)])
    assert [name for name, *_ in shape(sound)] == ["LIMIT", "A"]


def test_the_additions_of_a_server_are_bounded() -> None:
    code = "(" + "".join(f"name{number}\n" for number in range(3000))
    answer = [server_symbol(f"name{line - 1}", 13, line, line, line) for line in range(1, 3001)]
    assert len(list(flatten(merged_with(code, answer).symbols))) <= 200
