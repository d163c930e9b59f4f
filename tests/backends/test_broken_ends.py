"""Where definitions end that their grammar can't read."""

import re

import pytest

from foldline.backends.outlines.outlines import outline_source
from foldline.backends.outlines.symbols import flatten
from foldline.backends.parsers import brackets

from .outlines import access_to, check_outline

SIGNATURES = "".join(
    f"  // handlers {count}\n  <P{count} extends string, M = any>(\n    path: P{count},\n"
    f"    ...handlers: [H<M>, H<P{count}>]\n  ): Router<E, S & {{ at: P{count} }}>\n\n"
    for count in range(160)
)


def test_an_interface_of_call_signatures_is_whole() -> None:
    text = f"export interface Handler<E> {{\n{SIGNATURES}  go(): E\n}}\n\nexport class B {{}}\n"
    access = access_to({"a.ts": text})
    outline = access.get_outline("a.ts")
    count = text.count("\n")
    assert [(one.name, one.line, one.line_end) for one in outline] == [
        ("Handler", 1, count - 2),
        ("B", count, count),
    ]
    assert count > 900
    assert not outline.reason
    assert access.read_symbol("a.ts", "Handler.go").line == count - 3
    detail = access.read_symbol("a.ts", "Handler")
    assert detail.body == text[: text.index("\n\nexport class")]


def test_signatures_that_go_on_are_not_cut() -> None:
    source = b"interface A {\n  a:\n    (x: B) => C\n  (d: E):\n    <F>(g: F) => H\n}\n"
    assert brackets.mended(source, "typescript") == source.replace(b"  (d", b" ;(d")
    assert not outline_source("typescript", source).reason


def test_kotlin_classes_on_one_line() -> None:
    check_outline(
        "a.kt",
        "class A { fun a() = 1 }\nobject B { val b = 2 }\nfun c() = 3\ntypealias D = A\n",
        """
1 class A
  1 fun a()
2 object B
  2 val b = 2
3 fun c()
4 typealias D = A
""",
    )


BROKEN = """int first(int a) {
  return a;
}

int second(int a) {
  if (a) { /* } */
    )) @@ ## "}" '}' else
  } $$ ))
  int b;
  int third(void) }} {;
  return 1;
}

int last(void) { return 2; }
"""


@pytest.mark.parametrize("language", ["c", "cpp", "java", "csharp", "rust", "go", "php"])
def test_an_end_that_was_lost_is_found_or_the_symbol_says_so(language: str) -> None:
    path = f"a.{ {'csharp': 'cs', 'rust': 'rs'}.get(language, language) }"
    word = {"rust": "fn", "go": "func", "php": "function"}.get(language, "int")
    text = ("<?php\n" if language == "php" else "") + re.sub("^int", word, BROKEN, flags=re.M)
    access = access_to({path: text})
    lines = text.split("\n")
    for symbol in access.get_outline(path):
        detail = access.read_symbol(path, symbol.name)
        end = brackets.end_of(lines, detail.line, detail.line_end, language)
        assert end == detail.line_end or any("further down" in note for note in detail.notes)


UNCLOSED = (
    "class A {\n  int f(int x) {\n    if (x) {\n    return 1;\n  }\n}\n\n"
    "class B : E {\n  int g() {}\n}\n"
)
LOST = {
    "a.java": (
        UNCLOSED.replace(":", "extends"),
        "A 1-7 f 2-6 B 8-10 g 9-9",
        "line 10): something may be missing",
    ),
    "a.cs": (UNCLOSED, "f 2-6 B 8-10 g 9-9", "line 1): 1 line left out"),
    "a.ts": (
        UNCLOSED.replace("int ", "").replace("x)", "x: number)", 1).replace(":", "extends"),
        "A 1-7 f 2-6 B 8-10 g 9-9",
        "line 2): something may be missing",
    ),
    "a.kt": (
        "actual class A\ninternal actual constructor(\n  internal actual val a: Int,\n) : B<A> {\n"
        "  // f\n  fun f() = 1\n  fun g() = 2\n}\n",
        "A 1-1",
        "line 2): 6 lines left out",
    ),
    "a.cpp": (
        "namespace n {\nclass A {\n  A(int a)\n      :\n#if DEBUG\n        a_(a),\n#else\n"
        "        b_(a),\n#endif\n        c_(a) {}\n  int f() LOCKED_BY(mu_);\n"
        "  int c_ GUARDED_BY(mu_);\n};\n"
        "class B {};\n}\n",
        "n 1-15 A 2-13 A 3-10 f 11-11 c_ 12-12 B 14-14",
        "",
    ),
}


@pytest.mark.parametrize("path", LOST)
def test_a_broken_source_nests_no_type_that_is_not_indented_and_says_what_is_lost(
    path: str,
) -> None:
    text, expected, reason = LOST[path]
    outline = access_to({path: text}).get_outline(path)
    symbols = [one.symbol for one in flatten(outline.symbols)]
    assert " ".join(f"{one.name} {one.line}-{one.line_end}" for one in symbols) == expected
    assert outline.reason.removeprefix("parsed with errors (") == reason


def test_a_definition_that_was_cut_short_is_ended_by_its_brackets() -> None:
    text = "fn a() {\n  let c = '}';\n  if c {\n  }\n  // }\n}\n\nfn b() {}\n"
    assert brackets.end_of(text.split("\n"), 1, 2, "rust") == 6
    assert brackets.end_of(["int f() {", "  a;", "  b;", "}", "int g;"], 1, 2, "c") == 4
    assert brackets.end_of(["int f() {", "  a;", "  b;", "  }", "int g;"], 1, 2, "c") is None
    assert brackets.end_of(["int f() {", "  a;"], 1, 2, "c") is None
    assert brackets.end_of(["int f();", "int g() {", "}"], 1, 1, "c") == 1
    assert brackets.end_of(["def f {", "end"], 1, 1, "ruby") == 1


def test_a_symbol_without_an_end_says_where_parsing_failed() -> None:
    text = "fn f() {\n  let x = @@ ;;; %% }}{{ fn\n  if x {\n  }\n  struct;\n\nfn g() { }\n"
    detail = access_to({"a.rs": text}).read_symbol("a.rs", "f")
    assert detail.notes == ("parsed with errors (line 2): the end may be further down",)
    sound = access_to({"a.rs": "fn f() {\n  '{'; \"{\"; // {\n}\n"}).read_symbol("a.rs", "f")
    assert not sound.notes


@pytest.mark.parametrize(
    "unit", ["{", "}", "'", '"', "`", "/*", "\\'", "interface A {\n (", "({", ",\n#if\n#else\n"]
)
def test_brackets_of_hostile_sources_take_linear_time(unit: str) -> None:
    data = unit.encode() * (200_000 // len(unit))
    brackets.end_of(data.decode().split("\n"), 1, 1, "javascript")
    assert {len(brackets.mended(data, one)) for one in ("typescript", "cpp")} == {len(data)}
