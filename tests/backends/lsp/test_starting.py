"""A language server starts as early as it can: a question waits for no look at the files first."""

import threading
from contextlib import closing
from pathlib import Path

import pytest

from foldline.backends import SmartFileAccess
from foldline.backends.files.listing import FileStamp
from foldline.backends.lsp.pool import ServerPool
from foldline.backends.lsp.process import ServerProcess
from foldline.backends.models import COMPLETE

pytestmark = pytest.mark.real

PATIENCE = 60.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace whose index an earlier process has written."""
    (tmp_path / "a.py").write_text("class Cart: ...\n")
    (tmp_path / "b.py").write_text("from a import Cart\n")
    with closing(SmartFileAccess.for_workspace(tmp_path)) as access:
        access.find_references("Cart")
    return tmp_path


def test_the_server_starts_before_the_files_have_been_looked_at(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = threading.Event()
    in_time = []
    start, look = ServerProcess.start, ServerPool._look

    async def starting(*args: object, **options: object) -> ServerProcess:
        started.set()
        return await start(*args, **options)  # type: ignore[arg-type]  # Passed on.

    def looking(self: ServerPool, since: float) -> dict[str, FileStamp]:
        in_time.append(started.wait(PATIENCE))
        return dict(look(self, since))

    monkeypatch.setattr(ServerProcess, "start", starting)
    monkeypatch.setattr(ServerPool, "_look", looking)
    (root / "c.py").write_text("from a import Cart\n")
    with closing(SmartFileAccess.for_workspace(root, language_servers=True)) as access:
        found = access.find_references("Cart", seconds=PATIENCE)
        assert (found.confirmed, found.coverage, set(in_time)) == (3, COMPLETE, {True})


def test_a_server_is_up_before_the_first_question(root: Path) -> None:
    with closing(SmartFileAccess.for_workspace(root, language_servers=True)) as access:
        access.warm_up()
        assert [server.name for server in access.server_status()] == ["ty"]
        assert access.find_references("Cart", seconds=PATIENCE).confirmed == 2


def test_without_servers_there_is_nothing_to_warm_up(root: Path) -> None:
    with closing(SmartFileAccess.for_workspace(root)) as access:
        access.warm_up()
        assert access.server_status() == ()
