"""What plugins offer for a selection, as the code actions that editors get."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks.diagnostic import Change
from foldline.ide.entry_points import Entry
from foldline.ide.plugins import Action, Plugin, Plugins
from foldline.ide.workspace import Workspace
from foldline.server.features import code_action

from ..capabilities import capabilities_of
from ..ide.editor_fixture import set_up

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foldline.ide.snapshot import Snapshot

TEXT = r"# ${team}: why \ {x}"


class Team(Plugin):
    """A note in place of the selection, and a command."""

    def actions(self, document: Snapshot, start: int, end: int) -> Iterator[Action]:
        place = SourceSpan(document.analysis.file, start, end)
        yield Action("Note it", (Change(place, TEXT),), field="why")
        yield Action("Ask the team", command="team.ask", arguments={"at": start})
        yield Action("Mend it", (Change(place, "B"),), fix=True)


@pytest.mark.parametrize(
    ("has_fields", "text"),
    [(True, r"# \${team\}: ${1:why} \\ {x\}"), (False, TEXT)],
)
def test_what_a_person_writes_is_a_field_where_editors_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, *, has_fields: bool
) -> None:
    installed = Plugins([Entry("team", f"{__name__}:Team", "team", "1")])
    monkeypatch.setattr(code_action, "plugins", lambda: installed)
    editor = set_up(Workspace.at(tmp_path), "A = $01\n", head="")
    capabilities = editor.server.client_capabilities = deepcopy(capabilities_of())
    assert capabilities.workspace is not None
    assert capabilities.workspace.workspace_edit is not None
    capabilities.workspace.workspace_edit.snippet_edit_support = has_fields
    only = types.CodeActionContext([], only=[types.CodeActionKind.Refactor])
    here = types.Range(editor.cursor, editor.cursor)
    note, ask = editor.ask(code_action, types.CodeActionParams, context=only, range=here)
    if has_fields:
        ((change,),) = (one.edits for one in note.edit.document_changes)
        assert (change.snippet.value, change.range) == (text, here)
    else:
        assert note.edit.changes == {editor.uri: [types.TextEdit(here, text)]}
    assert (note.title, note.kind) == ("Note it", types.CodeActionKind.RefactorRewrite)
    assert ask.command == types.Command("Ask the team", "team.ask", arguments=[{"at": 4}])
    assert ask.edit is None
