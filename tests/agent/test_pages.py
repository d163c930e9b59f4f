"""Outlines, symbols and references within budgets: never more, well used, and nothing is lost."""

import random
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.agent.cli import main
from foldline.backends import SmartFileAccess
from foldline.backends.base.waiting import run
from foldline.backends.errors import SymbolError
from foldline.backends.formatting.budget import LARGEST_BUDGET
from foldline.backends.formatting.parts import plain
from foldline.backends.outlines.symbols import distinct, flatten
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.pages import ask
from foldline.ide.operations.reading import read_arguments
from foldline.ide.workspace import AccessOptions, Workspace

from .mcp_process import call, connect

ROOT = Path(__file__).parents[2]
KINDS = ("*.py", "*.ts", "*.lua", "*.md", "*.toml", "*.yml")
# A line more than that isn't counted as room that an answer leaves.
LONGEST_LINE = 240
SEEDS = st.integers(0, 1 << 30)


def made(seed: int) -> tuple[str, str]:
    """A file in one of several languages: classes, comments and functions of any length."""
    chance = random.Random(seed)
    mark, function, closing, suffix = chance.choice(
        [
            ("//", "func F{n}(a int, b string) error {{", "}", "go"),
            ("///", "pub fn f{n}(a: i32) -> i32 {{", "}", "rs"),
            ("//", "export function f{n}(a: string, ...b: number[]): void {{", "}", "ts"),
            ("#", "def f{n}(a: int = 3, *, größe: str = 'x') -> None:", "    pass", "py"),
        ]
    )
    text = "package p\n" if suffix == "go" else ""
    for number in range(chance.randint(1, 30)):
        text += "".join(f"{mark} {word} of it.\n" for word in "abcdef"[: chance.randint(0, 6)])
        text += "".join(f"{mark} line {n}\n" for n in range(chance.choice((0, 0, 2, 60))))
        body = (f"    x{n} {'+ 1' * chance.randint(0, 20)}\n" for n in range(chance.randint(0, 90)))
        text += function.format(n=number) + "\n" + "".join(body) + closing + "\n\n"
    return f"made{seed}.{suffix}", text


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmartFileAccess]:
    """Sixty files of this project, and made ones."""
    root = tmp_path_factory.mktemp("pages")
    editors = ("editors/vscode/src", "editors/neovim")
    folders = ("backends", "server", "plugins", "docs", *editors, ".github")
    known = [path for one in folders for kind in KINDS for path in (ROOT / one).rglob(kind)]
    for path in random.Random(1).sample(sorted(known), 60):
        copy = root / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    for seed in range(40):
        name, text = made(seed)
        (root / name).write_text(text, encoding="utf-8")
    workspace = Workspace(access=AccessOptions(patient=True))
    yield workspace.access(root)
    workspace.close()


def answer(access: SmartFileAccess, tool: str, **values: object) -> tuple[str, Any]:
    """The text, as every shell prints it, and the result."""
    operation = next(one for one in OPERATIONS if one.tool == tool)
    arguments = read_arguments(operation.arguments, values)
    result, lines = run(ask(operation, access, arguments))
    text = plain(lines)
    budget = values.get("budget")
    assert not isinstance(budget, int) or size(text) <= budget
    return text, result


def size(text: str) -> int:
    return len(text.encode())


def is_filled(text: str, budget: int, line: str = "") -> bool:
    """Return whether 80 % are used, or a line that comes next might not fit."""
    left = budget - size(text)
    return size(text) >= 0.8 * budget or left <= max(LONGEST_LINE, 2 * size(line))


def chosen(access: SmartFileAccess, seed: int) -> tuple[str, random.Random]:
    """A file, and what chooses on."""
    chance = random.Random(seed)
    root = access.file_backend.root
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    return chance.choice(paths).relative_to(root).as_posix(), chance


@given(SEEDS)
def test_an_outline_fills_its_budget_and_its_hint_shows_all(
    access: SmartFileAccess, seed: int
) -> None:
    path, chance = chosen(access, seed)
    whole = size(answer(access, "get_file_outline", path=path, budget=None)[0])
    budget = chance.randint(100, max(2 * whole, 200))
    text, _ = answer(access, "get_file_outline", path=path, budget=budget)
    if "\n(left out: " not in text:
        return
    assert is_filled(text, budget), (path, budget, text)
    if found := re.search(r"budget (\d+) shows all\)", text):
        enough = int(found[1])
        assert enough > budget
        assert size(answer(access, "get_file_outline", path=path, budget=enough)[0]) == enough


@given(SEEDS)
def test_the_pages_of_a_symbol_are_full_and_all_of_it(access: SmartFileAccess, seed: int) -> None:
    path, chance = chosen(access, seed)
    known = distinct(flatten(access.get_outline(path).symbols))
    if not known:
        return
    asked: dict[str, object] = {"path": path, "name": chance.choice(known)[0], "seconds": 0}
    try:
        whole = access.read_symbol(path, str(asked["name"]), seconds=0)
    except SymbolError:
        return
    budget = chance.randint(100, max(2 * size(whole.body), 200))
    lines: set[int] = set()
    cursor = None
    while True:
        extra: dict[str, object] = {} if cursor is None else {"cursor": cursor}
        text, page = answer(access, "read_symbol", **asked, **extra, budget=budget)
        said = next((note for note in page.notes if note.startswith("lines ")), "")
        for first, last in re.findall(r"(\d+)(?:-(\d+))?[, ]", said.partition(" of ")[0] + " "):
            lines |= set(range(int(first), int(last or first) + 1))
        if page.cursor is None:
            break
        longest = max(whole.body.split("\n"), key=size)
        assert is_filled(text, budget, longest), (path, asked, budget, cursor)
        if found := re.search(r" lines?, budget (\d+)\)| lines \(budget (\d+)\)", text):
            enough = max(int(found[1] or found[2]), 100)
            again, rest = answer(access, "read_symbol", **asked, cursor=page.cursor, budget=enough)
            assert rest.cursor is None
            assert size(again) == enough or enough == 100
        cursor = page.cursor
    every = set(range(whole.body_line, whole.line_end + 1))
    assert lines == every or not said, (path, asked, budget)


@given(SEEDS)
@settings(settings.get_profile("costly"))
def test_references_fill_their_budget_and_their_pages_are_all(
    access: SmartFileAccess, seed: int
) -> None:
    path, chance = chosen(access, seed)
    names = re.findall(r"\b[a-z]\w{2,}", access.read_file(path))
    if not names:
        return
    asked: dict[str, object] = {"name": chance.choice(names), "seconds": 0}
    every, whole = answer(access, "find_references", **asked, budget=None)
    budget = chance.randint(300, max(min(2 * size(every), 20_000), 400))
    uses: list[tuple[str, int, int]] = []
    cursor = None
    while True:
        extra: dict[str, object] = {} if cursor is None else {"cursor": cursor}
        text, page = answer(access, "find_references", **asked, **extra, budget=budget)
        uses += [(use.path, use.line, use.column) for use in page]
        if " shows the code)" in text or page.cursor:
            assert is_filled(text, budget), (asked, budget, text)
        if (found := re.search(r"\n\(budget (\d+) shows the code\)", text)) and cursor is None:
            assert size(answer(access, "find_references", **asked, budget=int(found[1]))[0]) == int(
                found[1]
            )
        cursor = page.cursor
        if cursor is None:
            break
    assert uses == [(use.path, use.line, use.column) for use in whole]


PARTS = {
    "a.py": "class A:\n    @property\n    def p(self): ...\n\n"
    "    @p.setter\n    def p(self, v): ...\n",
    "a.ts": "export function f(a: string): void;\nexport function f(a: number): void;\n"
    "export function f(a: unknown) {}\n",
    "a.rs": "struct S;\n\nimpl S {\n    fn new() {}\n}\n\nimpl Clone for S {\n}\n",
    "a.cs": "namespace N {\n  partial class P {\n  }\n"
    "  partial class P {\n    void B() {}\n  }\n}\n",
    "a.cpp": "namespace n {\nclass C {\n  C();\n  int f();\n};\nint C::f() { return 1; }\n}\n",
}


@pytest.mark.parametrize(
    ("path", "name", "shown"),
    [
        ("a.py", "A.p", ["2-3 A.p[1]", "5-6 A.p[2]"]),
        ("a.py", "A.p[2]", ["5-6 A.p"]),
        ("a.ts", "f", ["1 f[1]", "2 f[2]", "3 f[3]"]),
        ("a.rs", "S", ["1 S[1]", "3-5 S[2]", "7-8 S[3]"]),
        ("a.cs", "P", ["2-3 N.P[1]", "4-6 N.P[2]"]),
        ("a.cpp", "C", ["2-5 n.C"]),
        ("a.cpp", "C.f", ["4 n.C.f[1]", "6 n.C.f[2]"]),
    ],
)
def test_a_symbol_of_several_parts_is_shown_in_all_of_them(
    tmp_path: Path, path: str, name: str, shown: list[str]
) -> None:
    (tmp_path / path).write_text(PARTS[path], encoding="utf-8")
    access = SmartFileAccess.for_workspace(tmp_path)
    text, _ = answer(access, "read_symbol", path=path, name=name, seconds=0)
    access.close()
    assert re.findall(rf"^{path}:(.+)$", text, re.M) == shown


ASKED = (
    ("get_file_outline", {"path": "docs/make_examples.py"}, ("outline", "docs/make_examples.py")),
    (
        "read_symbol",
        {"path": "docs/make_examples.py", "name": "Installation"},
        ("symbol", "docs/make_examples.py", "Installation", "--seconds", "0"),
    ),
)


def test_a_large_class_that_has_namesakes_is_its_outline_alone(tmp_path: Path) -> None:
    body = "".join(
        f"    public int F{n}()\n    {{\n        return {n};\n    }}\n" for n in range(60)
    )
    (tmp_path / "a.cs").write_text(f"class Foo\n{{\n    public Foo() {{ }}\n{body}}}\n")
    with closing(SmartFileAccess.for_workspace(tmp_path)) as small:
        text, _ = answer(small, "read_symbol", name="Foo", seconds=0)
    assert "(also Foo.Foo" in text
    assert "public int F0()" in text
    assert "return 0;" not in text


def test_budgets_hold_through_mcp_and_in_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same text from both: as large as is asked for, and all with the budget in the hint."""
    monkeypatch.chdir(ROOT)

    def typed(*arguments: str, budget: int) -> str:
        assert main([*arguments, "--budget", str(budget)]) == 0
        return capsys.readouterr().out.removesuffix("\n")

    async def check() -> None:
        async with connect("--root", str(ROOT), cwd=ROOT) as client:
            for tool, values, arguments in ASKED:
                text, _ = await call(client, tool, **values, budget=1_200)
                assert text == typed(*arguments, budget=1_200)
                assert 960 <= size(text) <= 1_200
                found = re.search(r"budget (\d+)[)]? ?(shows all)?", text)
                assert found is not None
                if tool == "get_file_outline":
                    whole, _ = await call(client, tool, **values, budget=int(found[1]))
                    assert whole == typed(*arguments, budget=int(found[1]))
                    assert size(whole) == int(found[1]) <= LARGEST_BUDGET

    anyio.run(check)
