"""Receipts: what a caller still holds is not sent again, and nothing wrong is ever shown."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import SmartFileAccess
from foldline.backends.base.waiting import run
from foldline.backends.formatting.parts import plain
from foldline.ide.errors import REFUSALS
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.receipts import ask, receipt_of, with_receipt

EXCERPTS = {operation.tool: operation for operation in OPERATIONS if operation.excerpt}
SOURCE = '''"""A shop."""

import os


class Cart:
    """What a customer takes."""

    def total(self) -> int:
        """The sum."""
        return sum(self.prices)

    def add(self, price: int) -> None:
        self.prices.append(price)


def plain(value: int) -> int:
    return value + 1
'''
LINES = SOURCE.split("\n")
# They change with the text around a page.
MARKS = re.compile(r"@[0-9:]+\.[a-z2-7]{9}\b| of \d+ lines\b| \((?:\d+ lines?, )?budget \d+\)")


@pytest.fixture
def access(tmp_path: Path) -> SmartFileAccess:
    (tmp_path / "shop.py").write_text(SOURCE)
    return SmartFileAccess.for_workspace(tmp_path)


def answer(access: SmartFileAccess, tool: str, **values: Any) -> str:
    operation = EXCERPTS[tool]
    arguments = operation.arguments(path="shop.py", **values)
    _, lines = run(ask(operation, access, arguments))
    return plain(with_receipt(operation, lines, arguments))


def receipt_in(text: str) -> str:
    return text.rpartition("\n")[2].removeprefix("(receipt ").split(")")[0].split(":")[0]


def test_all_excerpts_have_receipts() -> None:
    assert [*EXCERPTS] == ["get_file_outline", "read_symbol", "read_lines", "read_file"]
    for operation in EXCERPTS.values():
        names = {argument.name for argument in operation.parameters}
        assert {"held", "budget"} <= names


@pytest.mark.parametrize("tool", EXCERPTS)
def test_an_unchanged_excerpt_costs_a_line(access: SmartFileAccess, tool: str) -> None:
    named: dict[str, Any] = {"name": "Cart"} if tool == "read_symbol" else {}
    first = answer(access, tool, **named)
    assert "Cart" in first
    again = answer(access, tool, held=receipt_in(first), **named)
    assert again == f"(unchanged {receipt_in(first)}: ask without held to see it)"
    assert len(again) == 52


@pytest.mark.parametrize("tool", EXCERPTS)
@pytest.mark.parametrize("budget", [300, 340])
def test_a_budget_has_room_for_the_receipt(
    access: SmartFileAccess, tmp_path: Path, tool: str, budget: int
) -> None:
    (tmp_path / "shop.py").write_text("\n".join(f"def plain_{n}(): ..." for n in range(100)))
    named = {"name": "plain_7"} if tool == "read_symbol" else {}
    text = answer(access, tool, budget=budget, **named)
    assert len(text.encode()) <= budget
    again = answer(access, tool, budget=budget, held=receipt_in(text), **named)
    assert again.startswith(f"(unchanged {receipt_in(text)}: ")


@pytest.mark.parametrize(
    ("tool", "named"),
    [
        ("read_file", {}),
        ("read_lines", {"start": 10}),
        ("read_symbol", {"name": "run"}),
        ("read_symbol", {"name": "Large"}),
    ],
)
def test_a_page_is_not_unchanged_where_the_rest_has_changed(
    access: SmartFileAccess, tmp_path: Path, tool: str, named: dict[str, Any]
) -> None:
    body = [f"    print({number})" for number in range(60)]
    large = [f"    def m{number}(self): return {number}" for number in range(60)]
    source = "\n".join(["def run():", *body, "class Large:", *large])
    (tmp_path / "shop.py").write_text(source)
    page = answer(access, tool, budget=500, **named)
    more = "" if named.get("name") else "\n# more"
    (tmp_path / "shop.py").write_text(source.replace("(55)", "(5)").replace("rn 55", "rn 5") + more)
    held = receipt_in(page)
    again = answer(access, tool, budget=500, held=held, **named)
    header, *_ = page.split("\n")
    assert MARKS.sub("", again).startswith(MARKS.sub("", f"{header}\n"))
    assert "print(10)" not in again
    last = f"(receipt {receipt_in(again)}: what you hold is unchanged, the rest isn't; "
    assert again.endswith(f"{last}ask without held to see it)")
    assert receipt_in(again) != held
    assert answer(access, tool, budget=500, held=receipt_in(again), **named).startswith("(unch")
    shown = answer(access, tool, budget=500, **named)
    assert MARKS.sub("", shown.rpartition("\n")[0]) == MARKS.sub("", page.rpartition("\n")[0])


def test_a_changed_excerpt_is_shown_whole_and_says_so(
    access: SmartFileAccess, tmp_path: Path
) -> None:
    first = answer(access, "read_file")
    (tmp_path / "shop.py").write_text(SOURCE.replace("value + 1", "value + 2"))
    changed = answer(access, "read_file", held=receipt_in(first))
    assert "return value + 2" in changed
    assert changed.endswith(f"\n(receipt {receipt_in(changed)}: changed since {receipt_in(first)})")


def test_what_is_no_receipt_gets_the_excerpt_and_says_so(access: SmartFileAccess) -> None:
    for held in ("(receipt x)", "\n", "a" * 13):
        text = answer(access, "read_file", held=held)
        assert "return value + 1" in text
        assert text.endswith(": held isn't a receipt)")


def test_content_that_looks_like_a_receipt_stays_content() -> None:
    text = f"x\n(receipt {'b' * 12}: changed since {'c' * 12})"
    arguments = EXCERPTS["read_file"].arguments(path="shop.py", budget=len(text))
    shown = with_receipt(EXCERPTS["read_file"], [[(text, "")]], arguments)
    assert plain(shown) == f"{text}\n(receipt {receipt_of(text)})"


LISTS: dict[str, dict[str, Any]] = {
    "code.findReferences": {"name": "plain", "seconds": 0},
    "code.grep": {"pattern": "plain"},
    "code.searchFiles": {"query": "plain shop"},
    "code.tree": {},
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("change", ["none", "text", "rename", "edit"])
def test_a_list_that_has_changed_since_its_last_page_says_so(
    tmp_path: Path, name: str, change: str
) -> None:
    for number in range(40):
        (tmp_path / f"shop_{number:02}.py").write_text(f"def plain(): ...\nplain({number})\n")
    access = SmartFileAccess.for_workspace(tmp_path)
    operation = next(one for one in OPERATIONS if one.name == name)

    def page(cursor: str | None) -> tuple[str | None, str]:
        arguments = operation.arguments(budget=350, cursor=cursor, **LISTS[name])
        result, lines = run(ask(operation, access, arguments))
        assert result.cursor is None or result.cursor in plain(lines)
        assert len(plain(lines)) <= 350
        return result.cursor, plain(lines)

    cursor, first = page(None)
    assert cursor is not None
    if change == "rename":
        (tmp_path / "shop_39.py").rename(tmp_path / "a.py")
    elif change != "none":
        added = "plain()\n" if change == "edit" else "# text\n"
        (tmp_path / "shop_00.py").write_text(f"{added}def plain(): ...\nplain(0)\n")
    _, text = page(cursor)
    counts = name in {"code.findReferences", "code.grep"}
    has_changed = change == "rename" or (change == "edit" and counts)
    assert ("changed since the last page: some may be missing" in text) == has_changed
    assert "changed" not in first
    assert page(cursor.partition(".")[0])[1]
    access.close()


@given(
    st.lists(
        st.tuples(
            st.integers(0, len(LINES)),
            st.sampled_from(["", "    x = 1", "def more(): ...", '"""', "# 🛒 é", "y" * 300]),
        ),
        max_size=6,
    ),
    st.sampled_from([*EXCERPTS]),
    st.sampled_from([200, 400, 900, None]),
)
def test_any_edits_and_reads_keep_the_budget_and_the_truth(
    tmp_path_factory: pytest.TempPathFactory,
    edits: list[tuple[int, str]],
    tool: str,
    budget: int | None,
) -> None:
    place = tmp_path_factory.mktemp("shop") / "shop.py"
    current = [*LINES]
    held: tuple[str, str] | None = None
    for at, line in [(0, ""), *edits]:
        current.insert(at, line)
        place.write_text("\n".join(current))
        access = SmartFileAccess.for_workspace(place.parent)
        values: dict[str, Any] = {"budget": budget}
        if tool == "read_symbol":
            values["name"] = "plain"
        operation = EXCERPTS[tool]
        arguments = operation.arguments(path="shop.py", **values)
        try:
            lines = run(ask(operation, access, arguments))[1]
            whole, receipt = plain(lines), receipt_of(lines)
            found = answer(access, tool, held=held and held[1], **values)
        except REFUSALS:
            continue
        if held is not None and held[0] == whole:
            assert found == f"(unchanged {receipt}: ask without held to see it)"
        elif held is not None and MARKS.sub("", held[0]) == MARKS.sub("", whole):
            assert "what you hold is unchanged, the rest isn't" in found
        else:
            assert found.startswith(whole)
        assert budget is None or len(found.encode()) <= max(budget, len(whole.encode()))
        held = (whole, receipt)
