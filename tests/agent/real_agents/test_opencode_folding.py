"""opencode sends instruction files folded, reads a section on request, and never goes without."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from foldline.agent.install.verb import PLUGIN

from ...editors.node import find
from ...rows import slow
from .agents import Agent, opencode
from .moved import WAYS, check_moved

if TYPE_CHECKING:
    from pathlib import Path

    from .provider import Request

pytestmark = pytest.mark.real

DONE = {"text": "The script is played."}
SECTION = (
    "## Metadata\n<!-- fold: where the metadata lives -->\n\n" + "It lives in `meta.toml`.\n" * 40
)
TEXT = f"# Rules é\nBe brief.\n\n{SECTION}\n## End\nAsk first.\n"
NESTED = TEXT.replace("Be brief.", "Mind the signer.")


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    agent = opencode(tmp_path)
    (agent.workspace / "AGENTS.md").write_text(TEXT, encoding="utf-8")
    (agent.workspace / "auth" / "AGENTS.md").write_text(NESTED, encoding="utf-8")
    agent.install("--fold")
    return agent


def messages(request: Request) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(request.said)["messages"]
    return found


def test_a_section_is_folded_and_read_and_the_prefix_stays(agent: Agent) -> None:
    steps: list[dict[str, Any]] = [
        {"call": "read_section", "arguments": {"prompt": "AGENTS.md", "section_key": "metadata"}},
        {"call": "read", "arguments": {"filePath": str(agent.workspace / "auth/service.py")}},
        DONE,
    ]
    ended = agent.play(steps, "Where is the metadata?")
    assert ended.status == 0, ended.stderr
    first, _, last = ended.requests
    system = messages(first)[0]["content"]
    assert "Be brief." in system
    assert "Ask first." in system
    assert "meta.toml" not in system
    # The line has the call that the script makes.
    call = re.search(r"Folded: where the metadata lives \(read `(\w+)` (\{.*?\}), or lines", system)
    assert call is not None
    assert call[1] in first.tools
    assert json.loads(call[2]) == steps[0]["arguments"]
    section, code = last.results
    assert section == SECTION + "\n"
    # The instructions of a folder come with its first file, folded as well.
    assert "Mind the signer." in code
    assert '"prompt": "auth/AGENTS.md"' in code
    assert "meta.toml" not in code
    assert messages(last)[: len(messages(first))] == messages(first)
    assert json.loads(last.said)["tools"] == json.loads(first.said)["tools"]


@pytest.mark.parametrize(
    "program",
    [None, *slow("printf '# Rules'; kill -9 $$", "exec sleep 3600")],
    ids=["missing", "killed", "slow"],
)
def test_without_foldline_the_file_is_whole(program: str | None, agent: Agent) -> None:
    plugin = agent.home / ".config/opencode/plugins/foldline.js"
    other = agent.home / "other"
    if program is not None:
        other.write_text(f"#!/bin/sh\n{program}\n")
        other.chmod(0o755)
    lines = plugin.read_text(encoding="utf-8").splitlines()
    (at,) = (at for at, line in enumerate(lines) if line.startswith("const COMMAND = "))
    lines[at] = f"const COMMAND = {json.dumps([str(other)])}"
    plugin.write_text("\n".join(lines), encoding="utf-8")
    ended = agent.play([DONE], "Where is the metadata?")
    assert ended.status == 0, ended.stderr
    (request,) = ended.requests
    assert (
        f"Instructions from: {agent.workspace / 'AGENTS.md'}\n{TEXT}"
        in (messages(request)[0]["content"])
    )
    assert "The script is played." in ended.stdout


TWICE = """
const { FoldlineFold } = await import(process.argv[1])
const hooks = await FoldlineFold({ directory: process.argv[2] })
for (const _ of [1, 2]) {
  const output = { system: [process.argv[3]] }
  await hooks["experimental.chat.system.transform"]({}, output)
  console.log(JSON.stringify(output.system[0]))
}
"""


def test_a_file_that_was_sent_whole_stays_whole(tmp_path: Path) -> None:
    """A session has many turns, and a foldline that was too slow in the first is fast later."""
    file, program, plugin = (tmp_path / name for name in ("AGENTS.md", "other", "foldline.mjs"))
    file.write_text(TEXT, encoding="utf-8")
    program.write_text('#!/bin/sh\n[ -e "$0.ran" ] && echo Folded; touch "$0.ran"\n')
    program.chmod(0o755)
    plugin.write_text(PLUGIN.read_text("utf-8").replace('["foldline"]', f'["{program}"]'), "utf-8")
    system = f"Before.\nInstructions from: {file}\n{TEXT}\nBehind."
    words = (find("node"), "--input-type=module", "-e", TWICE, plugin, tmp_path, system)
    ended = subprocess.run(words, check=True, capture_output=True, text=True)
    assert [json.loads(line) for line in ended.stdout.splitlines()] == [system, system]
    assert program.with_name("other.ran").exists()


@pytest.mark.slow
def test_the_plugin_is_taken_out_by_one_line(agent: Agent) -> None:
    agent.install("--fold", "--remove")
    ended = agent.play([DONE], "Where is the metadata?")
    assert ended.status == 0, ended.stderr
    assert TEXT in messages(ended.requests[0])[0]["content"]


@pytest.mark.parametrize("way", slow(*WAYS))
def test_opencode_loads_what_has_moved(way: str, tmp_path: Path) -> None:
    agent = opencode(tmp_path)
    look = {"filePath": str(agent.workspace / "auth/service.py")}
    skill = {"call": "skill", "arguments": {"name": "find-metadata"}}
    check_moved(agent, way, "AGENTS.md", {"call": "read", "arguments": look}, skill)
