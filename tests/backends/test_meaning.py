"""What a name means: members of bases, spellings of other languages and tools, places, cases."""

from __future__ import annotations

import importlib
import inspect
import random
import re
import shutil
import types
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.fixtures import cases, files

from foldline.backends import (
    AmbiguousSymbolError,
    InvalidArgumentError,
    MemoryFileBackend,
    SmartFileAccess,
    SymbolNotFoundError,
)
from foldline.backends.outlines.symbols import flatten, is_local
from foldline.backends.references.spelling import Written, spelled, written_place
from foldline.backends.text import format_outline, format_references

Open = Callable[[dict[str, str]], SmartFileAccess]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "cache"))
    accesses = []

    def open_files(files: dict[str, str]) -> SmartFileAccess:
        root = tmp_path / "workspace"
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        accesses.append(SmartFileAccess.for_workspace(root))
        return accesses[-1]

    yield open_files
    for access in accesses:
        access.close()


def places(access: SmartFileAccess, name: str) -> list[str]:
    found = access.definitions_of(name).found
    return [f"{one.path}:{one.line} {one.name}" for one in found]


INHERITED = {
    case: (sources, name, place)
    for case, text in cases(Path(__file__).with_name("inherited.txt")).items()
    for said, sources in [files(text)]
    for name, _, place in [said.rstrip().partition(" is ")]
}


@pytest.mark.parametrize(("files", "name", "place"), INHERITED.values(), ids=INHERITED)
def test_an_inherited_member_is_that_of_the_base_which_has_it(
    files: dict[str, str], name: str, place: str, opened: Open
) -> None:
    access = opened(files)
    assert places(access, name) == [place]
    path, _, rest = place.partition(":")
    line, _, base = rest.partition(" ")
    said = access.find_references(name).said
    assert said == f"{spelled(name)} is {base}, {path} {line}"
    assert format_references(access.find_references(name)).startswith(f"{said}\n")


# What is in no outline, or in another file than its type.
_NOT_OUTLINED = {
    "python, an attribute that a method sets",
    "typescript, a parameter that is a property",
    "go, a pointer that is embedded",
}


@pytest.mark.parametrize("case", [case for case in INHERITED if case not in _NOT_OUTLINED])
def test_the_outline_of_a_class_has_what_it_inherits(case: str, opened: Open) -> None:
    files, name, place = INHERITED[case]
    access = opened(files)
    owner, word = re.split(r"[.#]|::", name)[-2:]
    path, _, _ = place.partition(":")
    found = [one for one in access.definitions_of(owner).found if one.is_type]
    outline = access.get_outline(found[0].path, query=owner)
    assert any(
        one.path == path and word in [member.name.rpartition(".")[2] for member in one.members]
        for one in outline.inherited
    )


def test_what_is_inherited_is_told_by_base_and_public_names_first(opened: Open) -> None:
    access = opened(
        {
            "a.py": "class Base:\n    def _own(self): ...\n    def run(self): ...\n"
            "    def stop(self): ...\n",
            "b.py": "from a import Base\nclass Child(Base, Far):\n    def stop(self): ...\n",
        }
    )
    lines = format_outline(access.get_outline("b.py", query="Child")).splitlines()
    assert lines[1:] == [
        "imports a: Base",
        "2-3 class Child(Base, Far)",
        "  3 def stop(self)",
        "from Base, a.py 1: run, _own",
        "(from Far too, which isn't known here)",
    ]


def test_a_class_without_members_of_its_own_has_what_it_inherits(opened: Open) -> None:
    files = {"a.py": "class Base:\n    def run(self): ...\nclass Child(Base):\n    pass\n"}
    lines = format_outline(opened(files).get_outline("a.py", query="Child")).splitlines()
    assert lines[1:] == ["3-4 class Child(Base)", "from Base, a.py 1: run", "(2 more in file)"]


def methods(package: str) -> Iterator[tuple[str, str]]:
    """Inherited methods by the names of their class and of the class that has them."""
    top = importlib.import_module(package)
    modules = [top, *(one for one in vars(top).values() if isinstance(one, types.ModuleType))]
    for module in modules:
        for own in [one for one in vars(module).values() if isinstance(one, type)]:
            for name, value in inspect.getmembers(own, inspect.isfunction):
                base = next(one for one in own.__mro__ if name in vars(one))
                where = f"{value.__module__}.{value.__code__.co_qualname}"
                inside = base.__module__.startswith(package) and own.__module__ == module.__name__
                if (
                    inside
                    and base is not own
                    and where == f"{base.__module__}.{base.__qualname__}.{name}"
                ):
                    yield f"{own.__module__}.{own.__qualname__}.{name}", where


@pytest.mark.parametrize("package", ["docutils", "hypothesis", "rich"])
def test_random_inherited_methods_answer_as_their_definitions(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "cache"))
    for module in ("docutils.nodes", "docutils.statemachine", "rich.progress", "rich.markdown"):
        if module.startswith(package):
            importlib.import_module(module)
    source = importlib.import_module(package).__file__
    assert source is not None
    shutil.copytree(Path(source).parent, tmp_path / "w" / package)
    access = SmartFileAccess.for_workspace(tmp_path / "w")
    every = sorted(set(methods(package)))
    some = random.Random(30).sample(every, min(len(every), 25))
    assert len(some) >= 10
    for inherited, own in some:
        assert places(access, inherited) == places(access, own), inherited
        assert len(places(access, own)) >= 1
    access.close()


FILES = {
    "web/headers.py": "class Headers:\n"
    "    def get_all(self, name): ...\n"
    "    def put(self): ...\n"
    "class Other:\n"
    "    def put(self): ...\n",
    "web/use.py": "from web.headers import Headers\nheaders = Headers()\nheaders.get_all('a')\n"
    "import asyncio\nasyncio.sleep(1)\n",
    "repo.go": "package a\n\ntype Repo struct{}\n\nfunc (r *Repo) ReadBlob(n int) error {\n"
    "\treturn nil\n}\n",
    "box.js": "class Box {\n  #dispatch(a) { return a }\n  run() { return this.#dispatch(1) }\n}\n",
    "Till.java": "class Till$ {\n  void $open() { $open(); }\n  void open() {}\n}\n",
    "paid.ts": "class paid {}\nclass $paid {\n  $all() {}\n}\n",
}


@pytest.mark.parametrize(
    ("written", "place"),
    [
        (written, "web/headers.py:2 Headers.get_all")
        for written in (
            "Headers.get_all",
            "Headers::get_all",
            "Headers#get_all",
            "Headers.get_all()",
            "web.headers.Headers.get_all",
            "web.Headers.get_all",
            "web/headers.py::Headers.get_all",
            "web/headers.py::Headers::get_all",
            "web/headers.py:Headers.get_all",
            "web/headers.py:get_all",
            "web/headers.py:2",
            "web/headers.py:2:get_all",
            "web/HEADERS.py:2",
            "get_all(self, name)",
            "def get_all(…):",
            "headers.get_all",
            "HEADERS.Get_All",
        )
    ]
    + [
        (written, "repo.go:5 Repo.ReadBlob")
        for written in (
            "(*Repo).ReadBlob",
            "func (r *Repo) ReadBlob",
            "func (r *Repo) ReadBlob(n int) error",
            "Repo.readblob",
        )
    ]
    + [
        (written, "box.js:2 Box.#dispatch")
        for written in ("#dispatch", "Box.#dispatch", "Box#dispatch", "this.#dispatch(1)")
    ]
    + [
        ("Till$.$open", "Till.java:2 Till$.$open"),
        ("$open", "Till.java:2 Till$.$open"),
        ("paid", "paid.ts:1 paid"),
        ("$paid", "paid.ts:2 $paid"),
        ("$paid.$all", "paid.ts:3 $paid.$all"),
    ],
)
def test_a_name_is_taken_in_every_spelling_that_means_one_thing(
    written: str, place: str, opened: Open
) -> None:
    access = opened(FILES)
    assert places(access, written) == [place]
    path, _, rest = place.partition(":")
    line, _, name = rest.partition(" ")
    position = access.find_position(None, written)
    assert (position.path, position.line) == (path, int(line))
    found = access.find_references(written)
    assert f"{path}:{line}" in {f"{use.path}:{use.line}" for use in found}
    assert (name in found.said) == (
        written in {"headers.get_all", "HEADERS.Get_All", "Repo.readblob"}
    )


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("explicit operator bool() const", "operator bool"),
        ("async foo(a): b", "foo"),
        ("Vec<T>::push", "Vec.push"),
        ("std::map<K, std::vector<V>>::find", "std.map.find"),
        ("List[int].append", "List.append"),
        ("$this->foo", "foo"),
        ("\\App\\Model::find", "App.Model.find"),
        ("self.run", "run"),
        ("public static void main(String[] args)", "main"),
        ("export const useX = () =>", "useX"),
        ("class A < B", "A"),
        ("f[2]", "f[2]"),
        ("'f'", "f"),
        ("f'", "f'"),
        ("A.~/", "A.~/"),
        ("a thing", "a thing"),
    ],
)
def test_a_spelling_is_read_as_a_dotted_name(written: str, name: str) -> None:
    assert spelled(written) == name


def test_a_place_is_a_file_with_a_name_or_a_line() -> None:
    assert written_place("a.py:12:5") == Written("a.py", "", 12, 5)
    assert written_place("a.py:kill:12") == Written("a.py", "kill", 12)
    assert written_place("std::vector") is None
    assert written_place("x: int") is None


@pytest.mark.parametrize("seconds", [0, 20])
def test_a_member_of_nothing_is_answered_by_name_alone_and_said_first(
    opened: Open, seconds: float, tmp_path: Path
) -> None:
    access = opened(FILES)
    if seconds:
        access = SmartFileAccess.for_workspace(tmp_path / "workspace", language_servers=True)
    for name in ("Nonexistent.get_all", "Headers.getall", "Other.get_all", "web.use.get_all"):
        found = access.find_references(name, seconds=seconds)
        word = name.rpartition(".")[2]
        assert (found.confirmed, found.possible) == (0, len(found))
        assert all(use.tier == "possible" for use in found)
        assert found.said.startswith(f"nothing defines {name}")
        assert found.said.endswith(f"places that have the name {word!r}:")
    said = access.find_references("Headers.getall", seconds=seconds).said
    assert "did you mean 'Headers.get_all'" in said
    access.close()


def test_without_an_index_a_member_of_its_own_is_no_other() -> None:
    files = MemoryFileBackend({"a.py": FILES["web/headers.py"]})
    access = SmartFileAccess(files)
    assert access.find_references("Headers.get_all").said == ""
    assert places(access, "Headers.get_all") == ["a.py:2 Headers.get_all"]


def test_bases_that_cannot_be_followed_are_named(opened: Open) -> None:
    access = opened(
        {
            "a.py": "import ext\nclass A(ext.Base): ...\nclass B(make(), A):\n    x = 1\n"
            "class C:\n    def go(self): ...\nclass D(ext.Base, C): ...\n"
        }
    )
    said = access.find_references("B.gone").said
    assert "(bases that can't be followed from here: make(), ext.Base)" in said
    said = access.find_references("D.go").said
    assert said == "D.go is C.go, a.py 6 (unless ext.Base has it, which can't be followed)"


def test_a_symbol_that_a_base_has_is_shown_from_there(opened: Open) -> None:
    access = opened(
        {**FILES, "web/more.py": "from web.headers import Headers\nclass M(Headers): ...\n"}
    )
    shown = access.read_symbol("web/more.py", "M.get_all")
    assert (shown.path, shown.line) == ("web/headers.py", 2)
    assert shown.notes == ("M.get_all is Headers.get_all, web/headers.py 2",)
    assert access.read_symbol("web/headers.py", "Headers::put").line == 3
    with pytest.raises(SymbolNotFoundError, match=r"did you mean 'Headers\.get_all'"):
        access.read_symbol("web/headers.py", "Headers.get_al")


def test_a_name_in_another_case_has_the_uses_of_the_name(opened: Open) -> None:
    found = opened(FILES).find_references("headers.GET_ALL")
    assert [(use.line, use.kind) for use in found] == [(2, "definition"), (3, "call")]
    assert (found.name, found.said) == (
        "get_all",
        "headers.GET_ALL taken for Headers.get_all, web/headers.py 2",
    )
    # What a file has comes before another case.
    text = "from web.headers import Headers\nclass Request:\n    def headers(self): ...\n"
    access = opened(FILES | {"web/request.py": text})
    assert access.find_references("Request")
    assert access.find_position("web/request.py", "Headers").line == 1
    assert access.find_position("web/request.py", "HEADERS").line == 3


def test_several_definitions_are_listed_with_places_and_signatures(opened: Open) -> None:
    with pytest.raises(AmbiguousSymbolError) as caught:
        opened(FILES).find_position(None, "put")
    assert str(caught.value) == (
        "'put' has 2 definitions:\n"
        "  web/headers.py:3 Headers.put: def put(self)\n"
        "  web/headers.py:5 Other.put: def put(self)\n"
        "name one by its place, such as web/headers.py:3"
    )


@pytest.mark.parametrize(
    ("name", "lines", "said"),
    [
        ("R#[]", [4], ""),
        ("R.[]", [2, 4], ""),
        ("R#make", [3], "R.make is no method of an instance"),
        ("call!", [5, 8], "call! taken for call"),
        ("struct cmd", [1], ""),
        ("struct go", [3], "go is no struct"),
    ],
)
def test_a_name_means_what_its_form_says(name: str, lines: list[int], said: str) -> None:
    access = SmartFileAccess(
        MemoryFileBackend(
            {
                "r.rb": "class R\n  def self.[](a) = 1\n  def self.make = 1\n  alias [] fetch\n"
                "  def call = 1\nend\nclass S\n  def call = 2\nend\n",
                "s.c": "struct cmd { int a; };\nint cmd(int b) { return b; }\nint go() {}\n",
            }
        )
    )
    meant = access.definitions_of(name)
    assert [one.line for one in meant.found] == lines
    assert meant.said == said
    if name == "call!":
        with pytest.raises(AmbiguousSymbolError, match=r"^call! taken for call; 'call' has"):
            access.find_position(None, name)
    if name == "R#[]":
        place = access.find_position(None, name)
        assert [one.line for one in access.goto_definition(*place.at, seconds=0)] == [4]


def test_calls_of_a_private_name_are_found(opened: Open) -> None:
    access = opened(FILES)
    place = access.find_position("box.js", "#dispatch")
    found = access.call_hierarchy(*place.at)
    assert [(call.name, call.lines) for call in found.incoming] == [("Box.run", (3,))]
    # A place without a name is no function that nobody calls.
    assert "no call of" not in access.call_hierarchy("box.js", 4, 1).reason


@pytest.mark.parametrize("path", ["WEB/Headers.py", "web.headers"])
def test_a_path_is_taken_in_another_case_or_as_a_module(path: str, opened: Open) -> None:
    assert opened(FILES).get_outline(path).path == "web/headers.py"


def test_a_lattice_and_a_circle_of_bases_end() -> None:
    levels = ["class A0: ...\nclass B0:\n    def deep(self): ...\n"]
    levels += [
        f"class A{n}(A{n - 1}, B{n - 1}): ...\nclass B{n}(A{n - 1}, B{n - 1}): ...\n"
        for n in range(1, 30)
    ]
    levels += ["class Round(Trip): ...\nclass Trip(Round):\n    def on(self): ...\n"]
    access = SmartFileAccess(MemoryFileBackend({"a.py": "".join(levels)}))
    assert access.read_symbol("a.py", "A29.deep").qualified_name == "B0.deep"
    assert access.read_symbol("a.py", "Round.on").qualified_name == "Trip.on"


def test_a_name_that_is_longer_than_any_is_refused() -> None:
    access = SmartFileAccess(MemoryFileBackend({"a.py": "x = 1\n"}))
    name = "T." * 2_000 + "m"
    with pytest.raises(InvalidArgumentError, match="longer than 2,000 characters"):
        access.find_references(name)
    with pytest.raises(InvalidArgumentError, match="longer than 2,000 characters"):
        access.read_symbol("a.py", name)


@pytest.mark.parametrize(
    "ids", ["case-1", "2", "3-1", "", "a b-c", "x[1]-y", "/tmp/x.py:3", "a.b::c"]
)
def test_a_test_with_its_parameters_as_pytest_prints_them_is_the_test(
    ids: str, opened: Open
) -> None:
    source = (
        "def test_x(x): ...\n\nclass TestB:\n    def test_x(self): ...\n    def test_y(): ...\n"
    )
    access = opened({"tests/test_a.py": source})
    for name, line in (("test_x", 1), ("TestB::test_x", 4), ("TestB::test_y", 5)):
        written = f"tests/test_a.py::{name}[{ids}]"
        assert [one.line for one in access.definitions_of(written).found] == [line]
        assert access.find_position(None, written).line == line
        assert access.find_references(written).references[0].line == line
        symbol = access.read_symbol("tests/test_a.py", f"{name.replace('::', '.')}[{ids}]")
        assert (symbol.qualified_name, symbol.line) == (name.replace("::", "."), line)
    if "/" not in ids:
        assert places(access, f"TestB.test_y[{ids}]") == ["tests/test_a.py:5 TestB.test_y"]


CPLUSPLUS = {
    "net.h": "#pragma once\n// A class of service.\nnamespace net {\nclass Conn {\n public:\n"
    "  Conn(int fd);\n  ~Conn();\n  int send(int n);\n};\nint open(int port);\n}\n",
    "net.cpp": '#include "net.h"\nnamespace net {\nConn::Conn(int fd) {}\nConn::~Conn() {}\n'
    "int Conn::send(int n) {\n  return n;\n}\n}\nint net::open(int port) { return port; }\n",
    "plain.h": "/* A\nclass of the service:\npublic or not. */\nstruct plain { int class; };\n",
}


@pytest.mark.parametrize(
    ("name", "line", "column", "declared"),
    [
        ("Conn::send", 5, 11, 8),
        ("net::Conn::send", 5, 11, 8),
        ("Conn.~Conn", 4, 7, 7),
        ("Conn::Conn", 3, 7, 6),
        ("net::open", 9, 10, 10),
    ],
)
def test_a_member_that_is_defined_outside_its_class_has_both_places(
    name: str, line: int, column: int, declared: int, opened: Open
) -> None:
    access = opened(CPLUSPLUS)
    position = access.find_position(None, name)
    assert position.at == ("net.cpp", line, column)
    found = access.definitions_of(name).found
    assert {(one.path, one.line) for one in found} == {("net.cpp", line), ("net.h", declared)}
    uses = access.find_references(name)
    defined = {(use.path, use.line, use.enclosing) for use in uses if use.kind == "definition"}
    owner = "net" if name == "net::open" else "net.Conn"
    assert {("net.cpp", line, owner), ("net.h", declared, owner)} <= defined


def test_a_body_below_using_namespace_is_the_one_that_is_declared(opened: Open) -> None:
    access = opened(
        {
            "net.h": "namespace net {\nclass Conn {\n  int stop();\n  Conn() {}\n};\n}\n",
            "a.cpp": "using namespace net;\nint Conn::stop() {}\n",
        }
    )
    for name in ("Conn::stop", "net::Conn::stop"):
        assert access.find_position(None, name).at[:2] == ("a.cpp", 2)
    # A constructor is no other thing of that name.
    assert access.find_position(None, "Conn").at[:2] == ("net.h", 2)


def test_a_header_is_cplusplus_where_its_text_is(opened: Open) -> None:
    access = opened(CPLUSPLUS)
    assert access.get_outline("net.h").language == "cpp"
    assert access.get_outline("plain.h").language == "c"


NAMESAKES = {
    "shop/gin.go": 'package shop\n\nimport "x/render"; type Context struct{}\n\n'
    "func (c *Context) JSON(code int) {\n"
    "\tc.Write(render.JSON{})\n}\n\nfunc (c *Context) Fail() { c.JSON(500) }\n\n"
    "var t = T{JSON: 1}\n",
    "shop/errors.go": "package shop\n\ntype Error struct{}\n\nfunc (e *Error) JSON() any {}\n"
    "\nfunc (e *Error) Marshal() any { return e.JSON() }\n",
    "shop/render/json.go": "package render\n\ntype JSON struct{}\n\nfunc use(j JSON) {}\n",
    "app/a.go": "package app\n\nfunc ping(x *shop.Context) { x.JSON(200) }\n"
    "func pong(y any) { y.JSON(200) }\n",
    "app/a_test.go": "package app\n\nfunc f(x *shop.Error) { x.JSON() }\n",
    "b.py": "from c import Base\nclass Child(Base):\n    def go(self):\n        self.run()\n"
    "class Other:\n    def run(self): ...\n    def again(self):\n        self.run()\n"
    "def use(thing):\n    with Child() as child:\n        child.run()\n    other = Other()\n"
    "    other.run()\n    some = thing()\n    some.run()\n"
    "    copy = Other().copy()\n    copy.run()\n",
    "c.py": "class Base:\n    def run(self): ...\ndef run(): ...\nrun()\n",
    "e.py": "run()\n",
    "d.py": "from c import run\nimport c as module\nrun()\nmodule.run()\n",
}


@pytest.mark.parametrize(
    ("name", "scope", "mine", "another"),
    [
        ("Context.JSON", None, "shop/gin.go:5,9,11 app/a.go:3,4", "shop/errors.go:5,7"),
        (
            "Error.JSON",
            None,
            "shop/errors.go:5,7 app/a.go:4 shop/gin.go:11 app/a_test.go:3",
            "shop/gin.go:5,6,9",
        ),
        ("render.JSON", None, "shop/render/json.go:3,5 shop/gin.go:6,11", "app/a.go:3,4"),
        ("Context.JSON", "shop/gin.go", "shop/gin.go:5,9,11", "shop/gin.go:6"),
        ("Base.run", None, "c.py:2 b.py:4,11,15,17 e.py:1", "b.py:6,8,13 c.py:3,4 d.py:1,3,4"),
        ("Child.run", None, "c.py:2 b.py:4,11,15,17 e.py:1", "b.py:6,8,13"),
        ("Other.run", None, "b.py:6,8,11,13,15,17 e.py:1", "b.py:4 c.py:2,3,4"),
        ("c.run", None, "c.py:3,4 d.py:1,3,4 e.py:1", "b.py:6,8"),
    ],
)
def test_uses_that_another_definition_explains_better_come_last(
    name: str, scope: str | None, mine: str, another: str, opened: Open
) -> None:
    """Those that only the definition explains come first; no use is lost."""
    access = opened(NAMESAKES)
    found = access.find_references(name, scope)
    tiers = [use.tier for use in found]
    assert tiers == sorted(tiers, key=["possible", "another"].index)

    def grouped(tier: str) -> dict[str, list[int]]:
        lines: dict[str, list[int]] = {}
        for use in found:
            if use.tier == tier:
                lines.setdefault(use.path, []).append(use.line)
        return {path: sorted(some) for path, some in lines.items()}

    shown = grouped("possible")
    text = " ".join(f"{path}:{','.join(map(str, some))}" for path, some in shown.items())
    assert text == mine
    for part in another.split():
        path, _, lines = part.partition(":")
        assert set(map(int, lines.split(","))) <= set(grouped("another")[path])
    assert len(found) == len(access.find_references(name.rpartition(".")[2], scope))


USES = cases(Path(__file__).with_name("uses.txt"))
_, IN_DOUBT = files(USES["in doubt"])


@pytest.mark.parametrize("path", IN_DOUBT)
def test_a_use_that_may_be_of_the_asked_type_is_never_of_another(path: str, opened: Open) -> None:
    found = opened({path: IN_DOUBT[path]}).find_references("Kid.add")
    others = [use for use in found if use.tier == "another"]
    assert others
    assert {use.kind for use in others} == {"definition"}


_, SURE = files(USES["sure"])


@pytest.mark.parametrize("path", SURE)
def test_a_use_of_a_type_that_is_known_is_of_another(path: str, opened: Open) -> None:
    found = opened({path: SURE[path]}).find_references("Kid.add")
    assert [use.enclosing for use in found if use.tier == "possible"] == ["Kid"]


def test_a_variable_of_a_method_s_name_is_another_thing(opened: Open) -> None:
    uses = '$add = open("a");\nclose($add);\n$x->add(1);\nKid::$add;'
    sub = f"<?php\nclass Sub extends Kid {{ function all(Some $x) {{\n{uses}\n}} }}\n"
    kid = "<?php\nclass Kid { function add($one) {} }\n"
    found = opened({"kid.php": kid, "sub.php": sub}).find_references("Kid.add", scope="sub.php")
    assert [use.line for use in found if use.tier == "another"] == [3, 4]
    field = kid.replace("{ f", "{ private $add; f")
    found = opened({"kid.php": field, "sub.php": sub}).find_references("Kid.add", scope="sub.php")
    assert {use.tier for use in found} == {"possible"}


def test_uses_of_another_definition_are_folded_to_a_line_that_names_it(opened: Open) -> None:
    text = format_references(opened(NAMESAKES).find_references("Context.JSON", budget=2_000))
    assert text.split("\n")[-1] == ("6 of another JSON: Error, json")


def test_pages_of_a_dotted_name_follow_each_other(opened: Open) -> None:
    many = {f"m{n}.py": "def a(x):\n    x.run()\n    x.run()\n" for n in range(60)}
    access = opened(NAMESAKES | many)
    whole = [(use.path, use.line) for use in access.find_references("Base.run")]
    page = access.find_references("Base.run", budget=200)
    pages = list(page)
    while page.cursor:
        page = access.find_references("Base.run", budget=200, cursor=page.cursor)
        pages += page
    assert [(use.path, use.line) for use in pages] == whole
    assert len(whole) == 120 + len(access.find_references("Base.run", "[bcde].py"))


SEVERAL = {
    "lib.rs": "mod route;\npub struct Router;\nimpl Router {\n    pub fn route(&self) {}\n}\n"
    "fn nest() {}\npub struct Path;\nimpl Path {\n    pub fn nest(&self) {}\n}\n",
    "tests/a.rs": "fn route() {}\n",
    "dep.c": "void *cmd(int a) { return 0; }\nint run(int a);\nint run(int a) { return a; }\n"
    "static int size;\nstatic int size = 3;\ntypedef struct list {\n  int n, m;\n} list;\n",
    "server.h": "struct cmd { int arity; };\nint run(int a);\n",
    "P.java": "enum P implements S {\n  A { public int f() { return 1; } };\n}\n",
    "S.java": "interface S { int f(); }\n",
    "a.js": "function f(x) { x.start = 1; return x.start }\n",
    "b.py": "def beside(): ...\nclass A:\n    def beside(self): ...\n"
    "def g():\n    def beside(): ...\n",
    "tests/test_a.py": "class T:\n    def beside(self): ...\n",
    "z.py": "class Z:\n    def beside(self): ...\n",
    "k.h": "struct K {\n  K operator+(int a);\n  void operator()(int a);\n"
    '  explicit operator bool() const { return 1; }\n};\nlong operator""_a(long a);\n',
    "k.cpp": 'K K::operator +(int a) {\n  return a;\n}\nlong operator""_a(long a) { return a; }\n',
    "x.ts": "function made() {}\nexport { made as makeStore }\n",
    "y.ts": "import { makeStore } from './x'\nmakeStore()\n",
    "ma.rs": "trait T { fn spin(); }\nmacro_rules! m { () => {\n  fn spin() {} } }\n",
    "w.test.ts": "describe('weave', () => {})\ndescribe('knit', () => {})\n",
    "w.ts": "export class W { weave() { return 1 } }\n",
    "x1.ts": "export { weave } from './w'\n",
    "mod.rs": "mod must;\nmacro_rules! must { () => {} }\nfn grow() {}\n",
    "o.scala": "object O {\n  def ~/(a: Int) = 1\n  def ~~/(a: Int) = 2\n}\n",
    "o.rb": "Opened = Struct.new(:a) do\n  def to_b; end\nend\ndescribe '#to_b' do\nend\n",
    "O.cs": "struct O {\n  public static bool operator ==(O a, O b) => true;\n}\n",
}


@pytest.mark.parametrize(
    ("name", "found", "said"),
    [
        ("route", ["lib.rs:4 Router.route"], "also route, tests/a.rs 1"),
        ("nest", ["lib.rs:6 nest"], "also Path.nest, lib.rs 9"),
        ("cmd", ["dep.c:1 cmd", "server.h:1 cmd"], ""),
        ("run", ["dep.c:3 run"], ""),
        (
            "beside",
            ["b.py:1 beside"],
            "also A.beside, b.py 3; Z.beside, z.py 2; T.beside, tests/test_a.py 2",
        ),
        ("size", ["dep.c:5 size"], ""),
        ("list", ["dep.c:6 list"], ""),
        ("f", ["a.js:1 f"], "also P.A.f, P.java 2; S.f, S.java 1"),
        ("operator()", ["k.h:3 K.operator()"], ""),
        ("K::operator+", ["k.cpp:1 K.operator+", "k.h:2 K.operator+"], ""),
        ("K::operator bool", ["k.h:4 K.operator bool"], ""),
        ('operator""_a', ['k.cpp:4 operator""_a'], ""),
        ("makeStore", ["x.ts:1 made"], "makeStore is made, x.ts 1"),
        ("spin", ["ma.rs:1 T.spin"], "in macros too, such as ma.rs:3"),
        ("weave", ["w.ts:1 W.weave"], ""),
        ("knit", ["w.test.ts:2 knit"], ""),
        ("must!", ["mod.rs:2 must"], ""),
        ("grow!", ["mod.rs:3 grow"], "grow! taken for grow"),
        ("~/", ["o.scala:2 O.~/"], ""),
        ("Opened#to_b", ["o.rb:2 Opened.to_b"], ""),
        ("to_b", ["o.rb:2 Opened.to_b"], ""),
        ("O.operator ==", ["O.cs:2 O.operator=="], ""),
    ],
)
def test_one_name_of_several_things_means_all_of_them(
    name: str, found: list[str], said: str, opened: Open
) -> None:
    access = opened(SEVERAL)
    assert places(access, name) == found
    assert access.definitions_of(name).said == said


def test_what_has_a_body_defines_also_where_a_name_is_used(opened: Open) -> None:
    access = opened(SEVERAL | {"b.c": "int a = run(1);\n"})
    for file, line, name, place in (
        ("b.c", 1, "run", "dep.c:3"),
        ("dep.c", 3, "run", "dep.c:3"),
        ("y.ts", 2, "makeStore", "x.ts:1"),
    ):
        found = access.goto_definition(file, line, name)
        assert [f"{one.path}:{one.line}" for one in found] == [place]


def test_a_declaration_alone_is_a_definition(opened: Open) -> None:
    access = opened({"a.rs": "mod route;\n", "b.h": "int run(int a);\n"})
    assert [*places(access, "route"), *places(access, "run")] == ["a.rs:1 route", "b.h:1 run"]


def test_a_definition_without_a_name_of_its_own_is_found_and_its_overloads_are_told(
    opened: Open,
) -> None:
    text = "struct S {\n  subscript(a: Int) -> Int { 1 }\n  subscript(b: A) -> Int { 1 }\n}\n"
    access = opened({"a.swift": text, "O.cs": SEVERAL["O.cs"]})
    for name, line, said in (("S.subscript", 2, "also on line 3"), ("O.operator ==", 2, "")):
        position = access.find_position(None, name)
        assert (position.line, position.said) == (line, said)
        found = access.goto_definition(*position.at, seconds=0)
        assert [one.line for one in found] == [line]
        assert not found.reason.startswith("no definition")


def test_callers_of_a_macro_are_not_those_of_a_function_with_its_name(opened: Open) -> None:
    access = opened(
        {
            "a.rs": "macro_rules! run {\n    () => {}\n}\n"
            "fn f() {\n    run!();\n}\nfn g(a: A) {\n    a.run();\n}\n"
        }
    )
    position = access.find_position(None, "run!")
    found = access.call_hierarchy(*position.at, seconds=0)
    assert [one.name for one in found.incoming] == ["f"]


def test_many_possible_uses_in_files_without_their_type_come_after_others(opened: Open) -> None:
    text = "from a import Kid\ndef f(x):\n    x.add()\n"
    access = opened({"a.py": "class Kid:\n    def add(self): ...\n", "c.py": text})
    access.file_backend.set_overlay("b.py", "y.add()\n" * 8)
    assert format_references(access.find_references("Kid.add")).split("\n") == [
        "10 by name in 3 files",
        "a.py",
        "  2 definition in Kid: def add(self): ...",
        "c.py",
        "  3 call in f: x.add()",
        "possible, 8 in files that don't name its type:",
        "b.py",
        *(f"  {line} call: y.add()" for line in range(1, 9)),
    ]
    access.file_backend.set_overlay("b.py", "y.add()\n" * 7)
    assert "possible" not in format_references(access.find_references("Kid.add"))


def test_what_only_functions_define_is_said_to_be_used(opened: Open) -> None:
    access = opened(SEVERAL)
    with pytest.raises(SymbolNotFoundError) as error:
        access.definitions_of("start").one()
    assert str(error.value).startswith(
        "nothing here defines 'start' at top level or in a type; it has 2 uses, such as a.js:1"
    )
    assert "'start'?" not in str(error.value)
    with pytest.raises(SymbolNotFoundError, match=r"not looked at: .*what class_eval makes"):
        access.find_position(None, "Opened.evaluated")


@pytest.mark.parametrize("path", ["a.cpp", "a.php", "a.java"])
def test_members_behind_what_does_not_parse_are_found_or_told(path: str, opened: Open) -> None:
    word, head = ("function", "<?php\n") if path == "a.php" else ("int", "")
    text = f"class A {{\n {word} f() {{ }} }}\n {word} walk() {{ return lost(1); }}\n}}\n"
    access = opened({path: head + text})
    found = access.definitions_of("A.walk")
    assert found.said == f"A.walk taken for walk: {path} parses with errors"
    assert [one.line for one in found.found] == [3 + bool(head)]
    with pytest.raises(SymbolNotFoundError, match=rf"what doesn't parse in {path} \(ask grep"):
        access.find_position(None, "A.lost")


def test_each_file_that_defines_a_random_name_is_told(tmp_path: Path) -> None:
    """Against the outlines of an installed package: what stands in no function, and in no test."""
    package = Path(pytest.__file__).parents[1] / "jinja2"
    shutil.copytree(package, tmp_path / "jinja2")
    chosen = random.Random(1)
    with closing(SmartFileAccess.for_workspace(tmp_path)) as access:
        defining: dict[str, set[str]] = {}
        for path in sorted((tmp_path / "jinja2").rglob("*.py")):
            name = path.relative_to(tmp_path).as_posix()
            for one in flatten(access.get_outline(name).symbols):
                if not is_local(one):
                    defining.setdefault(one.symbol.name, set()).add(name)
        several = sorted(name for name, paths in defining.items() if 2 <= len(paths) <= 6)
        for name in chosen.sample(several, 25):
            meant = access.definitions_of(name)
            assert {one.path for one in (*meant.found, *meant.members)} == defining[name], name


def test_a_method_of_a_prototype_is_taken_without_that_word(opened: Open) -> None:
    access = opened(
        {
            "reply.js": "function Reply() {}\nReply.prototype.send = function (x) {}\n",
            "use.js": "reply.send(1)\n",
        }
    )
    found = access.find_references("Reply.send", seconds=0)
    assert found.said == "Reply.send is Reply.prototype.send"
    whole = access.find_references("Reply.prototype.send", seconds=0)
    assert found.references == whole.references
    assert access.definitions_of("Reply.send", seconds=0).one().line == 2
