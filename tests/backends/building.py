"""A workspace whose index is half built, for as long as a test asks."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foldline.backends import SmartFileAccess


@contextmanager
def half_indexed(root: Path) -> Iterator[SmartFileAccess]:
    """The index has read one file, and reads on at the end of the context."""
    reached, go_on = threading.Event(), threading.Event()

    def progress(done: int, total: int) -> None:
        assert 1 <= done <= total
        reached.set()
        go_on.wait(30)

    access = SmartFileAccess.for_workspace(root, patience=0)
    access.start_indexing(progress)
    assert reached.wait(30)
    try:
        yield access
    finally:
        go_on.set()
        assert access.index is not None
        assert access.index.wait(30)
        access.close()
