"""Whatever stands where the language server reads a file, it answers, and takes no more memory."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.hostile import HOSTILE, SECRET, names_for

from ..rows import slow
from .conftest import Connect, Editor

pytestmark = pytest.mark.real

PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate
hello = PromptTemplate(ns="demo", key="hello", sections=[
    MarkdownSection[None](title="Hello", key="hello", template="Hello."),
])
"""
# Far more than any answer takes, and far less than what reads without end has in that time.
SECONDS = 40.0
MOST_MEMORY = 600 << 20
# Each waits for a deadline, so of two of a kind one is enough.
ALIKE = ("/dev/random", "a link to a pipe")
OTHERS = [what for what in HOSTILE if what not in ("/dev/zero", "a pipe", *ALIKE)]


def peak_memory(editor: Editor) -> int:
    server: Any = editor.client._server
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def make_workspace(tmp_path: Path, what: str, names: tuple[str, ...]) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    os.mkfifo(root / "pipe")
    (root / "p.py").write_text(PROMPT)
    for name in names:
        HOSTILE[what](root / name)
    return root


async def refused_or(answer: Any) -> Any:
    try:
        return await answer
    except JsonRpcException as error:
        return error.message


@pytest.mark.parametrize("what", ["/dev/zero", "a pipe", *slow(*OTHERS)])
async def test_every_question_is_answered(connect: Connect, tmp_path: Path, what: str) -> None:
    root = make_workspace(tmp_path, what, names_for(what))
    async with asyncio.timeout(SECONDS):
        editor = await connect(root)
        opened = types.TextDocumentIdentifier(editor.open("p.py"))
        hostile = types.TextDocumentIdentifier((root / "x.py").as_uri())
        asked = asyncio.gather(
            editor.client.text_document_code_lens_async(types.CodeLensParams(opened)),
            refused_or(editor.client.text_document_code_lens_async(types.CodeLensParams(hostile))),
            refused_or(editor.command("prompt.list", uri=hostile.uri)),
            refused_or(editor.command("code.readFile", path="x.py", budget=2_000)),
            refused_or(editor.command("code.outline", path="x.py")),
            editor.command("code.tree"),
            editor.command("code.grep", pattern="hello"),
            editor.command("code.findReferences", name="hello"),
        )
        await editor.command("status")
        lenses, *others = await asked
        assert lenses
        assert SECRET not in str(others)
        while not any("pyproject.toml" in shown.message for shown in editor.client.messages):
            await editor.client.wait_for_notification("window/showMessage")
    assert peak_memory(editor) < MOST_MEMORY


@pytest.mark.parametrize("what", ["/dev/zero", *slow("a pipe", "a link outside", "deep nesting")])
async def test_a_file_of_values_is_refused_by_name(
    connect: Connect, tmp_path: Path, what: str
) -> None:
    name = "p.preview.toml"
    root = make_workspace(tmp_path, what, (name,))
    async with asyncio.timeout(SECONDS):
        editor = await connect(root, trusted=True)
        message, data = await editor.refusal("prompt.render", uri=editor.uri("p.py"))
        await editor.command("status")
    assert data["kind"] == "values"
    assert message.startswith(name)
    assert SECRET not in message
    assert peak_memory(editor) < MOST_MEMORY


@pytest.mark.parametrize("what", ["/dev/zero", *slow("a pipe", "a link to itself", "not UTF-8")])
async def test_options_of_previews_that_are_refused_are_said(
    connect: Connect, tmp_path: Path, what: str
) -> None:
    root = make_workspace(tmp_path, what, ())
    (root / "below").mkdir()
    (root / "below" / "q.py").write_text(PROMPT)
    HOSTILE[what](root / "below" / "pyproject.toml")
    async with asyncio.timeout(SECONDS):
        editor = await connect(root, trusted=True)
        shown = await editor.command("prompt.render", uri=editor.uri("below/q.py"))
        assert "Hello." in shown["text"]
        while not any(
            "below/pyproject.toml" in message.message for message in editor.client.messages
        ):
            await editor.client.wait_for_notification("window/showMessage")
