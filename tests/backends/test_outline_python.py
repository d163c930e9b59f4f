"""Outlines of Python."""

import random
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.backends.files.source import decode
from foldline.backends.outlines.outlines import outline_source

from . import corpora
from .outlines import access_to, definitions, definitions_by_ast, python_files


def test_exports_are_those_of_all() -> None:
    source = '__all__ = ["a", "b"]\n__all__ += ("c",)\n'
    assert access_to({"a.py": source}).get_outline("a.py").exports == ("a", "b", "c")


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
