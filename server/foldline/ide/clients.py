"""The clients that foldline knows: each has one name in every command, setting and answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import TypeVar

from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.backends.base.reading import read
from foldline.ide.entry_points import others_installed
from foldline.ide.errors import ToolRefused
from foldline.records import record

ClientT = TypeVar("ClientT")


@record
class Client:
    """A program that starts MCP servers; `clients.toml` says what the fields mean."""

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
    roaming = Path(os.environ.get("APPDATA") or home / "AppData/Roaming")
    mac = (home / "Library/Application Support", home / ".config/zed")
    others = {"darwin": mac, "win32": (roaming, roaming / "Zed")}
    applications, zed = others.get(sys.platform, (config, config / "zed"))
    return {
        "home": home,
        "config": config,
        "applications": applications,
        "zed": zed,
        "codex": Path(os.environ.get("CODEX_HOME") or home / ".codex"),
        "claude": Path(os.environ.get("CLAUDE_CONFIG_DIR") or home),
    }


@cache
def known_clients() -> dict[str, Client]:
    """Return the clients by name; plugins know more."""
    from foldline.backends.files.reader import read_toml

    return read(read_toml(Path(__file__).with_suffix(".toml")), dict[str, Client])[0] or {}


def clients_named(words: Iterable[str], clients: Mapping[str, ClientT]) -> tuple[ClientT, ...]:
    """Return the clients of these names, once each; commas may part names, too.

    Raises:
        ToolRefused: There is none of that name.
    """
    names = dict.fromkeys(filter(None, (name for word in words for name in word.split(","))))
    for name in names:
        if name not in clients:
            also = [one for one, client in known_clients().items() if name.lower() in client.also]
            near = [one for one in also if one in clients] or [*near_names(name, clients)]
            end = did_you_mean(near, f"; there are {', '.join(clients)}")
            raise ToolRefused(f"there is no client {name!r}{end}", near=near or list(clients))
    return tuple(clients[name] for name in names)


class ClientName:
    """The check of a client's name, in the annotation of a setting."""

    def refusal(self, name: str) -> str | None:
        """Return why a name is refused; None if it is known, or a plugin may bring it."""
        try:
            clients_named((name,), known_clients())
        except ToolRefused as error:
            return None if others_installed() else error.message
        return None
