"""A text in the editor becomes a prompt module: the refactoring, and the command behind it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ...server.conftest import served

if TYPE_CHECKING:
    from pathlib import Path

    from ...server.conftest import Connect, Editor

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]

SOURCE = """\
import os

def ask(name: str) -> str:
    return f"Write a letter to {name}, and be brief."
"""


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_text_under_the_cursor_becomes_a_module(
    connect: Connect, tmp_path: Path, *, trusted: bool
) -> None:
    adopting = await Adopting.connected(connect, tmp_path, trusted=trusted)
    (tmp_path / "legacy.py").write_text(SOURCE)
    editor = adopting.editor
    uri = editor.open("legacy.py")
    assert await editor.actions(uri, 0, types.CodeActionKind.Refactor) == []
    (action,) = await editor.actions(uri, 3, types.CodeActionKind.Refactor)
    assert action.title == "Adopt ask as a prompt"
    assert action.kind == types.CodeActionKind.RefactorRewrite
    assert action.command is not None
    ((arguments,)) = action.command.arguments or ()
    assert isinstance(arguments, dict)
    answer = await adopting.answer(**arguments)
    created, text = (await adopting.applied(1)).edit.document_changes or ()
    assert isinstance(created, types.CreateFile)
    assert isinstance(text, types.TextDocumentEdit)
    assert created.uri == editor.uri("ask_prompt.py")
    assert "Write a letter to ${name}, and be brief." in text.edits[0].new_text  # type: ignore[union-attr]
    # Only a trusted workspace runs the new module, to compare it.
    assert answer["same"] is trusted
    assert ("isn't trusted" in answer["failure"]) is not trusted
    assert [path.name for path in tmp_path.iterdir()] == ["legacy.py"]


async def test_the_call_is_rewritten_if_the_user_wants_it(adopting: Adopting) -> None:
    call = "import legacy\r\n\r\ndef send(name):\r\n    return legacy.LETTER.format(name=name)\r\n"
    adopting.write("legacy.py", "LETTER = 'Write a letter to {name}, in verse.'\n")
    uri = adopting.write("use.py", call)
    # What isn't saved yet is what counts.
    adopting.editor.client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 7, f"# x\r\n{call}"))
    )
    answer = await adopting.adopt("legacy.py", line=0, apply=True)
    expected = [
        ((2, 2), "from letter_prompt import LetterParams, letter\r\n"),
        ((4, 5), "    return letter.render(LetterParams(name=name)).text\r\n"),
    ]
    (message,) = adopting.asked
    assert message.actions is not None
    assert [action.title for action in message.actions] == ["Render It in use.py:5"]
    edit = (await adopting.applied(2)).edit
    assert _edits(edit) == (uri, 7, expected)
    (change,) = answer["call_edit"]["documentChanges"]
    assert [edit["newText"] for edit in change["edits"]] == [text for _, text in expected]


async def test_a_module_that_exists_is_named_and_another_one_written(adopting: Adopting) -> None:
    adopting.write(
        "legacy.py", "A = 'You are a bot that answers in verse.'\n\nB = 'Hello {name}'\n"
    )
    uri = adopting.write("a_prompt.py", "mine = 1\n")
    (adopting.root / "other.py").symlink_to(adopting.root / "nowhere")
    with pytest.raises(JsonRpcException) as refused:
        await adopting.adopt("legacy.py", line=0)
    assert isinstance(refused.value.data, dict)
    assert refused.value.data["exists"] == uri
    with pytest.raises(JsonRpcException, match=r"other\.py exists"):
        await adopting.adopt("legacy.py", line=0, output="other")
    answer = await adopting.adopt("legacy.py", line=0, output="../mine.txt")
    assert answer["uri"] == adopting.editor.uri("mine.py")
    # The text of the line is meant, even if it is shorter than most prompts.
    with pytest.raises(JsonRpcException, match=r"\{name\} looks like a placeholder"):
        await adopting.adopt("legacy.py", line=2)


async def test_the_prompts_of_a_folder_are_listed_for_editors(adopting: Adopting) -> None:
    uri = adopting.write("app/legacy.py", "def ask(q):\n    return f'You are a bot. Answer {q}.'\n")
    adopting.write("app/a.prompt", "{{#if x}}You are a bot{{/if}} of {{name}}.")
    adopting.write("other.py", "X_PROMPT = 'Not in this folder, and so not in this list.'\n")
    outside = adopting.root.with_name("outside")
    outside.mkdir()
    (outside / "b.py").write_text("B_PROMPT = 'You are outside of this workspace, my friend.'\n")
    (adopting.root / "app" / "link").symlink_to(outside)
    (adopting.root / "app" / "loop").symlink_to(adopting.root)
    answer = await adopting.adopt("app")
    assert [(one["target"], one["fields"]) for one in answer["prompts"]] == [
        ("app/a.prompt", None),
        ("app/legacy.py:ask", 1),
    ]
    assert "is of Handlebars" in answer["prompts"][0]["reason"]
    assert (answer["prompts"][1]["uri"], answer["prompts"][1]["name"]) == (uri, "ask")
    with pytest.raises(JsonRpcException, match="outside"):
        await adopting.adopt("../outside")


LONG = "You are a bot that answers für jeden in verse, always."


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "wide.py",
            "P = 'You are a bot that answers.'\n".encode("utf-16"),
            "isn't text|binary|UTF-8",
        ),
        ("latin.py", "P = 'Du bist für Verse zuständig.'\n".encode("latin-1"), "UTF-8"),
        ("huge.py", b"# x\n" * 6_000_000, "has 24,000,000 bytes, the limit is"),
    ],
)
async def test_files_that_are_not_text_in_utf8_are_refused(
    adopting: Adopting, name: str, content: bytes, message: str
) -> None:
    (adopting.root / name).write_bytes(content)
    with pytest.raises(JsonRpcException, match=message):
        await adopting.adopt(name)
    assert [path.name for path in adopting.root.iterdir()] == [name]


def _edits(edit: types.WorkspaceEdit) -> tuple[str, int | None, list[tuple[tuple[int, int], str]]]:
    (change,) = edit.document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    edits = [one for one in change.edits if isinstance(one, types.TextEdit)]
    lines = [((one.range.start.line, one.range.end.line), one.new_text) for one in edits]
    return change.text_document.uri, change.text_document.version, lines


@dataclass
class Adopting:
    """A client that agrees to all that the server offers."""

    editor: Editor
    asked: list[types.ShowMessageRequestParams] = field(default_factory=list)
    edits: asyncio.Queue[types.ApplyWorkspaceEditParams] = field(default_factory=asyncio.Queue)
    done: list[types.ApplyWorkspaceEditParams] = field(default_factory=list)

    @classmethod
    async def connected(cls, connect: Connect, root: Path, *, trusted: bool) -> Adopting:
        made: list[Adopting] = []

        def prepare(editor: Editor, _: types.ClientCapabilities) -> None:
            adopting = cls(editor)
            features = editor.client.protocol.fm.features
            features[types.WORKSPACE_APPLY_EDIT] = adopting._apply
            features[types.WINDOW_SHOW_MESSAGE_REQUEST] = adopting._agree
            made.append(adopting)

        await connect(root, prepare=prepare, trusted=trusted)
        return made[0]

    def _apply(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        self.edits.put_nowait(params)
        return types.ApplyWorkspaceEditResult(applied=True)

    def _agree(self, params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        self.asked.append(params)
        return params.actions[0] if params.actions else None

    @property
    def root(self) -> Path:
        return self.editor.root

    def write(self, name: str, text: str) -> str:
        file = self.root / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(text.encode())
        return self.editor.uri(name)

    async def answer(self, **arguments: object) -> dict[str, Any]:
        answer = await self.editor.command("prompt.adopt", **arguments)
        plain: dict[str, Any] = self.editor.client.protocol._converter.unstructure(answer)
        return plain if isinstance(plain, dict) else vars(answer)

    async def adopt(self, name: str, **arguments: object) -> dict[str, Any]:
        return await self.answer(uri=(self.root / name).as_uri(), **arguments)

    async def applied(self, number: int) -> types.ApplyWorkspaceEditParams:
        while len(self.done) < number:
            self.done.append(await asyncio.wait_for(self.edits.get(), 20))
        return self.done[-1]


@served
async def adopting(connect: Connect, tmp_path: Path) -> Adopting:
    """A trusted workspace."""
    root = tmp_path / "root"
    root.mkdir()
    return await Adopting.connected(connect, root, trusted=True)
