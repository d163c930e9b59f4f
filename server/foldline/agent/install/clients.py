"""The clients: where their configuration is, and what they expect in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from foldline.ide.client_names import TITLES
from foldline.records import record

NAME = "foldline"
"""The key of our entry."""


def _line(command: Sequence[str]) -> dict[str, object]:
    return {"type": "local", "command": list(command)}


def _plain(command: Sequence[str]) -> dict[str, object]:
    return {"command": command[0], "args": list(command[1:])}


def _typed(command: Sequence[str]) -> dict[str, object]:
    return {"type": "stdio", **_plain(command)}


@record
class Client:
    """A program that starts MCP servers.

    Attributes:
        name: Its name in every command.
        user: The user's files, below one of `_folders`. The first that exists is changed; if none
            does, the last is created.
        project: The same for a project's files, relative to its folder.
        table: The keys of the table of servers in the file.
        entry: Returns the entry for a server that this command line starts.
        note: What to do afterwards.
        new: Further members of a new entry.
        plugin: The user's and the project's file of the plugin that folds; empty if it takes none.
    """

    name: str
    user: tuple[str, ...]
    project: tuple[str, ...]
    table: tuple[str, ...]
    entry: Callable[[Sequence[str]], dict[str, object]]
    note: str
    new: Mapping[str, object] = field(default_factory=dict)
    plugin: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its name for people."""
        return TITLES[self.name]

    def files(self, root: Path | None) -> list[Path]:
        """Return the files of a project, or the user's without one."""
        return _placed(root, self.user, self.project)

    def plugins(self, root: Path | None) -> list[Path]:
        """Return the file of the plugin that folds, likewise; empty if it takes none."""
        return _placed(root, self.plugin[:1], self.plugin[1:])


def _placed(root: Path | None, user: Sequence[str], project: Sequence[str]) -> list[Path]:
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


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "opencode",
            ("{config}/opencode/opencode.jsonc", "{config}/opencode/opencode.json"),
            ("opencode.jsonc", "opencode.json"),
            ("mcp",),
            _line,
            "Restart opencode; `opencode mcp list` shows the server.",
            {"enabled": True},
            ("{config}/opencode/plugins/foldline.js", ".opencode/plugins/foldline.js"),
        ),
        Client(
            "opencode2",
            ("{config}/opencode/opencode.jsonc", "{config}/opencode/opencode.json"),
            ("opencode.jsonc", "opencode.json"),
            ("mcp", "servers"),
            _line,
            "Restart opencode; it connects to the server by itself.",
        ),
        Client(
            "codex",
            ("{codex}/config.toml",),
            (".codex/config.toml",),
            ("mcp_servers",),
            _plain,
            "Restart Codex; `/mcp` lists the server. It reads files of projects that it trusts.",
        ),
        Client(
            "gemini",
            ("{home}/.gemini/settings.json",),
            (".gemini/settings.json",),
            ("mcpServers",),
            _plain,
            "Restart Gemini CLI; `/mcp` lists the server.",
        ),
        Client(
            "claude-code",
            ("{claude}/.claude.json",),
            (".mcp.json",),
            ("mcpServers",),
            _typed,
            "Restart Claude Code; `/mcp` lists the server, and asks about one of a project.",
        ),
        Client(
            "cursor",
            ("{home}/.cursor/mcp.json",),
            (".cursor/mcp.json",),
            ("mcpServers",),
            _plain,
            "Turn the server on in Cursor's settings, under MCP.",
        ),
        Client(
            "copilot",
            ("{applications}/Code/User/mcp.json",),
            (".vscode/mcp.json",),
            ("servers",),
            _typed,
            "Start the server with `MCP: List Servers`, and confirm that you trust it.",
        ),
        Client(
            "zed",
            ("{zed}/settings.json",),
            (".zed/settings.json",),
            ("context_servers",),
            _plain,
            "Zed starts the server by itself; the agent panel's settings list it.",
        ),
    )
}
