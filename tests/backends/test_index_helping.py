"""Words that other processes help to find: the same, each once, whatever becomes of the helpers."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from foldline.backends import LocalFileBackend, SmartFileAccess, WorkspaceIndex
from foldline.backends.files.listing import FileStamp
from foldline.backends.index import helping
from foldline.backends.index.helping import Found, Helper, HelperError, words_of_files
from foldline.backends.index.store import KnownFile
from foldline.backends.index.words import content_key, words_of

# Each helper is a process of its own.
pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2] / "backends"
FILES = {
    path: (ROOT / path).read_bytes()
    for path in sorted(str(file.relative_to(ROOT)) for file in ROOT.rglob("*.py"))
}
# Two files have the same content.
FILES["copy.py"] = next(iter(FILES.values()))
STAMPS = [FileStamp(path, len(data), number) for number, (path, data) in enumerate(FILES.items())]


def read(stamp: FileStamp) -> tuple[KnownFile, bytes]:
    data = FILES[stamp.path]
    return KnownFile(stamp, False, "", content_key(stamp.path, data)), data


def found_by(helpers: int, stamps: Sequence[FileStamp] = STAMPS) -> list[Found]:
    return words_of_files(stamps, read, lambda _: False, lambda: True, helpers)


def words_in(found: Sequence[Found]) -> dict[bytes, set[tuple[bytes, int]]]:
    """The words and names of each content with their counts, by its key."""
    result: dict[bytes, set[tuple[bytes, int]]] = {}
    for one in found:
        result |= {key: set() for key in one.keys}
        for number, word in enumerate(one.words.split()):
            for place in one.words.places_of(number):
                result[one.keys[place >> 8]].add((word, place & 255))
    return result


def expected() -> dict[bytes, set[tuple[bytes, int]]]:
    result = {}
    for path, data in FILES.items():
        used, defined = words_of(path, data)
        pairs = [*used.items(), *((b"=" + name, count) for name, count in defined.items())]
        result[content_key(path, data)] = {(word, min(count, 255)) for word, count in pairs}
    return result


@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_helpers_find_the_same_words_and_each_content_once(helpers: int) -> None:
    found = found_by(helpers)
    assert len(found) == helpers + 1
    assert sorted(file.stamp for one in found for file in one.files) == sorted(STAMPS)
    keys = [key for one in found for key in one.keys]
    assert len(keys) == len({*keys}) == len({*FILES.values()})
    assert words_in(found) == expected()


def test_what_is_known_is_left_out() -> None:
    first = content_key(*next(iter(FILES.items())))
    found = words_of_files(STAMPS, read, first.__eq__, lambda: True, 1)
    assert words_in(found).keys() == expected().keys() - {first}
    assert sum(len(one.files) for one in found) == len(STAMPS)


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> list[Helper]:
    """The helpers that a test starts."""
    started: list[Helper] = []

    class Known(Helper):
        def __init__(self) -> None:
            super().__init__()
            started.append(self)

    monkeypatch.setattr(helping, "Helper", Known)
    return started


@pytest.mark.parametrize("step", ["add", "segment"])
def test_what_a_dead_helper_had_is_found_here(
    monkeypatch: pytest.MonkeyPatch, helpers: list[Helper], step: str
) -> None:
    then = getattr(Helper, step)

    def dying(self: Helper, *arguments: object) -> object:
        self._process.kill()
        self._process.wait()
        return then(self, *arguments)

    monkeypatch.setattr(Helper, step, dying)
    found = found_by(1)
    assert helpers[0]._process.returncode
    assert words_in(found) == expected()
    assert {file.stamp for one in found for file in one.files} == {*STAMPS}


def test_a_helper_that_hangs_is_ended(
    monkeypatch: pytest.MonkeyPatch, helpers: list[Helper]
) -> None:
    monkeypatch.setattr(helping, "_PROGRAM", "import time; time.sleep(1_000)")
    monkeypatch.setattr(helping, "_MOST_SECONDS", 0.2)
    assert words_in(found_by(1)) == expected()
    assert helpers[0]._process.returncode is not None


@pytest.mark.parametrize("answer", ["", "print('x' * 47)", "print('x' * 1000)"])
def test_an_answer_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr(helping, "_PROGRAM", answer)
    with closing(Helper()) as helper, pytest.raises(HelperError):
        helper.segment()


def test_where_no_process_starts_all_is_found_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", os.devnull)
    assert words_in(found_by(2)) == expected()


def test_what_reading_raises_is_raised(helpers: list[Helper]) -> None:
    def fails(stamp: FileStamp) -> tuple[KnownFile, bytes]:
        if stamp is STAMPS[-1]:
            raise ZeroDivisionError
        return read(stamp)

    with pytest.raises(ZeroDivisionError):
        words_of_files(STAMPS, fails, lambda _: False, lambda: True, 1)
    assert helpers[0]._process.returncode is not None


def test_helpers_stop_with_the_building(helpers: list[Helper]) -> None:
    left = iter(range(30))
    found = words_of_files(STAMPS, read, lambda _: False, lambda: next(left, None) is not None, 2)
    files = sum(len(one.files) for one in found)
    assert files == len(words_in(found)) == 30
    assert all(helper._process.returncode is not None for helper in helpers)


def test_nothing_of_the_working_directory_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    for name in ("struct", "gc", "array", "sitecustomize", "usercustomize", "foldline"):
        (tmp_path / f"{name}.py").write_text(planted)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "gc.py"))
    monkeypatch.setattr(sys, "path", ["", ".", *sys.path])
    with closing(Helper()) as helper:
        helper.add("a.py", b"def found(): ...")
        assert helper.segment().split() == [b"def", b"found", b"=found"]
    assert not (tmp_path / "ran").exists()


def test_a_helper_ends_with_the_process_that_started_it() -> None:
    code = (
        "import os; from foldline.backends.index.helping import Helper; "
        "print(Helper()._process.pid, flush=True); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    gone, alive = psutil.wait_procs(_processes([int(done.stdout)]), timeout=60)
    assert not alive, gone


def _processes(numbers: Sequence[int]) -> list[psutil.Process]:
    return [psutil.Process(number) for number in numbers if psutil.pid_exists(number)]


@pytest.mark.parametrize(
    ("idle", "size", "helpers"),
    [(0, 1 << 30, 0), (1, 1 << 30, 1), (64, 1 << 30, 3), (64, 11_000_000, 2), (64, 4_000_000, 0)],
)
def test_helpers_are_for_idle_processors_and_much_code(
    monkeypatch: pytest.MonkeyPatch, idle: int, size: int, helpers: int
) -> None:
    monkeypatch.setattr(helping, "_idle_processors", lambda: idle)
    assert helping.helpers_for([FileStamp("a.py", size, 0)]) == helpers
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert helping.helpers_for([FileStamp("a.py", size, 0)]) == 0


def test_processors_that_others_use_are_not_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    load = tmp_path / "loadavg"
    monkeypatch.setattr(helping, "_RUNNING", load)
    load.write_text("9.50 0.20 0.10 3/812 4711\n")
    assert helping._idle_processors() == 5
    load.write_text("0.50 0.20 0.10 20/812 4711\n")
    assert helping._idle_processors() == 0
    load.unlink()
    monkeypatch.setattr(os, "getloadavg", lambda: (2.6, 0.0, 0.0), raising=False)
    assert helping._idle_processors() == 4


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for path, data in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    return tmp_path


def test_an_index_made_with_helpers_answers_as_one_without(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = []
    for number in (0, 2):
        monkeypatch.setattr(
            "foldline.backends.index.builder.helpers_for", lambda _, number=number: number
        )
        progress: list[tuple[int, int]] = []
        files = LocalFileBackend(workspace)
        index = WorkspaceIndex(
            files,
            tmp_path_factory.mktemp("index") / "index",
            patience=None,
            progress=lambda *numbers, progress=progress: progress.append(numbers),
        )
        with closing(SmartFileAccess(files, index=index)) as access:
            found = [
                access.search_files("how are small segments merged", budget=3_000),
                access.find_references("Segment", seconds=0),
                access.grep(r"def \w+_words"),
            ]
            answers.append(list(map(str, found)))
        done, total = progress[-1]
        assert done == total
    assert answers[0] == answers[1]
