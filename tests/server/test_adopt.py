"""A text in the editor becomes a prompt module: the refactoring, and the command behind it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Union

import pytest
from lsprotocol import types
from pygls.uris import from_fs_path
from pytest_lsp import make_test_lsp_client

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.real

SOURCE = """\
import os

def ask(name: str) -> str:
    return f"Write a letter to {name}, and be brief."
"""


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_text_under_the_cursor_becomes_a_module(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, *, trusted: bool
) -> None:
    file = tmp_path / "legacy.py"
    file.write_text(SOURCE)
    uri = str(from_fs_path(str(file)))
    client = make_test_lsp_client()
    client.protocol._converter.register_structure_hook(
        Union[types.Command, types.CodeAction],  # noqa: UP007 - the key that is looked up
        lambda value, _: client.protocol._converter.structure(value, types.CodeAction),
    )
    applied: list[types.ApplyWorkspaceEditParams] = []

    @client.feature(types.WORKSPACE_APPLY_EDIT)  # type: ignore[untyped-decorator]
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        applied.append(params)
        return types.ApplyWorkspaceEditResult(applied=True)

    await client.start_io(
        sys.executable,
        *("-m", "foldline.agent", "serve", "--stdio"),
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))},
    )
    edits = types.WorkspaceEditClientCapabilities(
        document_changes=True, resource_operations=[types.ResourceOperationKind.Create]
    )
    await client.initialize_session(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(
                workspace=types.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=edits)
            ),
            initialization_options={"trusted": trusted},
            workspace_folders=[types.WorkspaceFolder(str(from_fs_path(str(tmp_path))), "legacy")],
        )
    )
    try:
        client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, SOURCE))
        )

        async def actions(line: int) -> list[types.CodeAction]:
            place = types.Position(line, 0)
            found = await client.text_document_code_action_async(
                types.CodeActionParams(
                    types.TextDocumentIdentifier(uri),
                    types.Range(place, place),
                    types.CodeActionContext([], only=[types.CodeActionKind.Refactor]),
                )
            )
            return [action for action in found or () if isinstance(action, types.CodeAction)]

        assert await actions(0) == []
        (action,) = await actions(3)
        assert action.title == "Adopt ask as a prompt"
        assert action.kind == types.CodeActionKind.RefactorRewrite
        assert action.command is not None
        answer: Any = await client.workspace_execute_command_async(
            types.ExecuteCommandParams(action.command.command, action.command.arguments)
        )
        created, text = applied[0].edit.document_changes or ()
        assert isinstance(created, types.CreateFile)
        assert isinstance(text, types.TextDocumentEdit)
        assert created.uri == str(from_fs_path(str(tmp_path / "ask_prompt.py")))
        assert "Write a letter to ${name}, and be brief." in text.edits[0].new_text  # type: ignore[union-attr]
        named = answer if isinstance(answer, dict) else vars(answer)
        # Only a trusted workspace runs the new module, to compare it.
        assert named["same"] is trusted
        assert ("isn't trusted" in named["failure"]) is not trusted
        assert [*tmp_path.iterdir()] == [file]
    finally:
        await client.shutdown_session()
