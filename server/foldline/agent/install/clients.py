"""The clients: where their configuration is, and what they expect in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from foldline.backends.base.reading import read
from foldline.ide.client_names import known_clients
from foldline.records import record

NAME = "foldline"
"""The key of our entry."""


@record
class Client:
    """A program that starts MCP servers; `ide/clients.toml` says what the fields mean."""

    title: str
    user: tuple[str, ...]
    project: tuple[str, ...]
    table: tuple[str, ...]
    note: str
    entry: Mapping[str, object] = field(default_factory=dict)
    line: bool = False
    new: Mapping[str, object] = field(default_factory=dict)
    plugin: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def entry_for(self, command: Sequence[str]) -> dict[str, object]:
        """Return the entry for a server that this command line starts."""
        program, *args = command
        words = {"command": [*command]} if self.line else {"command": program, "args": args}
        return {**self.entry, **words}

    def files(self, root: Path | None, *, plugin: bool = False) -> list[Path]:
        """Return the files of a project, or the user's without one; or that of the plugin."""
        user, project = (self.plugin[:1], self.plugin[1:]) if plugin else (self.user, self.project)
        if root is not None:
            return [root / name for name in project]
        folders = _folders()
        return [Path(name.format(**folders)) for name in user]


def _folders() -> dict[str, Path]:
    """Return the folders that hold a user's configuration."""
    home = Path("~").expanduser()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    applications, zed = config, config / "zed"
    if sys.platform == "darwin":
        applications, zed = home / "Library/Application Support", home / ".config/zed"
    elif sys.platform == "win32":
        applications = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
        zed = applications / "Zed"
    return {
        "home": home,
        "config": config,
        "applications": applications,
        "zed": zed,
        "codex": Path(os.environ.get("CODEX_HOME") or home / ".codex"),
        "claude": Path(os.environ.get("CLAUDE_CONFIG_DIR") or home),
    }


CLIENTS = read(known_clients(), dict[str, Client])[0] or {}
