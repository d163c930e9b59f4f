"""Every test has a cache of its own, and no ignore rules but those it writes."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def private_folders(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The cache folder; the home folder, where git's global excludes are, is empty too."""
    cache = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(cache))
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return cache
