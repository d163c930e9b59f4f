"""The clients: where their configuration is, and what they expect in it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

NAME = "foldline"


@dataclass(frozen=True, slots=True)
class Client:
    """A program that starts MCP servers.

    Attributes:
        name: Its name on the command line.
        title: Its name for people.
        user: The user's files, of which the first that exists is changed, or the last one is made.
        project: The same for a project's files, relative to its folder.
        table: The key of the servers in the file.
        entry: Returns what the file has of a server that this command line starts.
        new: What a new entry has besides.
        note: What to do afterwards.
    """

    name: str
    title: str
    user: Callable[[], tuple[Path, ...]]
    project: tuple[str, ...]
    table: str
    entry: Callable[[Sequence[str]], dict[str, object]]
    new: Mapping[str, object]
    note: str

    @property
    def keys(self) -> tuple[str, str]:
        """The keys that lead to foldline's entry."""
        return self.table, NAME


def _home() -> Path:
    return Path("~").expanduser()


def _config() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or _home() / ".config")


def _applications(name: str) -> Path:
    """The folder in which desktop programs keep a user's settings."""
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / name
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or _home() / "AppData" / "Roaming") / name
    return _config() / name


def _opencode() -> tuple[Path, ...]:
    folder = _config() / "opencode"
    return folder / "opencode.jsonc", folder / "opencode.json"


def _codex() -> tuple[Path, ...]:
    return (Path(os.environ.get("CODEX_HOME") or _home() / ".codex") / "config.toml",)


def _gemini() -> tuple[Path, ...]:
    return (_home() / ".gemini" / "settings.json",)


def _claude_code() -> tuple[Path, ...]:
    return (Path(os.environ.get("CLAUDE_CONFIG_DIR") or _home()) / ".claude.json",)


def _cursor() -> tuple[Path, ...]:
    return (_home() / ".cursor" / "mcp.json",)


def _vscode() -> tuple[Path, ...]:
    return (_applications("Code") / "User" / "mcp.json",)


def _zed() -> tuple[Path, ...]:
    folder = _applications("Zed") if sys.platform == "win32" else _config() / "zed"
    if sys.platform == "darwin":
        folder = _home() / ".config" / "zed"
    return (folder / "settings.json",)


def _line(command: Sequence[str]) -> dict[str, object]:
    return {"type": "local", "command": list(command)}


def _plain(command: Sequence[str]) -> dict[str, object]:
    return {"command": command[0], "args": list(command[1:])}


def _typed(command: Sequence[str]) -> dict[str, object]:
    return {"type": "stdio", **_plain(command)}


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "opencode",
            "opencode",
            _opencode,
            ("opencode.jsonc", "opencode.json"),
            "mcp",
            _line,
            {"enabled": True},
            "Restart opencode; `opencode mcp list` shows the server.",
        ),
        Client(
            "codex",
            "Codex",
            _codex,
            (".codex/config.toml",),
            "mcp_servers",
            _plain,
            {},
            "Restart Codex; `/mcp` lists the server. It reads files of projects that it trusts.",
        ),
        Client(
            "gemini",
            "Gemini CLI",
            _gemini,
            (".gemini/settings.json",),
            "mcpServers",
            _plain,
            {},
            "Restart Gemini CLI; `/mcp` lists the server.",
        ),
        Client(
            "claude-code",
            "Claude Code",
            _claude_code,
            (".mcp.json",),
            "mcpServers",
            _typed,
            {},
            "Restart Claude Code; `/mcp` lists the server, and asks about one of a project.",
        ),
        Client(
            "cursor",
            "Cursor",
            _cursor,
            (".cursor/mcp.json",),
            "mcpServers",
            _plain,
            {},
            "Turn the server on in Cursor's settings, under MCP.",
        ),
        Client(
            "vscode",
            "VS Code",
            _vscode,
            (".vscode/mcp.json",),
            "servers",
            _typed,
            {},
            "Start the server with `MCP: List Servers`, and confirm that you trust it.",
        ),
        Client(
            "zed",
            "Zed",
            _zed,
            (".zed/settings.json",),
            "context_servers",
            _plain,
            {},
            "Zed starts the server by itself; the agent panel's settings list it.",
        ),
    )
}
