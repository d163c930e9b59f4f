"""Other packages' plugins add clients of instruction files, by a file as ours."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from foldline.ide.entry_points import Entry
from foldline.ide.plugins import Plugin, Plugins
from foldline.ide.workspace import Workspace
from foldline.plugins.instructions import clients
from foldline.plugins.instructions.clients import all_clients, chosen_clients
from foldline.plugins.instructions.plugin import Instructions
from foldline.plugins.instructions.stack import stacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TEAM = """\
[team]
title = "Team's own"
source = "https://example.com/rules"
read = "2026-11-24"

[[team.rules]]
files = ["TEAM.md"]

[[team.rules]]
files = ["EXTRA.md"]
source = "https://example.com/extra"
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Plugins]]:
    """Installs a plugin with a file of clients beside ours."""

    def installed(text: str) -> Plugins:
        file = tmp_path / "team.toml"
        file.write_text(text, encoding="utf-8")
        module = ModuleType("team_plugin")
        module.Team = type("Team", (Plugin,), {"clients": file})  # type: ignore[attr-defined]  # It is made here.
        monkeypatch.setitem(sys.modules, "team_plugin", module)
        ours = Entry("instructions", f"{Instructions.__module__}:Instructions", "foldline", "1")
        plugins = Plugins([ours, Entry("team", "team_plugin:Team", "team", "1")])
        monkeypatch.setattr(clients, "plugins", lambda: plugins)
        all_clients.cache_clear()
        return plugins

    yield installed
    all_clients.cache_clear()


def test_a_plugin_adds_a_client(install: Callable[..., Plugins], tmp_path: Path) -> None:
    plugins = install(TEAM)
    assert [client.name for client in all_clients()][-1] == "team"
    root = tmp_path / "root"
    root.mkdir()
    for name in ("TEAM.md", "EXTRA.md"):
        (root / name).write_text("# Rules\n", encoding="utf-8")
    (folder,) = Workspace.at(root).folders()
    (stack,) = stacks(folder, chosen_clients(["team"]))
    files = [(one.path, one.source.rpartition("/")[2], one.read) for one in stack.files]
    assert files == [("TEAM.md", "rules", "2026-11-24"), ("EXTRA.md", "extra", "2026-11-24")]
    assert not plugins.problems


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[team", "MalformedFileError: "),
        (TEAM.replace("title", "titel"), "team.titel: unknown argument; did you mean"),
        (TEAM.replace('source = "https://example.com/rules"\n', ""), "team.source: is required"),
        (TEAM.replace('["TEAM.md"]', '"TEAM.md"'), "team.rules[0].files: expected a list of texts"),
        (TEAM + 'setting = ["a.json"]\n', "team.rules[1].setting: expected a list of 2"),
        (TEAM.replace("team", "codex"), "codex: is the name of another client"),
    ],
)
def test_a_wrong_client_is_named_and_left_out(
    install: Callable[..., Plugins], text: str, problem: str
) -> None:
    plugins = install(text)
    assert "team" not in [client.name for client in all_clients()]
    assert len(plugins.problems) == 1
    assert problem in str(plugins.problems)
