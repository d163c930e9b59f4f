"""The clients that foldline knows: each has one name in every command, setting and answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.ide.entry_points import others_installed
from foldline.ide.errors import ToolRefused
from foldline.records import record

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


@record
class ClientName:
    """The check of a client's name, in the annotation of a setting."""

    def refusal(self, name: str) -> str | None:
        """Return the reason why there is no such client; None where a plugin may bring it."""
        if name in TITLES or others_installed():
            return None
        return f"unknown client{_meant(_near(name, TITLES), TITLES)}"


def clients_named(words: Iterable[str], clients: Mapping[str, ClientT]) -> tuple[ClientT, ...]:
    """Return the clients of these names, once each; commas may part names, too.

    Raises:
        ToolRefused: There is none of that name.
    """
    names = dict.fromkeys(filter(None, (name for word in words for name in word.split(","))))
    for name in names:
        if name not in clients:
            near = _near(name, clients)
            message = f"there is no client {name!r}{_meant(near, clients)}"
            raise ToolRefused(message, near=list(near or clients))
    return tuple(clients[name] for name in names)


def _near(name: str, names: Collection[str]) -> tuple[str, ...]:
    meant = _OTHERWISE.get(name.lower(), "")
    return (meant,) if meant in names else near_names(name, names)


def _meant(near: Iterable[str], names: Iterable[str]) -> str:
    return did_you_mean(near, f"; there are {', '.join(names)}")
