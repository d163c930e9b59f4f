"""Places by name, and what is said of them where no language server answers."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from foldline.backends import (
    InvalidArgumentError,
    LocalFileBackend,
    SmartFileAccess,
    SymbolNotFoundError,
)
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.base.waiting import coroutine_of, waits
from foldline.backends.engine import Engine
from foldline.backends.formatting.navigation import (
    call_line,
    call_lines,
    diagnostic_lines,
    hover_lines,
    location_lines,
)
from foldline.backends.formatting.parts import plain, text_of
from foldline.backends.models import References
from foldline.backends.outlines.locations import Call, Calls, Location, Locations, Position

FILES = {
    "cart.py": (
        "import hmac\n"
        "from shapes import Shape\n"
        "\n"
        "\n"
        "class Cart(Shape):\n"
        '    """What a customer wants."""\n'
        "\n"
        "    def total(self) -> int:\n"
        "        return hmac.compare_digest(self.a, self.b)\n"
        "\n"
        "\n"
        "class Basket(Cart):\n"
        "    def total(self) -> int:\n"
        "        return 2\n"
        "\n"
        "\n"
        "def pay(cart: Cart) -> int:\n"
        "    return cart.total() + cart.total()\n"
    ),
    "shapes.ts": (
        "export interface Shape { area(): number }\n"
        "export class Round implements Shape { area() { return 1 } }\n"
    ),
    "main.py": "from cart import pay, Cart\npay(Cart())\n",
}


@pytest.fixture
def access(tmp_path: Path) -> Iterator[SmartFileAccess]:
    root = tmp_path / "workspace"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    access = SmartFileAccess.for_workspace(root)
    yield access
    access.close()


@pytest.mark.parametrize(
    ("name", "line", "column", "place"),
    [
        ("Cart.total", None, None, Position("cart.py", 8, 9, "total")),
        ("Shape", None, None, Position("cart.py", 2, 20, "Shape")),
        ("hmac.compare_digest", None, None, Position("cart.py", 9, 21, "compare_digest")),
        ("compare_digest", 9, None, Position("cart.py", 9, 21, "compare_digest")),
        ("cart.total", 18, 33, Position("cart.py", 18, 32, "total")),
        (None, 9, 25, Position("cart.py", 9, 21, "compare_digest")),
        (None, 17, None, Position("cart.py", 17, 5, "pay")),
        (None, None, None, Position("cart.py", 5, 7, "Cart")),
    ],
)
def test_a_place_is_found_by_what_is_known_of_it(
    access: SmartFileAccess, name: str | None, line: int | None, column: int | None, place: Position
) -> None:
    assert access.find_position("cart.py", name, line=line, column=column) == place


def test_a_go_name_is_found_by_its_package_whatever_the_folder_is_called(
    access: SmartFileAccess,
) -> None:
    text = "// Shop sells.\npackage shop\n\ntype Till struct{}\n\nfunc (t *Till) Open() {}\n"
    (access.file_backend.root / "till.go").write_text(text, encoding="utf-8")
    assert access.find_position(None, "shop.Till").line == 4
    assert access.find_position(None, "shop.Till.Open").line == 6
    with pytest.raises(SymbolNotFoundError):
        access.find_position(None, "bank.Till")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("V.operator[]", 2),
        ("V::operator()", 3),
        ("V::operator==", 4),
        ("bool V::operator==(const V& o) const", 4),
        ("V::operator=", 5),
    ],
)
def test_an_operator_is_found_by_its_name(access: SmartFileAccess, name: str, line: int) -> None:
    (access.file_backend.root / "v.cpp").write_text(
        "struct V {\n"
        "    int operator[](int i) { return i; }\n"
        "    int operator()(int i) { return i; }\n"
        "    bool operator==(const V& o) const { return true; }\n"
        "    V& operator=(const V& o) { return *this; }\n"
        "};\n",
        encoding="utf-8",
    )
    assert access.find_position(None, name).line == line
    assert access.find_position("v.cpp", name).line == line


def test_what_a_go_struct_on_one_line_embeds_is_followed(access: SmartFileAccess) -> None:
    text = (
        "package e\n\ntype Base struct{}\n\nfunc (b Base) Run() {}\n\n"
        "type Emb struct { n int; *Base }\n"
    )
    (access.file_backend.root / "e.go").write_text(text, encoding="utf-8")
    assert access.find_position("e.go", "Emb.Run").line == 5


def test_a_place_that_is_none_names_near_ones(access: SmartFileAccess) -> None:
    with pytest.raises(SymbolNotFoundError, match=r"did you mean 'Cart\.total', 'Basket\.total'"):
        access.find_position("cart.py", "Cart.totl")
    with pytest.raises(SymbolNotFoundError, match="did you mean 'pay'"):
        access.find_position("main.py", "pya")
    with pytest.raises(InvalidArgumentError, match="did you mean 'cart'"):
        access.find_position("cart.py", "crt", line=18)
    with pytest.raises(InvalidArgumentError, match="it has return, cart, total"):
        access.find_position("cart.py", line=18, column=3)
    with pytest.raises(InvalidArgumentError, match="has the lines 1 to 18"):
        access.find_position("cart.py", "pay", line=19)


def test_without_a_server_definitions_are_those_of_the_name(access: SmartFileAccess) -> None:
    place = access.find_position("cart.py", "total", line=18)
    found = access.goto_definition(place.path, place.line, place.column)
    assert plain(location_lines(found, place, "definition")).splitlines() == [
        "cart.py:18 total: 2 definitions",
        "cart.py",
        "  8: def total(self) -> int:",
        "  13: def total(self) -> int:",
        "(no language server was asked)",
        "(partial: by name alone, from syntax trees)",
    ]
    assert found.backend == "ast"
    # Where the name is defined, it is that one.
    assert [item.line for item in access.goto_definition("cart.py", 13, "total")] == [13]


def test_without_a_server_implementations_follow_the_names_of_bases(
    access: SmartFileAccess,
) -> None:
    def of(file: str, line: int, name: str) -> list[tuple[str, int]]:
        return [
            (implementation.path, implementation.line)
            for implementation in access.find_implementations(file, line, name)
        ]

    assert of("shapes.ts", 1, "Shape") == [("shapes.ts", 2), ("cart.py", 5), ("cart.py", 12)]
    assert of("cart.py", 8, "total") == [("cart.py", 13)]
    assert of("cart.py", 17, "pay") == []


RUST = """\
pub trait Show { fn show(&self) -> u8; }
pub struct One;
pub struct Held<S: Show> { s: S }
impl Show for One {
    fn show(&self) -> u8 { 1 }
}
impl<'a, T: Show> crate::Show for Held<T> {
    fn show(&self) -> u8 { 2 }
}
impl<'a, S: Show> Show for &'a S {
    fn show(&self) -> u8 { 3 }
}
impl<S: Show> Clone for Held<S> {
    fn clone(&self) -> Self { todo!() }
}
"""


def test_the_implementations_of_a_rust_trait_are_its_impl_blocks(access: SmartFileAccess) -> None:
    (access.file_backend.root / "show.rs").write_text(RUST, encoding="utf-8")
    found = access.find_implementations("show.rs", 1, "Show")
    assert [one.line for one in found] == [4, 7, 10]
    methods = access.find_implementations("show.rs", 1, "show")
    assert [one.line for one in methods] == [5, 8, 11]


def test_no_implementation_by_name_says_what_was_looked_at(access: SmartFileAccess) -> None:
    found = access.find_implementations("cart.py", 12, "Basket")
    assert not found.locations
    assert found.reason == (
        "none found by name in 1 .py file that has 'Basket' in code; no language server was asked"
    )
    place = Position("cart.py", 12, 7, "Basket")
    assert plain(location_lines(found, place, "implementation")).splitlines() == [
        "cart.py:12 Basket",
        f"({found.reason})",
        "(partial: by name alone, from syntax trees; not looked at: types that only have its"
        " members)",
    ]
    place = Position("cart.py", 5, 7, "Cart")
    shown = location_lines(access.find_implementations(*place.at), place, "implementation")
    assert text_of(shown[0]) == "cart.py:5 Cart: 1 implementation found by name"


class _KnowsNone(Engine):
    async def find_implementations(self, target: Position, *, seconds: float) -> Locations:
        return Locations((), "clangd", reason=f"none in {seconds} s at {target.line}")

    async def call_hierarchy(self, target: Position, *, seconds: float) -> Calls:
        callee = Call(f"asked at {target.line}", "a.py", 1, (int(seconds),))
        stub = Call("overload", "/stdlib/typing.pyi", 1, (7,), outside=True)
        called = (stub, callee) if target.name == "prep" else ()
        return Calls((), called, "ty", reason="none known")


class _KnowsItself(Engine):
    async def find_implementations(self, target: Position, *, seconds: float) -> Locations:
        lines = target.line, target.line + int(seconds)
        found = tuple(Location(target.path, line, 1, 2) for line in lines)
        return Locations(found, "ty")

    async def goto_definition(self, target: Position, *, seconds: float) -> Locations:
        return Locations((Location(target.path, 1, 1, 2),), "clangd")

    async def call_hierarchy(self, target: Position, *, seconds: float) -> Calls:
        return Calls((Call("f", target.path, 4, (4,)),), (), "clangd")


def test_what_is_implemented_is_not_among_its_implementations(
    access: SmartFileAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_engine", _KnowsItself())
    found = access.find_implementations("cart.py", 5, "Cart", seconds=7)
    assert [(one.line, found.backend) for one in found] == [(12, "ty")]


CALLBACKS = """\
from typing import overload

def worker(): ...
def twice(): ...
def never(): ...

@overload
def prep(a: int) -> int: ...
@overload
def prep(a: str) -> str: ...
def prep(a):
    return twice() + twice()

Thread(target=worker)
pool.submit(worker, twice)
"""


@pytest.mark.parametrize(
    ("name", "seconds", "lines"),
    [
        (
            "worker",
            0,
            [
                "(no calls found by name; 2 uses as a value: ask refs; no language server was"
                " asked; whom it calls is not known)",
                "(partial: by name alone, from syntax trees)",
            ],
        ),
        (
            "worker",
            5,
            [
                "(no calls; 2 uses as a value: ask refs)",
                "(partial: by name alone, from syntax trees)",
            ],
        ),
        (
            "twice",
            5,
            [
                "called by:",
                "  prep calls.py:11, on lines 12, 12",
                "(possible callers: ty knows none; 1 use as a value: ask refs)",
                "(partial: by name alone, from syntax trees)",
            ],
        ),
        ("never", 5, ["(none known)"]),
        # Of overloads it is the one with a body that calls something.
        ("prep", 5, ["calls:", "  asked at 11 a.py:1, on line 5", "(none known)"]),
    ],
)
def test_callbacks_are_uses_as_values_and_overloads_call_what_the_body_calls(
    access: SmartFileAccess,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    seconds: int,
    lines: list[str],
) -> None:
    (access.file_backend.root / "calls.py").write_text(CALLBACKS, encoding="utf-8")
    monkeypatch.setattr(access, "_engine", _KnowsNone())
    line = next(n for n, text in enumerate(CALLBACKS.splitlines(), 1) if f"def {name}(" in text)
    found = access.call_hierarchy("calls.py", line, name, seconds=seconds)
    shown = plain(call_lines(found, Position("calls.py", line, 1, name))).splitlines()
    assert shown[1:] == lines


def test_of_c_a_body_defines_and_grammars_that_may_call_are_named(
    access: SmartFileAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_engine", _KnowsItself())
    root = access.file_backend.root
    text = "int run(int a);\nint f() { run(2); }\n"
    text += "#if X\nint run(int a) {}\n#else\nint run(int a) {}\n#endif\n"
    (root / "m.c").write_text(text, encoding="utf-8")
    (root / "g.y").write_text("a: B { run(3); }\n", encoding="utf-8")
    found = access.goto_definition("m.c", 2, "run", seconds=5)
    assert [one.line for one in found] == [4, 6]
    assert found.reason == "possible ones: clangd knows no body"
    # Nor does the type of a variable define its member.
    text = "class A { void f() { a.go(); } };\nvoid B::go() {}\n"
    (root / "m.cpp").write_text(text, encoding="utf-8")
    assert [one.line for one in access.goto_definition("m.cpp", 1, "go", seconds=5)] == [2]
    # Asked at a definition, clangd says where it's declared, or knows one branch of `#if`.
    found = access.goto_definition("m.c", 6, "run", seconds=5)
    assert [(one.line, one.column) for one in found] == [(4, 5), (6, 5)]
    assert found.reason == "by name, not clangd's: lines 4, 6"
    calls = access.call_hierarchy("m.c", 4, "run", seconds=5)
    assert calls.backend == "clangd"
    assert calls.reason == "1 more line by name: ask refs; not looked at: g.y"


def test_where_a_server_knows_no_implementation_those_by_name_are_possible(
    access: SmartFileAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "class Base {};\nclass Kid : public Base {};\n"
    (access.file_backend.root / "kid.cpp").write_text(text, encoding="utf-8")
    monkeypatch.setattr(access, "_engine", _KnowsNone())
    found = access.find_implementations("kid.cpp", 1, "Base", seconds=5)
    assert [one.line for one in found] == [2]
    assert found.coverage.startswith("partial: by name alone")
    assert found.reason == "possible ones: clangd knows none"
    none = access.find_implementations("kid.cpp", 2, "Kid", seconds=5)
    assert none.backend == "clangd"
    assert none.reason.endswith("that has 'Kid' in code; clangd knows none")
    assert none.coverage.endswith("not looked at: what macros make")


def test_without_a_server_a_hover_shows_signatures(access: SmartFileAccess) -> None:
    place = access.find_position("main.py", "Cart")
    found = access.hover(place.path, place.line, place.column)
    assert plain(hover_lines(found, place)).splitlines()[:2] == [
        "main.py:1 Cart",
        "cart.py:5-9 class Cart(Shape)  # What a customer wants.",
    ]


def test_without_a_server_callers_are_those_of_the_name(access: SmartFileAccess) -> None:
    place = access.find_position("cart.py", "Cart.total")
    found = access.call_hierarchy(place.path, place.line, place.column)
    assert plain(call_lines(found, place)).splitlines() == [
        "cart.py:8 total",
        "called by:",
        "  pay cart.py:17, on lines 18, 18",
        "(no language server was asked; whom it calls is not known)",
        "(partial: by name alone, from syntax trees)",
    ]


def test_calls_of_another_are_left_out_and_texts_of_a_shell_are_told(
    access: SmartFileAccess,
) -> None:
    root = access.file_backend.root
    (root / "w.py").write_text(
        "class A:\n    def run(self): ...\nclass B:\n    def run(self): ...\n"
        "def f(b: B):\n    b.run()\ndef g(x):\n    x.run()\n",
        encoding="utf-8",
    )
    found = access.call_hierarchy("w.py", 2, "run", seconds=0)
    assert [one.name for one in found.incoming] == ["g"]
    assert found.reason.startswith("1 call of another run left out; ")
    text = "go() { :; }\n# go\nssh host <<'X'\ngo\nX\ngo\n"
    (root / "a.sh").write_text(text, encoding="utf-8")
    found = access.call_hierarchy("a.sh", 1, "go", seconds=0)
    assert [one.lines for one in found.incoming] == [(6,)]
    assert found.reason.endswith("; not in strings, such as a.sh:4")


class _Vanishing(ASTFileAnalysisBackend):
    """Deletes a file when its uses are known, as another program may."""

    def __init__(self, files: LocalFileBackend) -> None:
        super().__init__(files)
        self._file = files.root / "cart.py"

    @waits
    async def find_references(
        self,
        symbol_name: str,
        scope: str | None = None,
        *,
        source: str | None = None,
        since: float | None = None,
        most: int | None = None,
        labelled: set[str] | None = None,
    ) -> References:
        found = await coroutine_of(super().find_references)(symbol_name, scope)
        self._file.unlink(missing_ok=True)
        return found


@pytest.mark.parametrize(
    ("question", "name", "file"),
    [
        (SmartFileAccess.goto_definition, "Cart", "main.py"),
        (SmartFileAccess.hover, "Cart", "main.py"),
        (SmartFileAccess.call_hierarchy, "Shape.area", "shapes.ts"),
        (SmartFileAccess.find_implementations, "Shape", "shapes.ts"),
    ],
)
def test_a_file_that_vanishes_meanwhile_is_no_error_of_another(
    access: SmartFileAccess, question: Callable[..., object], name: str, file: str
) -> None:
    root = access.file_backend.root
    (root / "cart.py").write_text(FILES["cart.py"] + "    return cart.area()\n", encoding="utf-8")
    files = LocalFileBackend(root)
    position = access.find_position(file, name)
    assert question(SmartFileAccess(files, _Vanishing(files)), *position.at)
    assert not (root / "cart.py").exists()


def test_of_a_path_outside_the_workspace_its_end_is_shown() -> None:
    call = Call("loads", "/usr/lib/python3/json/__init__.py", 299, (5,), outside=True)
    assert text_of(call_line(call)) == "  loads …/json/__init__.py:299, on line 5"


def test_without_a_server_problems_are_not_known(access: SmartFileAccess) -> None:
    assert plain(diagnostic_lines(access.diagnostics("main.py"))).splitlines() == [
        "main.py: no problem is known",
        "(no language server was asked)",
        "(partial: no language server answered)",
    ]
    access.file_backend.set_overlay("main.py", "def f(:\n")
    assert "parsed with errors" in access.diagnostics("main.py").reason


def test_what_a_budget_leaves_out_a_cursor_asks_for(tmp_path: Path) -> None:
    body = "".join(f"class C{n}(Base):\n    pass\n\n\n" for n in range(60))
    (tmp_path / "many.py").write_text(f"class Base:\n    pass\n\n\n{body}", encoding="utf-8")
    access = SmartFileAccess.for_workspace(tmp_path)
    place = access.find_position("many.py", "Base")
    lines: list[int] = []
    cursor: str | None = None
    while True:
        found = access.find_implementations("many.py", 1, "Base", budget=600, cursor=cursor)
        assert len(found) + found.left_out == 60
        assert len(plain(location_lines(found, place, "implementation")).encode()) <= 600
        lines += [location.line for location in found]
        cursor = found.cursor
        if cursor is None:
            break
    assert lines == list(range(5, 245, 4))
    with pytest.raises(InvalidArgumentError, match="cursor"):
        access.hover("many.py", 1, "Base", cursor="locations@3")
    access.close()
