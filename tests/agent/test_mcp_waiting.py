"""What takes long delays only the calls that need it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import psutil
import pytest
from tests.backends.lsp.faulty import write_workspace

from ..plugins.remote import replicas
from .mcp_process import SECONDS, call, connect

Ask: TypeAlias = Callable[..., Coroutine[Any, Any, str]]

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
            assert (text.startswith("4 confirmed in "), is_error) == (True, False)


@asynccontextmanager
async def stdio(root: Path) -> AsyncIterator[Ask]:
    async with connect("--root", str(root)) as client:

        async def ask(tool: str, /, **arguments: object) -> str:
            return (await call(client, tool, **arguments))[0]

        yield ask


@asynccontextmanager
async def http(root: Path) -> AsyncIterator[Ask]:
    with replicas.serving("--root", str(root)) as replica:
        async with httpx2.AsyncClient(timeout=SECONDS) as client:

            async def ask(tool: str, /, **arguments: object) -> str:
                return (await replicas.call(client, replica.url, tool, **arguments)).text

            yield ask


@pytest.mark.parametrize("door", [stdio, http])
async def test_patterns_that_never_end_delay_no_other_call(
    door: Callable[[Path], AbstractAsyncContextManager[Ask]], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a" * 200_000 + "!\n")
    (tmp_path / "shop.py").write_text("def pay(): ...\n")
    # Neither do names that an ignore file or a glob is compared with.
    endless = "a*" * 20 + "b"
    (tmp_path / ".gitignore").write_text(endless)
    (tmp_path / ("a" * 240)).write_text("")
    async with door(tmp_path) as ask:
        waiting = [
            asyncio.create_task(ask("grep_in_files", pattern=pattern))
            for pattern in ("(a+)+$", "(a|aa)+$", "(?=(a+)+b)")
        ]
        for tool, arguments, expected in (
            ("read_file", {"path": "shop.py"}, "def pay"),
            ("get_tree", {}, "shop.py"),
            ("get_tree", {"glob": endless}, "matches no file"),
            ("find_references", {"name": "pay", "scope": endless}, "matches no file"),
            ("grep_in_files", {"pattern": "pay"}, "def pay"),
        ):
            answer = asyncio.create_task(ask(tool, **arguments))
            first, _ = await asyncio.wait({answer, *waiting}, return_when="FIRST_COMPLETED")
            assert first == {answer}
            assert expected in await answer
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
