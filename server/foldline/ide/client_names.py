"""The clients that foldline knows: each has one name in every command, setting and answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.ide.entry_points import others_installed
from foldline.ide.errors import ToolRefused

ClientT = TypeVar("ClientT")


@cache
def known_clients() -> dict[str, Any]:
    """Return the table of clients, by name; plugins know more."""
    from foldline.backends.files.reader import read_toml

    return read_toml(Path(__file__).with_name("clients.toml"))


def clients_named(words: Iterable[str], clients: Mapping[str, ClientT]) -> tuple[ClientT, ...]:
    """Return the clients of these names, once each; commas may part names, too.

    Raises:
        ToolRefused: There is none of that name.
    """
    names = dict.fromkeys(filter(None, (name for word in words for name in word.split(","))))
    for name in names:
        if name not in clients:
            also = {one: table.get("also", ()) for one, table in known_clients().items()}
            near = [one for one in clients if name.lower() in also.get(one, ())]
            near = near or [*near_names(name, clients)]
            end = did_you_mean(near, f"; there are {', '.join(clients)}")
            raise ToolRefused(f"there is no client {name!r}{end}", near=near or list(clients))
    return tuple(clients[name] for name in names)


class ClientName:
    """The check of a client's name, in the annotation of a setting."""

    def refusal(self, name: str) -> str | None:
        """Return the reason why there is no such client; None where a plugin may bring it."""
        try:
            clients_named((name,), known_clients())
        except ToolRefused as error:
            return None if others_installed() else error.message
        return None
