"""A preview of hostile code keeps the last good text, and leaves no process behind.

`test_worker` says what each kind of code is answered with, and `test_preview` that the server
answers meanwhile. Here it runs below a real server, from an editor's buffer.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from tests.waiting import until

from .conftest import connections

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from .conftest import Editor

pytestmark = [
    pytest.mark.real,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform != "linux", reason="Its processes are found in /proc"),
]

DEADLINE = 4.0
MARK = "FOLDLINE_TEST_HOSTILE"
PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate
p = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[None](title="T", key="t", template="body")])
"""

RENDERED = "rendered"
HOSTILE = {
    "forks children that print": (
        "import os\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        '        while True: os.write(1, b\'{"text": "forged"}\\n\')',
        RENDERED,
    ),
    "exits at once": ("import os\nos._exit(7)", "exit"),
    "holds the lock in a regex": (
        "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
        "deadline",
    ),
    "forks again and again": (
        # Bounded, for the sake of the machine: 32 processes, half in sessions of their own.
        "import os, time\n"
        "for turn in range(5):\n"
        "    if os.fork() == 0 and turn == 4:\n"
        "        os.setsid()\n"
        "while True: time.sleep(1)",
        "deadline",
    ),
    "starts threads": (
        "import threading, time\n"
        "for _ in range(8):\n"
        "    threading.Thread(target=time.sleep, args=(600,), daemon=False).start()",
        RENDERED,
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workspace(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Editor, Path]]:
    """One server for all of them, whose processes can be told from others."""
    root = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MARK, str(root))
        async with connections() as connect:
            yield await connect(root, trusted=True, render_deadline=DEADLINE), root
    await until(lambda: not processes(root))


@pytest.mark.parametrize("case", HOSTILE)
async def test_the_last_good_text_and_no_process_stays_when_the_code(
    workspace: tuple[Editor, Path], case: str
) -> None:
    editor, root = workspace
    text, outcome = HOSTILE[case]
    (root / "prompt.py").write_text(PROMPT, encoding="utf-8")
    uri = editor.open("prompt.py", PROMPT)
    preview = await editor.command("prompt.preview", uri=uri)
    assert [block["text"] for block in preview["blocks"]] == ["## 1. T\n\nbody"]
    try:
        # The server, and the worker that waits for the next render.
        before = processes(root)
        editor.updates.clear()
        editor.change(uri, f"{text}\n{PROMPT.replace('body', 'changed')}")
        update = await editor.update(1)
        assert (update["fidelity"], update["order"]) == ("executed", ["t"])
        shown = [block["text"] for block in update["blocks"]]
        if update["stale"] is None:
            assert (outcome, shown) == (RENDERED, ["## 1. T\n\nchanged"])
        else:
            assert (update["stale"]["kind"], shown) == (outcome, [])
        await until(lambda: len(processes(root)) <= len(before))
        editor.change(uri, PROMPT.replace("body", "mended"), version=3)
        mended = await editor.update(2)
        assert (mended["stale"], mended["blocks"][0]["text"]) == (None, "## 1. T\n\nmended")
    finally:
        await editor.command("prompt.closePreview", sessionId=preview["sessionId"])
        editor.close(uri)


@pytest.mark.parametrize("program", ["/bin/cat", "/bin/true", "/nowhere/python"])
async def test_a_wrong_interpreter_is_told_and_the_source_shown(
    tmp_path: Path, program: str
) -> None:
    async with connections() as connect:
        editor = await connect(tmp_path, trusted=True, interpreter=program)
        state = await editor.command("prompt.preview", uri=editor.open("prompt.py", PROMPT))
        assert state["fidelity"] == "static"
        assert state["stale"]["kind"] in ("interpreter", "exit")
        assert [block["text"] for block in state["blocks"]] == ["## 1. T\n\nbody"]


def processes(root: Path) -> list[str]:
    """What runs with the mark of this test in its environment."""
    wanted = f"{MARK}={root}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue  # It has ended, or is another user's.
        if wanted in environment and state != b"Z":
            found.append(folder.name)
    return found
