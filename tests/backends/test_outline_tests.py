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
describe('a/b works', () => { it(' at / ', () => {}) })
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
23 describe "a/b works"
  23 it "at /"
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


GO = """package a
type (
	ID int
	Opts[T any] struct {
		Base
		*http.Client
		E[int]
		x, y int
	}
	Alias = string
	Check func(a int) error
)
type I interface {
	io.Reader
	~int | string
	M()
}
const (
	A = iota
	B
)
func (o *Opts[T]) Run(ctx context.Context) (int, error) {
	stop := func(a int) int { return 1 }
	var start = func() {
		deep := func() {}
	}
	sort.Slice(x, func(i, j int) bool { return true })
}
func TestRun(t *testing.T) {
	t.Run("sets the header", func(t *testing.T) {
		check := func() {}
		t.Run(`raw "x"`, func(t *testing.T) {})
	})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
		})
	}
}
var _ = Describe("a cart", func() {
	It("adds", func() {})
})
"""


def test_go_shows_what_types_embed_and_what_belongs_to_them() -> None:
    check_outline(
        "a.go",
        GO,
        """
3 type ID int
4-9 type Opts[T any] struct
  5 Base
  6 *http.Client
  7 E[int]
  8 x, y int
  8 x, y int
  22-28 func Run(ctx context.Context) (int, error)
    23 stop := func(a int) int
    24-26 start = func()
      25 deep := func()
10 type Alias = string
11 type Check func(a int) error
13-17 type I interface
  14 io.Reader
  15 ~int | string
  16 M()
19 const A = iota
20 const B
29-38 func TestRun(t *testing.T)
  30-33 t.Run "sets the header"
    31 check := func()
    32 t.Run "raw "x""
  35-36 t.Run "tt.name"
39-41 var _ = Describe("a cart", func() {It("adds", func() {})})
39-41 Describe "a cart"
  40 It "adds"
""",
    )


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


def test_rust_keeps_a_type_and_its_impls_together() -> None:
    check_outline(
        "a.rs",
        """#[derive(Debug)]
pub struct P { x: i32 }
fn outer() {
    fn inner() { let g = |x| x + 1; }
    let k = async move { 1 };
    let mut h = move |a, b| {
        a
    };
}
impl P { pub fn new() -> P { fn z() {} P { x: 1 } } }
#[cfg(test)]
mod tests {
    #[test]
    fn it_works() {}
}
""",
        """
1-2 #[derive(Debug)] pub struct P
  2 x: i32
10 impl P
  10 pub fn new() -> P
    10 fn z()
3-9 fn outer()
  4 fn inner()
    4 let g = |x| x + 1;
  6-8 let mut h = move |a, b|
11-15 #[cfg(test)] mod tests
  13-14 #[test] fn it_works()
""",
    )


def test_ruby_shows_what_calls_define() -> None:
    check_outline(
        "a.rb",
        """class A < B
  include C
  attr_accessor :a, :b
  # The active ones.
  scope :active, -> { where(x: 1) }
  has_many :parts, dependent: :destroy
  define_method("e?") do |x|
    1
  end
  alias c d
  alias_method :f, :g
  private def hidden(x) = 1
end
RSpec.describe A, type: :x do
  describe '#a' do
    context "when it's set" do
      it 'does' do
        expect(1).to eq 1
      end
      it { is_expected.to be }
    end
    def helper; end
  end
end
namespace :db do
  task migrate: [:env] do |t|
  end
end
""",
        """
1-13 class A < B
  3 attr_accessor :a
  3 attr_accessor :b
  5 scope :active, -> {where(x: 1)}  # The active ones.
  6 has_many :parts, dependent: :destroy
  7-9 define_method("e?")
  10 alias c d
  11 alias_method :f, :g
  12 def hidden(x)
14-24 describe "A"
  15-23 describe "#a"
    16-21 context "when it's set"
      17-19 it "does"
    22 def helper
25-28 namespace :db
  26-27 task migrate: [:env]
""",
    )


def test_bash_shows_aliases() -> None:
    check_outline(
        "a.sh",
        "alias ll='ls -l' la=\"ls -a\"\nbuild::all() { alias inner=ls; }\n",
        """
1 alias ll='ls -l'
1 alias la="ls -a"
2 build::all()
  2 alias inner=ls
""",
    )


def test_a_package_of_python_says_what_it_offers() -> None:
    check_outline(
        "__init__.py",
        """from ._api import get, post
from ._models import *

VERSION = "1"
__all__ = [
    "VERSION",
    "get",
    "Response",
]
""",
        """
imports ._api: get, post, ._models: *
4 VERSION = "1"
5-9 __all__ = ["VERSION", "get", "Response"]
  get, Response
""",
    )
    access = access_to({"__init__.py": "__all__ = ['get']\nfrom ._api import *\n"})
    assert access.read_symbol("__init__.py", "get").line == 1
