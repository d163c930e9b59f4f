"""Work that only one of the processes that run tests may do at a time."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
SECONDS = 600


@contextmanager
def one_at_a_time(what: str) -> Iterator[None]:
    """Hold the lock on `what`, such as an installation into a folder that is shared."""
    with FileLock(ROOT / ".pytest_cache" / f"{what}.lock", timeout=SECONDS):
        yield
