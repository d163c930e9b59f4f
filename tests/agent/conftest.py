"""Every test of the shells has a cache of its own, and folders that are closed in the end."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from foldline.agent import folders
from foldline.agent.folders import Folders
from foldline.ide.workspace import Workspace


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes of these tests' workspaces are kept apart, also by the processes that they start."""
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def open_folders() -> Iterator[Callable[..., Folders]]:
    """Opens folders for the tools."""
    workspaces: list[Workspace] = []

    def open_(*roots: Path) -> Folders:
        workspaces.append(Workspace())
        return folders.open_folders(workspaces[-1], roots)

    yield open_
    for workspace in workspaces:
        workspace.close()
