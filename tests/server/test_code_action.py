"""What any editor that has code actions can do, over the server's stdio."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Union

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.uris import from_fs_path, to_fs_path
from pytest_lsp import make_test_lsp_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pytest_lsp import LanguageClient

pytestmark = pytest.mark.real

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
MODULE = EXAMPLE / "reviewer_prompt.py"
SOURCE = MODULE.read_text(encoding="utf-8")
URI = str(from_fs_path(str(MODULE)))
SHOW = "foldline.server.show"
ALWAYS = [
    "Show the outline of this file",
    "Show the tree of this workspace",
    "Show the status of foldline",
]


@asynccontextmanager
async def served(
    cache: Path, *, client_commands: Sequence[str] = (), shows_documents: bool = True
) -> AsyncIterator[LanguageClient]:
    """A client whose folder is the example, which it trusts, with the module open."""
    client = make_test_lsp_client()
    # Of its own, lsprotocol takes every code action that has a command for a bare command.
    client.protocol._converter.register_structure_hook(
        Union[types.Command, types.CodeAction],  # noqa: UP007 - the key that is looked up
        lambda value, _: client.protocol._converter.structure(value, types.CodeAction),
    )
    await client.start_io(
        sys.executable,
        *("-m", "foldline.agent", "serve", "--stdio"),
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
    )
    window = types.WindowClientCapabilities(
        show_document=types.ShowDocumentClientCapabilities(support=shows_documents)
    )
    folder = types.WorkspaceFolder(uri=str(from_fs_path(str(EXAMPLE))), name="example")
    await client.initialize_session(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(window=window),
            workspace_folders=[folder],
            initialization_options={"trusted": True, "client_commands": list(client_commands)},
        )
    )
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(URI, "python", 1, SOURCE))
    )
    try:
        yield client
    finally:
        await client.shutdown_session()


async def actions(
    client: LanguageClient, at: str, only: Sequence[str] | None = None
) -> dict[str, types.Command]:
    """The command of each action where `at` stands in the module, by its title."""
    line = SOURCE[: SOURCE.index(at)].count("\n")
    place = types.Position(line, 0)
    found = await client.text_document_code_action_async(
        types.CodeActionParams(
            text_document=types.TextDocumentIdentifier(URI),
            range=types.Range(place, place),
            context=types.CodeActionContext(diagnostics=[], only=only),
        )
    )
    by_title: dict[str, types.Command] = {}
    for action in found or ():
        assert isinstance(action, types.CodeAction)
        assert action.command is not None
        by_title[action.title] = action.command
    return by_title


async def test_a_prompt_is_previewed_and_its_summaries_opened_where_it_is_made(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as client:
        offered = await actions(client, "reviewer = template.bind(")
    titles = list(offered)
    assert titles[0] == "Preview prompt reviewer"
    assert "Open section 2 Reference Documentation of reviewer" in titles
    assert "Open section 3.1 History of reviewer" in titles
    assert titles[-len(ALWAYS) :] == ALWAYS
    assert list(offered["Open section 3.1 History of reviewer"].arguments or ()) == [
        {"uri": URI, "name": "reviewer", "section_keys": ["workspace.history"], "what": "prompt"}
    ]
    assert {command.command for command in offered.values()} == {SHOW}


async def test_a_section_is_opened_where_it_is_declared(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        offered = await actions(client, 'key="history"')
        elsewhere = await actions(client, "class RuleParams")
    assert [title for title in offered if title.startswith("Open")] == [
        "Open section 3.1 History of reviewer"
    ]
    assert "Preview prompt reviewer" in elsewhere


async def test_a_client_that_has_the_commands_gets_its_own(tmp_path: Path) -> None:
    own = ["foldline.preview", "foldline.openSection"]
    async with served(tmp_path, client_commands=own) as client:
        offered = await actions(client, 'key="history"')
    assert offered["Preview prompt reviewer"].command == "foldline.preview"
    assert list(offered["Preview prompt reviewer"].arguments or ()) == [
        {"uri": URI, "name": "reviewer"}
    ]
    assert offered["Open section 3.1 History of reviewer"].command == "foldline.openSection"
    assert offered["Show the outline of this file"].command == SHOW


async def test_a_client_that_asks_for_other_kinds_gets_none(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        assert await actions(client, "reviewer =", ["quickfix", "source.organizeImports"]) == {}
        assert await actions(client, "reviewer =", ["source"])


async def test_every_action_shows_a_document(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        offered = await actions(client, "reviewer =")
        texts = {}
        for title, command in offered.items():
            await client.workspace_execute_command_async(
                types.ExecuteCommandParams(command.command, arguments=command.arguments)
            )
            path = Path(str(to_fs_path(client.shown_documents[-1].uri)))
            assert path.is_relative_to(tmp_path)
            texts[title] = path.read_text(encoding="utf-8")
        assert len(client.shown_documents) == len(offered)
    assert "[This section is summarized." in texts["Preview prompt reviewer"]
    assert "They are lost at a restart" in texts["Open section 3.1 History of reviewer"]
    assert "class CodeReviewTask(Task)" in texts["Show the outline of this file"]
    assert "reviewer_prompt.py" in texts["Show the tree of this workspace"]
    assert '"trusted": true' in texts["Show the status of foldline"]


async def test_showing_without_arguments_shows_the_prompt_of_the_focused_file(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as client:
        await client.workspace_execute_command_async(types.ExecuteCommandParams(SHOW))
        (shown,) = client.shown_documents
        path = Path(str(to_fs_path(shown.uri)))
    assert path.name == "reviewer.md"
    assert path.read_text(encoding="utf-8").startswith("## 1. Review Guidance\n")
    assert path.stat().st_mode & 0o077 == 0


async def test_a_client_that_shows_no_documents_is_told_where_the_text_is(tmp_path: Path) -> None:
    async with served(tmp_path, shows_documents=False) as client:
        await client.workspace_execute_command_async(
            types.ExecuteCommandParams(SHOW, arguments=[{"what": "outline"}])
        )
        (message,) = client.messages
    path = Path(message.message.removeprefix("foldline: see "))
    assert "class CodeReviewTask(Task)" in path.read_text(encoding="utf-8")


async def test_an_unknown_thing_to_show_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        with pytest.raises(JsonRpcException, match="one of prompt, outline, tree, status, got 'x'"):
            await client.workspace_execute_command_async(
                types.ExecuteCommandParams(SHOW, arguments=[{"what": "x"}])
            )
