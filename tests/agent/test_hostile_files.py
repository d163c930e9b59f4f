"""Whatever stands where a verb or a tool reads a file, it answers, and says what was refused."""

import asyncio
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.hostile import HOSTILE, SECRET, names_for

from foldline.agent.mcp.stdio import Options

from ..rows import slow
from .mcp_process import call, connect_here

pytestmark = pytest.mark.real

PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate
hello = PromptTemplate(ns="demo", key="hello", sections=[
    MarkdownSection[None](title="Hello", key="hello", template="Hello."),
])
"""
SECONDS = 60.0
MOST_MEMORY = 2 << 30
OTHERS = [what for what in HOSTILE if what not in ("/dev/zero", "a pipe")]


@pytest.fixture
def make(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    os.mkfifo(root / "pipe")
    (root / "p.py").write_text(PROMPT)
    return root


def run(root: Path, *arguments: str) -> tuple[int, str]:
    """A verb's exit status and what it wrote; with little memory, and killed if it hangs."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

    done = subprocess.run(
        [sys.executable, "-m", "foldline.agent", *arguments],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        preexec_fn=limit,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("what", ["/dev/zero", "a pipe", *slow(*OTHERS)])
def test_verbs_say_which_configuration_they_refuse(make: Path, what: str) -> None:
    for name in names_for(what):
        HOSTILE[what](make / name)
    status, said = run(make, "check")
    assert (status, "pyproject.toml" in said) == (2, True), said
    assert "Traceback" not in said
    assert SECRET not in said
    status, said = run(make, "preview", "p.py")
    assert status == 0, said
    assert "Hello." in said
    assert "pyproject.toml" in said


@pytest.mark.parametrize("what", ["/dev/zero", *slow("a pipe", "a link outside", "ten gigabytes")])
def test_the_doctor_names_what_is_refused(make: Path, what: str) -> None:
    for name in ("pyproject.toml", ".gitignore"):
        HOSTILE[what](make / name)
    status, said = run(make, "doctor")
    assert status == 1
    problems = [line for line in said.splitlines() if line.startswith("problem: ")]
    assert any("pyproject.toml" in problem for problem in problems)
    assert any(".gitignore" in problem for problem in problems)


@pytest.mark.parametrize(
    "what", ["/dev/zero", *slow("a pipe", "a folder", "a socket", "deep nesting")]
)
def test_a_baseline_and_a_file_of_values_are_refused_by_name(make: Path, what: str) -> None:
    HOSTILE[what](make / "given.toml")
    for arguments in (
        ("tokens", "--baseline", "given.toml"),
        ("preview", "p.py", "--params", "given.toml"),
    ):
        status, said = run(make, *arguments)
        assert status == 2, said
        assert "given.toml" in said
        assert "Traceback" not in said


@pytest.mark.parametrize("what", HOSTILE)
async def test_tools_answer(make: Path, what: str) -> None:
    for name in names_for(what):
        HOSTILE[what](make / name)
    async with asyncio.timeout(SECONDS), connect_here(Options(roots=(make,))) as client:
        tree, failed = await call(client, "get_tree")
        assert not failed
        assert "p.py" in tree
        said = [
            await call(client, "read_file", path="x.py"),
            await call(client, "read_lines", path="x.py", start=1, end=1),
            await call(client, "get_file_outline", path="x.py"),
            await call(client, "read_symbol", path="x.py", name="a"),
        ]
        found, failed = await call(client, "grep_in_files", pattern="Hello")
    assert not failed
    assert "p.py" in found
    assert SECRET not in str(said)
