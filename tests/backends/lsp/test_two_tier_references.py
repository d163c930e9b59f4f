"""Two tiers made of one answer, whatever the engine is."""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foldline.backends import (
    LocalFileBackend,
    Reference,
    References,
    SmartFileAccess,
    WorkspaceIndex,
    references,
)
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.engine import Confirmation, Engine, EngineQuery
from foldline.backends.errors import LSPTimeoutError, PathError, SymbolNotFoundError
from foldline.backends.models import COMPLETE
from foldline.backends.outlines.locations import Position
from foldline.backends.references import namesakes
from foldline.backends.references.hierarchy import Hierarchy
from foldline.backends.references.references import references_in_source
from foldline.backends.references.references_cache import ReferencesCache
from foldline.backends.references.two_tier_references import ReferencesQuery, targets_of
from foldline.backends.text import format_references

SOURCE = """class A:
    def go(self): ...


class B:
    def go(self): ...


LIMIT = 3
A().go(); one.go()
print(LIMIT)
"""


class Spy(Engine, EngineQuery):
    """An engine, and its own query, that answers what it was given, or fails."""

    needs_targets = True

    name = "engine"

    def __init__(self, answer: Confirmation | Exception) -> None:
        self.answer = answer
        self.begun = False
        self.prefetched: tuple[Position, ...] = ()
        self.files = object()
        self.asked: list[tuple[Position, ...]] = []

    def begin(self, name: str, scope: str | None, since: float) -> EngineQuery:
        self.begun = True
        return self

    def prefetch(self, targets: Sequence[Position]) -> None:
        self.prefetched = tuple(targets)

    async def seen(self, seconds: float) -> object:
        return self.files

    async def confirm(
        self, targets: Sequence[Position], candidates: Sequence[str], seconds: float
    ) -> Confirmation:
        self.asked.append(tuple(targets))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def access_with(tmp_path: Path, engine: Spy) -> SmartFileAccess:
    (tmp_path / "a.py").write_text(SOURCE)
    files = LocalFileBackend(tmp_path)
    return SmartFileAccess(files, ASTFileAnalysisBackend(files), engine)


def use(line: int, column: int, column_end: int) -> Reference:
    context = SOURCE.split("\n")[line - 1]
    return Reference("a.py", line, context, column=column, column_end=column_end)


def test_what_was_not_searched_is_said_beside_confirmed_uses(tmp_path: Path) -> None:
    engine = Spy(Confirmation((use(2, 9, 11),), "engine"))
    (tmp_path / "large.py").write_text("go = 1\n" + "# word\n" * 700_000)
    (tmp_path / "a.py").write_text(SOURCE)
    files = LocalFileBackend(tmp_path)
    with closing(WorkspaceIndex(files)) as index:
        backend = ASTFileAnalysisBackend(files, index)
        found = SmartFileAccess(files, backend, engine).find_references("A.go")
    assert found.confirmed == 1
    assert found.reason == "large.py is over the size limit and was not searched"


def test_only_the_definition_that_a_dotted_name_means_is_asked_about(tmp_path: Path) -> None:
    engine = Spy(Confirmation((use(2, 9, 11), use(10, 5, 7)), "engine"))
    found = access_with(tmp_path, engine).find_references("A.go")
    assert engine.asked == [(Position("a.py", 2, 9),)]
    assert [(reference.line, reference.column, reference.tier) for reference in found] == [
        (2, 9, "confirmed"),
        (10, 5, "confirmed"),
        (10, 15, "possible"),
        (6, 9, "another"),
    ]
    assert (found.confirmed, found.possible, found.total) == (2, 2, 4)
    assert (found.backend, found.coverage) == ("engine+ast", COMPLETE)


def test_what_the_index_knows_to_be_a_definition_is_asked_about_early(tmp_path: Path) -> None:
    engine = Spy(Confirmation((), "engine"))
    (tmp_path / "a.py").write_text(SOURCE)
    access = SmartFileAccess.for_workspace(tmp_path, lsp_backend=engine)
    access.find_references("A.go")
    access.find_references("B.go")
    assert engine.prefetched == engine.asked[-1] == (Position("a.py", 6, 9),)
    access.close()
    again = Spy(Confirmation((), "engine"))
    later = SmartFileAccess.for_workspace(tmp_path, lsp_backend=again)
    later.find_references("A.go")
    assert again.prefetched == again.asked[-1] == (Position("a.py", 2, 9),)
    later.close()


def test_an_engine_begins_with_the_definition_before_the_disk_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    (tmp_path / "go.py").write_text("def go(): ...\n")
    with closing(SmartFileAccess.for_workspace(tmp_path)) as access:
        access.find_references("A.go")
    events: list[object] = []
    look, prefetch = LocalFileBackend.mended, Spy.prefetch

    def looking(*arguments: Any) -> Any:
        events.append("look")
        return look(*arguments)

    def begun(engine: Spy, targets: Sequence[Position]) -> None:
        events.append(tuple(targets))
        prefetch(engine, targets)

    monkeypatch.setattr(LocalFileBackend, "mended", looking)
    monkeypatch.setattr(Spy, "prefetch", begun)
    engine = Spy(Confirmation((), "engine"))
    with closing(SmartFileAccess.for_workspace(tmp_path, lsp_backend=engine)) as later:
        later.find_references("A.go")
    definition = (Position("a.py", 2, 9),)
    assert events[:2] == [definition, "look"]
    assert {event for event in events if event != "look"} == {definition}


def _renamed(file: Path) -> None:
    file.rename(file.with_name("c.py"))


def _made_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _made_a_link(file: Path) -> None:
    target = file.parent.parent / "elsewhere.py"
    file.rename(target)
    file.symlink_to(target)


def _hidden(file: Path) -> None:
    file.with_name(".gitignore").write_text("a.py\n")


@pytest.mark.parametrize("change", [_renamed, Path.unlink, _made_a_folder, _made_a_link, _hidden])
@pytest.mark.parametrize("again", [False, True])
def test_a_file_that_the_index_knew_is_not_missed_when_it_is_gone(
    tmp_path: Path, change: Callable[[Path], None], again: bool
) -> None:
    engine = Spy(Confirmation((), "engine"))
    root = tmp_path / "root"
    root.mkdir()
    (root / "b.py").write_text("print(A)\n")
    (root / "a.py").write_text(SOURCE)
    access = SmartFileAccess.for_workspace(root, lsp_backend=engine)
    assert access.find_references("A").files == 2
    if again:
        access.close()
        access = SmartFileAccess.for_workspace(root, lsp_backend=engine)
    change(root / "a.py")
    engine.files = object()
    paths = {use.path for use in access.find_references("A")}
    assert paths == ({"b.py", "c.py"} if change is _renamed else {"b.py"})
    access.close()


def test_a_bare_name_means_all_its_definitions(tmp_path: Path) -> None:
    engine = Spy(Confirmation((), "engine"))
    access_with(tmp_path, engine).find_references("go")
    assert engine.asked == [(Position("a.py", 2, 9), Position("a.py", 6, 9))]


def test_a_prototype_that_is_confirmed_makes_no_use_one_of_another(tmp_path: Path) -> None:
    """An engine sees no names in a macro's text."""
    header = "int get(int);\n#define EACH(a) \\\n  get(a)\n"
    (tmp_path / "a.h").write_text(header)
    (tmp_path / "a.c").write_text('#include "a.h"\nint get(int a) { return a; }\n')
    places = (
        Reference("a.c", 2, "int get(int a) { return a; }", "definition", column=5, column_end=8),
        Reference("a.h", 1, "int get(int);", "definition", column=5, column_end=8),
    )
    files = LocalFileBackend(tmp_path)
    engine = Spy(Confirmation(places, "engine"))
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files), engine)
    found = access.find_references("a.c:2:5")
    assert [(one.path, one.line, one.tier) for one in found if one.tier != "confirmed"] == [
        ("a.h", 3, "possible")
    ]


def test_confirmed_uses_of_several_definitions_say_so(tmp_path: Path) -> None:
    engine = Spy(Confirmation((use(2, 9, 11), use(6, 9, 11), use(10, 5, 7)), "engine"))
    found = access_with(tmp_path, engine).find_references("go")
    assert found.reason == "confirmed: of any of 2 definitions (a.py:2, a.py:6)"
    assert access_with(tmp_path, engine).find_references("A.go").reason == ""
    tagged = Reference("a.c", 1, "struct go { int a; };", "definition", column=8, column_end=10)
    places = tagged, replace(tagged, line=2, context="int go(int b) {}", column=5, column_end=7)
    (tmp_path / "a.c").write_text("\n".join(place.context for place in places))
    files = LocalFileBackend(tmp_path)
    engine = Spy(Confirmation(places, "engine"))
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files), engine)
    said = access.find_references("go", "a.c").reason
    assert said == "confirmed: of any of 2 definitions (a.c:1, a.c:2)"


def test_a_place_that_holds_more_than_the_name_confirms_it_once(tmp_path: Path) -> None:
    engine = Spy(Confirmation((use(10, 1, 7), use(10, 1, 7)), "engine"))
    found = access_with(tmp_path, engine).find_references("A.go")
    assert [
        (reference.line, reference.column) for reference in found if reference.tier == "confirmed"
    ] == [(10, 5)]


def test_a_place_without_the_name_is_added_with_its_line(tmp_path: Path) -> None:
    engine = Spy(Confirmation((use(11, 1, 6),), "engine"))
    found = access_with(tmp_path, engine).find_references("A.go")
    assert ("print(LIMIT)", "confirmed") in {
        (reference.context, reference.tier) for reference in found
    }
    assert found.total == 5


@pytest.mark.parametrize(
    ("failure", "coverage"),
    [
        (LSPTimeoutError("is late", "engine"), "partial: engine: is late"),
        (RuntimeError("a bug"), "partial: a bug"),
        (RuntimeError(), "partial: RuntimeError"),
        (PathError("gone.py", "is gone"), "partial: gone.py: is gone"),
    ],
)
def test_whatever_an_engine_raises_the_matches_are_there(
    failure: Exception, coverage: str, tmp_path: Path
) -> None:
    found = access_with(tmp_path, Spy(failure)).find_references("A.go")
    assert (found.total, found.confirmed, found.possible) == (4, 0, 0)
    assert (found.backend, found.coverage) == ("ast", coverage)
    assert "confirmed" not in format_references(found)


def test_an_answer_is_kept_until_a_file_changes(tmp_path: Path) -> None:
    engine = Spy(Confirmation((use(2, 9, 11),), "engine"))
    access = access_with(tmp_path, engine)
    first = access.find_references("A.go")
    assert access.find_references("A.go") == first
    assert len(engine.asked) == 1
    access.find_references("A.go", "a.py")
    assert len(engine.asked) == 2
    (tmp_path / "a.py").write_text(SOURCE + "A().go()\n")
    engine.files = object()
    assert access.find_references("A.go").total == 5
    assert len(engine.asked) == 3


def test_an_answer_that_may_get_better_is_not_kept(tmp_path: Path) -> None:
    engine = Spy(Confirmation((use(2, 9, 11),), "engine", "partial: indexing"))
    access = access_with(tmp_path, engine)
    access.find_references("A.go")
    access.find_references("A.go")
    assert len(engine.asked) == 2


def test_without_time_no_engine_is_asked(tmp_path: Path) -> None:
    engine = Spy(Confirmation((), "engine"))
    found = access_with(tmp_path, engine).find_references("A.go", seconds=0)
    assert (engine.begun, engine.asked) == (False, [])
    assert (found.total, found.coverage) == (4, COMPLETE)


def test_what_may_be_missing_is_said(tmp_path: Path) -> None:
    answer = Confirmation((use(2, 9, 11),), "engine", "partial: x", ("note",), outside=2)
    found = access_with(tmp_path, Spy(answer)).find_references("A.go")
    assert found.coverage == "partial: x"
    assert found.reason == "note; 2 more in files that the workspace does not show"


def test_an_outline_and_a_symbol_come_from_the_tree_whatever_the_engine_says(
    tmp_path: Path,
) -> None:
    access = access_with(tmp_path, Spy(RuntimeError()))
    assert access.get_outline("a.py").backend == "ast"
    assert access.read_symbol("a.py", "A.go").line == 2
    with pytest.raises(SymbolNotFoundError):
        access.read_symbol("a.py", "A.gone")


def test_a_name_that_is_only_used_is_asked_about_where_it_is_imported() -> None:
    uses = [
        Reference("a.py", 9, "go()", "call", column=1),
        Reference("a.py", 1, "from x import go", "import", column=15),
        Reference("b.py", 3, "go()", "call", column=1),
    ]
    assert targets_of(uses, "go") == [Position("a.py", 1, 15)]


def test_pages_keep_the_tiers_apart_and_the_totals(tmp_path: Path) -> None:
    engine = Spy(Confirmation((use(2, 9, 11), use(10, 5, 7)), "engine"))
    access = access_with(tmp_path, engine)
    first = access.find_references("A.go", budget=130)
    assert first.cursor is not None
    assert len(format_references(first).encode()) <= 130
    rest = access.find_references("A.go", cursor=first.cursor)
    assert len(first) + len(rest) == first.total == rest.total == 4
    assert {reference.tier for reference in rest} == {"possible"} or {
        reference.tier for reference in first
    } == {"confirmed"}


USES = (
    "from base import Hub\n\n\ndef f{0}():\n    return Hub()\n",
    "from base import (\n    Hub,\n)\nx = Hub  # Hub\n\n\nclass A(Hub): ...\n",
    "import base\nfrom other import Hub as B\n\n\ndef g(one: 'Hub'):\n    return base.Hub + B\n",
    "from base import Hub\n__all__ = ['Hub']\n\n\ndef h(Hub=f'{{Hub}}'):\n    return Hub\n",
)


def hub(root: Path, files: int) -> SmartFileAccess:
    """A class that as many files use, and an engine that confirms all but some members' names."""
    root.mkdir()
    (root / "base.py").write_text('class Hub:\n    """A Hub."""\n\n\nHub()\n')
    (root / "a.py").write_text("import base\n\n\nclass Hub (base.Hub): ...\n")
    for number in range(files):
        text = USES[number % 4 if number < 12 else number % 2].format(number)
        (root / f"{'test_' * (number % 3 == 0)}m{number:03}.py").write_text(text)
    (root / "z.py").write_text("class Other:\n    Hub = 1\n\n\nprint(one.Hub)\n")
    uses = [
        Reference(path.name, line, text, column=match.start() + 1, column_end=match.end() + 1)
        for path in sorted(root.glob("*.py"))
        for line, text in enumerate(path.read_text().split("\n"), 1)
        for match in re.finditer(r"\bHub\b(?=[(),:]|$| #|'\))| B$", text)
        if path.name != "z.py"
    ]
    access = SmartFileAccess.for_workspace(
        root, lsp_backend=Spy(Confirmation(tuple(uses), "engine")), patience=None
    )
    access.search_files("nothing")
    return access


@pytest.mark.parametrize("name", ["Hub", "base.Hub", "base.py:1"])
def test_pages_with_parsed_uses_alone_are_those_of_the_whole_answer(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = hub(tmp_path / "hub", 40)
    pages: list[list[References]] = [[], []]
    of_pages = []

    async def of_page(query: ReferencesQuery, engine_query: EngineQuery) -> References | None:
        of_pages.append(await by_page(query, engine_query))
        return of_pages[-1] if found is pages[0] else None

    by_page = ReferencesQuery._of_page
    monkeypatch.setattr(ReferencesQuery, "_of_page", of_page)
    for found in pages:
        access._answers, cursor = ReferencesCache(), None
        while cursor or not found:
            found.append(access.find_references(name, budget=400, cursor=cursor))
            cursor = found[-1].cursor
    access.close()
    assert pages[0] == pages[1]
    assert len(pages[0]) > 4
    assert [page is None for page in of_pages[:3]] == [False] * 3
    assert pages[0][-1].references[-1].tier != "confirmed"


def test_a_page_of_a_hub_parses_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def spy(path: str, *rest: Any, **options: Any) -> list[Reference]:
        parsed.append(path)
        return references_in_source(path, *rest, **options)

    monkeypatch.setattr(references, "references_in_source", spy)
    counts = []
    for files in (60, 120):
        access = hub(tmp_path / f"{files}", files)
        parsed.clear()
        found = access.find_references("Hub", budget=300)
        access.close()
        shown = {use.path for use in found}
        assert shown <= set(parsed)
        counts.append(len(parsed))
        assert found.confirmed > files * 2
    assert counts[0] == counts[1] < 30


def test_an_engine_that_cannot_begin_is_said_and_the_matches_are_there(tmp_path: Path) -> None:
    class Closed(Spy):
        def begin(self, name: str, scope: str | None, since: float) -> EngineQuery:
            raise LSPTimeoutError("is closed", "engine")

    found = access_with(tmp_path, Closed(Confirmation())).find_references("A.go")
    assert (found.total, found.backend) == (4, "ast")
    assert found.coverage == "partial: engine: is closed"


def test_where_a_scope_only_uses_a_name_its_definition_elsewhere_is_asked_about(
    tmp_path: Path,
) -> None:
    engine = Spy(Confirmation((use(2, 9, 11), use(10, 5, 7)), "engine"))
    access = access_with(tmp_path, engine)
    (tmp_path / "b.py").write_text("from a import A\nA().go()\n")
    found = access.find_references("A.go", "b.py")
    assert engine.asked == [(Position("a.py", 2, 9),)]
    assert [(reference.path, reference.tier) for reference in found] == [("b.py", "possible")]


IMPORTING = {
    "shop/cart.py": "class Cart: ...\n",
    "shop/__init__.py": "",
    "a.py": "from shop.cart import Cart\n",
    "b.py": "from shop.cart import Cart as Basket\n",
    "c.py": "from shop import Cart\n",
    "d.py": "from elsewhere import Cart\n",
    "e.py": "from elsewhere import Cart\n",
    "f.py": "from elsewhere import Cart\n",
}


def ask_about_imports(root: Path, *confirmed: tuple[str, int]) -> tuple[str, int | None]:
    """The coverage and the number of confirmed uses where an engine confirms those places."""
    for name, text in IMPORTING.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    uses = tuple(
        Reference(path, 1, IMPORTING[path], column=column, column_end=column + 4)
        for path, column in confirmed
    )
    files = LocalFileBackend(root)
    engine = Spy(Confirmation(uses, "engine"))
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files), engine)
    found = access.find_references("Cart")
    return found.coverage, found.confirmed


def test_an_engine_that_confirms_few_imports_of_a_definition_is_partial(tmp_path: Path) -> None:
    assert ask_about_imports(tmp_path, ("shop/cart.py", 7), ("a.py", 23)) == (
        "partial: engine confirmed 1 of 3 imports from the file that defines it",
        2,
    )


def test_namesakes_from_other_modules_need_no_confirmation(tmp_path: Path) -> None:
    assert ask_about_imports(tmp_path, ("shop/cart.py", 7), ("a.py", 23), ("c.py", 18)) == (
        COMPLETE,
        3,
    )


def test_a_name_in_all_is_confirmed_where_its_module_has_a_confirmed_one(tmp_path: Path) -> None:
    """A rename must change it; the engine doesn't say so."""
    (tmp_path / "b.py").write_text('__all__ = ["go"]\ndef go(): ...\n')
    (tmp_path / "c.py").write_text('from b import go\n__all__ = ["go"]\n')
    (tmp_path / "d.py").write_text('from e import go\n__all__ = ["go"]\nclass C:\n    go = 1\n')
    uses = (
        Reference("b.py", 2, "def go(): ...", column=5, column_end=7),
        Reference("c.py", 1, "from b import go", column=15, column_end=17),
        Reference("d.py", 4, "    go = 1", column=5, column_end=7),
    )
    found = access_with(tmp_path, Spy(Confirmation(uses, "engine"))).find_references("go")
    exports = {use.path: use.tier for use in found if use.kind == "export"}
    assert exports == {"b.py": "confirmed", "c.py": "confirmed", "d.py": "possible"}
    places = [(use.path, use.line) for use in found if use.tier == "confirmed"]
    assert places == [("b.py", 1), ("b.py", 2), ("d.py", 4), ("c.py", 1), ("c.py", 2)]


def test_nothing_is_read_to_tell_what_a_confirmed_use_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    told_by = namesakes._receiver

    def count(one: Reference, types: Hierarchy) -> tuple[str, str]:
        told.append(one.line)
        return told_by(one, types)

    monkeypatch.setattr(namesakes, "_receiver", count)
    engine = Spy(Confirmation((use(2, 9, 11), use(10, 5, 7)), "engine"))
    found = access_with(tmp_path, engine).find_references("A.go")
    assert [(one.line, one.column, one.tier) for one in found] == [
        (2, 9, "confirmed"),
        (10, 5, "confirmed"),
        (10, 15, "possible"),
        (6, 9, "another"),
    ]
    assert told == [10]


@pytest.mark.parametrize("index", [True, False])
def test_text_has_the_last_part_of_a_dotted_name(tmp_path: Path, index: bool) -> None:
    engine = Spy(Confirmation((use(2, 9, 11),), "engine"))
    (tmp_path / "notes.zig").write_text("\n\ngo\n")
    access = access_with(tmp_path, engine)
    if index:
        access = SmartFileAccess.for_workspace(tmp_path, lsp_backend=engine)
    found = access.find_references("A.go")
    access.close()
    assert found.confirmed
    assert [(text.path, text.lines) for text in found.text] == [("notes.zig", (3,))]
