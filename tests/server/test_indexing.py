"""The building of an index shows in the client where it takes long."""

import asyncio
import sys
from itertools import chain
from pathlib import Path
from typing import cast

import pytest
from lsprotocol import types

from foldline.server import indexing
from foldline.server.app import create_server
from foldline.server.indexing import index_progress

from .conftest import Connect

SECONDS = 60.0


class Client:
    """Takes what the server sends of progress, and says when it has ended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, refuses: bool = False) -> None:
        self.server = create_server()
        self.said: list[object] = []
        self.ended = asyncio.Event()
        protocol = self.server.protocol

        async def answer(method: str, params: types.WorkDoneProgressCreateParams) -> None:
            self.said.append(method)
            if refuses:
                self.ended.set()
                raise _refusal()

        def take(method: str, params: types.ProgressParams) -> None:
            self.said.append(params.value)
            if isinstance(params.value, types.WorkDoneProgressEnd):
                self.ended.set()

        monkeypatch.setattr(protocol, "send_request_async", answer)
        monkeypatch.setattr(protocol, "notify", take)

    async def has_said(self, count: int) -> None:
        async with asyncio.timeout(SECONDS):
            while len(self.said) < count:
                await asyncio.sleep(0)


def _refusal() -> Exception:
    from pygls.exceptions import JsonRpcMethodNotFound

    return JsonRpcMethodNotFound()


async def test_a_long_building_is_shown_from_begin_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "SHOWN_AFTER_SECONDS", 0)
    monkeypatch.setattr(indexing, "REPORT_SECONDS", 0)
    client = Client(monkeypatch)
    tell = index_progress(client.server, asyncio.get_running_loop())(Path("/w/shop"))
    await asyncio.to_thread(tell, 1, 4)
    await client.has_said(3)
    await asyncio.to_thread(tell, 2, 4)
    await client.has_said(4)
    await asyncio.to_thread(tell, 4, 4)
    await asyncio.wait_for(client.ended.wait(), SECONDS)
    assert client.said == [
        types.WINDOW_WORK_DONE_PROGRESS_CREATE,
        types.WorkDoneProgressBegin("foldline: indexing shop", percentage=0),
        types.WorkDoneProgressReport(message="1 of 4 files", percentage=25),
        types.WorkDoneProgressReport(message="2 of 4 files", percentage=50),
        types.WorkDoneProgressEnd(message="4 of 4 files"),
    ]


async def test_a_short_building_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(monkeypatch)
    tell = index_progress(client.server, asyncio.get_running_loop())(Path("/w/shop"))
    for done in range(1, 5):
        tell(done, 4)
    await asyncio.sleep(0)
    assert client.said == []


async def test_a_client_that_refuses_sees_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "SHOWN_AFTER_SECONDS", 0)
    client = Client(monkeypatch, refuses=True)
    tell = index_progress(client.server, asyncio.get_running_loop())(Path("/w/shop"))
    tell(1, 4)
    await asyncio.wait_for(client.ended.wait(), SECONDS)
    tell(4, 4)
    await asyncio.sleep(0)
    assert client.said == [types.WINDOW_WORK_DONE_PROGRESS_CREATE]


@pytest.mark.real
async def test_a_real_building_tells_the_client(connect: Connect, tmp_path: Path) -> None:
    at_once = (
        "import sys; from foldline.server import indexing; indexing.SHOWN_AFTER_SECONDS = 0; "
        "from foldline.agent.cli import main; sys.exit(main(['serve', '--stdio']))"
    )
    for number in range(3):
        (tmp_path / f"m{number}.py").write_text(f"name_{number} = 1\n", encoding="utf-8")
    editor = await connect(tmp_path, serve=(sys.executable, "-c", at_once))
    await editor.command("code.findReferences", name="name_1", seconds=0)
    # They hold the values, whatever their type says.
    reports = cast("dict[object, list[object]]", editor.client.progress_reports)
    async with asyncio.timeout(SECONDS):
        while not any(
            isinstance(report, types.WorkDoneProgressEnd) for report in chain(*reports.values())
        ):
            await editor.client.wait_for_notification("$/progress")
    [shown] = reports.values()
    assert shown[0] == types.WorkDoneProgressBegin(
        f"foldline: indexing {tmp_path.name}", percentage=0
    )
    assert shown[-1] == types.WorkDoneProgressEnd(message="3 of 3 files")
