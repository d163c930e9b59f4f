"""Names are found wherever a grammar has them, and a function's variables are told apart.

The oracles are syntax trees of random sources, and for scopes Python's own compiler.
"""

from __future__ import annotations

import dis
import random
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

import pytest

from foldline.backends.base.languages import language_of
from foldline.backends.outlines.syntax import parse
from foldline.backends.references.references import (
    LOCAL,
    can_have_references,
    references_in_source,
    tokens_in_source,
)
from foldline.backends.text import format_references

from .corpora import extra, standard_library
from .outlines import CASES, access_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

ROOT = Path(__file__).parents[2]
# Leaves that are no names.
_NO_NAME = re.compile(
    r"comment|string|regex|heredoc|char|literal|text$|null|true|false|this|self$|super|void|crate"
    r"|modifier|keyword|none|boolean|undefined|_type$|fragment|content|directive|sigil|flags|nil"
    r"|^type$|auto|specifier|pattern$|else|throws|discard|iota|interpolation|special|break"
)
_NAMES = {"type_identifier", "shorthand_property_identifier_pattern"}
_NAMES |= {"simple_symbol", "hash_key_symbol", "preproc_arg"}
_WORD = re.compile(r"[@:`]*((?:[^\W\d]|\$(?=\w))[\w$]*[?!]?):?`?")
_STYLES = {"css", "hcl", "make", "dockerfile", "sql", "html", "vue", "svelte"}


def leaves(language: str, data: bytes) -> dict[str, set[int]]:
    """The lines of each name in the leaves of a tree."""
    found: dict[str, set[int]] = defaultdict(set)
    waiting = [parse(language, data).root_node]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        text = data[node.start_byte : node.end_byte].decode("utf-8", "replace").strip()
        match = _WORD.fullmatch(text)
        is_name = node.type in _NAMES or not _NO_NAME.search(node.type)
        if match and is_name and node.is_named and not node.child_count:
            # The sigils of other languages are letters in JavaScript.
            name = (
                match[1] if language in {"javascript", "tsx", "typescript"} else match[1].strip("$")
            )
            found[name].add(node.start_point[0] + 1)
    return found


def missing(path: str, data: bytes, names: int, chosen: random.Random) -> list[str]:
    """Lines of some random names of a source that `find_references` doesn't have."""
    language = language_of(path, data)
    if not can_have_references(language) or language in _STYLES:
        return []
    known = leaves(language, data)
    some = chosen.sample(sorted(known), min(names, len(known)))
    return [
        f"{path}:{line} {name}"
        for name in some
        for line in known[name]
        - {use.line for use in references_in_source(path, language, data, name)}
    ]


@pytest.mark.parametrize("path", [*CASES])
def test_no_name_of_a_tree_is_missing(path: str) -> None:
    source, _ = CASES[path]
    assert missing(path, source.encode(), 1000, random.Random(1)) == []


@pytest.mark.parametrize("seed", range(3))
def test_no_name_of_a_random_file_is_missing(seed: int) -> None:
    chosen = random.Random(seed)
    scripts = [
        path for kind in ("ts", "lua", "mjs") for path in ROOT.glob(f"editors/*/**/*.{kind}")
    ]
    files = sorted(path for path in scripts if "node_modules" not in path.parts)
    files += sorted(Path(pytest.__file__).parents[1].glob("jinja2/*.py"))
    for path in chosen.sample(files, 8):
        assert missing(path.name, path.read_bytes(), 20, chosen) == []


TRAPS = """from a import name
x = 'a name' u'{name}' "it's name"  # name
x = rf'{x!r}'; name.name(name=name)
"""
BOUND = (
    "name = 1", "x = name = 1", "name: int", "x, name = 1, 2", "for name in x: pass",
    "from a import name as x", "from a import (\n    name \\\n    as x\n)", "type X = name",
    "async def name(): pass", "class  name: pass", "__all__ = ['name']", "print 'name'; name",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_tokens_are_the_uses_of_a_tree_or_a_parse_is_needed(seed: int) -> None:
    chosen = random.Random(seed)
    files = chosen.sample(sorted(standard_library().glob("*.py")), 40)
    sources = [path.read_bytes() for path in files]
    drawn = [(chosen.choice(re.findall(rb"\w{3,}", data) or [b""]), data) for data in sources]
    drawn += [(b"name", text.encode()) for text in (TRAPS, TRAPS.replace("u'", "f'"), *BOUND)]
    counted = 0
    for word, data in drawn:
        name = word.decode("utf-8", "replace")
        uses = references_in_source("a.py", "python", data, name)
        tokens = tokens_in_source("a.py", "python", data, name)
        if tokens is not None:
            counted += 1
            assert [replace(use, kind="", enclosing="", tier="possible") for use in uses] == [
                replace(use, kind="") for use in tokens
            ]
            assert not any(use.kind in {"definition", "export"} for use in uses)
            assert all(use.kind == "import" for use in tokens if use.kind)
    assert counted > 10


@pytest.mark.slow
def test_no_name_of_another_corpus_is_missing() -> None:
    chosen, files = random.Random(4), extra()
    for path in chosen.sample(files, min(1_000, len(files))):
        assert missing(str(path), path.read_bytes(), 20, chosen) == []


FORMS = {
    "of a module.js": (
        "let run = 1\nfunction f() { run = 2; let a = (run = 3); return run }\n"
        "function g() { const run = 2; return run }\n",
        "run",
        "1 definition\n2 write\n2 write\n2 read\n3 write local\n3 read local",
    ),
    "of a module.c": (
        "int run;\nvoid f(void) { run = 2; int a = run; }\nvoid g(int run) { run = 1; }\n",
        "run",
        "1 definition\n2 write\n2 read\n3 write local\n3 write local",
    ),
    "of a package.go": (
        "package p\nvar run = 1\nfunc f() { run = 2; run := run + 1; _ = run }\n",
        "run",
        "2 definition\n3 write\n3 write local\n3 read\n3 read local",
    ),
    "of a class.java": (
        "class A { int run; int f() { run = 2; int run = 3; return run + this.run; } }\n",
        "run",
        "1 definition\n1 write\n1 write local\n1 read local\n1 attribute",
    ),
    "of a file.rs": (
        "static run: u8 = 1;\nfn f() { g(run); let run = 2; h(run, a.run) }\n",
        "run",
        "1 definition\n2 read\n2 write local\n2 read local\n2 attribute",
    ),
    "a.js": (
        "const { run } = require('./run')\nrun()\nconst { run: go } = await import('./run')\n"
        "function f({ run }) { return run }\n$run()\n",
        "run",
        "1 import\n2 call\n3 import as go\n4 write local\n4 read local",
    ),
    "b.js": ("let $el = el.$el\n$el.el()\n", "$el", "1 definition\n1 attribute\n2 read"),
    "a.rb": (
        "def run?\nend\nrun? && a.run?\nrun\nalias go? run?\nsend(:run?)\n",
        "run?",
        "1 definition\n3 call\n3 call\n5 read as go?\n6 read",
    ),
    "b.rb": (
        "attr_writer :run\ndef run=(a)\n  @run = a\nend\na.run = 1\na.run\nrun == 1\n",
        "run=",
        "1 read\n2 definition\n5 call",
    ),
    "c.rb": ("def <=>(a)\nend\na<=>b\na < b\n", "<=>", "1 definition\n3 read"),
    "d.rb": (
        "f(run: 1)\n@run, @@run, $run = %i[run go]\n",
        "run",
        "1 read keyword" + "\n2 read" * 4,
    ),
    "e.rb": (
        "run = 1\ndef go(x)\n  run = x.run\n  run\nend\nx.each do |run|\n  run + self.run\nend\n"
        "alias [] run\nalias_method :go=, :run\n",
        "run",
        "1 write local\n3 write\n3 call\n4 read\n6 write local\n7 read local\n7 call\n"
        "9 read as []\n10 read as go=",
    ),
    "a.swift": (
        "func == (a: A, b: A) -> Bool { a.x == b.x }\nf.reduce(0, ==)\nlet a: A<B> = c != d\n",
        "==",
        "1 definition\n1 read\n2 read",
    ),
    "a.c": (
        '#define CALL(x) run(x) // run\n#define TEXT "run" run\n#define BOTH \\\n  x \\\n  run()\n',
        "run",
        "1 call\n2 read\n5 call",
    ),
    "a.cpp": (
        "bool S::operator <(S o) { return a < o; }\nb.operator<(c);\nS operator<=(S o);\n",
        "operator<",
        "1 definition\n2 read",
    ),
    "b.cpp": ('int operator""_a(int x);\n', 'operator""_a', "1 definition"),
    "c.cpp": ("struct A { operator bool(); };\n", "operator bool", "1 definition"),
    "a.rs": (
        "macro_rules! run { ($run:expr) => {} }\nrun!(r#run);\n",
        "run!",
        "1 definition\n2 call",
    ),
    "b.rs": (
        "give![\n  macro_rules! run { () => {} }\n];\nuse a::run;\na.run();\n",
        "run!",
        "2 definition\n4 import",
    ),
    "c.rs": (
        "macro_rules! go { ($run:expr) => { A::run($run) } }\nfn f(run: u8) { A::run(run) }\n",
        "run",
        "1 read local\n1 call\n1 read local\n2 write local\n2 call\n2 read local",
    ),
    "e.rs": (
        "macro_rules! go { () => { fn run() {} } }\n"
        "fn f() { assert!(run(1), run::<u8>(run)); x!(run!(2)) }\n",
        "run",
        "1 read\n2 call\n2 call\n2 read\n2 call",
    ),
    "d.scala": ("def ~~/(a: A) = b ~/ c\na ~~/ b / c\n", "~~/", "1 definition\n2 read"),
    "b.ex": (
        "defmodule A do\n  def run(c), do: c\n  def go(c), do: c |> run()\n  A.run(1)\nend\n",
        "run",
        "2 definition\n3 call\n4 call",
    ),
    "c.ex": (
        "defmodule A do\n  @spec run(c, d()) ::\n    {:run, run()}\n  def run(c), do: c\n"
        "  @type d :: run()\n  def go(c), do: apply(A, :run, run: &run/1)\n  A.run(:a)\nend\n",
        "run",
        "2 spec\n3 atom\n3 spec\n4 definition\n5 spec\n6 atom\n6 atom\n6 read\n7 call",
    ),
    "a.ex": ("alias Plug.Conn, as: C\nConn.run()\n:run\n", "Conn", "1 import\n2 read"),
    "a.cs": ("class A { void B() { f(run => run + @run); } }\n", "run", "1 read\n1 read\n1 read"),
    "m.cpp": (
        "class A {\n  int size TAKEN_BY(lock);\n  Stats longest_names TAKEN_BY(lock) = 1;\n"
        "  void f() TAKEN_BY(lock);\n};\n",
        "TAKEN_BY",
        "2 read\n3 read\n4 read",
    ),
    "b.cs": ("class A { public static A operator +(A a) {} }\n", "operator+", "1 definition"),
    "a.kt": ("fun `run`() { run() }\n", "run", "1 definition\n1 call"),
}


@pytest.mark.parametrize("path", FORMS)
def test_a_name_is_what_its_language_calls_one(path: str) -> None:
    source, name, expected = FORMS[path]
    uses = references_in_source(path, language_of(path), source.encode(), name)
    shown = "\n".join(
        f"{use.line} {use.kind}{use.alias and f' as {use.alias}'}"
        f"{'' if use.tier == 'possible' else f' {use.tier}'}"
        for use in uses
    )
    assert shown == expected, shown


def test_a_mark_that_no_definition_has_is_left_out_and_said() -> None:
    access = access_to({"a.go": "func go_() {}\nfunc f() { go_() }\n"})
    found = access.find_references("go_!")
    assert [use.line for use in found] == [1, 2]
    assert found.said == "go_! taken for go_"


def compiled_names(code: CodeType) -> Iterator[tuple[int, int, str, bool]]:
    """The line and byte of each name that is loaded or stored; whether it is a variable's."""
    for one in dis.get_instructions(code):
        at = one.positions
        if at and at.lineno and at.col_offset is not None and at.end_col_offset is not None:
            is_variable = "FAST" in one.opname or "DEREF" in one.opname
            is_name = is_variable or one.opname.endswith(("_GLOBAL", "_NAME"))
            is_whole = at.end_col_offset - at.col_offset == len(str(one.argval))
            if is_name and is_whole and at.lineno == at.end_lineno:
                yield at.lineno, at.col_offset, str(one.argval), is_variable
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from compiled_names(constant)


@pytest.mark.parametrize(("seed", "files"), [(1, 8), pytest.param(2, 300, marks=pytest.mark.slow)])
def test_variables_of_functions_are_those_of_the_compiler(seed: int, files: int) -> None:
    chosen = random.Random(seed)
    found = missed = 0
    every = [path for path in standard_library().glob("*.py") if path.stat().st_size < 60_000]
    for path in chosen.sample(sorted(every), min(files, len(every))):
        data = path.read_bytes()
        if not data.isascii():
            continue
        known = {one[:2]: one for one in compiled_names(compile(data, "a.py", "exec"))}
        names = sorted({name for _, _, name, _ in known.values()})
        for name in chosen.sample(names, min(15, len(names))):
            for use in references_in_source("a.py", "python", data, name):
                *_, is_variable = known.get((use.line, use.column - 1), (False,))
                is_local = use.tier == LOCAL
                known_as = (use.line, use.column - 1) in known
                assert is_variable or not (is_local and known_as), f"{path}:{use.line} {name}"
                found += is_variable
                missed += is_variable and not is_local
    assert found > 100
    assert missed < found / 10


_SCRIPT_FUNCTIONS = {
    "function_declaration",
    "generator_function_declaration",
    "function_expression",
    "generator_function",
    "arrow_function",
    "method_definition",
    # Those that have names for parameters, and no body.
    "function_type",
    "constructor_type",
    "function_signature",
    "method_signature",
    "abstract_method_signature",
    "call_signature",
    "construct_signature",
}
_SCRIPT_BLOCKS = {"statement_block", "for_statement", "for_in_statement", "catch_clause"}
_SCRIPT_BLOCKS |= {"switch_body", "class_static_block"}
_SCRIPT_NAMES = {
    "identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
}


def bound_in(pattern: Node | None) -> Iterator[Node]:
    """The names that a pattern of JavaScript binds."""
    if pattern is None:
        return
    if pattern.type in _SCRIPT_NAMES:
        yield pattern
    for field in ("left", "value", "pattern"):
        if field != "value" or pattern.type == "pair_pattern":
            yield from bound_in(pattern.child_by_field_name(field))
    if pattern.type in {"array_pattern", "object_pattern", "rest_pattern", "formal_parameters"}:
        for child in pattern.named_children:
            yield from bound_in(child)


def script_variables(language: str, data: bytes) -> dict[tuple[int, int], bool]:
    """The line and byte of each variable; whether a function or a block binds its name."""
    root = parse(language, data).root_node
    bound: dict[int, set[bytes]] = defaultdict(set)
    uses: list[tuple[Node, list[Node]]] = []
    waiting: list[tuple[Node, list[Node]]] = [(root, [root])]
    while waiting:
        node, scopes = waiting.pop()
        functions = [one for one in scopes if one.type in _SCRIPT_FUNCTIONS or one.id == root.id]
        patterns = [node.child_by_field_name("name")] if node.type.endswith("_declaration") else []
        scope, inner = scopes[-1], scopes
        if node.type in _SCRIPT_FUNCTIONS | _SCRIPT_BLOCKS:
            inner = [*scopes, node]
        if node.type in _SCRIPT_FUNCTIONS:
            own = ["name"] * node.type.endswith(("_function", "_expression"))
            for field in ("parameters", "parameter", *own):
                names = bound_in(node.child_by_field_name(field))
                bound[node.id] |= {data[one.start_byte : one.end_byte] for one in names}
        elif node.type.endswith(("required_parameter", "optional_parameter", "tuple_parameter")):
            # Also those of a type that doesn't parse, and labels in a tuple.
            scope, inner = node, [*scopes, node]
            patterns = [node, node.child_by_field_name("name")]
        elif node.type == "catch_clause":
            scope, patterns = node, [node.child_by_field_name("parameter")]
        elif node.type in {"lexical_declaration", "variable_declaration", "for_in_statement"}:
            kind = node.child_by_field_name("kind")
            is_var = node.type == "variable_declaration" or (
                kind is not None and kind.type == "var"
            )
            scope = functions[-1] if is_var else inner[-1]
            patterns = [one.child_by_field_name("name") for one in node.named_children]
            if node.type == "for_in_statement":
                patterns = [node.child_by_field_name("left")] if kind is not None else []
        for pattern in patterns:
            names = bound_in(pattern)
            bound[scope.id] |= {data[one.start_byte : one.end_byte] for one in names}
        if node.type in _SCRIPT_NAMES:
            uses.append((node, scopes))
        waiting += ((child, inner) for child in node.children)
    found: dict[tuple[int, int], bool] = {}
    for node, scopes in uses:
        name = data[node.start_byte : node.end_byte]
        binding = next((one for one in reversed(scopes) if name in bound[one.id]), root)
        found[node.start_point[0] + 1, node.start_point[1]] = binding.id != root.id
    return found


def strangers(path: Path, names: int, chosen: random.Random) -> tuple[list[str], int, int]:
    """Uses of a script that are wrongly a function's; how many are, and how many aren't known."""
    data = path.read_bytes()
    language = language_of(path.name, data)
    if not data.isascii():
        return [], 0, 0
    known = script_variables(language, data)
    lines = data.split(b"\n")
    texts = {m[0].decode() for line in lines for m in re.finditer(rb"[A-Za-z_]\w*", line)}
    wrong, found, missed = [], 0, 0
    for name in chosen.sample(sorted(texts), min(names, len(texts))):
        for use in references_in_source(path.name, language, data, name):
            is_variable = known.get((use.line, use.column - 1), False)
            wrong += [f"{path}:{use.line} {name}"] * (use.tier == LOCAL and not is_variable)
            found += is_variable
            missed += is_variable and use.tier != LOCAL and use.kind != "definition"
    return wrong, found, missed


@pytest.mark.parametrize("files", [40, pytest.param(1_000, marks=pytest.mark.slow)])
def test_variables_of_scripts_are_those_of_their_scopes(files: int) -> None:
    chosen = random.Random(files)
    every = [path for kind in ("ts", "mjs") for path in ROOT.glob(f"editors/*/**/*.{kind}")]
    every = [path for path in every if "node_modules" not in path.parts]
    every += [path for path in extra() if path.suffix in {".js", ".mjs", ".ts"}]
    found = missed = 0
    for path in chosen.sample(sorted(every), min(files, len(every))):
        wrong, some, unknown = strangers(path, 20, chosen)
        assert wrong == []
        found, missed = found + some, missed + unknown
    assert found > 100
    # What may be the thing itself, as in `let a = b.a`, isn't told apart.
    assert missed < found / 5, (missed, found)


# What defines `v`, a function with and without it as a parameter, a variable, and its uses.
BLOCKS = {
    "a.go": ("package p\nvar v = 1\n", "func m({}) {{", "v int", "v := 1", "g(v, a.v)"),
    "a.java": ("class A {{ int v = 1;\n", "void m({}) {{", "int v", "int v = 1;", "g(v, a.v);"),
    "a.rs": ("static v: u8 = 1;\n", "fn m({}) {{", "v: u8", "let v = 1;", "g(v, a.v);"),
    "a.c": ("int v = 1;\n", "void m({}) {{", "int v", "int v = 1;", "g(v, a.v);"),
}


@pytest.mark.parametrize("path", BLOCKS)
def test_variables_of_blocks_are_those_that_are_bound_around_and_before(path: str) -> None:
    head, function, parameter, variable, use = BLOCKS[path]
    found = missed = 0
    for seed in range(60):
        chance = random.Random(seed)
        lines = head.format().split("\n")[:-1]
        bound: list[bool] = []  # For each open block.
        known: dict[int, list[bool]] = {}
        for _ in range(chance.randrange(5, 40)):
            form = chance.randrange(4) if bound else 0
            if form == 0 and len(bound) < 4:
                given = not bound and chance.random() < 0.5
                lines.append("{" if bound else function.format(parameter * given))
                known[len(lines)] = [True] * given
                bound.append(given)
            elif form == 1:
                lines.append("}")
                bound.pop()
            elif form == 2:
                lines.append(variable)
                bound[-1] = True
                known[len(lines)] = [True]
            else:
                lines.append(use)
                known[len(lines)] = [any(bound), False]
        text = "\n".join([*lines, *"}" * (len(bound) + (path == "a.java"))])
        tiers: dict[int, list[bool]] = defaultdict(list)
        for one in references_in_source(path, language_of(path), text.encode(), "v"):
            tiers[one.line].append(one.tier == LOCAL)
        for line, expected in known.items():
            wrong = [own and not real for own, real in zip(tiers[line], expected, strict=True)]
            assert not any(wrong), (line, text)
            found, missed = found + sum(expected), missed + sum(expected) - sum(tiers[line])
    assert missed < found / 10, (missed, found)


@pytest.mark.parametrize("path", [*CASES])
def test_an_answer_by_name_confirms_nothing(path: str) -> None:
    source, _ = CASES[path]
    access = access_to({path: source})
    words = sorted(set(re.findall(r"[A-Za-z_]\w{2,}", source)))
    for name in random.Random(3).sample(words, min(5, len(words))):
        for found in (access.find_references(name), access.find_references(name, path)):
            assert found.confirmed == 0
            assert {use.tier for use in found} <= {"possible", "another"}
            assert "confirmed" not in format_references(found)


def test_a_place_has_the_name_with_its_mark() -> None:
    source = "class Q\n  def paused?\n  end\n  def go!(a)\n  end\nend\nQ.new.paused?\n"
    source += "q.go!(1) if a != b\n"
    letters = "class paid {}\nclass $paid {}\nnew $paid()\n"
    signs = "<?php\n$cost = 1;\necho $cost;\n"
    modules = {"a.ex": "defmodule A.Plan do\nend\n", "b.ex": "alias A.Plan\n"}
    access = access_to({"a.rb": source, "a.ts": letters, "a.php": signs, **modules})
    for place, name, lines in (
        ("a.rb:7:7", "paused?", [2, 7]),
        ("a.rb:8", "go!", [4, 8]),
        ("a.ts:3:5", "$paid", [2, 3]),
        ("a.php:3:7", "cost", [2, 3]),
        ("b.ex:Plan", "Plan", [1, 1]),
    ):
        position = access.find_position(None, f"{place}:go!" if place == "a.rb:8" else place)
        assert position.name == name
        assert [one.line for one in access.goto_definition(*position.at).locations] == lines[:1]
        found = access.find_references(f"{position.path}:{position.line}:{position.column}")
        assert sorted(use.line for use in found) == lines
        assert {use.tier for use in found} == {"possible"}
