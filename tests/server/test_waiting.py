"""A frozen language server delays only the requests that need it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.backends.lsp.faulty import PATIENCE, write_workspace

from foldline.backends.base.waiting import LONG, PROMPTS, QUICK, STATUS, WALKS
from foldline.ide.workspace import Workspace

from .conftest import Connect, Editor, served

pytestmark = pytest.mark.real

# The questions wait for longer than the test takes, and are given up with it.
FROZEN_SECONDS = 600.0
ABOUT = ("hover", "findReferences", "definition")
POOLS = (QUICK, LONG, WALKS, PROMPTS, STATUS)


class Frozen:
    """A workspace whose language server was asked once, and has been stopped by a signal since."""

    def __init__(self, editor: Editor, process: psutil.Process) -> None:
        self.editor = editor
        self.process = process
        self.waiting: list[asyncio.Task[Any]] = []

    @property
    def server(self) -> psutil.Process:
        """The process of foldline's own server."""
        found = self.process.parents()
        return next(process for process in found if "serve" in process.cmdline())

    def ask(self, number: int) -> None:
        """Ask a question that the language server does not answer."""
        command = ABOUT[number % len(ABOUT)]
        asked: dict[str, object] = {"name": "pay", "seconds": FROZEN_SECONDS}
        if command != "findReferences":
            asked["path"] = "shop.py"
        self.waiting.append(asyncio.create_task(self.editor.command(f"code.{command}", **asked)))

    async def end(self) -> None:
        """Let the language server go, so that all questions are answered."""
        self.process.resume()
        await self.editor.command("restart")
        for answer in await asyncio.gather(*self.waiting):
            assert "pay" in answer["text"]

    async def status(self) -> dict[str, Any]:
        [server] = (await self.editor.command("status"))["languageServers"]
        assert isinstance(server, dict)
        return server


@served
async def frozen(tmp_path: Path, connect: Connect) -> AsyncIterator[Frozen]:
    editor = await connect(write_workspace(tmp_path), trusted=True)
    answer = await editor.command("code.findReferences", name="pay", seconds=PATIENCE)
    assert answer["data"]["confirmed"] == 3, answer["text"]
    [pid] = map(int, (tmp_path / "state" / "pids").read_text().split())
    process = psutil.Process(pid)
    process.suspend()
    # An answer that is known already would be no question.
    (editor.root / "more.py").write_text("import shop\n\nshop.pay()\n")
    found = Frozen(editor, process)
    yield found
    await found.end()


async def test_questions_to_a_frozen_server_delay_no_other(frozen: Frozen) -> None:
    for number in range(12):
        frozen.ask(number)
    editor = frozen.editor
    async with asyncio.timeout(PATIENCE):
        while (await frozen.status())["pending"] == 0:
            await asyncio.sleep(0)
        assert (await editor.command("code.readFile", path="notes.txt"))["text"] == "unrelated\n"
        assert "def pay" in (await editor.command("code.outline", path="shop.py"))["text"]
        assert "notes.txt" in (await editor.command("code.tree"))["text"]
        assert "unrelated" in (await editor.command("code.grep", pattern="unrel"))["text"]
        assert await editor.command("prompt.list") == []
        assert (await frozen.status())["pending"] > 0
    assert not any(task.done() for task in frozen.waiting)


async def test_two_hundred_waiting_questions_hold_no_thread(frozen: Frozen) -> None:
    for number in range(200):
        frozen.ask(number)
    async with asyncio.timeout(PATIENCE):
        while (await frozen.status())["pending"] == 0:
            await asyncio.sleep(0)
        for _ in range(20):
            await frozen.editor.command("code.tree")
            await frozen.editor.command("code.readFile", path="notes.txt")
    assert not any(task.done() for task in frozen.waiting)
    # Two loops, two streams, and what watches.
    others = 12
    assert frozen.server.num_threads() <= sum(pool.most for pool in POOLS) + others


async def test_the_status_of_servers_takes_no_lock() -> None:
    workspace = Workspace()
    async with asyncio.timeout(PATIENCE):
        # As while a folder's files are opened.
        with workspace._lock:
            assert await workspace.server_status() == []
