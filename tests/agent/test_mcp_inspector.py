"""The Inspector, the protocol's own debugging client, asks the server what it offers."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .mcp_process import EXAMPLE, command

pytestmark = pytest.mark.real

HERE = Path(__file__).parent / "inspector"
INSTALLED = HERE / "node_modules" / "@modelcontextprotocol" / "inspector"
INSTALL_SECONDS = 240
ASK_SECONDS = 60


@pytest.fixture(scope="module")
def inspector() -> Path:
    """The Inspector's program, of the version in package.json, installed where it is missing."""
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]
    manifest = INSTALLED / "package.json"
    installed = json.loads(manifest.read_text()) if manifest.exists() else {}
    if installed.get("version") != wanted["@modelcontextprotocol/inspector"]:
        npm = shutil.which("npm")
        assert npm is not None, "this test needs Node.js with npm"
        result = subprocess.run(
            [npm, "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"],
            cwd=HERE,
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_SECONDS,
        )
        assert result.returncode == 0, result.stderr
        installed = json.loads(manifest.read_text())
    program: str = installed["bin"]["mcp-inspector"]
    return INSTALLED / program


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    # It keeps its settings in the home folder.
    return {**os.environ, "HOME": str(tmp_path)}


def ask(inspector: Path, environment: dict[str, str], *arguments: str) -> dict[str, object]:
    node = shutil.which("node")
    assert node is not None, "this test needs Node.js"
    result = subprocess.run(
        [node, str(inspector), "--cli", *command("--root", str(EXAMPLE), "--trust"), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=ASK_SECONDS,
    )
    assert result.returncode == 0, result.stderr + result.stdout
    answer: dict[str, object] = json.loads(result.stdout)
    return answer


def test_the_inspector_lists_the_tools_and_finds_no_fault_in_their_schemas(
    inspector: Path, environment: dict[str, str]
) -> None:
    listed = ask(inspector, environment, "--method", "tools/list", "--strict")
    tools = listed["tools"]
    assert isinstance(tools, list)
    assert {"get_tree", "get_file_outline", "read_symbol", "read_lines", "read_file"} <= {
        tool["name"] for tool in tools
    }


def test_the_inspector_calls_a_tool(inspector: Path, environment: dict[str, str]) -> None:
    tool = ("--tool-name", "read_lines")
    given = ("--tool-arg", "path=README.md", "start=1", "end=1")
    answer = ask(inspector, environment, "--method", "tools/call", *tool, *given)
    assert isinstance(answer["content"], list)
    [content] = answer["content"]
    assert re.fullmatch(r"README\.md:1 of \d+ lines\n# The code reviewer", content["text"])


def test_the_inspector_lists_and_gets_the_prompts(
    inspector: Path, environment: dict[str, str]
) -> None:
    listed = ask(inspector, environment, "--method", "prompts/list")
    assert "examples/code-reviewer/review" in json.dumps(listed)
    named = ("--prompt-name", "examples/code-reviewer/review")
    given = ("--prompt-args", "open_sections=reference-docs")
    answer = ask(inspector, environment, "--method", "prompts/get", *named, *given)
    assert "**S1**" in json.dumps(answer)
