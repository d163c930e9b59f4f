"""Pages of lists: one says if files have changed since the last page."""

from pathlib import Path
from typing import Any

import pytest

from foldline.backends import SmartFileAccess
from foldline.backends.base.waiting import run
from foldline.backends.formatting.parts import plain
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.pages import ask

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
