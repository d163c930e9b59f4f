"""A workspace that isn't trusted runs nothing, through any shell and by any setting of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from lsprotocol import types
from mcp import Client, StdioServerParameters
from pygls.exceptions import JsonRpcException
from pytest_lsp import make_test_lsp_client

from foldline.backends.base.untrusted import (
    empty_folder,
    find_in,
    find_on_path,
    is_inside,
    outside_environment,
    project_around,
)
from foldline.backends.lsp.servers import SERVERS

from ..backends.lsp.programs import PACKAGES, spec_from_npm
from ..capabilities import capabilities_of
from ..rows import slow
from .canaries import BY_JEDI, CANARIES, MODULE, plant
from .risks import RISKS, as_markdown

DOCS = Path(__file__).parents[2] / "docs" / "security.md"
FOLDLINE = str(Path(sys.executable).with_name("foldline"))
SECONDS = 60.0
# A shell that answers within its own deadline is asked again while its server starts.
ROUNDS = 20

Environment = dict[str, str]
Shell = Callable[[Path, Environment], Awaitable[str]]


async def command(root: Path, environment: Environment, *arguments: str) -> str:
    """What a command line prints in the workspace."""
    process = await asyncio.create_subprocess_exec(
        FOLDLINE,
        *arguments,
        cwd=root,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(2 * SECONDS):
        printed, _ = await process.communicate()
    return printed.decode()


async def by_command_line(root: Path, environment: Environment) -> str:
    return await command(root, environment, "refs", "pay", "--seconds", str(SECONDS))


async def by_mcp(root: Path, environment: Environment) -> str:
    parameters = StdioServerParameters(command=FOLDLINE, args=["mcp"], cwd=root, env=environment)
    async with Client(parameters, mode="legacy", read_timeout_seconds=SECONDS) as client:
        text = ""
        for _ in range(ROUNDS):
            result = await client.call_tool("find_references", {"name": "pay"})
            (block,) = result.content
            assert isinstance(block, mcp_types.TextContent)
            text = block.text
            if "ask again" not in text:
                break
        return text


async def by_language_server(root: Path, environment: Environment) -> str:
    asked = {"name": "pay", "seconds": SECONDS}
    answer = await server_command(root, environment, "code.findReferences", asked)
    return str(answer["text"])


async def server_command(
    root: Path, environment: Environment, name: str, asked: dict[str, Any]
) -> dict[str, Any]:
    """The answer of a new language server to a command."""
    client = make_test_lsp_client()
    await client.start_io(FOLDLINE, "serve", "--stdio", cwd=root, env=environment)
    try:
        await client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities_of(),
                workspace_folders=[types.WorkspaceFolder(root.as_uri(), root.name)],
            )
        )
        params = types.ExecuteCommandParams(f"foldline.server.{name}", [asked])
        answer = await client.workspace_execute_command_async(params)
        assert isinstance(answer, dict)
        return answer
    finally:
        await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]  # Untyped in pygls.


FIRES = [name for name, canary in CANARIES.items() if canary.fires]
SHELLS: dict[str, Shell] = {
    "command line": by_command_line,
    "MCP": by_mcp,
    "language server": by_language_server,
}


@pytest.fixture
def planted(name: str, tmp_path: Path) -> tuple[Path, Path, Environment]:
    """The workspace of a canary, its mark, and the environment; with npm's servers on `PATH`."""
    root, mark, environment = plant(name, tmp_path)
    if CANARIES[name].language == "ts":
        spec_from_npm("vtsls")
        environment["PATH"] = (
            f"{PACKAGES / 'node_modules' / '.bin'}{os.pathsep}{environment['PATH']}"
        )
    return root, mark, environment


def rows() -> Iterator[Any]:
    """Each canary and shell; every time each canary with the fastest shell, and one with all."""
    for name, shell in product(CANARIES, SHELLS):
        slow = shell != "command line" and name != "settings"
        if CANARIES[name].questions:
            yield pytest.param(name, shell, marks=pytest.mark.slow if slow else ())


@pytest.mark.real
@pytest.mark.parametrize(("name", "shell"), [*rows()])
async def test_a_workspace_that_is_not_trusted_runs_nothing(
    name: str, shell: str, planted: tuple[Path, Path, Environment]
) -> None:
    root, mark, environment = planted
    canary = CANARIES[name]
    text = await SHELLS[shell](root, environment)
    assert canary.expects in text
    # The engine that is meant has answered, and not the one behind it.
    assert (BY_JEDI in text) == (BY_JEDI in canary.expects)
    assert not mark.exists(), mark.read_text()


@pytest.mark.real
@pytest.mark.parametrize("name", [FIRES[0], *slow(*FIRES[1:])])
async def test_trust_makes_the_same_workspace_run_it(
    name: str, planted: tuple[Path, Path, Environment]
) -> None:
    root, mark, environment = planted
    await command(root, environment, "refs", "pay", "--seconds", "20", "--trust")
    assert mark.exists()


@pytest.mark.real
@pytest.mark.parametrize("name", CANARIES)
async def test_whatever_is_planted_fires_when_it_is_run(
    name: str, planted: tuple[Path, Path, Environment]
) -> None:
    root, mark, _ = planted
    for path in CANARIES[name].files:
        file = root / path
        text = file.read_text()
        if str(mark) not in text:
            continue
        program = {".py": sys.executable, ".js": shutil.which("node")}.get(file.suffix)
        arguments = (program, str(file)) if program else (str(file),)
        await (await asyncio.create_subprocess_exec(*arguments)).wait()
        assert mark.exists(), path
        mark.unlink()


@pytest.mark.real
@pytest.mark.parametrize("name", ["settings", "environment", "interpreter", "basedpyright"])
async def test_the_doctor_asks_no_program_of_the_workspace(
    name: str, planted: tuple[Path, Path, Environment]
) -> None:
    root, mark, environment = planted
    report = await command(root, environment, "doctor")
    assert "not trusted" in report
    assert not mark.exists(), mark.read_text()


@pytest.mark.real
@pytest.mark.parametrize("name", ["interpreter", *slow("basedpyright")])
async def test_the_doctor_asks_no_interpreter_of_a_file_elsewhere(
    name: str, planted: tuple[Path, Path, Environment], tmp_path: Path
) -> None:
    root, mark, environment = planted
    here = tmp_path / "here"
    here.mkdir()
    report = await command(here, environment, "doctor", str(root / "a.py"))
    assert f"previews   {root / '.venv/bin/python'}" in report
    assert "--trust asks it" in report
    assert not mark.exists(), mark.read_text()
    await command(here, environment, "doctor", str(root / "a.py"), "--trust")
    assert mark.exists()


@pytest.mark.real
@pytest.mark.parametrize("name", ["git"])
async def test_comparing_revisions_waits_for_trust(
    name: str, planted: tuple[Path, Path, Environment]
) -> None:
    root, mark, environment = planted
    (root / "p.py").write_text(PROMPT)
    asked = {"uri": (root / "p.py").as_uri(), "revision": "HEAD"}
    with pytest.raises(JsonRpcException, match="not trusted"):
        await server_command(root, environment, "prompt.diff", asked)
    assert not mark.exists(), mark.read_text()


PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate

template = PromptTemplate(
    ns="demo", key="p", sections=[MarkdownSection[None](title="A", key="a", template="B.")]
)
"""
PARSING = """
from foldline.backends.outlines.parsing import Parsed
from foldline.backends.outlines.parsing_pool import PoolParsing

if __name__ == "__main__":
    pool = PoolParsing(1)
    source = Parsed("a.py", "python", b"def function(): pass\\n" * 10_000)
    print(len(pool.outline(source).symbols))
    pool.close()
"""


@pytest.mark.real
async def test_workers_that_parse_import_nothing_from_the_working_directory(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "mark"
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for name in ("multiprocessing", "selectors", "signal", "pickle"):
        (workspace / f"{name}.py").write_text(MODULE.replace("MARK", str(mark)))
    script = tmp_path / "parse.py"
    script.write_text(PARSING)
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(script), cwd=workspace, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert printed == b"10000\n"
    assert not mark.exists(), mark.read_text()


# The table


def test_every_engine_has_a_row_that_says_what_holds() -> None:
    for spec in SERVERS:
        rows = [risk for risk in RISKS if risk.engine == spec.name]
        assert rows, spec.name
        assert all(risk.waits == spec.executes_workspace for risk in rows), spec.name


def test_every_row_that_is_said_to_be_seen_has_a_canary() -> None:
    assert {risk.canary for risk in RISKS if risk.canary} <= set(CANARIES)


def test_the_documentation_shows_the_table() -> None:
    assert as_markdown() in DOCS.read_text(encoding="utf-8")


# Where programs are looked for, and what they are started with


def test_only_an_absolute_entry_outside_the_workspace_counts(tmp_path: Path) -> None:
    root, outside = tmp_path / "workspace", tmp_path / "outside"
    for folder in (root / "bin", outside):
        folder.mkdir(parents=True)
        (folder / "tool").write_text("#!/bin/sh\n")
        (folder / "tool").chmod(0o755)
    # A link is code of the workspace, whatever it leads to; and so is what it leads to.
    (root / "bin" / "linked").symlink_to(outside / "tool")
    (outside / "back").symlink_to(root / "bin" / "tool")
    path = {"PATH": os.pathsep.join(["", ".", "bin", str(root / "bin"), str(outside)])}
    assert find_on_path("tool", outside=root, environ=path) == outside / "tool"
    assert find_on_path("linked", outside=root, environ=path) is None
    assert find_on_path("back", outside=root, environ=path) is None
    assert find_on_path("tool", environ=path) == root / "bin" / "tool"


def _tool(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tool = folder / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    return tool


@pytest.mark.parametrize("mark", [".git", "pyproject.toml", "package.json"])
def test_the_project_around_a_folder_counts_as_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project, user = tmp_path / "project", tmp_path / "home" / ".local" / "bin"
    # A project may hold others: the outermost counts.
    root = project / "packages" / "one"
    root.mkdir(parents=True)
    for folder in (project, root):
        (folder / mark).touch()
    _tool(project / "bin")
    tool = _tool(user)
    path = {"PATH": os.pathsep.join([str(project / "bin"), str(user)])}
    assert project_around(root) == project
    assert find_on_path("tool", outside=root, environ=path) == tool
    assert find_on_path("tool", environ=path) == project / "bin" / "tool"
    assert outside_environment(root, path)["PATH"] == str(user)
    linked = tmp_path / "linked"
    linked.symlink_to(root)
    assert find_on_path("tool", outside=linked, environ=path) == tool


def test_a_home_folder_in_git_keeps_the_programs_of_its_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "homes" / "user"
    monkeypatch.setenv("HOME", str(home))
    root = home / "clones" / "project"
    root.mkdir(parents=True)
    for folder in (tmp_path / "homes", home):
        (folder / ".git").mkdir()
    tool = _tool(home / ".local" / "bin")
    assert project_around(root) == root
    path = {"PATH": str(tool.parent)}
    assert find_on_path("tool", outside=root, environ=path) == tool
    assert outside_environment(root, path)["PATH"] == str(tool.parent)


def test_windows_looks_for_endings_and_not_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for file in (tmp_path / "git.exe", tools / "git.exe", tools / "git"):
        file.write_text("")
        file.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATHEXT", ".COM;.EXE")
    monkeypatch.setattr("foldline.backends.base.untrusted.WINDOWS", True)
    assert find_in(tools, "git") == tools / "git.exe"
    assert find_on_path("git", environ={"PATH": f".{os.pathsep}{tools}"}) == tools / "git.exe"
    assert find_on_path("git", environ={"PATH": "."}) is None


def test_variables_that_lead_into_the_workspace_do_not_count(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    kept = {"HOME": str(root), "LANG": "C", "NODE_OPTIONS": "--max-old-space-size=99"}
    given = {
        **kept,
        "PATH": os.pathsep.join(["", "bin", str(root), str(tmp_path / "link" / "bin"), "/usr/bin"]),
        "PYTHONPATH": str(root / "lib"),
        "VIRTUAL_ENV": str(root / ".venv"),
        "GIT_DIR": str(root / ".git"),
        "RIPGREP_CONFIG_PATH": str(root / "ripgreprc"),
    }
    found = outside_environment(root, given)
    assert found == {**kept, "PATH": "/usr/bin", "PYTHONSAFEPATH": "1"}
    loads = {"NODE_OPTIONS": "--max-old-space-size=99 --require ./planted.js"}
    assert "NODE_OPTIONS" not in outside_environment(root, loads)


def test_the_folder_that_programs_start_in_is_empty_and_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "workspace"
    for cache in (tmp_path / "cache", root / "cache"):
        monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(cache))
        folder = empty_folder(root)
        assert list(folder.iterdir()) == []
        assert not is_inside(folder, root)
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache" / "empty" / "planted").touch()
    assert list(empty_folder(root).iterdir()) == []
