"""Previews over the wire: notifications, and a server that answers while user code runs."""

from pathlib import Path

import pytest
from tests.waiting import until

from .conftest import Connect, Editor

pytestmark = pytest.mark.real

PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate

first = MarkdownSection[None](title="First", key="first", template="One.")
second = MarkdownSection[None](title="Second", key="second", template="Two.")
both = PromptTemplate(ns="demo", key="both", sections=[first, second])
"""


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


HOSTILE = {
    "loops and swallows everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "holds the lock in a regex": "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
    "prints without end": "while True: print('x' * 10_000)",
    "sleeps": "import time\ntime.sleep(600)",
}


async def test_the_server_answers_while_hostile_code_runs(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(tmp_path, trusted=True, render_deadline=600)
    uri = editor.open("both.py", PROMPT)
    await editor.command("prompt.preview")
    for number, (case, text) in enumerate(HOSTILE.items(), 1):
        started = tmp_path / str(number)
        touch = f"open({str(started)!r}, 'w').close()"
        editor.change(uri, f"{PROMPT}\n{touch}\n{text}\n", version=2 * number)
        await until(started.exists)
        # With a deadline of ten minutes, only a server that does not wait for it answers here.
        assert (await editor.command("status"))["previews"] == 1, case
        assert len(editor.updates) == number - 1, case
        editor.change(uri, PROMPT.replace("Two.", f"{number}."), version=2 * number + 1)
        update = await editor.update(number)
        assert update["blocks"][0]["text"] == f"## 2. Second\n\n{number}.", case


async def test_an_import_that_changes_on_disk_is_seen(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(tmp_path, trusted=True)
    texts = tmp_path / "texts.py"
    texts.write_text("BODY = 'saved'\n", encoding="utf-8")
    imported = "from texts import BODY\n" + PROMPT.replace('template="Two."', "template=BODY")
    editor.open("both.py", imported)
    await editor.command("prompt.preview")
    texts.write_text("BODY = 'saved again'\n", encoding="utf-8")
    editor.saved("texts.py")
    update = await editor.update(1)
    assert update["blocks"][0]["text"] == "## 2. Second\n\nsaved again"


async def test_a_closed_preview_is_gone(fresh: Editor) -> None:
    fresh.open("reviewer_prompt.py")
    preview = await fresh.command("prompt.preview")
    await fresh.command("prompt.closePreview", sessionId=preview["sessionId"])
    _, data = await fresh.refusal(
        "prompt.openSections", sessionId=preview["sessionId"], section_keys=["reference-docs"]
    )
    assert data["kind"] == "no_preview"
    assert (await fresh.command("status"))["previews"] == 0


async def test_status_and_previews_say_which_python_it_is_and_with_which_foldline(
    fresh: Editor,
) -> None:
    fresh.open("reviewer_prompt.py")
    before = (await fresh.command("status"))["interpreter"]
    assert set(before) == {"path", "reason"}
    preview = await fresh.command("prompt.preview")
    status = await fresh.command("status")
    assert status["interpreter"] == preview["interpreter"]
    assert preview["interpreter"]["foldline"] == status["version"]
    assert preview["interpreter"]["python"] == status["python"]
    assert preview["interpreter"]["mismatch"] is None


async def test_status_names_a_package_that_starts_threads(
    connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "threaded.py"
    package.parent.mkdir()
    package.write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    editor = await connect(tmp_path, trusted=True)
    uri = editor.open("both.py", f"import threaded\n{PROMPT}")
    await editor.command("prompt.preview")
    assert "threads" not in (await editor.command("status"))["interpreter"]
    editor.change(uri, f"import threaded\n{PROMPT.replace('Two.', 'Zwei.')}")
    await editor.update(1)
    assert (await editor.command("status"))["interpreter"]["threads"] == ["threaded"]


async def test_problems_of_a_projects_options_are_shown(connect: Connect, tmp_path: Path) -> None:
    wrong = "[tool.foldline.preview]\nparam = []\n"
    (tmp_path / "pyproject.toml").write_text(wrong, encoding="utf-8")
    editor = await connect(tmp_path, trusted=True)
    editor.open("both.py", PROMPT)
    await editor.command("prompt.preview")
    (message,) = (message.message for message in editor.client.messages)
    assert "tool.foldline.preview.param: unknown option; did you mean 'params'" in message


async def test_trust_is_given_and_taken_back(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(tmp_path)
    editor.open("both.py", PROMPT)
    assert (await editor.command("prompt.preview"))["fidelity"] == "static"
    editor.client.protocol.notify("foldline/didChangeTrust", {"trusted": True})
    assert (await editor.update(1))["fidelity"] == "executed"
    editor.client.protocol.notify("foldline/didChangeTrust", {"trusted": False})
    update = await editor.update(2)
    assert (update["fidelity"], update["stale"]["kind"]) == ("static", "untrusted")


async def test_a_version_is_compared_and_a_step_undone(fresh: Editor) -> None:
    fresh.open("reviewer_prompt.py")
    session = (await fresh.command("prompt.preview"))["sessionId"]
    await fresh.command("prompt.openSections", sessionId=session, section_keys=["reference-docs"])
    diff = await fresh.command("prompt.diff")
    assert (diff["sessionId"], diff["before"], diff["after"]) == (session, "version 1", "version 2")
    steps = (await fresh.command("prompt.history"))["steps"]
    assert [step["action"] for step in steps] == ["start", "open"]
    undone = await fresh.command("prompt.undo")
    assert (undone["version"], (await fresh.update(2))["version"]) == (3, 3)
