"""Language servers of one kind are up for two folders of a process, those that were asked last."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.backends.lsp.faulty import MATCHES, PATIENCE, Faulty

from foldline.backends.engine import ASKS_SEVERAL_FOLDERS
from foldline.backends.lsp.pool import MAX_FOLDERS
from foldline.backends.models import COMPLETE, References

pytestmark = pytest.mark.real

FOLDERS = 5


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[list[Faulty]]:
    made = []
    for number in range(FOLDERS):
        (tmp_path / f"{number}").mkdir()
        made.append(Faulty(tmp_path / f"{number}", "asks nothing"))
    yield made
    for folder in made:
        folder.access.close()


def up(folders: list[Faulty]) -> list[int]:
    """The folders whose servers are up."""
    every = [folder.access.server_status() for folder in folders]
    return [n for n, some in enumerate(every) if any(one.state != "stopped" for one in some)]


def ask(folder: Faulty) -> References:
    found = folder.access.find_references("pay", seconds=PATIENCE)
    assert sorted((use.path, use.line) for use in found) == MATCHES
    return found


def test_the_server_of_the_folder_that_was_asked_longest_ago_makes_room(
    folders: list[Faulty],
) -> None:
    for number, folder in enumerate(folders):
        assert ask(folder).coverage == COMPLETE
        assert up(folders) == [*range(number + 1)][-MAX_FOLDERS:]
    for number in (0, 3):  # Answers about files as they were need no server.
        (folders[number].root / "shop.py").write_text("def pay():\n    return 23\n")
    ask(folders[3])
    assert ask(folders[0]).coverage == COMPLETE
    assert up(folders) == [0, 3]


def test_a_question_to_several_folders_stops_no_server(folders: list[Faulty]) -> None:
    ask(folders[4])
    token = ASKS_SEVERAL_FOLDERS.set(True)
    try:
        answers = [ask(folder) for folder in folders]
    finally:
        ASKS_SEVERAL_FOLDERS.reset(token)
    assert up(folders) == [0, 4]
    assert [answer.confirmed for answer in answers] == [3, 0, 0, 0, 3]
    assert "faulty: runs for 2 other folders; ask about this folder alone" in answers[1].coverage
    assert ask(folders[1]).confirmed == 3


def test_a_server_with_a_question_in_flight_is_not_stopped(tmp_path: Path) -> None:
    made = []
    for number in range(MAX_FOLDERS + 1):
        (tmp_path / f"{number}").mkdir()
        made.append(Faulty(tmp_path / f"{number}", "never answers"))
    *asked, last = made
    for folder in asked:
        assert "timed out after" in folder.access.find_references("pay", seconds=0.2).coverage
    found = last.access.find_references("pay", seconds=PATIENCE)
    assert "runs for 2 other folders" in found.coverage
    assert up(made) == [*range(MAX_FOLDERS)]
    for folder in made:
        folder.access.close()
