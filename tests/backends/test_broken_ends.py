"""Where definitions end that their grammar can't read."""

import pytest

from foldline.backends.outlines.outlines import outline_source
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
        "class A { fun a() = 1 }\nobject B { val b = 2 }\nfun c() = 3\n",
        """
1 class A
  1 fun a()
2 object B
  2 val b = 2
3 fun c()
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
    suffix = {"csharp": "cs", "rust": "rs"}.get(language, language)
    opening = {
        "rust": ("int ", "fn "),
        "go": ("int ", "func "),
        "php": ("int ", "function "),
    }.get(language, ("int ", "int "))
    text = BROKEN.replace(*opening)
    text = text if language != "php" else f"<?php\n{text}"
    access = access_to({f"a.{suffix}": text})
    names = [one.name for one in access.get_outline(f"a.{suffix}")]
    for name in ("first", "second", "last"):
        if name not in names:
            continue
        detail = access.read_symbol(f"a.{suffix}", name)
        whole = not brackets.is_cut(detail.body, language)
        assert whole or any("the end may be further down" in note for note in detail.notes)


def test_a_definition_that_was_cut_short_is_ended_by_its_brackets() -> None:
    text = "struct a {\n  int b;\n};\nint f(void) {\n  int x;\n  x = = @;\n  if (x) {\n  }\n}\nint g;\n"
    symbols = outline_source("c", text.encode()).symbols
    cut = [symbol for symbol in symbols if symbol.name != "f"]
    short = symbols[1].__class__("f", "function", 4, 5, "int f(void)", name_line=4)
    inside = short.__class__("x", "variable", 7, 7, "x", name_line=7)
    ended = brackets.end_by_brackets(text.encode(), [cut[0], short, inside, *cut[1:]], "c")
    assert [(one.name, one.line, one.line_end) for one in ended] == [
        ("a", 1, 3),
        ("f", 4, 9),
        ("g", 10, 10),
    ]
    assert [child.name for child in ended[1].children] == ["x"]


def test_a_symbol_without_an_end_says_where_parsing_failed() -> None:
    text = "fn f() {\n  let x = @@ ;;; %% }}{{ fn\n  if x {\n  }\n  struct;\n\nfn g() { }\n"
    detail = access_to({"a.rs": text}).read_symbol("a.rs", "f")
    assert detail.notes == ("parsed with errors (line 2): the end may be further down",)
    sound = access_to({"a.rs": "fn f() {\n  '{'; \"{\"; // {\n}\n"}).read_symbol("a.rs", "f")
    assert not sound.notes


@pytest.mark.parametrize("unit", ["{", "}", "'", '"', "`", "/*", "\\'", "interface A {\n (", "({"])
def test_brackets_of_hostile_sources_take_linear_time(unit: str) -> None:
    data = unit.encode() * (200_000 // len(unit))
    brackets.close(data, "javascript")
    assert len(brackets.mended(data, "typescript")) == len(data)
