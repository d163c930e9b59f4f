"""jedi in its worker: every file is looked into, and nothing is left behind."""

import ast
from collections.abc import Iterator
from pathlib import Path

import parso.cache
import psutil
import pytest

from foldline.backends import LocalFileBackend, SmartFileAccess
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.jedi import engine, worker
from foldline.backends.lsp import LSPBackend
from foldline.backends.models import COMPLETE

pytestmark = pytest.mark.real

PATIENCE = 60.0
# More than the 30 files at which jedi stops by itself.
USERS = 45


@pytest.fixture
def access(tmp_path: Path) -> Iterator[SmartFileAccess]:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "hub.py").write_text("class Hub:\n    def spin(self):\n        return 1\n")
    for number in range(USERS):
        (root / f"user{number}.py").write_text("from hub import Hub\n\nHub().spin()\n")
    (root / "other.py").write_text("class Other:\n    def spin(self): ...\nOther().spin()\n")
    files = LocalFileBackend(root)
    backend = LSPBackend(files, seconds=PATIENCE, servers=[])
    access = SmartFileAccess(files, ASTFileAnalysisBackend(files), backend)
    yield access
    access.close()


@pytest.mark.parametrize("name", ["_PARSED_FILE_LIMIT", "_OPENED_FILE_LIMIT"])
def test_the_limits_that_are_raised_are_those_that_jedi_reads(name: str) -> None:
    module = worker.WALK[0]
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text())
    reads = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    assert any(isinstance(node.ctx, ast.Load) for node in reads)


def test_every_private_name_that_is_changed_is_still_there() -> None:
    names = [(module, name) for module, name, _ in worker.CHANGES]
    for module, name in (*names, worker.WALK, (parso.cache, "parser_cache")):
        assert hasattr(module, name), f"{module.__name__} has lost {name}: see worker.py"


OTHER_JEDI = """
import sys
sys.path.insert(0, {folder!r})
import worker
worker.MISSING.append("_A_LIMIT")
worker.main()
"""


def test_a_jedi_that_lacks_a_private_name_is_said_to_leave_files_out(
    access: SmartFileAccess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other_worker.py"
    other.write_text(OTHER_JEDI.format(folder=str(engine.WORKER.parent)))
    monkeypatch.setattr(engine, "WORKER", other)
    found = access.find_references("Hub.spin", seconds=PATIENCE)
    assert found.confirmed == USERS + 1
    assert found.coverage.startswith("partial: ")
    assert "jedi may leave files out: the installed version has no _A_LIMIT" in found.coverage


def test_more_files_are_looked_into_than_jedi_would_by_itself(access: SmartFileAccess) -> None:
    found = access.find_references("Hub.spin", seconds=PATIENCE)
    assert (found.confirmed, found.possible) == (USERS + 1, 2)
    assert (found.backend, found.coverage) == ("jedi+ast", COMPLETE)
    assert "jedi answered: no language server is installed" in found.reason
    assert {reference.path for reference in found if reference.tier == "another"} == {"other.py"}


def test_an_edit_and_an_open_buffer_are_in_the_next_answer(access: SmartFileAccess) -> None:
    assert access.find_references("Other.spin", seconds=PATIENCE).confirmed == 2
    changed = access.file_backend.root / "user0.py"
    changed.write_text("from other import Other\nOther().spin()\n")
    assert access.find_references("Other.spin", seconds=PATIENCE).confirmed == 3
    access.file_backend.set_overlay("user1.py", "from other import Other\n\n\nOther().spin()\n")
    found = access.find_references("Other.spin", seconds=PATIENCE)
    assert found.confirmed == 4
    assert ("user1.py", 4) in {(reference.path, reference.line) for reference in found}
    access.file_backend.remove_overlay("user1.py")
    assert access.find_references("Other.spin", seconds=PATIENCE).confirmed == 3


def test_a_search_that_is_cut_off_says_so(
    access: SmartFileAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SEARCH_SECONDS", -1.0)
    found = access.find_references("Hub.spin", seconds=PATIENCE)
    assert found.coverage.startswith("partial: jedi looked at some files only")
    assert found.confirmed < USERS
    assert found.total == USERS + 3


def test_a_search_that_does_not_end_is_ended(
    access: SmartFileAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "LAST_SECONDS", 0.0)
    found = access.find_references("Hub.spin", seconds=PATIENCE)
    assert (found.confirmed, found.total) == (0, USERS + 3)
    assert "jedi: gave no answer within 0 s" in found.coverage
    monkeypatch.undo()
    assert access.find_references("Hub.spin", seconds=PATIENCE).confirmed == USERS + 1


def test_the_worker_ends_with_its_owner_and_leaves_no_pickles(
    access: SmartFileAccess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert access.find_references("Hub.spin", seconds=PATIENCE).confirmed == USERS + 1
    family = psutil.Process().children(recursive=True)
    workers = [item for item in family if str(engine.WORKER) in item.cmdline()]
    assert workers
    access.close()
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE)
    assert not alive
    assert not list(cache.rglob("*.pkl"))
