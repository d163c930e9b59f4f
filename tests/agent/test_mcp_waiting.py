"""A frozen language server delays only the calls that need it."""

import asyncio
from pathlib import Path

import psutil
import pytest
from tests.backends.lsp.faulty import write_workspace

from .mcp_process import call, connect

pytestmark = pytest.mark.real


async def test_calls_that_wait_for_a_frozen_server_delay_no_other(tmp_path: Path) -> None:
    root = write_workspace(tmp_path)
    async with connect("--root", str(root), "--trust") as client:
        while "3 confirmed" not in (await call(client, "find_references", name="pay"))[0]:
            pass
        server = psutil.Process(int((tmp_path / "state" / "pids").read_text()))
        server.suspend()
        # An answer that is known already would be no question.
        (root / "more.py").write_text("import shop\n\nshop.pay()\n")
        waiting = [
            asyncio.create_task(call(client, "find_references", name="pay")) for _ in range(12)
        ]
        for tool, arguments, expected in (
            ("read_file", {"path": "notes.txt"}, "unrelated"),
            ("get_file_outline", {"path": "shop.py"}, "def pay"),
            ("get_tree", {}, "notes.txt"),
        ):
            answer = asyncio.create_task(call(client, tool, **arguments))
            first, _ = await asyncio.wait({answer, *waiting}, return_when="FIRST_COMPLETED")
            assert first == {answer}
            assert expected in (await answer)[0]
        server.resume()
        for text, is_error in await asyncio.gather(*waiting):
            assert (text.startswith("4 confirmed references"), is_error) == (True, False)
