"""How the work of a question grows with the workspace and the question: calls, not seconds."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from foldline.backends import SmartFileAccess


def calls(work: Callable[[], object]) -> Counter[str]:
    """The calls that the work makes in this thread, by the names of the functions."""
    counted: Counter[str] = Counter()

    def count(frame: FrameType, event: str, called: object) -> None:
        if event == "call":
            counted[frame.f_code.co_name] += 1
        elif event == "c_call":
            counted[getattr(called, "__qualname__", "")] += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


def workspace(root: Path, files: int) -> SmartFileAccess:
    """Modules with functions of their own, indexed."""
    for number in range(files):
        folder = root / f"package{number // 10}"
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(f"def f{number}x{line}():\n    return 'word'\n\n\n" for line in range(20))
        (folder / f"m{number}x.py").write_text(text)
    access = SmartFileAccess.for_workspace(root, patience=None)
    access.search_files("nothing")
    return access


def test_twice_the_words_and_files_take_a_search_less_than_twice_the_work(
    tmp_path: Path,
) -> None:
    counted = []
    for size in (100, 200):
        access = workspace(tmp_path / str(size), size)
        query = " ".join(f"f{number}x3 said{number}" for number in range(size))
        counted.append(calls(lambda: access.search_files(query, budget=2000)))  # noqa: B023
        access.close()
    few, many = counted
    assert many.total() < 1.6 * few.total()  # Most of it is for the files that are shown.
    assert many["words"] == few["words"] == 1  # The postings are read once.
