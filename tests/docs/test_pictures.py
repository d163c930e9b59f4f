"""The pictures of terminals show what the commands print."""

import importlib.util
from pathlib import Path

import pytest

from .counts import comparable

pytestmark = pytest.mark.real

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pictures_of_terminals_are_those_of_today() -> None:
    spec = importlib.util.spec_from_file_location("make_recordings", DOCS / "make_recordings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for path, picture in module.pictures():
        shown = comparable(path.read_text(encoding="utf-8"))
        assert shown == comparable(picture), f"run `python docs/make_recordings.py`: {path.name}"
