"""Receipts: what a caller still holds is not sent again, and nothing wrong is ever shown."""

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
def test_an_unchanged_excerpt_costs_thirty_bytes(access: SmartFileAccess, tool: str) -> None:
    named: dict[str, Any] = {"name": "Cart"} if tool == "read_symbol" else {}
    first = answer(access, tool, **named)
    assert "Cart" in first
    again = answer(access, tool, held=receipt_in(first), **named)
    assert again == f"(unchanged {receipt_in(first)})"
    assert len(again) <= 30


@pytest.mark.parametrize("tool", EXCERPTS)
@pytest.mark.parametrize("budget", [300, 340])
def test_a_budget_has_room_for_the_receipt(
    access: SmartFileAccess, tmp_path: Path, tool: str, budget: int
) -> None:
    (tmp_path / "shop.py").write_text("\n".join(f"def plain_{n}(): ..." for n in range(100)))
    named = {"name": "plain_7"} if tool == "read_symbol" else {}
    text = answer(access, tool, budget=budget, **named)
    assert len(text.encode()) <= budget
    assert receipt_in(text) == receipt_of(text.rpartition("\n")[0])


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
            whole = plain(run(ask(operation, access, arguments))[1])
            found = answer(access, tool, held=held and held[1], **values)
        except REFUSALS:
            continue
        same = held is not None and held[0] == whole
        assert found.startswith(f"(unchanged {receipt_of(whole)})" if same else whole)
        assert budget is None or len(found.encode()) <= max(budget, len(whole.encode()))
        held = (whole, receipt_of(whole))
