"""The clients that foldline knows: each has one name in every command, setting and answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.ide.errors import ToolRefused

TITLES = {
    "codex": "Codex",
    "claude-code": "Claude Code",
    "copilot": "GitHub Copilot",
    "cursor": "Cursor",
    "gemini": "Gemini CLI",
    "opencode": "opencode 1",
    "opencode2": "opencode 2",
    "zed": "Zed",
}
# What else people call one, and no near name finds.
_OTHERWISE = {"vscode": "copilot", "vs-code": "copilot", "code": "copilot"}

ClientT = TypeVar("ClientT")


def near_clients(name: str, names: Collection[str]) -> tuple[str, ...]:
    """Return the names that a wrong one may stand for."""
    meant = _OTHERWISE.get(name.lower(), "")
    return (meant,) if meant in names else near_names(name, names)


def clients_named(words: Iterable[str], clients: Mapping[str, ClientT]) -> tuple[ClientT, ...]:
    """Return the clients of these names, once each; commas may part names, too.

    Raises:
        ToolRefused: There is none of that name.
    """
    names = dict.fromkeys(filter(None, (name for word in words for name in word.split(","))))
    for name in names:
        if name not in clients:
            near = near_clients(name, clients)
            meant = did_you_mean(near, f"; there are {', '.join(clients)}")
            raise ToolRefused(f"there is no client {name!r}{meant}", near=list(near or clients))
    return tuple(clients[name] for name in names)
