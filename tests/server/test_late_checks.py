"""What was found in an earlier text of a document is shown where its line stands now."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks import Code, Diagnostic, Severity
from foldline.ide.checks.diagnostic import Change, Fix, Related
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace
from foldline.server.diagnostic_items import quick_fixes
from foldline.server.late_checks import LateChecks, followed
from foldline.server.snapshots import query_snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from lsprotocol.types import CodeAction

    from foldline.server.server import FoldlineServer

FILE = "AGENTS.md"
TEXTS = st.lists(st.sampled_from(["", "a", "bé", "  c", "a\r"]), max_size=8).map("\n".join)


def stale(start: int, end: int, file: str = FILE) -> Diagnostic:
    place = SourceSpan(file, start, end)
    fixes = (Fix("Write b", (Change(place, "b"),)), Fix("Add", (Change(place, "b"), OTHER)))
    related = (Related(OTHER.place, "It is written here first."),)
    message = f"{start} is gone"
    return Diagnostic(Code.STALE_REFERENCE, Severity.WARNING, message, place, fixes, related)


OTHER = Change(SourceSpan(FILE, 0, 0), "c")


def line_at(text: str, offset: int) -> tuple[str, int, int]:
    """The line of an offset, the column there, and how many lines like it are above."""
    above = text[:offset].split("\n")
    line = text.split("\n")[len(above) - 1]
    return line, len(above[-1]), text.split("\n")[: len(above) - 1].count(line)


@given(TEXTS, TEXTS, st.data())
def test_diagnostics_follow_their_lines(before: str, now: str, data: st.DataObject) -> None:
    offsets = data.draw(st.lists(st.integers(0, len(before)), unique=True))
    moved = list(followed([*map(stale, offsets, offsets)], before, now))
    expected = {line_at(before, one): one for one in offsets}
    places = {line_at(now, one.place.start): int(one.message.split()[0]) for one in moved}
    assert len(places) == len(moved)
    assert places.items() <= expected.items()
    lines = now.split("\n")
    missing = expected.keys() - places.keys()
    assert all(lines.count(line) <= above for line, _, above in missing)


def test_only_what_repairs_the_line_itself_moves_with_it() -> None:
    (moved,) = followed([stale(0, 1)], "a", "new\na")
    assert [fix.changes for fix in moved.fixes] == [(Change(SourceSpan(FILE, 4, 5), "b"),)]
    assert moved.related == ()
    assert list(followed([stale(0, 1)], "a", "a")) == [stale(0, 1)]


def test_a_late_diagnostic_is_repaired_where_it_stands_now(tmp_path: Path) -> None:
    before, now = "é 🛒 `open_cart()`\n", "🛒\né 🛒 `open_cart()`\n"
    workspace, uri = Workspace.at(tmp_path), uri_of(tmp_path / FILE)
    workspace.open_document(uri, now)
    ls = cast("FoldlineServer", SimpleNamespace())
    ls.late_checks = LateChecks(ls)
    ls.late_checks._diagnostics[uri] = [stale(5, 14, str(tmp_path / FILE))], before

    def fixes(at: int) -> list[CodeAction]:
        shown = query_snapshot(workspace, uri, None, lambda one: [*quick_fixes(ls, one, at, at)])
        return shown or []

    (action,) = fixes(now.index("open_cart"))
    assert action.title == "Write b"
    assert action.edit is not None
    assert action.edit.changes is not None
    (edit,) = action.edit.changes[uri]
    places = edit.range.start.line, edit.range.start.character, edit.range.end.character
    assert (edit.new_text, places) == ("b", (1, 6, 15))
    assert not fixes(1)
