"""Other ways to reach `foldline mcp` than its standard input and output: plugins bring them."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from foldline.agent.cli import main
from foldline.agent.mcp import verb
from foldline.ide import plugins
from foldline.ide.entry_points import Entry

# Serves a client that leaves at once, and tells what was loaded.
STDIO = """
import sys
from foldline.agent import cli
from foldline.ide import lifecycle
lifecycle.end_process = lambda status: print(*sys.modules, file=sys.stderr) or status
cli.main(["mcp"])
"""


@pytest.mark.real
def test_the_transports_of_plugins_cost_a_client_over_stdio_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STDIO],
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=tmp_path,
    )
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "foldline.agent.mcp.server" in loaded
    # It adds the options. The SDK's server loads Starlette and uvicorn of its own accord.
    assert {name for name in loaded if name.startswith("foldline.plugins.remote.")} == {
        "foldline.plugins.remote.plugin",
        "foldline.plugins.remote.transport",
    }
    assert "foldline.server.http_server" not in loaded


TEAM = """
from foldline.ide.plugins import Plugin

class Team(Plugin):
    transports = {"socket": "team_socket", "broken": "team_broken"}
"""
SOCKET = """
from threading import current_thread

def add_options(parser):
    parser.add_argument("--socket")

def serve(options):
    if options.socket:
        print("served", options.socket, *options.root, "in", current_thread().name)
    return bool(options.socket)
"""
BROKEN = """
def add_options(parser):
    parser.add_argument("--broken")
    raise OSError("no such transport")
"""


@pytest.fixture
def bring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[dict[str, str]], plugins.Plugins]:
    """Have one plugin of another package, made of modules; starting standard input is printed."""
    monkeypatch.setattr(verb, "end_process", lambda status: status)
    monkeypatch.setattr(verb, "serve_stdio", lambda _: print("stdio"))
    monkeypatch.setattr(plugins, "SECONDS", 60)
    monkeypatch.syspath_prepend(tmp_path)

    def bring(modules: dict[str, str]) -> plugins.Plugins:
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, name, raising=False)
        installed = plugins.Plugins([Entry("team", "team_plugin:Team", "team", "1")])
        monkeypatch.setattr(verb, "plugins", lambda: installed)
        return installed

    return bring


def test_a_transport_serves_in_place_of_stdio_and_no_deadline_ends_it(
    bring: Callable[[dict[str, str]], plugins.Plugins],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = TEAM.replace(', "broken": "team_broken"', "")
    installed = bring({"team_plugin": text, "team_socket": SOCKET})
    assert main(["mcp", "--root", str(tmp_path), "--socket", "here"]) == 0
    assert main(["mcp"]) == 0
    assert capsys.readouterr().out == f"served here {tmp_path} in MainThread\nstdio\n"
    assert installed.problems == []


def test_a_transport_that_fails_leaves_stdio(
    bring: Callable[[dict[str, str]], plugins.Plugins], capsys: pytest.CaptureFixture[str]
) -> None:
    installed = bring({"team_plugin": TEAM, "team_socket": SOCKET, "team_broken": BROKEN})
    assert main(["mcp"]) == 0
    assert capsys.readouterr().out == "stdio\n"
    (problem,) = installed.problems
    assert problem == "the plugin team of team 1 is left out: OSError: no such transport"
