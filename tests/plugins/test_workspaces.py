"""A workspace brings no plugin, whatever it plants, in each shell and however that starts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .packages import Environment, install

pytestmark = pytest.mark.real

PLUGIN = """\
open({mark!r}, "a").write(__file__)
from foldline.ide.plugins import Plugin

class Team(Plugin):
    verbs = {{"greet": "team"}}
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"capabilities": {}, "processId": None, "rootUri": None},
}
AGENT = {
    **INITIALIZE,
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def framed(message: dict[str, object]) -> str:
    text = json.dumps(message)
    return f"Content-Length: {len(text)}\r\n\r\n{text}"


SHELLS: dict[str, tuple[list[str], str, str]] = {
    "check": (["check"], "", "no diagnostics"),
    "unknown verb": (["greet"], "", "there is no command 'greet'"),
    "doctor": (["doctor"], "", "foldline"),
    "MCP": (["mcp"], json.dumps(AGENT) + "\n", "serverInfo"),
    "LSP": (["serve"], framed(INITIALIZE), "capabilities"),
}
"""The words, the input, and what the answer holds."""
STARTS: dict[str, Callable[[Environment], tuple[str, ...]]] = {
    "the script": lambda one: one.script,
    "-m foldline": lambda one: (one.python, "-m", "foldline"),
    "-m foldline.agent": lambda one: (one.python, "-m", "foldline.agent"),
    "a program": lambda one: (
        one.python,
        "-c",
        "import sys; sys.path.append(''); sys.path.append(sys.argv.pop(1));"
        "from foldline.agent.cli import command; command()",
        ".",
    ),
}
PLANTED = {
    "beside its files": (".", "."),
    "as site-packages": ("site-packages", "site-packages"),
    "in site-packages below it": (".", "site-packages"),
    "in an environment": (".", ".venv/lib/python3.11/site-packages"),
}
"""Where a shell starts in the workspace, and where the plugin is."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with a sound plugin of others, whose module a workspace may shadow."""
    made = Environment.made(tmp_path_factory.mktemp("hostile") / "venv")
    sound = "from foldline.ide.plugins import Plugin\n\nclass Sound(Plugin):\n    pass\n"
    install(made.site, "sound", "sound = sound_plugin:Sound", {"sound_plugin.py": sound})
    return made


WORST = "as site-packages"
ROWS = [
    *((planted, start, "check") for planted in PLANTED for start in ("-m foldline", "a program")),
    *((WORST, start, "check") for start in ("the script", "-m foldline.agent")),
    *((WORST, "-m foldline", shell) for shell in SHELLS if shell != "check"),
]


@pytest.mark.parametrize(("planted", "start", "shell"), ROWS)
def test_a_workspace_brings_no_plugin(
    environment: Environment, tmp_path: Path, planted: str, start: str, shell: str
) -> None:
    mark, workspace = tmp_path / "mark", tmp_path / "workspace"
    begin, site = (workspace / part for part in PLANTED[planted])
    text = PLUGIN.format(mark=str(mark))
    install(site, "team", "team = team:Team", {"team.py": text})
    # The module of an installed plugin isn't taken from the workspace, either.
    if start != "a program":
        (begin / "sound_plugin.py").write_text(text)
    (begin / "AGENTS.md").write_text("# Notes\n\nUse care.\n")
    words, given, expected = SHELLS[shell]
    variables = {**os.environ, "FOLDLINE_CACHE_DIR": str(tmp_path / "cache")}
    variables.pop("PYTHONPATH", None)
    command = STARTS[start](environment)
    answer = environment.run(*words, cwd=begin, command=command, input=given, env=variables)
    assert expected in answer.stdout + answer.stderr
    assert "left out" not in answer.stderr
    assert not mark.exists(), mark.read_text()


def test_the_canary_would_sing(environment: Environment, tmp_path: Path) -> None:
    # `PYTHONPATH` is the user's own decision.
    mark, site = tmp_path / "mark", tmp_path / "site-packages"
    install(site, "team", "team = team:Team", {"team.py": PLUGIN.format(mark=str(mark))})
    variables = {**os.environ, "PYTHONPATH": str(site)}
    environment.run("doctor", cwd=tmp_path, env=variables)
    assert mark.exists()
