"""Tests, names that an index file passes on, and what is local to a function, as symbols."""

import pytest

from foldline.backends.errors import AmbiguousSymbolError
from foldline.backends.outlines.symbols import distinct, flatten
from foldline.backends.text import format_outline

from .outlines import CASES, access_to

SPEC = CASES["cors.test.ts"][0]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ('describe "cors" > it "sets the header"', 6),
        ("cors > sets the header", 6),
        ("cors.sets the header", 6),
        ("describe('cors')", 3),
        ('it "adds %i"', 7),
        ("adds %i", 7),
        ("a/b works > at /", 23),
        ("nested > sets the header", 17),
        ("cors > nested > sets the header", 17),
        ("works for ${x}", 12),
        ("appOf", 4),
    ],
)
def test_a_test_is_read_by_its_text(name: str, line: int) -> None:
    assert access_to({"a.test.ts": SPEC}).read_symbol("a.test.ts", name).line == line


def test_tests_of_one_text_are_told_apart() -> None:
    access = access_to({"a.test.ts": SPEC})
    with pytest.raises(AmbiguousSymbolError) as raised:
        access.read_symbol("a.test.ts", "sets the header")
    assert raised.value.candidates == ("cors.sets the header", "cors.nested.sets the header")


def test_a_test_defines_no_name() -> None:
    files = {"a.ts": "export function cors() {}\n", "b.test.ts": "it('cors', () => cors())\n"}
    uses = access_to(files).find_references("cors")
    assert [(use.path, use.kind) for use in uses] == [("a.ts", "definition"), ("b.test.ts", "call")]


INDEX = CASES["index.ts"][0]


def test_an_index_file_says_what_it_offers() -> None:
    access = access_to({"index.ts": INDEX})
    assert "export { a as b" in access.read_symbol("index.ts", "D").body


def test_a_name_that_is_passed_on_is_defined_elsewhere() -> None:
    files = {"a.ts": "export function go() {}\n", "index.ts": "export { go } from './a'\n"}
    uses = access_to(files).find_references("go")
    assert [use.path for use in uses if use.kind == "definition"] == ["a.ts"]
    assert not any(use.enclosing for use in uses)


COMPOSE = """export const compose = (middleware: M[]) => {
  return (context, next) => {
    return dispatch(0)
    async function dispatch(i: number) {
      const settle = () => i
      const stop = watch(() => { function onChange() {} })
    }
  }
}
export function useCounter() {
  return { increment() { }, dec: () => 1, count: 2 }
}
export default React.memo(function Row({ a }: P) {
  const onClick = () => 1
})
const Cell = memo(forwardRef(({ b }, ref) => { function focus() {} }))
const Button = styled.button`color: red;`
interface Handler { (a: string): void; new (b: X): Handler }
"""


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("dispatch", 4),
        ("compose.dispatch", 4),
        ("settle", 5),
        ("compose.dispatch.onChange", 6),
        ("useCounter.increment", 11),
        ("dec", 11),
        ("Row", 13),
        ("Row.onClick", 14),
        ("Cell", 16),
        ("Cell.focus", 16),
        ("Button", 17),
        ("Handler.new", 18),
    ],
)
def test_functions_inside_functions_are_read_by_name(name: str, line: int) -> None:
    assert access_to({"a.tsx": COMPOSE}).read_symbol("a.tsx", name).line == line


def test_only_the_outline_of_a_small_file_lists_what_is_local() -> None:
    small = access_to({"a.tsx": COMPOSE}).get_outline("a.tsx")
    large = access_to({"a.tsx": COMPOSE + "\n" * 200}).get_outline("a.tsx")
    assert "dispatch" in format_outline(small)
    shown = format_outline(large)
    assert "dispatch" not in shown
    assert "compose" in shown
    assert [name for name, _ in distinct(flatten(large.symbols))] == [
        name for name, _ in distinct(flatten(small.symbols))
    ]


def test_what_is_local_gives_way_to_what_is_not() -> None:
    source = "class A:\n    def run(self):\n        def go(): ...\n    def go(self): ...\n"
    assert access_to({"a.py": source}).read_symbol("a.py", "go").line == 4


def test_a_local_function_is_found_by_its_name() -> None:
    access = access_to({"a.py": "def outer():\n    def distant_cousin():\n        return 1\n"})
    assert [hit.name for hit in access.search_symbols("distant_cousin")] == ["outer.distant_cousin"]


GO = CASES["types.go"][0]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Opts.Client", 6),
        ("Opts.E", 7),
        ("Opts.Run", 22),
        ("Opts.Run.start.deep", 25),
        ("deep", 25),
        ("TestRun/sets the header", 30),
        ('TestRun > t.Run "sets the header"', 30),
        ('raw "x"', 32),
    ],
)
def test_what_go_hides_is_read_by_name(name: str, line: int) -> None:
    assert access_to({"a.go": GO}).read_symbol("a.go", name).line == line


def test_a_package_of_python_says_what_it_offers() -> None:
    access = access_to({"__init__.py": "__all__ = ['get']\nfrom ._api import *\n"})
    assert access.read_symbol("__init__.py", "get").line == 1
