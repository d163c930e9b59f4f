"""A preview follows its document, opens and closes sections, and keeps the last good blocks."""

import asyncio
from pathlib import Path

from .conftest import Connect, Editor

PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate

first = MarkdownSection[None](title="First", key="first", template="One.")
second = MarkdownSection[None](title="Second", key="second", template="Two.")
both = PromptTemplate(ns="demo", key="both", sections=[first, second])
"""


async def test_a_preview_shows_all_blocks_in_order(editor: Editor) -> None:
    editor.open("reviewer_prompt.py")
    preview = await editor.command("prompt.preview")
    assert preview["order"] == [
        "guidance",
        "reference-docs",
        "workspace",
        "workspace/history",
        "review-task",
    ]
    assert [block["id"] for block in preview["blocks"]] == preview["order"]
    assert preview["stale"] is None


async def test_an_edit_sends_only_the_blocks_that_changed(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(tmp_path, trusted=True)
    uri = editor.open("both.py", PROMPT)
    await editor.command("prompt.preview")
    editor.change(uri, PROMPT.replace("Two.", "Zwei."))
    update = await editor.update(1)
    assert update["order"] == ["first", "second"]
    assert [block["id"] for block in update["blocks"]] == ["second"]
    assert update["blocks"][0]["text"] == "## 2. Second\n\nZwei."
    assert update["documentVersion"] == 2


async def test_a_broken_edit_keeps_the_last_good_blocks_and_says_why(
    connect: Connect, tmp_path: Path
) -> None:
    editor = await connect(tmp_path, trusted=True)
    uri = editor.open("both.py", PROMPT)
    await editor.command("prompt.preview")
    editor.change(uri, PROMPT + "\nbroken = (")
    update = await editor.update(1)
    assert update["order"] == ["first", "second"]
    assert update["blocks"] == []
    assert update["stale"]["line"] == 8
    assert "SyntaxError" in update["stale"]["message"]
    editor.change(uri, PROMPT, version=3)
    assert (await editor.update(2))["stale"] is None


async def test_an_edit_ends_a_render_that_does_not_end(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(tmp_path, trusted=True, render_deadline=600)
    uri = editor.open("both.py", PROMPT)
    await editor.command("prompt.preview")
    started = tmp_path / "started"
    editor.change(uri, f"{PROMPT}\nopen({str(started)!r}, 'w').close()\nwhile True: pass\n")
    async with asyncio.timeout(30):
        while not started.exists():
            await asyncio.sleep(0.01)
    editor.change(uri, PROMPT.replace("Two.", "Mended."), version=3)
    update = await editor.update(1)
    assert update["documentVersion"] == 3
    assert update["blocks"][0]["text"] == "## 2. Second\n\nMended."


async def test_an_unsaved_import_is_seen(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(tmp_path, trusted=True)
    (tmp_path / "texts.py").write_text("BODY = 'saved'\n", encoding="utf-8")
    imported = editor.open("texts.py", "BODY = 'unsaved'\n")
    text = PROMPT.replace('template="Two."', "template=BODY").replace(
        "\n\n", "\nfrom texts import BODY\n\n", 1
    )
    editor.open("both.py", text)
    preview = await editor.command("prompt.preview")
    assert preview["blocks"][1]["text"] == "## 2. Second\n\nunsaved"
    editor.change(imported, "BODY = 'changed'\n")
    update = await editor.update(1)
    assert update["blocks"][0]["text"] == "## 2. Second\n\nchanged"


async def test_sections_open_and_close(editor: Editor) -> None:
    editor.open("reviewer_prompt.py")
    preview = await editor.command("prompt.preview")
    session = preview["sessionId"]
    opened = await editor.command(
        "prompt.openSections", sessionId=session, section_keys=["reference-docs"]
    )
    block = next(block for block in opened["blocks"] if block["id"] == "reference-docs")
    assert (block["visibility"], block["opened"]) == ("FULL", True)
    assert "reference-docs/security" in opened["order"]
    update = await editor.update(1)
    assert update["order"] == opened["order"]
    closed = await editor.command(
        "prompt.closeSections", sessionId=session, section_keys=["reference-docs"]
    )
    assert closed["order"] == preview["order"]
    _, data = await editor.refusal(
        "prompt.closeSections", sessionId=session, section_keys=["reference-docs"]
    )
    assert data["kind"] == "tool"


async def test_a_closed_preview_is_gone(editor: Editor) -> None:
    editor.open("reviewer_prompt.py")
    preview = await editor.command("prompt.preview")
    await editor.command("prompt.closePreview", sessionId=preview["sessionId"])
    _, data = await editor.refusal(
        "prompt.openSections", sessionId=preview["sessionId"], section_keys=["reference-docs"]
    )
    assert data["kind"] == "no_preview"
    assert (await editor.command("status"))["previews"] == 0
