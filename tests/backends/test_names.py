"""`foldline.backends` offers its names, although it loads most of them when they are first used."""

from __future__ import annotations

import pytest

from foldline import backends


@pytest.mark.parametrize("name", backends.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(backends, name).__name__ == name


def test_no_other_name_is() -> None:
    with pytest.raises(AttributeError, match="no attribute 'SmartFileAcess'"):
        _ = backends.SmartFileAcess  # type: ignore[attr-defined]
