"""Rules of the files that each client loads by itself, with sources, from `clients.toml`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal

from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.backends.files.reader import read_toml
from foldline.ide.errors import ToolRefused
from foldline.ide.structuring import structure
from foldline.records import record


@record
class Rule:
    """Files that a client loads; `clients.toml` says what the fields mean."""

    source: str
    read: str
    files: tuple[str, ...] = ()
    setting: tuple[str, ...] = ()
    joins: bool = False
    folders: Literal["all", "root", "below"] = "all"
    below: Literal["", "off"] = ""
    why: str = ""
    pick: Literal["all", "first", "kind"] = "all"
    unless: tuple[str, ...] = ()
    repair: str = ""
    patterns: str = ""
    without: str = ""
    anchored: bool = False
    confirmed: bool = True


@record
class Client:
    """A client, and its rules in the order in which it applies them in each folder."""

    name: str
    title: str
    rules: tuple[Rule, ...]
    limit: int | None = None
    imports: int = 0
    comments: bool = True
    nearest_first: bool = False
    note: str = ""
    user: tuple[str, ...] = ()


@cache
def all_clients() -> tuple[Client, ...]:
    """Return the clients whose rules are known."""
    tables: dict[str, Any] = read_toml(Path(__file__).with_name("clients.toml"))
    for name, table in tables.items():
        about = {"source": table.pop("source"), "read": table.pop("read")}
        table |= {"name": name, "rules": [about | rule for rule in table["rules"]]}
    return tuple(structure(table, Client) for table in tables.values())


def clients_named(names: Iterable[str]) -> tuple[Client, ...]:
    """Return the clients of these names, all of them for none.

    Raises:
        ToolRefused: There is none of that name.
    """
    by_name = {client.name: client for client in all_clients()}
    for name in names:
        if name not in by_name:
            near = near_names(name, by_name)
            meant = did_you_mean(near, f"; there are {', '.join(by_name)}")
            raise ToolRefused(f"there is no client {name!r}{meant}", near=list(near or by_name))
    return tuple(by_name[name] for name in names) or all_clients()
