"""The folders of caches are their user's alone, inner ones too."""

import os
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest

from foldline.backends.base.caches import VARIABLE, private_folder


@pytest.fixture(autouse=True)
def everybody_may_enter() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def rights(folder: Path) -> int:
    return folder.stat().st_mode & 0o777


@pytest.mark.parametrize("before", [None, 0o755])
def test_the_caches_and_all_folders_in_them_are_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int | None
) -> None:
    caches = tmp_path / "caches"
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: caches)
    if before is not None:
        (caches / "shown" / "a").mkdir(parents=True)
        for folder in (caches, caches / "shown", caches / "shown" / "a"):
            folder.chmod(before)
    assert private_folder("shown", "a") == caches / "shown" / "a"
    for folder in (caches, caches / "shown", caches / "shown" / "a"):
        assert rights(folder) == 0o700


def test_a_folder_that_somebody_named_keeps_its_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, made = tmp_path / "mine", tmp_path / "made"
    mine.mkdir(mode=0o750)
    for caches, expected in ((mine, 0o750), (made, 0o700)):
        monkeypatch.setenv(VARIABLE, str(caches))
        folder = private_folder("index")
        assert (rights(caches), rights(folder)) == (expected, 0o700)


def test_caches_that_cannot_be_made_are_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    assert not private_folder("index").exists()
