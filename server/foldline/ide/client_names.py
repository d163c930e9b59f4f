"""The clients that foldline knows: each has one name in every command, setting and answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.ide.entry_points import others_installed
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


def clients_named(words: Iterable[str], clients: Mapping[str, ClientT]) -> tuple[ClientT, ...]:
    """Return the clients of these names, once each; commas may part names, too.

    Raises:
        ToolRefused: There is none of that name.
    """
    names = dict.fromkeys(filter(None, (name for word in words for name in word.split(","))))
    for name in names:
        if name not in clients:
            meant = _OTHERWISE.get(name.lower(), "")
            near = [meant] if meant in clients else [*near_names(name, clients)]
            end = did_you_mean(near, f"; there are {', '.join(clients)}")
            raise ToolRefused(f"there is no client {name!r}{end}", near=near or list(clients))
    return tuple(clients[name] for name in names)


class ClientName:
    """The check of a client's name, in the annotation of a setting."""

    def refusal(self, name: str) -> str | None:
        """Return the reason why there is no such client; None where a plugin may bring it."""
        try:
            clients_named((name,), TITLES)
        except ToolRefused as error:
            return None if others_installed() else error.message
        return None
