"""A preview of hostile code: the server answers all the while, keeps the last good, leaves nothing.

What each kind of code is answered with is for `test_worker` to say. Here it runs below a real
server, from an editor's buffer.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

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
PING_SECONDS = 0.1
MARK = "FOLDLINE_TEST_HOSTILE"
PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate
p = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[None](title="T", key="t", template="body")])
"""

RENDERED = "rendered"
HOSTILE = {
    "prints": ("for _ in range(2000): print('x' * 1000)", RENDERED),
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
    # As the machine has the memory, and how fast.
    "allocates 2 GB": ("hoard = bytearray(2 << 30)", f"{RENDERED} exit deadline exception"),
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
    "lacks a dependency": ("import not_there_at_all", "exception"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workspace(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Editor, Path]]:
    """One server for all of them, whose processes can be told from others."""
    root = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MARK, str(root))
        async with connections() as connect:
            yield await connect(root, trusted=True, render_deadline=DEADLINE), root
    async with asyncio.timeout(10):
        while processes(root):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("case", HOSTILE)
async def test_the_server_answers_and_nothing_stays_when_the_code(
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
        pings = []
        while not editor.updates:
            start = perf_counter()
            await editor.command("prompt.history", sessionId=preview["sessionId"])
            pings.append(perf_counter() - start)
        # A single one may be late on a busy machine; a server that waits for the code makes all of
        # them late, or one of them by as much as the code takes.
        assert statistics.median(pings) < PING_SECONDS
        assert max(pings) < DEADLINE
        (update,) = editor.updates
        assert (update["fidelity"], update["order"]) == ("executed", ["t"])
        shown = [block["text"] for block in update["blocks"]]
        if update["stale"] is None:
            assert RENDERED in outcome
            assert shown == ["## 1. T\n\nchanged"]
        else:
            assert (update["stale"]["kind"] in outcome.split(), shown) == (True, [])
        async with asyncio.timeout(10):
            while len(processes(root)) > len(before):
                await asyncio.sleep(0.01)
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
        state = await preview_of(editor)
        assert (state["fidelity"], state["stale"]["kind"] in ("interpreter", "exit")) == (
            "static",
            True,
        )
        assert [block["text"] for block in state["blocks"]] == ["## 1. T\n\nbody"]


async def preview_of(editor: Editor) -> dict[str, Any]:
    uri = editor.open("prompt.py", PROMPT)
    state: dict[str, Any] = await editor.command("prompt.preview", uri=uri)
    return state


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
