"""Bases, implementations and calls by syntax alone, against trees, parsers and sources of our own.

Sources are put together at random of the forms of a language, so what each of them means is known.
"""

from __future__ import annotations

import ast
import random
import sysconfig
from pathlib import Path
from typing import NamedTuple

import pytest

from foldline.backends import MemoryFileBackend, SmartFileAccess
from foldline.backends.models import ReferenceKind
from foldline.backends.references.bases import types_in_source
from foldline.backends.references.references import references_in_source

SITE = Path(sysconfig.get_path("purelib"))
# In a form `{n}` is a type with the bases `{b}` and `{o}`; `{x}` is never a base. Where there is no
# `{n}`, the type has no name.
FORMS = {
    "python": (
        ".py",
        [
            "class {n}({b}, mod.{o}[{x}], metaclass={x}, flag=[{x}]): pass",
            "class {n}[T: {x}]({b}[{x}, int], {o}): y: {x} = {x}()",
            "def f(x: {x} = {x}()) -> {x}: return [{x} for _ in {x}]",
            "class {n}({b}, {o}): # {x}, {x}",
        ],
    ),
    "javascript": (
        ".js",
        [
            "class {n} extends ns.{b} {{ m() {{ return {x} }} }}",
            "const {n} = class extends {b} {{}}; new {x}()",
            "f(class extends {b} {{ y = {x} }})",
            "// class Z extends {x} {{}}",
            "const s{i} = 'class Z extends {x}', z{i} = {{ {x} }}",
        ],
    ),
    "typescript": (
        ".ts",
        [
            "abstract class {n}<T extends {x}> extends {b}<{x}> implements ns.{o}<T, {x}> {{}}",
            "interface {n}<T = {x}> extends {b}<{x}>, {o} {{ a: {x} }}",
            "export default class {n} implements {b}, {o} {{ constructor(private a: {x}) {{}} }}",
            "const v{i} = new (class extends {b}<{x}> implements {o} {{}})()",
            "type {n}<T> = {b}<{x}> & ns.{o} & {{ a: {x} }}",
            "type A{i} = {x} | {x}[]; let u{i}: {x} & {{ a: {x} }}",
        ],
    ),
    "java": (
        ".java",
        [
            "class {n}<T extends {x}> extends p.{b}<{x}> implements {o}<T> {{ {x} a; }}",
            "record {n}({x} a) implements {b}, {o}<{x}> {{}}",
            "enum {n} implements {b}, {o} {{ A, B }}",
            "sealed interface {n} extends {b}<{x}>, {o} permits {x} {{}}",
            "class W{i} {{ Object f({x} y) {{ return new {b}<{x}>({x}.a) {{ int g; }}; }} }}",
            "class W{i} {{ List<{x}> a = new ArrayList<{x}>(); {x} b = new {x}(); }}",
            '/* class Z extends {x} */ class W{i} {{ String s = "class Z implements {x} {{"; }}',
        ],
    ),
    "kotlin": (
        ".kt",
        [
            "class {n}<T : {x}>(a: {x}) : p.{b}<{x}>(a), {o} by a",
            "object {n} : {b}(), {o}<{x}>",
            "interface {n} : {b}<{x}>, {o}",
            "enum class {n} : {b}, {o} {{ A }}",
            "val v{i}: {x} = object : {b}<{x}>({x}), {o} {{ }}",
            "class W{i} {{\n    companion object : {b}()\n}}",
            "fun f{i}(a: {x}): {x} = {x}()",
        ],
    ),
    "scala": (
        ".scala",
        [
            "class {n}[T <: {x}](a: {x}) extends p.{b}[{x}](a) with {o}[T]",
            "object {n} extends {b} with {o} {{ val a: {x} = {x} }}",
            "trait {n} extends {b}[{x}] with {o}",
            "object W{i} {{ val a = new {b}[{x}] with {o} {{ val c: {x} }} }}",
            "object W{i} {{ val a: {x} = new {x}(1); def f(a: {x}): {x} = a }}",
        ],
    ),
    "swift": (
        ".swift",
        [
            "class {n}<T: {x}>: p.{b}<{x}>, {o} {{ var a: {x} }}",
            "enum {n}: {b}, {o} {{ case a({x}) }}",
            "enum {n}: Int, {b} {{ case a }}",
            "struct {n}: {b}, {o} where T: {x} {{ }}",
            "extension {n}: {b}, {o} {{ }}",
            "protocol {n}: {b}, {o} {{ }}",
            "func f{i}(a: {x}) -> {x} {{ return {x}() }}",
        ],
    ),
    "csharp": (
        ".cs",
        [
            "class {n}<T> : p.{b}<{x}>, {o}<T> where T : {x} {{ {x} a; }}",
            "record {n}({x} a) : {b}(a), {o};",
            "struct {n} : {b}, {o} {{ {x} f({x} a) => new {x}(); }}",
            "interface {n} : {b}<{x}>, {o} {{ }}",
        ],
    ),
    "php": (
        ".php",
        [
            "class {n} extends p\\{b} implements {o} {{ function f({x} $a): {x} {{ new {x}; }} }}",
            "interface {n} extends {b}, \\p\\{o} {{}}",
            "enum {n}: string implements {b}, {o} {{ case A = {x}::B; }}",
            "trait {n} {{ use {b}, {o} {{ a as b; }} }}",
            "$v{i} = new class({x}::a) extends {b} implements {o} {{ }};",
            "class W{i} {{ use {o}; private {x} $a; const B = {x}::C; }}",
        ],
    ),
    "ruby": (
        ".rb",
        [
            "class {n} < M::{b}; include {o}; X = {x}.new; end",
            "class {n}; extend {b}; prepend {o}; def f; {x}.new({x}); end; end",
            "module {n}; include {b}, {o}; end",
            "{n} = Class.new({b}) do {x}.include?({x}) end; {n}.include({o})",
            "Class.new({b}) {{ {x} }}",
            "{n} = {b}.new(:a, {x}) do {x}.new end; c = {x}.new(:a); D = {x}.new({x})",
            "describe({x}) {{ include M::{b} }}",
            "{n}.send(:include, {b}); {n}.extend M::{o}",
            "puts {x}; foo({x}, a: {x}); rescue_from {x}",
            "expect(a).to include({x}); expect(a).not_to include {x}, M::{x}",
        ],
    ),
    "go": (
        ".go",
        [
            "type {n} struct {{ {b}; a {x}; *p.{o} }}",
            "type {n}[T {x}] interface {{ {b}; f({x}) {x}; p.{o} }}",
            'type ( {n} struct {{ a, b map[{x}]{x}; {b}[{x}]; {o} `json:"{x}"` }} )',
            "func f{i}(a {x}) {x} {{ return {x}{{a: {x}}} }}",
            "type W{i} interface {{ ~int | {x} }}",
        ],
    ),
    "rust": (
        ".rs",
        [
            "impl<T: {x}> p::{b}<{x}> for {n}<T> where T: {x} {{ fn f(a: {x}) -> {x} {{}} }}",
            "trait {n}: {b} + p::{o}<{x}> + ?Sized {{ type A: {x}; }}",
            "fn f{i}(a: impl {x}) {{ struct {n}; impl {b} for {n} {{}} }}",
            "impl {b} for &'a mut {n} {{ }}",
            "struct W{i}<T: {x}> {{ a: Box<dyn {x}> }}",
        ],
    ),
    "cpp": (
        ".cpp",
        [
            "class {n} final : public p::{b}<{x}>, virtual private {o} {{ {x} a; }};",
            "template <class T = {x}> struct {n} : {b}<T, {x}>, {o} {{ {x} f({x} a); }};",
            "namespace w{i} {{ struct {n} : {b}, {o} {{ enum E : {x} {{ A }}; }}; }}",
            "{x} *f{i}({x} a) {{ class {x} *b; return new {x}(); }}",
        ],
    ),
}
HEADS = {"php": "<?php\n", "go": "package a\n"}


class Made(NamedTuple):
    """A source with what its types are: a name, a base and a line for each."""

    text: str
    bases: set[tuple[str, str, int]]


def made(language: str, seed: int, names: list[str]) -> Made:
    """A source of random forms, one a line."""
    chance = random.Random(seed)
    forms = FORMS[language][1]
    text, bases = HEADS.get(language, ""), set()
    for i in range(chance.randrange(1, 8)):
        form = chance.choice(forms)
        name, base, other, extra = chance.sample(names, 4)
        line = (text + form.partition("{n}" if "{n}" in form else "{b}")[0]).count("\n") + 1
        text += form.format(n=name, b=base, o=other, x=extra, i=i)
        text += "\n    pass\n" if text.endswith(": # " + f"{extra}, {extra}") else "\n"
        own = name if "{n}" in form else f"W{i}" if "use {o}" in form else ""
        bases |= {(own, base, line)} if "{b}" in form else set()
        bases |= {(own, other, line)} if "{o}" in form else set()
    return Made(text, bases)


NAMES = [f"{word}{n}" for word in ("Cart", "Till", "Shop") for n in range(5)]


@pytest.mark.parametrize("language", FORMS)
@pytest.mark.parametrize("count", [60, pytest.param(2_000, marks=pytest.mark.slow)])
def test_the_bases_of_any_source_are_those_of_its_forms(language: str, count: int) -> None:
    for seed in range(count):
        text, expected, *_ = made(language, seed, NAMES)
        types = types_in_source("a", language, text.encode()).types
        found = {
            (one.name, base.rpartition(".")[2], one.place.line)
            for one in types
            for base in one.bases
        }
        assert found == expected, text


@pytest.mark.parametrize("language", FORMS)
def test_a_use_as_a_base_is_told_and_no_other_is(language: str) -> None:
    told = set()
    for form in FORMS[language][1]:
        text = "<?php\n" * (language == "php") + form.format(n="Kid", b="Up", o="Top", x="No", i=1)
        for name in ("Up", "Top", "No"):
            uses = references_in_source("a", language, text.encode(), name)
            told |= {name for use in uses if use.kind == ReferenceKind.BASE}
    # What Go embeds is a field, and `use` of Elixir and `include` of Ruby are calls.
    some: dict[str, set[str]] = {"ruby": {"Up"}, "javascript": {"Up"}, "go": set(), "elixir": set()}
    assert told == some.get(language, {"Up", "Top"})


@pytest.mark.parametrize("language", FORMS)
def test_implementations_by_name_are_all_heirs_and_nothing_else(language: str) -> None:
    for seed in range(4):
        chance = random.Random(seed)
        sources = [made(language, chance.randrange(1 << 30), NAMES) for _ in range(4)]
        ending = FORMS[language][0]
        files = {f"f{n}{ending}": source.text for n, source in enumerate(sources)}
        pairs = [
            (path, *one)
            for path, source in zip(files, sources, strict=True)
            for one in source.bases
        ]
        access = SmartFileAccess(MemoryFileBackend(files))
        for asked in chance.sample(NAMES, 5):
            defined = [(path, line, asked) for path, name, _, line in pairs if name == asked]
            if not defined:
                continue
            place = chance.choice(sorted(defined))
            heirs: set[tuple[str, str, str, int]] = set()
            waiting = [asked]
            for base in waiting:
                new = {one for one in pairs if one[2] == base} - heirs
                heirs |= new
                if language != "rust":
                    waiting += {name for _, name, _, _ in new if name and name not in waiting}
            expected = {(path, line) for path, _, _, line in heirs} - {place[:2]}
            found = access.find_implementations(*place, seconds=0)
            assert {(one.path, one.line) for one in found} == expected, (asked, files)
            assert found.coverage.startswith("partial: by name alone")


OVERRIDES = {
    "java": (
        "interface S { int f(); }\n"
        "class A {\n    S s = new S() {\n        public int f() { return g.f(); }\n    };\n"
        "    void h() {\n        class L implements S {\n            public int f() { return 1; }\n"
        "        }\n        s.f();\n    }\n}\n"
        "enum E implements S {\n    X { public int f() { return 2; } };\n}\n",
        [4, 8, 14],
    ),
    "rust": (
        "trait S { fn f(&self) -> u8; }\n"
        "fn g() {\n    struct L;\n    impl S for L {\n        fn f(&self) -> u8 { x.f() }\n    }\n"
        "}\nstruct O;\nimpl O {\n    fn f(&self) {}\n}\n"
        "impl S for O {\n    fn f(&self) -> u8 { 1 }\n}\n",
        [5, 13],
    ),
    "python": (
        "class S:\n    def f(self): ...\nclass A(S):\n    def f(self): return self.f()\n"
        "class B:\n    def f(self): ...\ndef g():\n    class C(A):\n        def f(self): ...\n",
        [4, 9],
    ),
    "ruby": (
        "module S\n  def f\n  end\nend\nclass A\n  include S\n  def f\n    1\n  end\nend\n"
        "class B\n  def f\n  end\nend\n",
        [7],
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", OVERRIDES)
def test_overrides_by_name_are_those_in_heirs_also_local_and_nameless_ones(language: str) -> None:
    text, lines = OVERRIDES[language]
    path = f"a{FORMS[language][0]}"
    access = SmartFileAccess(MemoryFileBackend({path: text}))
    place = access.find_position(path, "S.f")
    found = access.find_implementations(*place.at, seconds=0)
    assert [one.line for one in found] == lines


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("a.java", "class S {\n  S() {}\n  static class C extends S { C() {} }\n}\n", [3]),
        ("a.cs", "class S {\n  S() {}\n  class C : S { C() {} }\n}\n", [3]),
        ("a.java", "enum S {\n  A { int f() {} },\n  B,\n  C { int f() {} };\n}\n", [2, 4]),
    ],
)
def test_heirs_inside_of_their_base_are_found(path: str, text: str, lines: list[int]) -> None:
    access = SmartFileAccess(MemoryFileBackend({path: text}))
    found = access.find_implementations(path, 1, "S", seconds=0)
    assert [one.line for one in found] == lines


@pytest.mark.parametrize(
    ("base", "user"),
    [
        ("class Base: ...\n", "from base import Base as B\nclass Kid(B): ...\n"),
        ("export class Base {}\n", "import { Base as B } from './base'\nclass Kid extends B {}\n"),
        (
            "class Base {}\nmodule.exports = { Base }\n",
            "const { Base: B } = require('./base')\nclass Kid extends B {}\n",
        ),
        ("pub trait Base {}\n", "use crate::base::Base as B;\nimpl B for Kid {}\n"),
        ("<?php\nclass Base {}\n", "<?php use a\\Base as B;\nclass Kid extends B {}\n"),
        ("open class Base\n", "import a.Base as B\nclass Kid : B()\n"),
    ],
    ids=["py", "ts", "js", "rs", "php", "kt"],
)
def test_an_heir_under_another_name_is_found(
    base: str, user: str, request: pytest.FixtureRequest
) -> None:
    ending = request.node.callspec.id
    files = {f"base.{ending}": base, f"user.{ending}": user}
    access = SmartFileAccess(MemoryFileBackend(files))
    place = access.find_position(f"base.{ending}", "Base")
    found = access.find_implementations(*place.at, seconds=0)
    assert [(one.path, one.line) for one in found] == [(f"user.{ending}", 2)]


@pytest.mark.parametrize("path", ["a.vue", "a.svelte", "a.ts", "a.h"])
def test_a_member_is_found_in_the_base_whatever_kind_of_file_it_is(path: str) -> None:
    text = "class Base {\n  go() {}\n}\nclass Kid extends Base {}\n"
    if path == "a.h":
        text = "class Base {\n  void go();\n};\nclass M_API Kid : public Base {};\n"
    elif path != "a.ts":
        text = f"<script lang='ts'>{text}</script>\n"
    access = SmartFileAccess(MemoryFileBackend({path: text}))
    assert access.find_position(path, "Kid.go").line == 2
    found = access.find_implementations(path, 1, "Base", seconds=0)
    assert [one.line for one in found] == [4]


def test_types_of_one_name_are_told_not_to_be_told_apart() -> None:
    text = "interface I { }\ninterface I<T> { }\nclass A : I { }\nclass B : I<int> { }\n"
    access = SmartFileAccess(MemoryFileBackend({"a.cs": text}))
    found = access.find_implementations("a.cs", 2, "I", seconds=0)
    assert [one.line for one in found] == [3, 4]
    assert found.reason.startswith("those of lines 1, 2 aren't told apart; ")


def test_what_was_not_looked_at_is_named() -> None:
    files = {
        "a.lua": "function Base()\nend\n",
        "b.kt": "class K : Base()\n",
        "c.kt": "class L : Base() {\n    fun (\n",
        **{f"{n}.lua": "Base()\n" for n in "defg"},
    }
    access = SmartFileAccess(MemoryFileBackend(files))
    found = access.find_implementations("a.lua", 1, "Base", seconds=0)
    assert [one.path for one in found] == ["b.kt", "c.kt"]
    assert found.coverage.partition("; ")[2] == (
        "not looked at: lambdas, a.lua, d.lua, e.lua, 2 more files, what doesn't parse in 1 file"
    )
    del files["b.kt"], files["c.kt"]
    access = SmartFileAccess(MemoryFileBackend(files))
    found = access.find_implementations("a.lua", 1, "Base", seconds=0)
    assert found.reason.startswith("none found by name in any file with 'Base' in code; ")


NAMESAKES = {
    "a.rb": (
        "module A\n  module S; end\n  class C; include S; end\nend\n"
        "module B\n  module S; end\n  class D; include S; end\nend\n"
        "class E; include B::S; end\nclass F; include A::S; end\n"
        "describe('x') do\n  include A::S\nend\nclass G < C; end\n",
        [3, 10, 12, 14],
        "1 in blocks or without a name; ",
    ),
    "a.cpp": (
        "namespace a {\nstruct S {};\nstruct C : S {};\n}\n"
        "namespace b {\nstruct S {};\nstruct D : S {};\nstruct E : a::S {};\n}\nstruct F : S {};\n",
        [3, 8, 10],
        "",
    ),
    "a.java": (
        "class A {\n  interface S {}\n  class C implements S {}\n}\n"
        "class B {\n  interface S {}\n  class D implements S {}\n  class E implements A.S {}\n}\n",
        [3, 8],
        "",
    ),
    "a.ex": (
        "defmodule A.S do\n  @callback f :: term\nend\ndefmodule B.S do\nend\n"
        "defmodule C do\n  @behaviour A.S\nend\ndefmodule D do\n  @behaviour B.S\nend\n"
        "defmodule E do\n  alias A.S\n  @behaviour S\nend\ndefimpl A.S, for: Map do\nend\n",
        [6, 12, 16],
        "",
    ),
}


@pytest.mark.parametrize("path", NAMESAKES)
def test_a_base_that_means_a_namesake_in_its_scope_has_no_heir(path: str) -> None:
    text, lines, said = NAMESAKES[path]
    access = SmartFileAccess(MemoryFileBackend({path: text}))
    position = access.find_position(None, "A::S" if path != "a.cpp" else "a::S")
    found = access.find_implementations(*position.at, seconds=0)
    assert [one.line for one in found] == lines
    assert f"syntax trees; {said}not looked at" in found.coverage


def test_a_broken_source_hides_no_heir_and_a_notebook_is_named() -> None:
    broken = "class L {\n  int x = {;\n  class S {}\n\nclass K extends S {\n}\n"
    access = SmartFileAccess(MemoryFileBackend({"S.java": "class S {}\n", "a.java": broken}))
    found = access.find_implementations("S.java", 1, "S", seconds=0)
    assert [(one.path, one.line) for one in found] == [("a.java", 5)]
    files = {"s.py": "class S: ...\n", "a.ipynb": '{"source": ["class K(S): pass"]}\n'}
    access = SmartFileAccess(MemoryFileBackend(files))
    found = access.find_implementations("s.py", 1, "S", seconds=0)
    calls = access.call_hierarchy("s.py", 1, "S", seconds=0)
    assert {one.reason.rpartition("; ")[2] for one in (found, calls)} == {"not looked at: a.ipynb"}


def test_a_dotted_name_stands_where_its_last_part_does() -> None:
    access = SmartFileAccess(MemoryFileBackend({"a.ex": "defmodule S.S do\nend\n"}))
    assert access.find_position(None, "S.S").at == ("a.ex", 1, 13)


class Ruby:
    """A source in which a name is a variable or a call, and which it is on each line."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.lines: list[str] = []
        self.kinds: list[list[str]] = []

    def add(self, line: str, *kinds: str) -> None:
        self.lines.append(line)
        self.kinds.append(list(kinds))

    def fill(self, bound: bool, depth: int) -> bool:
        """Add statements; whether the name is a variable after them."""
        for _ in range(self._chance.randrange(1, 6)):
            form = self._chance.randrange(9)
            read = "read" if bound else "call"
            if form == 0:
                self.add("v = 1", "write")
                bound = True
            elif form == 1:
                self.add("a, v = v, 1", "write", "read")
                bound = True
            elif form == 2:
                self.add("puts v if v", read, read)
            elif form == 3:
                self.add("self.v.w(v, k: v, :v => 'v')", "call", read, read, "read")
            elif form == 4:
                self.add("v 1", "call")
            elif form == 5:
                self.add("[1].each { |a, (v, c)| v }; v", "write", "read", read)
            elif form == 6 and depth:
                self.add("x do |v|", "write")
                self.fill(True, depth - 1)
                self.add("end")
            elif form == 7 and depth:
                self.add("y do |k|")
                self.fill(bound, depth - 1)
                self.add("end")
            elif form == 8 and depth:
                given = self._chance.choice(["", "a, v = 2", "*v", "v:", "&v"])
                self.add(f"def self.m({given})", *["write"] * bool(given))
                self.fill(bool(given), depth - 1)
                self.add("rescue E => v", "write") if self._chance.random() < 0.3 else None
                self.add("end")
        return bound


@pytest.mark.parametrize("count", [100, pytest.param(3_000, marks=pytest.mark.slow)])
def test_a_bare_name_of_ruby_is_a_call_unless_a_variable_has_it(count: int) -> None:
    for seed in range(count):
        source = Ruby(seed)
        source.fill(bound=False, depth=3)
        text = "\n".join(source.lines)
        found: list[list[str]] = [[] for _ in source.lines]
        for use in references_in_source("a.rb", "ruby", text.encode(), "v"):
            found[use.line - 1].append(str(use.kind))
        assert found == source.kinds, text


def heritage_of(node: ast.expr) -> str:
    """A base without its arguments, or its text where it is no name."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return ast.unparse(node)


@pytest.mark.parametrize("share", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_pythons_own_parser_finds_the_same_bases(share: int) -> None:
    files = sorted(one for name in ("docutils", "pygments", "attr", "jedi", "parso", "mypy")
                   for one in (SITE / name).rglob("*.py"))  # fmt: skip
    counted = 0
    for path in random.Random(7).sample(files, len(files) // share):
        try:
            tree = ast.parse(path.read_bytes())
        except SyntaxError:  # Sources that other tests of that package want broken.
            continue
        expected = sorted(
            (node.name, tuple(dict.fromkeys(map(heritage_of, node.bases))))
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
        )
        data = path.read_text("utf-8").encode()
        found = sorted((one.name, one.bases) for one in types_in_source("a", "python", data).types)
        assert [(name, tuple(_plain(bases))) for name, bases in found] == [
            (name, tuple(_plain(bases))) for name, bases in expected
        ], path
        counted += len(found)
    assert counted > 30


def _plain(bases: tuple[str, ...]) -> list[str]:
    return ["".join(base.split()).replace("'", '"')[:100] for base in bases]
