"""Outlines of Python."""

import random
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.backends.files.source import decode
from foldline.backends.outlines.outlines import outline_source

from . import corpora
from .outlines import access_to, check_outline, definitions, definitions_by_ast, python_files


def test_definitions_of_every_kind() -> None:
    check_outline(
        "a.py",
        '''
"""A module."""
import os, sys as system
from . import sibling
from .models import (
    A,
    B as C,  # why
)

__all__ = ["Thing", "make"]
__all__ += ["more"]
LIMIT: int = 3
first, (second, third) = 1, (2, 3)
type Alias[T] = list[T]


@dataclass(frozen=True)
class Thing(Base, metaclass=Meta):
    r"""A thing."""

    name: str
    size: int = field(default=0)
    x = y = None

    @property
    def area(self): ...

    @area.setter
    def area(self, value): ...

    @overload
    def get(self, key: str) -> str: ...
    @overload
    def get(self, key: int) -> int: ...
    def get(self, key): return key

    class Meta:
        ordering = ["name"]

    async def run(
        self,
        *args: int,
        flag: bool = True,  # a comment, with (brackets
        **kw: "dict[str, int]",
    ) -> None:
        """Runs."""
        def inner():
            class Deep:
                def deepest(self): ...

    match = lambda self: 1

class Color(Enum):
    RED = 1

def make[T](x: T, /, *, y="a#b") -> T: return x
''',
        """
imports os, sys as system, .: sibling, .models: A, B as C
10 __all__ = ["Thing", "make"]
  more
12 LIMIT: int = 3
13 first, (second, third) = 1, (2, 3)
13 first, (second, third) = 1, (2, 3)
13 first, (second, third) = 1, (2, 3)
14 type Alias[T] = list[T]
17-51 @dataclass(frozen=True) class Thing(Base, metaclass=Meta)  # A thing.
  21 name: str
  22 size: int = field(default=0)
  23 x = y = None
  23 x = y = None
  25-26 @property def area(self)
  28-29 @area.setter def area(self, value)
  31-32 @overload def get(self, key: str) -> str
  33-34 @overload def get(self, key: int) -> int
  35 def get(self, key)
  37-38 class Meta
    38 ordering = ["name"]
  40-49 async def run(self, *args: int, flag: bool = True, **kw: "dict[str, int]") -> None  # Runs.
    47-49 def inner()
      48-49 class Deep
        49 def deepest(self)
  51 match = lambda self: 1
53-54 class Color(Enum)
  54 RED = 1
56 def make[T](x: T, /, *, y="a#b") -> T
""",
    )


def test_exports_are_those_of_all() -> None:
    source = '__all__ = ["a", "b"]\n__all__ += ("c",)\n'
    assert access_to({"a.py": source}).get_outline("a.py").exports == ("a", "b", "c")


def test_definitions_in_compound_statements_belong_to_the_scope_around() -> None:
    check_outline(
        "a.py",
        """
if TYPE_CHECKING:
    from a import B
    X = int
else:
    X = str
    def fallback(): ...
try:
    import fast
except ImportError:
    class Slow: ...
finally:
    with x as y:
        for i in z:
            async def deep(): ...
match 1:
    case 1:
        def matched(): ...
""",
        """
imports a: B, fast
4 X = int
7 def fallback()
11 class Slow
15 async def deep()
18 def matched()
""",
    )


def test_assignments_in_functions_are_no_symbols() -> None:
    check_outline("a.py", "def f():\n    x = 1\n    if x:\n        y = 2\n", "1-4 def f()")


def test_a_broken_function_hides_no_other() -> None:
    outline = access_to(
        {
            "a.py": """
def before(): ...
@mark
def broken(a, b:
    x = (1,
class After:
    value: int = 1
    def method(self): ...
    if value:
        def conditional(self): ...
def last(): return '''never closed
"""
        }
    ).get_outline("a.py")
    names = [symbol.name for symbol in outline]
    assert names == ["before", "broken", "After", "last"]
    children = [child.name for child in outline.symbols[2].children]
    assert children[-2:] == ["method", "conditional"]
    assert "errors" in outline.reason


def test_a_docstring_is_a_plain_string_that_comes_first() -> None:
    check_outline(
        "a.py",
        '''
def a():
    # a comment
    """

    Second line \\\\ escaped.
    """
def b(): f"""no"""
def c(): b"no"
def d():
    x = 1
    "no"
''',
        r"""
2-7 def a()  # Second line \ escaped.
8 def b()
9 def c()
10-12 def d()
""",
    )


def test_depth_of_nesting_is_no_limit() -> None:
    depth = 3000
    source = "".join(" " * n + "if x:\n" for n in range(depth)) + " " * depth + "def f(): ...\n"
    outline = outline_source("python", source.encode())
    assert [symbol.name for symbol in outline.symbols] == ["f"]
    source = "".join(" " * n + f"class C{n}:\n" for n in range(500)) + " " * 500 + "pass\n"
    found = access_to({"a.py": source}).get_outline("a.py")
    assert found.symbols[0].name == "C0"
    brackets = "x = " + "(" * 20_000 + ")" * 20_000 + "\ndef f(): ...\n"
    assert "f" in [item.name for item in outline_source("python", brackets.encode()).symbols]


def test_a_line_of_ten_thousand_columns_stays_short_in_the_outline() -> None:
    source = f"x = [{'1, ' * 3400}]\ndef f({', '.join(f'a{n}' for n in range(2500))}): ...\n"
    (variable, function) = access_to({"a.py": source}).get_outline("a.py")
    assert len(variable.signature) <= 60
    assert function.name == "f"


def test_an_empty_file_says_why_there_is_nothing() -> None:
    outline = access_to({"a.py": "# only a comment\n"}).get_outline("a.py")
    assert (outline.symbols, outline.reason) == ((), "defines nothing")


JUNK = ['"""', "'", "(", "[", "{", ")", "def ", "class", "\\", "\n", "\t", ":", "\0", "#", "f'{"]
SAMPLES = [
    path
    for path in python_files(corpora.standard_library())
    if path.stat().st_size < 60_000 and "test" not in path.parts
]


@example(seed=0)
@given(seed=st.integers(0, 2**32))
def test_damage_never_hides_a_definition_above_it(seed: int) -> None:
    chance = random.Random(seed)
    path = chance.choice(SAMPLES)
    data = decode(str(path), path.read_bytes()).parse_data
    try:
        wanted = definitions_by_ast(data)
    except SyntaxError:
        return
    place = chance.randrange(len(data) + 1)
    cut = chance.choice([len(data), chance.randrange(40), chance.randrange(400), 0])
    junk = "".join(chance.choices(JUNK, k=chance.randrange(3))).encode()
    damaged = data[:place] + junk + data[place + cut :]
    row = data.count(b"\n", 0, place) + 1
    found = {(name, line) for _, _, name, line in definitions(damaged)}
    missing = {(name, line) for _, _, name, line in wanted if line < row} - found
    assert not missing, f"{path} damaged at byte {place}, line {row}"


@pytest.mark.parametrize("corpus", ["standard library", "django"])
@pytest.mark.timeout(600)
def test_real_code_has_the_definitions_that_ast_sees(corpus: str) -> None:
    root = corpora.django() if corpus == "django" else corpora.standard_library()
    compared = 0
    different: list[str] = []
    for path in corpora.some(python_files(root)):
        raw = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                wanted = definitions_by_ast(raw)
            except (SyntaxError, ValueError):
                continue  # A test's example of broken code.
        compared += 1
        if definitions(decode(str(path), raw).parse_data) != wanted:
            different.append(str(path))
    assert not different
    assert compared > 250
