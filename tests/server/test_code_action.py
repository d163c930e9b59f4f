"""What any editor that has code actions can do, over the server's stdio."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path

from .conftest import EXAMPLE

if TYPE_CHECKING:
    from .conftest import Connect, Editor

pytestmark = pytest.mark.real

MODULE = "reviewer_prompt.py"
SOURCE = (EXAMPLE / MODULE).read_text(encoding="utf-8")
SHOW = "foldline.server.show"
ALWAYS = [
    "Show the outline of this file",
    "Show the tree of this workspace",
    "Show the status of foldline",
]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where servers of the test keep what they show."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


async def commands(editor: Editor, at: str, *only: str) -> dict[str, types.Command]:
    """The command of each action where `at` stands in the module, by its title."""
    uri = editor.open(MODULE)
    found = await editor.actions(uri, SOURCE[: SOURCE.index(at)].count("\n"), *only)
    assert all(action.command for action in found)
    return {action.title: action.command for action in found if action.command}


async def shown(editor: Editor, command: str, *arguments: Any) -> str:
    """The text of the document that a command shows, which no one else may read."""
    count = len(editor.client.shown_documents)
    await editor.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command, arguments)
    )
    assert len(editor.client.shown_documents) == count + 1
    path = Path(str(to_fs_path(editor.client.shown_documents[-1].uri)))
    assert path.is_relative_to(os.environ["XDG_CACHE_HOME"])
    assert path.stat().st_mode & 0o077 == 0
    return path.read_text(encoding="utf-8")


async def test_a_prompt_is_previewed_and_its_summaries_opened_where_it_is_made(
    editor: Editor,
) -> None:
    offered = await commands(editor, "reviewer = template.bind(")
    titles = list(offered)
    assert titles[0] == "Preview prompt reviewer"
    assert "Open section 2 Reference Documentation of reviewer" in titles
    assert "Open section 3.1 History of reviewer" in titles
    assert titles[-len(ALWAYS) :] == ALWAYS
    assert list(offered["Open section 3.1 History of reviewer"].arguments or ()) == [
        {
            "uri": editor.uri(MODULE),
            "name": "reviewer",
            "section_keys": ["workspace.history"],
            "what": "prompt",
        }
    ]
    assert {command.command for command in offered.values()} == {SHOW}


async def test_a_section_is_opened_where_it_is_declared(editor: Editor) -> None:
    offered = await commands(editor, 'key="history"')
    assert [title for title in offered if title.startswith("Open")] == [
        "Open section 3.1 History of reviewer"
    ]
    assert "Preview prompt reviewer" in await commands(editor, "class RuleParams")


async def test_a_client_that_has_the_commands_gets_its_own(connect: Connect) -> None:
    own = ["foldline.preview", "foldline.openSection"]
    editor = await connect(trusted=True, client_commands=own)
    offered = await commands(editor, 'key="history"')
    assert offered["Preview prompt reviewer"].command == "foldline.preview"
    assert list(offered["Preview prompt reviewer"].arguments or ()) == [
        {"uri": editor.uri(MODULE), "name": "reviewer"}
    ]
    assert offered["Open section 3.1 History of reviewer"].command == "foldline.openSection"
    assert offered["Show the outline of this file"].command == SHOW


async def test_a_client_that_asks_for_other_kinds_gets_none(editor: Editor) -> None:
    assert await commands(editor, "reviewer =", "quickfix", "source.organizeImports") == {}
    assert await commands(editor, "reviewer =", "source")


async def test_every_action_shows_a_document(cache: Path, connect: Connect) -> None:
    editor = await connect(trusted=True)
    offered = await commands(editor, "reviewer =")
    assert "## 1. Review Guidance\n" in await shown(editor, SHOW), "without arguments, the prompt"
    texts = {
        title: await shown(editor, command.command, *command.arguments or ())
        for title, command in offered.items()
    }
    assert "[This section is summarized." in texts["Preview prompt reviewer"]
    assert "They are lost at a restart" in texts["Open section 3.1 History of reviewer"]
    assert "class CodeReviewTask(Task)" in texts["Show the outline of this file"]
    assert "reviewer_prompt.py" in texts["Show the tree of this workspace"]
    assert '"trusted": true' in texts["Show the status of foldline"]


def shows_none(_: Editor, capabilities: types.ClientCapabilities) -> None:
    assert capabilities.window is not None
    capabilities.window.show_document = types.ShowDocumentClientCapabilities(support=False)


async def test_a_client_that_shows_no_documents_is_told_where_the_text_is(
    cache: Path, connect: Connect
) -> None:
    """Without trust, a prompt is shown from its source: Helix would only log a refusal."""
    editor = await connect(prepare=shows_none)
    editor.open(MODULE)
    await editor.command("show", what="outline")
    await editor.command("show")
    outline, prompt = (
        Path(message.message.removeprefix("foldline: see ")) for message in editor.client.messages
    )
    assert outline.is_relative_to(cache)
    assert "class CodeReviewTask(Task)" in outline.read_text(encoding="utf-8")
    assert prompt.name == "reviewer.static.md"
    assert "## 1. Review Guidance\n" in prompt.read_text(encoding="utf-8")


async def test_an_unknown_thing_to_show_is_answered_with_the_known_ones(editor: Editor) -> None:
    with pytest.raises(JsonRpcException, match="one of prompt, outline, tree, status, got 'x'"):
        await editor.command("show", what="x")
