"""The browser that the editors' tests drive."""

import os
from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def chromium(program: Callable[..., str]) -> str:
    """The program of a Chromium, or the one that the variable `CHROMIUM` names."""
    return os.environ.get("CHROMIUM") or program(
        "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
    )
