"""Tests, names that an index file passes on, and what is local to a function, as symbols."""

import pytest

from foldline.backends.errors import AmbiguousSymbolError
from foldline.backends.outlines.symbols import distinct, flatten
from foldline.backends.text import format_outline

from .outlines import access_to, check_outline

SPEC = """import { cors } from './cors'

describe('cors', () => {
  function appOf() { return () => 1 }
  beforeEach(() => {})
  it('sets the header', async () => { const app = () => 1 })
  it.each([1, 2])('adds %i', (n) => {})
  it.each`
    a
  `('a table of $a', () => {})
  for (const x of [1]) {
    test(`works for ${x}`, { timeout: 1 }, async () => {})
  }
  cases.forEach((one) => it.skip("it's \\"odd\\"", () => {}))
  it.todo('later')
  context.only('nested', function () {
    it('sets the header', () => {})
  })
})
describe(Router.name, () => { it('routes', () => {}) })
expect(/x/.test('abc')).toBe(true)
context('2d')
"""


def test_tests_of_javascript_are_named_by_their_texts() -> None:
    check_outline(
        "a.test.ts",
        SPEC,
        """
imports ./cors: cors
3-19 describe "cors"
  4 function appOf()
  6 it "sets the header"
    6 const app = ()
  7 it.each "adds %i"
  8-10 it.each "a table of $a"
  12 test "works for ${x}"
  14 it.skip "it's \\"odd\\""
  15 it.todo "later"
  16-18 context.only "nested"
    17 it "sets the header"
20 describe "Router.name"
  20 it "routes"
""",
    )


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ('describe "cors" > it "sets the header"', 6),
        ("cors > sets the header", 6),
        ("cors.sets the header", 6),
        ("describe('cors')", 3),
        ('it "adds %i"', 7),
        ("adds %i", 7),
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


INDEX = """import { legacy, Kept as Old } from './old'
export * as all from './all'
export * from './core'
export type * from './types'
export { a as b, type C, default as D } from './parts'
const own = 1
export { own, legacy }
"""


def test_an_index_file_says_what_it_offers() -> None:
    access = access_to({"index.ts": INDEX})
    check_outline(
        "index.ts",
        INDEX,
        """
imports ./old: legacy, Kept as Old, ./all, ./core, ./types, ./parts
2 export * as all from './all'
3 export * from './core'
4 export type * from './types'
5 export from './parts'
  a as b, type C, default as D
6 const own = 1
7 export
  legacy
""",
    )
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
