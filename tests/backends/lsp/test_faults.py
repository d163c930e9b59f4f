"""Whatever a language server does, the caller gets an answer that says what it is worth."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from tests.backends.lsp.faulty import LIMITS, MATCHES, PATIENCE, Faulty

from foldline.backends.lsp import Limits
from foldline.backends.models import COMPLETE, References
from foldline.backends.text import format_references

pytestmark = pytest.mark.real

FAULTS = {
    "never initializes": "initialize was not answered within",
    "odd initialize": "its answer to initialize is not an object",
    "dies at once": "the server ended with exit code 3; it last wrote: error: I cannot go on",
    "goes deaf": "the server ended with exit code 5; it last wrote: I hear nothing",
    "dies": "the server ended with exit code 9; it last wrote: I die of references",
    "garbage": "bytes came that aren't LSP",
    "half a header": "timed out after",
    "half a message": "before the end of a message",
    "huge": "a message has 100,000,000 bytes, the limit is",
    "no json": "a message is not JSON",
    "never answers": "timed out after",
    "refuses": "textDocument/references refused: no",
    "only wrong ids": "timed out after",
    "a text": "faulty: its answer to textDocument/references is no result of it: 'text'",
    "an object": "faulty: its answer to textDocument/references is no result of it: {'a': 5}",
    "a list of texts": "faulty: its answer to textDocument/references is no result of it: ['text']",
    "negative": "faulty: its answer to textDocument/references is no result of it",
    **dict.fromkeys(
        ("nothing", "an empty list", "beyond the end", "another word", "another file"),
        "faulty: its uses of shop.py:1 leave out shop.py:1 itself",
    ),
}
HARMLESS = (
    "none",
    "greets",
    "floods stderr",
    "wrong ids",
    "content modified",
    "nonsense",
    "ignores shutdown",
    "forks",
    "asks back",
    "dies once",
    "works",
)


def places(found: References) -> list[tuple[str, int]]:
    return sorted((reference.path, reference.line) for reference in found)


@pytest.mark.parametrize("way", FAULTS)
def test_a_fault_costs_the_confirmation_and_nothing_else(way: str, tmp_path: Path) -> None:
    seconds = 0.5 if FAULTS[way] == "timed out after" else PATIENCE
    limits = replace(LIMITS, start=0.5) if way == "never initializes" else LIMITS
    faulty = Faulty(tmp_path, way, limits)
    found = faulty.access.find_references("pay", seconds=seconds)
    assert places(found) == MATCHES
    assert {reference.tier for reference in found} == {"possible"}
    assert found.backend == "ast"
    assert found.coverage.startswith("partial: ")
    assert FAULTS[way] in found.coverage
    assert all(status.pending <= 1 for status in faulty.access.server_status())
    faulty.access.close()
    assert all(status.pending == 0 for status in faulty.access.server_status())
    assert not faulty.living()


@pytest.mark.parametrize("way", HARMLESS)
def test_a_fault_that_leaves_an_answer_costs_nothing(way: str, tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, way)
    found = faulty.access.find_references("pay", seconds=PATIENCE)
    assert places(found) == MATCHES
    assert {reference.tier for reference in found} == {"confirmed"}
    assert (found.backend, found.coverage) == ("faulty+ast", COMPLETE)
    [status] = faulty.access.server_status()
    assert (status.state, status.pending) == ("ready", 0)
    faulty.access.close()
    assert not faulty.living()


def test_a_late_answer_is_there_the_next_time(tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, "late")
    first = faulty.access.find_references("pay", seconds=0.2)
    assert places(first) == MATCHES
    assert "timed out after" in first.coverage
    assert "ask again" in first.coverage
    second = faulty.access.find_references("pay", seconds=PATIENCE)
    assert (second.confirmed, second.coverage) == (3, COMPLETE)
    assert faulty.notes("requests").count("textDocument/references") == 1
    faulty.access.close()


def test_a_request_past_its_deadline_is_cancelled_and_a_silent_server_replaced(
    tmp_path: Path,
) -> None:
    faulty = Faulty(tmp_path, "never answers", replace(LIMITS, request=0.3))
    found = faulty.access.find_references("pay", seconds=PATIENCE)
    assert "was not answered within 0.3 s" in found.coverage
    again = faulty.access.find_references("pay", seconds=PATIENCE)
    assert again.confirmed == 0
    [status] = faulty.access.server_status()
    assert status.pending == 0
    faulty.access.close()
    assert "$/cancelRequest" in faulty.notes("requests")
    assert len(set(faulty.notes("pids"))) >= 2


def test_a_server_that_keeps_dying_is_left_alone_and_this_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faulty = Faulty(tmp_path, "dies", replace(LIMITS, backoff=(0.0,), crashes=4))
    with caplog.at_level(logging.WARNING, "foldline.backends.lsp"):
        answers = [faulty.access.find_references("pay", seconds=PATIENCE) for _ in range(6)]
    assert all(places(answer) == MATCHES for answer in answers)
    assert "I die of references" in answers[0].coverage
    assert {answer.coverage for answer in answers[1:]} == {"partial: faulty: still down"}
    # A reader is told once.
    assert "I die of references" in format_references(answers[0])
    assert format_references(answers[-1]).startswith("3 by name in 2 files\n")
    assert len(faulty.notes("pids")) == 4
    assert [record.message.partition(" failed")[0] for record in caplog.records] == ["faulty"]
    [status] = faulty.access.server_status()
    assert (status.state, status.restarts) == ("down", 3)
    assert "I die of references" in status.problem
    faulty.access.close()
    assert not faulty.living()


def test_a_silent_server_is_not_waited_for_again(tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, "only wrong ids")
    until = time.monotonic() + PATIENCE
    # It starts first, and then owes an answer for longer than each of these waits.
    coverage = ""
    while "faulty: has not answered for" not in coverage and time.monotonic() < until:
        found = faulty.access.find_references("pay", seconds=0.01)
        coverage = found.coverage
    assert "faulty: has not answered for" in coverage
    assert (found.confirmed, places(found)) == (0, MATCHES)
    assert "has not answered" in faulty.access.find_references("shop", seconds=0.01).coverage
    faulty.access.close()


@pytest.mark.parametrize(
    ("way", "seconds", "reason"),
    [("never answers", 0.05, "has not answered"), ("a text", PATIENCE, "is no result of it")],
)
def test_no_other_kind_is_started_beside_a_server_that_has_been_up(
    way: str, seconds: float, reason: str, tmp_path: Path
) -> None:
    faulty = Faulty(tmp_path, way, others=("none",))
    coverage, until = "", time.monotonic() + PATIENCE
    while reason not in coverage and time.monotonic() < until:
        found = faulty.access.find_references("pay", seconds=seconds)
        coverage = found.coverage
    assert reason in coverage
    assert (found.confirmed, places(found)) == (0, MATCHES)
    faulty.access.close()
    assert len(faulty.notes("pids")) == 1


def test_where_a_server_does_not_start_another_kind_does(tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, "dies at once", others=("none",))
    assert faulty.access.find_references("pay", seconds=PATIENCE).confirmed == 3
    faulty.access.close()


NAMESPACE = {
    f"{folder}/{name}": text
    for folder in ("org/team/one", "org/team/two")
    for name, text in {
        "pyproject.toml": "[tool.black]\n",
        "plugins/base.py": "def pay(): ...\n",
        "plugins/uses.py": f"from {folder.replace('/', '.')}.plugins.base import pay\n",
    }.items()
}
PROJECTS = {
    f"{folder}/{name}": text
    for folder in ("org/one", "org/two")
    for name, text in {
        "pyproject.toml": "[project]\n",
        "org/shared.py": "def pay(): ...\n",
        "org/uses.py": "from org.shared import pay\n",
        "main.py": "from org.shared import pay\n",
    }.items()
}


@pytest.mark.parametrize(("files", "servers"), [(NAMESPACE, 1), (PROJECTS, 2)])
def test_folders_of_one_namespace_share_a_server(
    files: dict[str, str], servers: int, tmp_path: Path
) -> None:
    faulty = Faulty(tmp_path, "none", files=files)
    faulty.access.find_references("pay", seconds=PATIENCE)
    assert len(faulty.access.server_status()) == servers
    faulty.access.close()


def test_a_server_that_answers_again_is_told_in_full_when_it_fails_again(tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, "a text")
    answers = [faulty.access.find_references("pay", seconds=PATIENCE) for _ in range(2)]
    assert "'text'" in answers[0].coverage
    assert answers[1].coverage == "partial: faulty: still failing"
    faulty.access.restart_servers()
    assert "'text'" in faulty.access.find_references("pay", seconds=PATIENCE).coverage
    faulty.access.close()


@pytest.mark.parametrize("way", ["a text", "another word"])
def test_a_server_whose_answers_cannot_be_right_is_left_alone_until_files_change(
    way: str, tmp_path: Path
) -> None:
    faulty = Faulty(tmp_path, way)
    other = faulty.root / "other.py"
    other.write_text("def rest():\n    return 1\n")

    def asked(name: str) -> int:
        found = faulty.access.find_references(name, seconds=PATIENCE)
        assert (found.confirmed, found.coverage[:17]) == (0, "partial: faulty: ")
        return faulty.notes("requests").count("textDocument/references")

    assert [asked("pay") for _ in range(3)][-1] == asked("rest")
    [status] = faulty.access.server_status()
    assert status.state == "failing"
    assert status.problem
    before = asked("rest")
    other.write_text("def rest():\n    return 2\n")
    assert asked("rest") > before
    assert faulty.access.server_status()[0].state == "ready"
    faulty.access.close()


def test_a_server_that_answers_under_wrong_ids_is_replaced(tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, "only wrong ids", replace(LIMITS, request=0.3))
    for _ in range(2):
        found = faulty.access.find_references("pay", seconds=PATIENCE)
        assert "was not answered within 0.3 s" in found.coverage
    faulty.access.close()
    assert len(set(faulty.notes("pids"))) == 2


def test_a_server_that_leaks_is_restarted(tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, "leaks", replace(LIMITS, memory=200 << 20))
    assert faulty.access.find_references("pay", seconds=PATIENCE).confirmed == 3
    assert not faulty.living()
    [status] = faulty.access.server_status()
    assert "was restarted" in status.problem
    (faulty.root / "more.py").write_text("import shop\nshop.pay()\n")
    assert faulty.access.find_references("pay", seconds=PATIENCE).confirmed == 4
    faulty.access.close()


@pytest.mark.parametrize(
    "limits",
    [replace(LIMITS, idle=1.0), replace(LIMITS, heavy=1, heavy_idle=1.0)],
    ids=["idle", "heavy"],
)
def test_a_server_that_nobody_asks_is_stopped(limits: Limits, tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, "none", limits)
    assert faulty.access.find_references("pay", seconds=PATIENCE).confirmed == 3
    assert not faulty.living()
    [status] = faulty.access.server_status()
    assert (status.state, status.problem) == ("stopped", "")
    (faulty.root / "more.py").write_text("import shop\nshop.pay()\n")
    assert faulty.access.find_references("pay", seconds=PATIENCE).confirmed == 4
    faulty.access.close()


def test_nothing_outside_the_workspace_is_shown(tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, "nonsense")
    found = faulty.access.find_references("pay", seconds=PATIENCE)
    assert {reference.path for reference in found} == {"main.py", "shop.py"}
    assert "1 more in files that the workspace does not show" in found.reason
    faulty.access.close()


def test_what_a_server_asks_of_its_client_is_answered(tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, "asks back")
    assert faulty.access.find_references("pay", seconds=PATIENCE).confirmed == 3
    faulty.access.close()
    answers = {
        method: (result, error)
        for method, result, error in map(json.loads, faulty.notes("answers"))
    }
    assert answers["workspace/configuration"] == ([7, None], None)
    assert answers["client/registerCapability"] == (None, None)
    assert answers["window/workDoneProgress/create"] == (None, None)
    [folder] = answers["workspace/workspaceFolders"][0]
    assert folder["uri"] == faulty.root.as_uri()
    assert answers["workspace/applyEdit"][0]["applied"] is False
    assert answers["something/unknown"][1]["code"] == -32601


@pytest.mark.parametrize("way", ["none", "dies", pytest.param("late", marks=pytest.mark.slow)])
def test_of_a_thousand_questions_side_by_side_none_is_lost(way: str, tmp_path: Path) -> None:
    faulty = Faulty(tmp_path, way)
    for number in range(20):
        (faulty.root / f"part{number}.py").write_text(f"def part{number}():\n    part{number}()\n")
    before = threading.active_count()
    names = [f"part{number % 20}" for number in range(1000)]
    seconds = PATIENCE if way == "none" else 0.2
    with ThreadPoolExecutor(32) as pool:
        answers = list(
            pool.map(lambda name: faulty.access.find_references(name, seconds=seconds), names)
        )
    assert [(answer.name, answer.total) for answer in answers] == [(name, 2) for name in names]
    for answer in answers:
        if answer.confirmed:
            assert (answer.confirmed, answer.coverage) == (2, COMPLETE)
        else:
            assert answer.coverage.startswith("partial: ")
    if way == "none":
        assert all(answer.confirmed for answer in answers)
    faulty.access.close()
    assert all(status.pending == 0 for status in faulty.access.server_status())
    assert not faulty.living()
    assert threading.active_count() <= before + 40


OWNER = """
import sys
from pathlib import Path
from tests.backends.lsp.faulty import Faulty
faulty = Faulty(Path(sys.argv[1]), sys.argv[2])
print(faulty.access.find_references("pay", seconds=60).confirmed, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("way", ["forks", "ignores shutdown"])
@pytest.mark.parametrize("end", ["killed", "left"])
def test_no_server_outlives_its_owner(way: str, end: str, tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    roots = ("backends", "prompts", "server", "plugins")
    paths = [str(root), *(str(root / folder) for folder in roots)]
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path), way],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    with owner:
        assert owner.stdin is not None
        assert owner.stdout is not None
        assert owner.stdout.readline() == "3\n"
        faulty = Faulty(tmp_path, way)
        noted = [pid for pid in map(int, faulty.notes("pids")) if psutil.pid_exists(pid)]
        assert len(noted) == (3 if way == "forks" else 1)
        if end == "killed":
            owner.send_signal(signal.SIGKILL)
        else:
            owner.stdin.close()
        owner.wait(PATIENCE)
    assert not faulty.living()
    faulty.access.close()
