"""A look at a folder's files ends in time, and the next one goes on where it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends import SmartFileAccess
from foldline.ide.analysis import prompt_files
from foldline.ide.analysis.prompt_files import PromptFiles
from foldline.ide.folder import Folder
from foldline.ide.instructions.files import instruction_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pytest

COUNT = 10


def test_a_look_that_takes_too_long_gives_what_it_has_and_the_next_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(COUNT):
        (tmp_path / f"m{number}.py").write_text("import foldline\n")
    now = 0.0
    read_file = prompt_files._read

    def read(file: str, stamp: object) -> prompt_files.FileWords | None:
        nonlocal now
        now += 1
        return read_file(file, stamp)

    def walk(check: Callable[[], None]) -> Iterator[tuple[str, object]]:
        del check  # Between two files it is looked at the time anyhow.
        for number in range(COUNT):
            yield str(tmp_path / f"m{number}.py"), number

    monkeypatch.setattr(prompt_files, "_read", read)
    monkeypatch.setattr(prompt_files, "monotonic", lambda: now)
    files = PromptFiles(walk, seconds=3.5)
    looks = [(len(files.refresh()), files.complete) for _ in range(4)]
    # Each reads four more; a file that is known is not read again.
    assert looks == [(4, False), (8, False), (10, True), (10, True)]
    assert now == COUNT
    assert len(PromptFiles(walk).refresh()) == COUNT


def test_a_walk_that_never_comes_to_a_file_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(100))
    monkeypatch.setattr(prompt_files, "monotonic", lambda: next(ticks))

    def walk(check: Callable[[], None]) -> Iterator[tuple[str, object]]:
        while True:
            check()
        yield "never", 0

    files = PromptFiles(walk, seconds=20)
    assert (files.refresh(), files.complete) == ((), False)


def test_a_name_of_one_letter_is_compared_with_a_query_once(tmp_path: Path) -> None:
    """Not with each way in which the query's letters may be spread over the name."""
    file = tmp_path / "m.py"
    file.write_text(f"import foldline\nk{'a' * 5_000} = 1\nsome_prompt = 2\n")
    files = PromptFiles(lambda check: [(str(file), 1)])
    files.refresh()
    assert list(files.matching(f"{'a' * 2_000}b")) == []
    for query in ("", "SPt", "some_prompt", "kaa"):
        assert list(files.matching(query)) == [str(file)]
    # Its letters are in two names.
    assert list(files.matching("kp")) == []


def test_a_look_for_instruction_files_ends_in_time_too(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Be brief.\n")
    folder = Folder(tmp_path, SmartFileAccess.for_workspace)
    assert instruction_files(folder) == [tmp_path / "AGENTS.md"]
    assert instruction_files(folder, seconds=-1) == []
