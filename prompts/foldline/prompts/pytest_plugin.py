"""Fixtures for tests of prompts with pytest; a `conftest.py` turns them on.

```python
pytest_plugins = ["foldline.prompts.pytest_plugin"]
```
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Protocol

import pytest

from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.testing import assert_snapshot

__all__ = ["PromptSnapshot", "prompt_snapshot"]

OPTION = "--update-prompts"


class PromptSnapshot(Protocol):
    """Compares a rendered prompt with the snapshot of the running test."""

    def __call__(
        self, rendered: RenderedPrompt[object], name: str = "", *, may_change: Collection[str] = ()
    ) -> None:
        """Compare, or write the snapshot if pytest runs with `--update-prompts`.

        Args:
            rendered: The prompt.
            name: Tells the snapshots of one test apart.
            may_change: Dotted keys of sections whose text isn't compared.
        """


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-prompts`."""
    parser.getgroup("foldline").addoption(
        OPTION, action="store_true", help="write the snapshots of prompts instead of comparing"
    )


@pytest.fixture
def prompt_snapshot(request: pytest.FixtureRequest) -> PromptSnapshot:
    """Compare a rendered prompt with `snapshots/<module>/<test>.md` beside the test's module."""
    module = request.path
    test = re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
    folder = module.parent / "snapshots" / module.stem

    def compare(
        rendered: RenderedPrompt[object], name: str = "", *, may_change: Collection[str] = ()
    ) -> None:
        __tracebackhide__ = True
        path = folder / f"{test}{f'.{name}' if name else ''}.md"
        try:
            assert_snapshot(
                rendered, path, may_change=may_change, update=request.config.getoption(OPTION)
            )
        except AssertionError as error:
            told = f"{error}\n\nTo write the snapshot, run `pytest {OPTION}`."
            # `pytest.fail` would show the error before it, too.
            raise pytest.fail.Exception(told, pytrace=False) from None

    return compare
