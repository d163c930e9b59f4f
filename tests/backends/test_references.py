"""References: identifiers in code, each with what it does there."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import (
    FileOutline,
    InvalidArgumentError,
    MemoryFileBackend,
    MissingPathError,
    Reference,
    SmartFileAccess,
    SymbolDetail,
    SymbolNotFoundError,
)
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.base.path_kinds import is_test_path
from foldline.backends.formatting.budget import REFERENCES_BUDGET, REFERENCES_DETAILS, DefaultBudget
from foldline.backends.formatting.reference_text import page_references
from foldline.backends.models import ReferenceKind, References
from foldline.backends.outlines.parsing import Parsed, Parsing, Refused
from foldline.backends.references import references_cache, two_tier_references
from foldline.backends.text import format_references

from .outlines import access_to

DOCTOR = "`foldline doctor` says which would do"
MISSING = f"no language server is installed for a.go; {DOCTOR}"
WAITS = "needs trust"


def check_kinds(path: str, source: str, name: str, expected: str) -> None:
    """Each use of `name` is on a line of `expected`: number and kind."""
    found = access_to({path: source}).find_references(name)
    uses = sorted(found, key=lambda use: (use.line, use.column))
    shown = "\n".join(f"{use.line} {use.kind}" for use in uses)
    assert shown == expected.strip("\n"), shown


def test_kinds_in_python() -> None:
    check_kinds(
        "a.py",
        """from m import name
import name.sub
# name
text = "name"
def name(): ...
name = 1
name += 1
x.name = 2
print(x.name, name)
name()
x.name(1)
f(name=3)
for name in y: pass
@name
def g(name, *, other=name): ...
f"{name}"
name_longer = 0
a, name = 1, 2
""",
        "name",
        """
1 import
2 import
5 definition
6 definition
7 write
8 write
9 attribute
9 read
10 call
11 call
12 write
13 write
14 read
15 write
15 read
16 read
18 write
""",
    )


def test_kinds_in_typescript() -> None:
    check_kinds(
        "a.tsx",
        """import { name } from "./m";
export { name } from "./n";
const name = 1;
name = 2;
x.name = 3;
x.name();
new name();
use(name, x.name);
const el = <name prop="name" />;
function f(name: string) {}
let t: name;
// name
""",
        "name",
        """
1 import
2 import
3 definition
4 write
5 write
6 call
7 call
8 read
8 attribute
9 call
10 write
11 read
""",
    )


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        (
            "a.go",
            "package a\nfunc Run() {}\nfunc g() { Run(); x.Run(); y = Run }\n",
            "2 definition\n3 call\n3 call\n3 read",
        ),
        (
            "a.rs",
            "fn Run() {}\nfn g() { Run(); x.Run(); a::Run(); }\n",
            "1 definition\n2 call\n2 call\n2 call",
        ),
        (
            "A.java",
            "class A { void Run() { Run(); this.Run(); } }\n",
            "1 definition\n1 call\n1 call",
        ),
        (
            "a.c",
            "int Run(void) { return 1; }\nint g(void) { return Run(); }\n",
            "1 definition\n2 call",
        ),
        (
            "a.cpp",
            "int Run() { return 1; }\nint g() { return a::Run() + b.Run(); }\n",
            "1 definition\n2 call\n2 call",
        ),
        ("a.cs", "class A { void Run() { Run(); this.Run(); } }\n", "1 definition\n1 call\n1 call"),
        ("a.rb", "def Run\nend\nx.Run(1)\n", "1 definition\n3 call"),
        (
            "a.php",
            "<?php\nfunction Run() {}\nRun();\n$x->Run();\n",
            "2 definition\n3 call\n4 call",
        ),
        ("a.kt", "fun Run() {}\nfun g() { Run() }\n", "1 definition\n2 call"),
        ("a.sh", "Run() { echo; }\nRun\n", "1 definition\n2 call"),
        (
            "b.rs",
            "struct Run;\nimpl Run {}\nunsafe impl<T> A<T> for Run {}\n",
            "1 definition\n2 read\n3 read",
        ),
        # A comment has no uses, where the tree is broken either.
        ("c.cpp", "class A {\n/*!\nthe Run it\n*/\nvoid Run();\n", "5 definition"),
        (
            "a.ex",
            "defmodule A do\n  alias B.{Run, C}\n  import B.Run\n  def f, do: Run.g()\nend\n",
            "2 import\n3 import\n4 read",
        ),
        # Macros are used in classes, and behind them.
        (
            "b.cpp",
            "#define RUN_A(a)\nclass A {\n  int a;\n  RUN_A(A, b)\n};\nRUN_A(n::A, b)\nclass B;\n",
            "1 definition\n4 read\n6 read",
        ),
        # Calls with type arguments.
        (
            "b.cs",
            "class A { void Run<T>() {\na.Run<T>();\nRun<T>(x);\nb?.Run();\n"
            "new a.Run<T>();\nList<Run> c = d.Run;\n} }\n",
            "1 definition\n2 call\n3 call\n4 call\n5 call\n6 read\n6 attribute",
        ),
        (
            "b.scala",
            "def Run[A](a: A) = 1\nval a = Run[A](b)\na.Run[A](b)\nnew Run[A](b)\n"
            "val b: Run[A] = c.Run[A]\n",
            "1 definition\n2 call\n3 call\n4 call\n5 read\n5 attribute",
        ),
        (
            "b.rs",
            "fn Run() {}\nfn g() {\na.Run::<(_, _)>();\nRun::<u8>(1);\nA::Run::<u8>();\n"
            "let a: Run<u8> = 1;\n}\n",
            "1 definition\n3 call\n4 call\n5 call\n6 read",
        ),
        (
            "b.cpp",
            "int Run() {\na.Run<A>(x);\nRun<A>(1);\nb->template Run<A>();\nN::Run<A>();\n"
            "new Run<A>();\nRun<A> c = Run<A>::d();\n}\n",
            "1 definition\n2 call\n3 call\n4 call\n5 call\n6 call\n7 read\n7 read",
        ),
        (
            "b.ts",
            "Run<T>(x);\na?.Run<T>(x);\nnew n.Run<T>(x);\nlet b: n.Run<T>;\n",
            "1 call\n2 call\n3 call\n4 attribute",
        ),
        (
            "b.kt",
            "fun <T> Run() {\nRun<T>(x)\na.Run<A<B>>(x)\nRun<T> { 1 }\nRun < T && x > (1)\n"
            "val a: Run<T> = b\n}\n",
            "1 definition\n2 call\n3 call\n4 call\n5 read\n6 read",
        ),
        (
            "B.java",
            "class B { void Run() {\nthis.<T>Run(x);\nnew Run<T>();\nRun<T> a = b;\n} }\n",
            "1 definition\n2 call\n3 call\n4 read",
        ),
        ("b.swift", "Run<Int>()\na.Run<Int>(1)\nlet b: Run<Int> = c\n", "1 call\n2 call\n3 read"),
        (
            "b.go",
            "package a\nfunc Run[T any]() {}\nfunc g() {\nRun[int](1)\na.Run[int, T](1, 2)\n}\n",
            "2 definition\n4 call\n5 call",
        ),
        # Parameters that are members.
        ("A.java", "record A(int Run) { int f(int Run) { return 1; } }\n", "1 definition\n1 write"),
        ("a.cs", "record A(int Run);\nclass B(int x, T Run) {}\n", "1 definition\n2 definition"),
        ("a.kt", "class A(val Run: T)\nclass B(\n  Run: T)\n", "1 definition\n3 read"),
        ("a.scala", "class A(Run: T) { val x = Run }\n", "1 definition\n1 read"),
        (
            "a.php",
            "<?php\nclass A { function __construct(private T $Run, $b) {\n$this->Run; } }\n",
            "2 definition\n3 attribute",
        ),
        (
            "a.ts",
            "class A { constructor(public Run: T, readonly b = 1) { this.Run } }\n"
            "class B { constructor(Run: T) {} }\n",
            "1 definition\n1 attribute\n2 write",
        ),
    ],
)
def test_definitions_and_calls_in_other_languages(path: str, source: str, expected: str) -> None:
    check_kinds(path, source, "RUN_A" if "RUN_A" in source else "Run", expected)


def test_what_a_broken_parse_takes_for_text_has_possible_uses() -> None:
    head = 'class A {\n  val size\n    @N("s")\n    '
    companion = "  companion object {\n    fun X.y(): B {\n      val c = D(1)\n      get(c)\n"
    found = access_to(
        {
            "a.kt": f"{head}get() = Run()\n}}\n",
            "b.kt": "open class B\ninternal constructor(\n) : S, C<B> {\n"
            f"{companion}      return Run(c)\n    }}\n    @D(\n    )\n    // Run\n  }}\n}}\n",
            "c.go": "package c\nfunc f() { `\nRun()\n// Run\n",
        }
    ).find_references("Run")
    assert [(use.path, use.line, use.kind) for use in found] == [
        ("a.kt", 4, "call"),
        ("b.kt", 8, "call"),
        ("c.go", 3, "call"),
    ]
    assert found.coverage == "what doesn't parse in 3 files is read as text"


FILES = {
    "lib/core.py": "class Thing:\n    def go(self):\n        return Thing()\n",
    "app/use.py": "from lib.core import Thing\n\ndef use():\n    return Thing().go()\n",
    "tests/test_core.py": "from lib.core import Thing\nThing()\n",
    "app/über.py": "größe = Thing\nprint(größe)  # größe\n",
    "notes.md": "Thing\n",
}


def test_files_that_define_come_first_and_tests_last() -> None:
    found = access_to(FILES).find_references("Thing")
    paths = list(dict.fromkeys(reference.path for reference in found))
    assert paths == ["lib/core.py", "app/use.py", "app/über.py", "tests/test_core.py"]
    assert [reference.test for reference in found if reference.path.startswith("tests/")] == [
        True,
        True,
    ]
    assert (found.total, found.files, found.backend) == (7, 4, "ast")


def test_a_reference_knows_its_enclosing_symbol_and_columns() -> None:
    found = access_to(FILES).find_references("Thing", "lib")
    assert [
        (reference.enclosing, reference.line, reference.column, reference.column_end)
        for reference in found
    ] == [
        ("", 1, 7, 12),
        ("Thing.go", 3, 16, 21),
    ]


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.php", "<?php\nclass A { function __construct(\n private T $x) {} }\n", "A"),
        ("a.kt", "class A(val w: U, val x: T)\n", "A"),
        ("a.go", "package a\ntype A struct {\n\tx, y int\n}\n", "A"),
        # What a broken parse takes for a function.
        ("a.cpp", "class A {\n  switch (y) {\n    int x = 1;\n  }\n};\n", "A"),
    ],
)
def test_a_member_among_parameters_stands_in_its_class(
    path: str, source: str, expected: str
) -> None:
    (found,) = access_to({path: source}).find_references("x")
    assert (found.kind == "definition", found.enclosing) == (path != "a.cpp", expected)


def test_unicode_identifiers_are_whole_words() -> None:
    found = access_to(FILES).find_references("größe")
    assert [(reference.line, reference.column, reference.column_end) for reference in found] == [
        (1, 1, 6),
        (2, 7, 12),
    ]
    assert access_to(FILES).find_references("gr").total == 0


@pytest.mark.parametrize(
    ("scope", "files"),
    [
        ("app", {"app/use.py", "app/über.py"}),
        ("app/use.py", {"app/use.py"}),
        ("**/test_*.py", {"tests/test_core.py"}),
        ("lib/*", {"lib/core.py"}),
        (".", {"lib/core.py", "app/use.py", "app/über.py", "tests/test_core.py"}),
    ],
)
def test_a_scope_is_a_file_a_folder_or_a_glob(scope: str, files: set[str]) -> None:
    assert {
        reference.path for reference in access_to(FILES).find_references("Thing", scope)
    } == files


def test_a_scope_that_does_not_exist_is_said() -> None:
    with pytest.raises(MissingPathError):
        access_to(FILES).find_references("Thing", "ap")


def test_a_name_that_is_none_is_said() -> None:
    with pytest.raises(InvalidArgumentError, match="is not an identifier"):
        access_to(FILES).find_references("a thing")


def test_an_empty_answer_says_why() -> None:
    found = access_to(FILES).find_references("Nothing")
    assert found.total == 0
    assert found.reason.startswith("no code mentions `Nothing`")
    assert "0 files" not in found.reason


TEXTS = {
    "a.zig": "-- touch\n\nTOUCH touch(1); touch\ntouched\n",
    "b.tcl": "proc helper\n",
    "notes.md": "touch and helper\n",
    "CHANGES": "touch\n",
    "Cargo.lock": "touch\n",
    "zebra.md": "touch\n",
    "npm-lock.txt": "touch\n",
    "site.min.less": f"{'a{}' * 900} touch\n",
    "page.zig": f"{'a;' * 1_900} touch\n",
    "use.py": "def helper(): ...\nhelper()\n",
    "logo.png": "touch\n",
    "data.bin2": "touch\0",
}


@pytest.fixture(params=["index", "walk"])
def texts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SmartFileAccess]:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    access = SmartFileAccess.for_workspace(tmp_path, no_ignore=request.param == "walk")
    yield access
    access.close()


def shown(access: SmartFileAccess, name: str, scope: str | None = None) -> list[str]:
    return format_references(access.find_references(name, scope, budget=2_500)).split("\n")


def test_a_word_that_only_text_has_is_shown_with_its_lines(texts: SmartFileAccess) -> None:
    assert shown(texts, "touch") == [
        "0 references in 0 files",
        "text: a.zig 1, 3; and in 2 .md, 1 CHANGES, 1 .lock, 1 .txt, 1 .zig, 1 .less",
        "(not looked at: 4 of no known language (2 .zig, 1 .tcl, 1 .bin2))",
    ]
    assert shown(texts, "Any.touch", "*.zig")[-2] == "text: a.zig 1, 3; and in 1 .zig"
    assert shown(texts, "touch", "use.py")[1].startswith("(no code below use.py mentions `touch`")
    assert shown(texts, "touching")[1].startswith("(no code mentions `touching`")


def test_text_comes_after_the_references_and_is_of_now(texts: SmartFileAccess) -> None:
    assert shown(texts, "helper")[-1] == "text: b.tcl 1; and in 1 .md"
    root = texts.file_backend.root
    (root / "b.tcl").rename(root / "c.tcl")
    (root / "notes.md").unlink()
    assert shown(texts, "helper")[-1] == "text: c.tcl 1"
    texts.file_backend.set_overlay("c.tcl", "\nproc helper\n")
    texts.file_backend.set_overlay("d.tcl", "helper")
    assert shown(texts, "helper")[-1] == "text: c.tcl 2; d.tcl 1"
    texts.file_backend.set_overlay("c.tcl", "")
    assert shown(texts, "helper")[-1] == "text: d.tcl 1"


def test_text_that_is_too_large_is_said_not_to_have_been_read(tmp_path: Path) -> None:
    (tmp_path / "a.zig").write_text("word\n" * 200_000)
    (tmp_path / "b.csv").write_text("word\n" * 200_000)
    access = SmartFileAccess.for_workspace(tmp_path)
    assert access.find_references("word").reason.endswith("; not read: 1 .zig over 500 KB")
    assert access.find_references("word", "*.csv").reason.endswith(
        "no code below *.csv mentions `word`"
    )
    access.close()


def test_a_pattern_of_ignored_files_is_no_use() -> None:
    found = access_to({"a.py": "def run(): ...\n", ".gitignore": "run\n"}).find_references("run")
    assert (found.text, found.counted) == ((), "")


def test_a_string_that_is_the_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "__all__ = ['run', 'go']\ndef run(): ...\ndef go(): ...\n# 'run' 'x'\nf('run')\n"
    )
    with closing(SmartFileAccess.for_workspace(tmp_path)) as access:
        said = "(not in strings, such as a.py:5)"
        assert shown(access, "run")[-1].startswith(said)
        assert not any("strings" in line for line in shown(access, "go"))


@pytest.mark.parametrize(
    ("path", "text", "name", "line"),
    [
        ("a.php", "<?php\nclass A { function b() {} }\n/** @covers A::b */\nf('x');\n", "A.b", 3),
        ("a.php", "<?php\nclass A {}\n$a = 1; // $A isn't it\n/** @param A $a */\n", "A", 4),
        ("a.cs", 'class Foo {}\n/// <see cref="Foo"/>\nclass B {}\n', "Foo", 2),
        ("a.ts", "class Foo {}\n/** @type {Foo} */\nlet b = null;\n", "Foo", 2),
        ("a.py", 'class Foo: ...\ndef f():\n    """See.\n\n    :class:`Foo`.\n    """\n', "Foo", 5),
        ("a.py", "def handle(): ...\n# we handle it\nx = 'a.handle'\n# or A.handle\n", "handle", 4),
        ("a.py", "class Foo: ...\nFoo() # the Foo\nx = 'of Foo'\n", "Foo", None),
        ("a.py", 'class Foo: ...\nx = """\nof Foo\n"""\n', "Foo", None),
    ],
)
def test_a_comment_that_names_it_is_told(path: str, text: str, name: str, line: int | None) -> None:
    reason = access_to({path: text}).find_references(name).reason
    said = f"not in comments, such as {path}:{line}"
    assert (said in reason) if line else ("comments" not in reason)


def test_a_comment_is_told_after_a_string() -> None:
    files = {"a.py": "def run(): ...\nf('run')\n", "b.py": "def g(): # as run() does\n    run()\n"}
    said = "not in strings, such as a.py:2, nor comments, such as b.py:1"
    assert access_to(files).find_references("run").reason == said


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a.py", "class A:\n    def __call__(self): ...\n", "A.__call__"),
        ("a.rb", "class A\n  def []=(k, v)\n  end\nend\n", "A.[]="),
        ("a.kt", "class A { operator fun plus(o: A) = o }\n", "A.plus"),
        ("a.rs", "impl Add for A {\n    fn add(self, o: A) -> A { o }\n}\n", "A.add"),
        ("a.cpp", "struct A { bool operator==(const A& o) { return true; } };\n", "A.operator=="),
    ],
)
def test_uses_without_the_name_are_told_to_be_missing(path: str, text: str, name: str) -> None:
    said = "uses that don't write its name, as by a sign, may be missing"
    assert said in access_to({path: text}).find_references(name).reason
    plain = access_to({"a.py": "class A:\n    def call(self): ...\n"}).find_references("A.call")
    assert said not in plain.reason


def test_many_texts_leave_room_for_references(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"t{number:02}.zig").write_text("word\n" * 20)
    access = SmartFileAccess.for_workspace(tmp_path)
    alone = shown(access, "word")[1]
    assert alone.startswith("text: t00.zig 1, 2, 3, 4, 5, 6, 7, 8, …; t01")
    assert 1_500 < len(alone) < 2_500
    (tmp_path / "a.py").write_text("word = 1\n" * 90)
    beside = shown(access, "word")
    assert len("\n".join(beside)) <= 2_500
    assert any(line.startswith("text: ") and line.endswith("more files") for line in beside)
    assert sum(len(line) for line in beside if line.startswith("text: ")) < 300
    access.close()


def test_of_many_texts_the_first_are_listed_and_others_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foldline.backends.references.text_uses._MOST_FILES", 3)
    for number in range(5):
        (tmp_path / f"t{number}.zig").write_text("word\n" * 60)
    with closing(SmartFileAccess.for_workspace(tmp_path)) as access:
        found = access.find_references("word")
    assert [(use.path, len(use.lines)) for use in found.text] == [
        ("t0.zig", 50),
        ("t1.zig", 50),
        ("t2.zig", 50),
    ]
    assert found.counted == "2 .zig"


def test_pages_cover_every_reference_once_and_fit_the_budget() -> None:
    access = access_to({f"m{n}.py": "Thing()\n" * (n + 1) for n in range(12)})
    whole = access.find_references("Thing")
    seen: list[Reference] = []
    cursor = None
    while True:
        page = access.find_references("Thing", budget=400, cursor=cursor)
        assert len(format_references(page).encode()) <= 400
        assert (page.total, page.files) == (whole.total, whole.files)
        seen += page
        cursor = page.cursor
        if cursor is None:
            break
    assert tuple(seen) == whole.references


def test_many_possible_uses_in_tests_are_counted_first_and_then_shown() -> None:
    head = "<?php\nclass {} {{ function handle() {{}} }}\n"
    files = {f"tests/T{n}.php": "<?php\n$x->handle();\n" + "$y->handle();\n" * 6 for n in range(7)}
    files |= {f"src/{name}.php": head.format(name) for name in "AB"}
    files["src/Z.php"] = "<?php\n$x->handle();\n"
    access = access_to(files)
    page = access.find_references("A.handle", budget=DefaultBudget(2_500))
    assert [use.path for use in page] == ["src/A.php", "src/Z.php"]
    assert page.reason.startswith(
        "49 possible in 7 files of tests: tests/T0.php 7, tests/T1.php 7,"
    )
    rest = access.find_references("A.handle", budget=DefaultBudget(2_500), cursor=page.cursor)
    every = access.find_references("A.handle").references
    assert (*page, *rest) == every
    assert (rest.cursor, "possible in" in rest.reason, len(every)) == (None, False, 52)
    assert len(access.find_references("A.handle", budget=2_500).references) == 52


def test_pages_of_a_common_name_follow_each_other_to_the_end() -> None:
    access = access_to({f"m{n:02}.py": "Thing()\n" * 40 for n in range(40)})
    whole = access.find_references("Thing")
    seen: list[Reference] = []
    cursor = None
    pages = 0
    while True:
        page = access.find_references("Thing", budget=2_500, cursor=cursor)
        assert len(format_references(page).encode()) <= 2_500
        seen += page
        pages += 1
        cursor = page.cursor
        if cursor is None:
            break
        assert (page.coverage == "complete") == (page.total == whole.total)
    assert pages > 2
    assert tuple(seen) == whole.references


def test_a_cursor_of_another_answer_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="cursor"):
        access_to(FILES).find_references("Thing", cursor="tree@3")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/a.py", True),
        ("a/test/b.py", True),
        ("test_a.py", True),
        ("conftest.py", True),
        ("a_test.go", True),
        ("a.spec.ts", True),
        ("src/__tests__/a.js", True),
        ("latest/a.py", False),
        ("contest.py", False),
        ("attest.py", False),
    ],
)
def test_tests_are_told_by_their_paths(path: str, expected: bool) -> None:
    assert is_test_path(path) is expected


class Broken:
    """A semantic backend that dies of anything."""

    def get_outline(self, file_path: str, *, source: str | None = None) -> FileOutline:
        raise RuntimeError(file_path, source)

    def read_symbol(
        self, file_path: str, symbol_name: str, *, source: str | None = None
    ) -> SymbolDetail | None:
        raise KeyError(file_path, symbol_name, source)

    def find_references(
        self, symbol_name: str, scope: str | None = None, *, source: str | None = None
    ) -> Sequence[Reference]:
        raise TimeoutError(symbol_name, scope, source)


def test_a_broken_language_server_is_never_the_end_of_an_answer() -> None:
    files = MemoryFileBackend(FILES)
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files), Broken())
    assert access.get_outline("lib/core.py").backend == "ast"
    assert access.read_symbol("lib/core.py", "Thing.go").line == 2
    assert access.find_references("Thing").total == 7
    with pytest.raises(SymbolNotFoundError):
        access.read_symbol("lib/core.py", "Nothing")


class CountingParsing(Parsing):
    """Counts the files that it parses."""

    def __init__(self) -> None:
        self.parsed: list[str] = []

    def references(self, sources: Iterable[Parsed], name: str) -> Iterator[Reference | Refused]:
        for source in sources:
            self.parsed.append(source.path)
            yield from super().references([source], name)


def test_a_name_that_was_asked_for_is_parsed_again_only_where_files_changed() -> None:
    files = MemoryFileBackend({"a.py": "x = 1\nx\n", "b.py": "x\n", "c.py": "# x\n"})
    parsing = CountingParsing()
    backend = ASTFileAnalysisBackend(files, parsing=parsing)
    first = backend.find_references("x")
    parsing.parsed.clear()
    assert backend.find_references("x") == first
    assert backend.find_references("x", "b.py").references == first.references[2:]
    assert parsing.parsed == []
    files.write("b.py", "x(x)\n")
    assert backend.find_references("x").total == 4
    assert parsing.parsed == ["b.py"]


def test_what_is_known_of_names_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references_cache, "_MOST_USES", 4)
    parsing = CountingParsing()
    backend = ASTFileAnalysisBackend(
        MemoryFileBackend({"a.py": "x\ny\n" + 9 * "z\n"}), parsing=parsing
    )
    for name in ("x", "y", "z", "x", "y"):
        assert backend.find_references(name).total == (9 if name == "z" else 1)
    assert parsing.parsed == 3 * ["a.py"]
    backend.find_references("z")
    assert len(parsing.parsed) == 4


USES = {
    "shop.py": "class Cart: ...\n",
    **{
        f"views/v{n}.py": "from shop import Cart\n\ndef show(rows):\n    a = Cart(rows)\n"
        "    return [Cart(row) for row in rows if isinstance(row, Cart)]\n"
        for n in range(5)
    },
}


def test_uses_that_fit_have_their_lines() -> None:
    text = format_references(
        access_to({"shop.py": USES["shop.py"]}).find_references("Cart", budget=2500)
    )
    assert text == "1 by name in 1 file\nshop.py\n  1 definition: class Cart: ..."


def test_many_uses_are_folded_by_file_and_by_definition() -> None:
    access = access_to(USES)
    page = access.find_references("Cart", budget=2500)
    text = format_references(page)
    assert (len(page), page.cursor) == (21, None)
    assert "  4 call in show: a = Cart(rows)" in text
    assert text == format_references(access.find_references("Cart"))
    few = format_references(access.find_references("Cart", budget=DefaultBudget(900)))
    assert "Cart(rows)" not in few
    assert "views/v4.py: 1 import; 4, 5 call, 5 read in show\n" in few
    assert few.endswith(f"(budget {len(text)} shows the code)")
    small = access.find_references("Cart", "shop.py", budget=DefaultBudget(900))
    assert "  1 definition: class Cart: ..." in format_references(small)
    assert len(format_references(small)) <= REFERENCES_DETAILS < len(text)
    asked = format_references(access.find_references("Cart", budget=900))
    assert 0.8 * 900 <= len(asked) <= 900
    exact = access.find_references("Cart", budget=len(text))
    assert format_references(exact) == text
    less = access.find_references("Cart", budget=len(text) - 1)
    assert "shows the code)" in format_references(less)


def test_by_default_tests_are_numbers_beside_other_uses_and_named_within_a_scope() -> None:
    tests = "".join(f"def test_{n}():\n    Cart()\n    Cart()\n" for n in range(9))
    access = access_to({**USES, "tests/test_shop.py": f"from shop import Cart\n{tests}"})
    beside = format_references(access.find_references("Cart", budget=REFERENCES_BUDGET))
    numbers = ", ".join(str(line) for n in range(9) for line in (3 * n + 3, 3 * n + 4))
    assert f"tests/test_shop.py: 1 import, {numbers} call\n" in beside
    assert "views/v4.py: 1 import; 4, 5 call, 5 read in show\n" in beside
    alone = access.find_references("Cart", "tests", budget=REFERENCES_BUDGET)
    assert "shop.py: 1 import; 3, 4 call in test_0; 6, 7 in test_1; 9" in format_references(alone)


def test_a_page_that_others_follow_names_no_budget_that_shows_all() -> None:
    text = format_references(access_to(USES).find_references("Cart", budget=300))
    assert "… " in text.split("\n")[-1]
    assert "(a scope shows the code)" in text


@given(st.integers(1, 3_000), st.integers(1, 40), st.integers(1, 9))
def test_references_never_exceed_their_budget(budget: int, files: int, uses: int) -> None:
    source = "".join(f"def f{n}(a): return Thing(a)\n" for n in range(uses))
    access = access_to({f"folder/m{n}.py": source for n in range(files)})
    page = access.find_references("Thing", budget=budget)
    assert len(page) >= 1
    assert len(format_references(page).encode()) <= budget


def test_uses_in_other_languages_and_minified_code_come_last_and_are_counted() -> None:
    """A Python method's name in a bundle is hardly the method."""

    def use(path: str, column: int = 1, tier: str = "possible") -> Reference:
        return Reference(path, 1, "pay()", "call", column=column, tier=tier)

    uses = (use("b.py", tier="confirmed"), use("a.ts"), use("a.py", column=9_000), use("c.py"))
    found = References("pay", uses, 4, 4, confirmed=1, possible=3)
    page = page_references(found, 0, 1_000)
    assert format_references(page) == "\n".join(
        [
            "1 confirmed, 3 possible in 4 files",
            "confirmed:",
            "b.py",
            "  1 call: pay()",
            "possible (by name):",
            "c.py",
            "  1 call: pay()",
            "possible, 2 in other languages or minified:",
            "a.ts",
            "  1 call: pay()",
            "a.py",
            "  1 call: pay()",
        ]
    )
    assert [use.tier for use in page_references(found, 2, None)] == ["elsewhere"] * 2
    none = page_references(replace(found, confirmed=0, references=uses[1:]), 0, None)
    assert {use.tier for use in none} == {"possible"}
    ruby = replace(use("a.rb"), kind="definition")
    alone = page_references(References("pay", (*uses[1:], ruby), 4, 4), 0, None)
    assert format_references(alone) == "\n".join(
        [
            "4 by name in 4 files",
            "a.rb",
            "  1 definition: pay()",
            "possible, 3 in other languages or minified:",
            *(line for one in ("a.ts", "a.py", "c.py") for line in (one, "  1 call: pay()")),
        ]
    )


@pytest.mark.parametrize(
    ("coverage", "shown"),
    [
        ("complete", []),
        (f"partial: {MISSING}", ["(by name alone)"]),
        (f"partial: {MISSING}; no language server is installed for b.ts", ["(by name alone)"]),
        (f"partial: gopls {WAITS}; {MISSING}", [f"(partial: gopls {WAITS})"]),
        (f"partial: timed out; {MISSING}", ["(partial: timed out)"]),
        ("partial: 3 files left out", ["(partial: 3 files left out)"]),
    ],
)
def test_a_missing_language_server_takes_three_words(coverage: str, shown: list[str]) -> None:
    """Which one would do is for `foldline doctor` to say."""
    found = References("f", (), 0, 0, coverage=coverage)
    assert format_references(found).split("\n")[1:] == shown


class OneConfirmed(Broken):
    """A semantic backend that knows one use."""

    def __init__(self, path: str) -> None:
        self._path = path

    def find_references(
        self, symbol_name: str, scope: str | None = None, *, source: str | None = None
    ) -> Sequence[Reference]:
        del symbol_name, scope, source
        return [Reference(self._path, 3, "Thing()", column=1, column_end=6)]


@pytest.mark.parametrize(("path", "total"), [("m00.py", 28), ("m99.py", 400)])
def test_a_confirmed_use_is_found_among_those_of_a_common_name(
    path: str, total: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it isn't in the files that were parsed, all of them are."""
    monkeypatch.setattr(two_tier_references, "_MOST_TO_CONFIRM", 20)
    files = MemoryFileBackend({f"m{n:02}.py": "Thing()\n" * 4 for n in range(100)})
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files), OneConfirmed(path))
    found = access.find_references("Thing", budget=60)
    first = next(iter(found))
    assert (first.path, first.kind, first.tier) == (path, "call", "confirmed")
    assert (found.confirmed, found.total >= total) == (1, True)
    assert (found.total == 400) == (path == "m99.py")


EXPORTS = {
    "pkg/__init__.py": 'from .mod import a, b\n\n__all__ = [\n    "a",\n    "b",\n]\n',
    "pkg/mod.py": '__all__ = ("a",)\n__all__ += ["b", "b.c"]\n__all__.append("d")\n'
    'def a(): return "a"\ndef b(): ...\ndef d(): ...\nnames = ["a", "d"]\n',
    "pkg/other.py": '__all__: list[str] = ["a"]\ndef a(): ...\n',
}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("a", {"pkg/__init__.py": [4], "pkg/mod.py": [1], "pkg/other.py": [1]}),
        ("b", {"pkg/__init__.py": [5], "pkg/mod.py": [2]}),
        ("d", {"pkg/mod.py": [3]}),
        ("c", {}),
    ],
)
def test_a_name_in_all_is_a_use_and_other_strings_are_not(
    name: str, lines: dict[str, list[int]]
) -> None:
    found: dict[str, list[int]] = {}
    uses = access_to(EXPORTS).find_references(name)
    for use in uses:
        if use.kind == "export":
            found.setdefault(use.path, []).append(use.line)
            source = EXPORTS[use.path].splitlines()[use.line - 1]
            assert source[use.column - 1 : use.column_end - 1] == name
    assert found == lines
    assert not any(use.line == 7 for use in uses)


def test_translations_that_have_the_word_are_counted_and_drawings_are_not(tmp_path: Path) -> None:
    files = {f"locales/{n}.yml": "Queue: queue\n" for n in "abcdef"}
    files |= {"a.py": "class Queue: ...\n", "b.yml": "Queue: 1\n", "art.xcf": "x" * 600_000}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    access = SmartFileAccess.for_workspace(tmp_path)
    text = format_references(access.find_references("Queue", seconds=0, budget=2_000))
    assert "text: b.yml 1; locales/ 6 .yml" in text
    assert "not read" not in text
    access.close()


def test_what_a_use_is_in_is_said_where_that_tells() -> None:
    """A type is read as an annotation, and `Class.method` is defined in that class."""

    def text(name: str, defined: str) -> str:
        uses = (
            Reference("a.cs", 3, defined, ReferenceKind.DEFINITION, "Mediator"),
            Reference("a.cs", 9, f"return {name};", ReferenceKind.READ, "Mediator.Send"),
        )
        return format_references(References(name, uses, 2, 1))

    assert text("Mediator.Publish", "Task Publish() {").splitlines()[2:] == [
        "  3 definition: Task Publish() {",
        "  9 read in Mediator.Send: return Mediator.Publish;",
    ]
    assert text("Options", "class Options {").splitlines()[2:] == [
        "  3 definition in Mediator: class Options {",
        "  9 read: return Options;",
    ]
