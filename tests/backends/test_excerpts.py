"""Excerpts: of a Python file only what holds a name is parsed, and the answer is the same."""

import random
import re
import textwrap
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from foldline.backends.models import Reference
from foldline.backends.outlines.syntax import parse
from foldline.backends.parsers.python_excerpt import excerpt
from foldline.backends.references import references

from .corpora import django

WORD = re.compile(rb"[A-Za-z_]\w*")
NAMES = st.sampled_from(["word", "other", "f", "sword", "größe", "rb"])
LINES = (
    "{a} = {b}",
    "{a} = {b} = 1",
    "{a}: {b} = 2",
    "{a} += {b}",
    "{a}, {b} = 1, 2",
    "from {a} import {b} as {a}",
    "import {a}.{b}",
    "{a}({b}={a})",
    "{a}.{b}()",
    "print({a}, {b}.{a})",
    "# {a}",
    "x = '{a}' + \"{b}\"  # it's {a}",
    "x = f'{{{a}}} {b}'",
    'x = f"{{{a}["{b}"]}}"',
    "x = rf'{{{a}!r:>{{{b}}}}}' f'{{{{{a}}}}}'",
    "x = b'\\'{a}'; {b} = 1",
    "{a} = (\n{b},\n)\n",
    "{a} = [\nz,\n{b}]",
    "assert {a}, \\\n{b}",
    "from {a} import \\\n{b}",
    '"""{a}\nclass {b}:\n    def {a}(self): "\n"""',
    "{a} = '''\n{b} = \"\"\"'''",
    "type {a} = {b}",
    "if {a}: {b}()",
    "global {a}",
    "del {a}",
    "...",
    "",
)
HEADS = (
    "def {a}({b}, *, x={a}):",
    "async def {a}({b}) -> {a}:",
    "@{a}\ndef {b}(x):",
    "@{a}(\n{b}\n)\n# {a}\n@x\nclass {b}:",
    "class {a}:",
    "class {a}({b}):  # {a}",
    "class {a}(\n    {b},\n    x=1,\n):",
    "class {a}[{b}]:",
    "if {a}:",
    "if x:\n    pass\nelif {a}:",
    "if x:\n    {b}\nelse:",
    "try:\n    {a}\nexcept {b} as {a}:",
    "try:\n    x\nfinally:",
    "for {a} in {b}:",
    "while {a}:",
    "with {a} as {b}:",
    "match {a}:\n    case {b}:\n        pass\nif 1:",
)


@st.composite
def statements(draw: st.DrawFn, depth: int = 3) -> str:
    """Some statements, in which the names stand for one another."""
    blocks = []
    for _ in range(draw(st.integers(1, 4))):
        names = {"a": draw(NAMES), "b": draw(NAMES)}
        if depth and draw(st.booleans()):
            head = draw(st.sampled_from(HEADS)).format(**names)
            body = draw(statements(depth - 1))
            # What is in a string is indented with it: that is a string, too.
            blocks.append(head + "\n" + textwrap.indent(f"{body}\npass", "    "))
        else:
            blocks.append(draw(st.sampled_from(LINES)).format(**names))
    return "\n".join(blocks)


def check_same(source: str, name: str) -> None:
    """The uses of `name` are those in the tree of the whole source."""
    data = source.encode()
    found = references.references_in_source("a.py", "python", data, name)
    assert found == of_whole(data, name), source


def of_whole(data: bytes, name: str) -> list[Reference]:
    with patch.object(references, "excerpt", lambda source, _: source):
        return references.references_in_source("a.py", "python", data, name)


@given(statements(), st.sampled_from(["word", "f", "größe"]))
def test_an_excerpt_has_the_same_names_with_the_same_labels(source: str, name: str) -> None:
    if not parse("python", source.encode()).root_node.has_error:
        check_same(source, name)


@given(statements(), st.integers(0, 400), st.sampled_from(["(", '"""', "'", "}", "\\", "\n"]))
def test_of_broken_code_every_name_is_found(source: str, place: int, broken: str) -> None:
    data = (source[:place] + broken + source[place:]).encode()
    found = references.references_in_source("a.py", "python", data, "word")
    lines = data.decode().split("\n")
    for reference in found:
        assert lines[reference.line - 1][reference.column - 1 : reference.column_end - 1] == "word"
    if parse("python", data).root_node.has_error:
        return
    assert found == of_whole(data, "word")


def test_on_django_an_excerpt_gives_the_answers_of_the_whole_file() -> None:
    chosen = random.Random(1)
    files = sorted(django().rglob("*.py"))
    parts = wholes = 0
    for file in chosen.sample(files, 700):
        data = file.read_bytes().replace(b"\r\n", b"\n")
        words = WORD.findall(data)
        if not words or not data.isascii():
            continue
        name = chosen.choice(words).decode()
        check_same(data.decode(), name)
        wholes += len(data)
        parts += len(excerpt(data, [match.start() for match in re.finditer(name.encode(), data)]))
    assert parts < wholes * 0.6


def test_only_the_members_that_hold_the_name_are_kept() -> None:
    source = textwrap.dedent("""\
        import a
        x = 1
        class C(a.B):
            "C."
            y = 2
            @a
            def f(self):
                return y
            def g(self):
                return word
            z = 3
        def h(): ...
        """).encode()
    assert excerpt(source, [source.index(b"word")]).decode() == textwrap.dedent("""\
        pass

        class C(a.B):
            "C."
            pass



            def g(self):
                return word
            pass
        """)


def test_a_variable_that_was_assigned_above_is_no_symbol_below() -> None:
    check_same("x = 1\ndef f(): ...\nx = word\n", "word")
    check_same("x = 1\nclass A:\n    x = word\n    def f(): ...\n    x = word\n", "word")


def test_a_statement_does_not_start_where_a_line_is_continued() -> None:
    check_same("from a import \\\nword\n", "word")


def test_a_quote_in_a_field_of_a_formatted_string_does_not_end_it() -> None:
    quoted = """x = f"{d["'''"]}"\n"""
    check_same(f"{quoted}text = '''\na = word\nb = 1\n'''\n{quoted}", "word")
