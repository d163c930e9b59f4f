"""No answer of any tool has more bytes than its budget, and what is left out is said."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.agent.folder_operations import run_in_folders
from foldline.agent.folders import open_folders
from foldline.backends.base.waiting import run
from foldline.backends.formatting.budget import CUT
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.reading import read_arguments
from foldline.ide.workspace import AccessOptions, Workspace

ROOT = Path(__file__).parents[2]
FILES = ("ide/workspace.py", "ide/operations/operation.py", "agent/mcp/server.py")
NAMES = ("Workspace", "Operation", "parameters_of", "run", "summary_text", "Role")
# Each tool's arguments besides the budget, by a number.
ASKED: dict[str, Callable[[int], dict[str, object]]] = {
    "get_tree": lambda n: {"path": "."} if n % 2 else {"query": "budget of an answer"},
    "search_for_files": lambda n: {"query": NAMES[n % 6] + " budget" * (n % 40)},
    "grep_in_files": lambda n: {"pattern": r"def \w+", "context": n % 3},
    "get_file_outline": lambda n: {"path": FILES[n % 3], **({"query": "root"} if n % 2 else {})},
    "read_symbol": lambda n: {
        "path": FILES[1],
        "name": "Operation",
        **({"query": "threads"} if n % 2 else {}),
        **({"more": list(NAMES[2 : 2 + n % 4])} if n % 3 else {}),
    },
    "read_lines": lambda n: {"path": FILES[n % 3], "start": 1 + n % 50},
    "find_references": lambda n: {"name": NAMES[n % 6], "seconds": 0},
    "read_file": lambda n: {"path": FILES[n % 3]},
}


@pytest.fixture(scope="module", params=["one folder", "two folders"])
def workspace(request: pytest.FixtureRequest) -> Iterator[Workspace]:
    roots = [ROOT / "server/foldline"]
    if request.param == "two folders":
        roots.append(ROOT / "prompts/foldline/prompts")
    opened = Workspace(access=AccessOptions(patient=True))
    opened.set_roots(roots)
    yield opened
    opened.close()


@given(st.sampled_from(sorted(ASKED)), st.integers(0, 1_000), st.integers(100, 4_000))
def test_no_answer_exceeds_its_budget(
    workspace: Workspace, tool: str, number: int, budget: int
) -> None:
    operation = next(one for one in OPERATIONS if one.tool == tool)
    folders = open_folders(workspace, workspace.roots)
    asked = {**ASKED[tool](number), "budget": budget}
    if len(folders.folders) > 1 and "path" in asked and asked["path"] != ".":
        asked["path"] = f"{folders.folders[0].prefix}{asked['path']}"
    arguments = read_arguments(operation.arguments, asked)
    text = run(run_in_folders(operation, folders, arguments)).text
    assert 0 < len(text.encode()) <= budget
    if budget >= 600:
        assert not text.endswith(CUT), text


def test_a_random_choice_of_symbols_shares_one_budget(workspace: Workspace) -> None:
    access = workspace.access(workspace.roots[0])
    chance = random.Random(3)
    known = [symbol.name for symbol in access.get_outline(FILES[1])]
    for _ in range(30):
        names = chance.sample(known, chance.randint(1, len(known)))
        found = access.read_symbols(FILES[1], names, budget=3_000, seconds=0)
        shown = [one.name for one in found]
        assert shown == names[: len(shown)]
        assert len(shown) == len(names) or "no room for" in found.reason
