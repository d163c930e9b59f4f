"""Outlines of languages with small grammars, of markup with scripts, and of what has none."""

import json

import pytest

from foldline.backends.base import languages
from foldline.backends.outlines.symbols import distinct, flatten

from .outlines import access_to, check_outline
from .test_outline_languages import CASES as OLDER

CASES = {
    "a.vue": (
        """<script setup lang="ts">
import { ref } from 'vue'
import Foo from './Foo.vue'
const count = ref(0)
function onClick() { count.value++ }
</script>

<template>
  <div id="app"><Foo @x="a => b" /><my-thing><Foo/></my-thing>
    <template #slot>x</template>
  </div>
</template>

<style scoped>
.a { color: red }
</style>
""",
        """
imports vue: ref, ./Foo.vue: Foo
4 const count = ref(0)
5 function onClick()
8-12 <template> of Foo, my-thing
""",
    ),
    "a.html": (
        """<!doctype html>
<h1 class="x">The
 title</h1>
<div class="c" id="main">
<script>function go() { return 1 }</script>
<script type="application/json">{"function": 1}</script>
<script type="module">
import x from 'y'
export class A { b() {} }
</script>
""",
        """
imports y: x
2 # The title
4 <div class="c" id="main">
5 function go()
9 export class A
  9 b()
""",
    ),
    "a.svelte": (
        """<script>
  export let name;
  const f = () => 1
</script>
{#if name}<h1>Hi {name}</h1>{/if}
""",
        """
2 export let name
3 const f = ()
5 # Hi {name}
""",
    ),
    "a.lua": (
        """-- doc
local M = {}
function M.run(a) end
function M:go(b) return 1 end
local function priv() end
M.f = function(x) end
return M
""",
        """
2 local M = {}
3 function M.run(a) end
4 function M:go(b)
5 local function priv() end
6 M.f = function(x) end
""",
    ),
    "a.tf": (
        """# doc
resource "aws_s3" "b" {
  bucket = "x"
  nested { a = 1 }
}
variable "v" { type = string }
locals {
 a = 1
}
""",
        """
2-5 resource "aws_s3" "b"  # doc
  3 bucket = "x"
  4 nested
    4 a = 1
6 variable "v"
  6 type = string
7-9 locals
  8 a = 1
""",
    ),
    "Makefile": (
        """include x.mk
CC := gcc
# Builds.
all: a b
\t@echo
.PHONY: all
%.o: %.c
\tcc
define foo
x
endef
ifdef X
y z: q
endif
""",
        """
2 CC := gcc
4-5 all: a b  # Builds.
6 .PHONY: all
7-8 %.o: %.c
9-11 define foo x endef
13 y z: q
13 y z: q
""",
    ),
    "Dockerfile": (
        """ARG V=1
FROM python:3 AS base
RUN x
FROM base
ENV A=1 B=2
ENTRYPOINT ["a"]
CMD x
""",
        """
1 ARG V=1
2 FROM python:3 AS base
4 FROM base
5 ENV A=1 B=2
5 ENV A=1 B=2
6 ENTRYPOINT ["a"]
7 CMD x
""",
    ),
    "a.css": (
        """@import 'a';
:root { --x: 1; }
.a, #b > p:hover { color: red }
@media (x) {
 .c { d: e }
}
@keyframes k { from {a:b} }
""",
        """
imports @import 'a'
2 :root
3 .a, #b > p:hover
4-6 @media (x)
  5 .c
7 @keyframes k
""",
    ),
    "a.ex": (
        """defmodule A.B do
  use X
  @doc "x"
  def f(a, b) when a > 1 do
  end
  # says
  defp g, do: 1
  defmacro m(x) do
 end
  describe "a" do
    test "b", %{c: c} do
    end
  end
  @callback insert(t) :: :ok
  @type t :: map
  if X do
    def inner, do: 1
  end
end
""",
        """
1-19 defmodule A.B
  4-5 def f(a, b) when a > 1
  7 defp g, do: 1  # says
  8-9 defmacro m(x)
  10-13 describe "a"
    11-12 test "b"
  14 callback insert(t) :: :ok
  15 type t :: map
  17 def inner, do: 1
""",
    ),
    "a.scala": (
        """package a.b
import c.D
/** x */
@main class A[T](x: Int) extends B {
  val y = 1
  def f(a: Int): Int = a
  case class In(a: Int)
}
trait Tr { def g: Int }
object O extends App { }
enum Color:
  case Red, Green
  case Blue
def top = 1
extension (s: String) def e = 1
""",
        """
imports c.D
4-8 @main class A[T](x: Int) extends B  # x
  5 val y = 1
  6 def f(a: Int): Int
  7 case class In(a: Int)
9 trait Tr
  9 def g: Int
10 object O extends App
11-13 enum Color
  12 Red
  12 Green
  13 Blue
14 def top
15 def e
""",
    ),
    "a.swift": (
        """import Foundation
/// x
@objc public class A<T>: B {
  let x: Int = 1
  var y: Int { 1 }
  init(a: Int) {}
  func f<U>(_ a: Int) -> U { }
  enum E { case a, b(Int) }
}
struct S { }
protocol P { func g(); var z: Int { get } }
extension A: P { }
func top() {}
typealias X = Int
let g = 1
""",
        """
imports Foundation
3-9 @objc public class A<T>: B  # x
  4 let x: Int = 1
  5 var y: Int {1}
  6 init(a: Int)
  7 func f<U>(_ a: Int) -> U
  8 enum E
    8 case a, b(Int)
    8 case a, b(Int)
12 extension A: P
10 struct S
11 protocol P
  11 func g()
  11 var z: Int {get}
13 func top()
14 typealias X = Int
15 let g = 1
""",
    ),
    "a.sql": (
        """-- Users.
CREATE TABLE IF NOT EXISTS a.users (
  id int primary key,
  name text
);
CREATE VIEW v AS SELECT 1;
CREATE OR REPLACE FUNCTION f(a int) RETURNS int AS $$ BEGIN RETURN 1; END; $$ LANGUAGE plpgsql;
CREATE INDEX i ON a(b);
CREATE TRIGGER tr AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION f();
CREATE MATERIALIZED VIEW mv AS SELECT 1;
""",
        """
2-5 CREATE TABLE IF NOT EXISTS a.users
  3 id int primary key
  4 name text
6 CREATE VIEW v AS SELECT 1
7 CREATE OR REPLACE FUNCTION f(a int) RETURNS int
8 CREATE INDEX i ON a(b)
9 CREATE TRIGGER tr AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION f()
10 CREATE MATERIALIZED VIEW mv AS SELECT 1
""",
    ),
    "a.proto": (
        """syntax = "proto3";
message Cart {
  message Line {
    string id = 1;
  }
  repeated Line lines = 1;
}
service Shop {
  rpc Buy (Cart) returns (Cart);
}
""",
        """
(proto is read without a grammar: these are the lines with indented lines below them)
2-7 message Cart {
  3-5 message Line {
8-10 service Shop {
""",
    ),
    "a.graphql": (
        """type Query {
  cart(id: ID!): Cart
}
extend type Cart {
  id: ID
}
""",
        """
(graphql is read without a grammar: these are the lines with indented lines below them)
1-3 type Query {
4-6 extend type Cart {
""",
    ),
}


@pytest.mark.parametrize("path", CASES)
def test_each_language_shows_its_definitions(path: str) -> None:
    check_outline(path, *CASES[path])


@pytest.mark.parametrize("path", [*CASES, *OLDER])
def test_each_name_of_an_outline_is_read_with_its_lines(path: str) -> None:
    text = {**OLDER, **CASES}[path][0]
    lines = text.split("\n")
    access = access_to({path: text})
    for name, located in distinct(flatten(access.get_outline(path).symbols)):
        symbol = located.symbol
        assert symbol.line <= symbol.name_line <= symbol.line_end <= len(lines)
        for outer in located.enclosing:
            assert outer.line <= symbol.line
            assert symbol.line_end <= outer.line_end
        detail = access.read_symbol(path, name)
        assert (detail.line, detail.line_end) == (symbol.line, symbol.line_end)
        assert detail.body.endswith("\n".join(lines[symbol.line - 1 : symbol.line_end]))


def test_references_are_found_in_the_scripts_of_markup() -> None:
    uses = access_to({"a.vue": CASES["a.vue"][0]}).find_references("count")
    assert [(use.line, use.column) for use in uses] == [(4, 7), (5, 22)]


def test_a_language_whose_grammar_is_not_installed_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(languages, "_is_installed", lambda module: "sql" not in module)
    access = access_to({"a.sql": CASES["a.sql"][0]})
    outline = access.get_outline("a.sql")
    assert outline.reason.startswith("sql is read without a grammar; install foldline[grammars]")
    assert [symbol.line for symbol in outline] == [2]
    assert not access.find_references("users")


def test_entries_of_a_lock_file_have_names() -> None:
    text = """version = 1
[[package]]
name = "attrs"
version = "25.1"
dependencies = ["a"]

[[package]]
version = "1"
name = "late"
[[bin]]
path = "x"
"""
    check_outline(
        "uv.lock",
        text,
        """
1 version = 1
2-5 [[package]] attrs
7-9 [[package]]
  8 version = "1"
  9 name = "late"
10-11 [[bin]]
  11 path = "x"
""",
    )
    assert access_to({"uv.lock": text}).read_symbol("uv.lock", "attrs").line == 2


def test_only_small_files_of_yaml_are_listed_three_levels_deep() -> None:
    text = "jobs:\n  build:\n    steps:\n      - run: x\n      - a:\n          b: c\n"
    small = access_to({"a.yml": text}).get_outline("a.yml")
    names = [name for name, _ in distinct(flatten(small.symbols))]
    assert names == ["jobs", "jobs.build", "jobs.build.steps"]
    large = access_to({"a.yml": text + "# x\n" * 2_000}).get_outline("a.yml")
    assert [name for name, _ in distinct(flatten(large.symbols))] == names[:2]


def test_templates_in_scripts_are_no_code() -> None:
    text = '<script type="text/x-template" id="row">\n<p>{{ a</p>\n</script>\n'
    check_outline("a.html", text, '1 <script type="text/x-template" id="row">')


def test_a_notebook_lists_what_its_cells_define() -> None:
    cells = [
        ("markdown", ["# Sales\n", "text\n", "## By *month*"], []),
        ("code", ["%matplotlib inline\n", "import os\n", "def total(x):\n", "    return x\n"], []),
        ("code", ["class A:\n", "    def b(self): ...\n", "!ls"], ["def output(): ...\n"]),
        ("raw", ["def raw(): ...\n"], []),
    ]
    book = {
        "cells": [
            {"cell_type": kind, "outputs": [{"text": outputs}], "source": source}
            for kind, source, outputs in cells
        ],
        "nbformat": 4,
    }
    text = json.dumps(book, indent=1)
    lines = text.split("\n")
    outline = access_to({"a.ipynb": text}).get_outline("a.ipynb")
    assert not outline.reason
    found = {name: located.symbol for name, located in distinct(flatten(outline.symbols))}
    assert list(found) == ["Sales", "By *month*", "total", "A", "A.b"]
    assert all(symbol.signature[:8] in lines[symbol.line - 1] for symbol in found.values())
    assert found["total"].line_end == found["total"].line + 1
    assert "return x" in access_to({"a.ipynb": text}).read_symbol("a.ipynb", "total").body


@pytest.mark.parametrize("text", ["", "[]", '{"cells": [', '"source": [\n"a', "[" * 9_000])
def test_a_broken_notebook_has_no_definitions(text: str) -> None:
    assert not access_to({"a.ipynb": text}).get_outline("a.ipynb").symbols


@pytest.mark.parametrize(
    ("path", "name", "line"),
    [
        ("a.swift", "A.init", 6),
        ("a.swift", "P.z", 11),
        ("a.scala", "Color.Green", 12),
        ("a.sql", "users.name", 4),
        ("a.tf", "resource.aws_s3.b", 2),
        ("a.lua", "M.go", 4),
        ("a.ex", "B.f", 4),
        ("a.vue", "onClick", 5),
        ("a.proto", "Cart.Line", 3),
    ],
)
def test_a_symbol_has_the_name_that_people_use(path: str, name: str, line: int) -> None:
    assert access_to({path: CASES[path][0]}).read_symbol(path, name).line == line


@pytest.mark.parametrize(
    "unit",
    ["<script", "<script>", "<script type='", "\n<template ", "<a id='b", "<h1", '"source": [\n"'],
)
@pytest.mark.parametrize("path", ["a.vue", "a.html", "a.ipynb"])
def test_markup_that_never_ends_takes_linear_time(path: str, unit: str) -> None:
    text = unit * (400_000 // len(unit))
    assert len(access_to({path: text}).get_outline(path).symbols) <= 500
