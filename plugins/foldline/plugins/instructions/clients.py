"""Rules of the files that each client loads by itself, with sources, from plugins' `clients`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from foldline.backends.base import reading
from foldline.backends.files.reader import read_toml
from foldline.ide.clients import clients_named
from foldline.ide.errors import ArgumentsError
from foldline.ide.plugins import plugins
from foldline.records import record

if TYPE_CHECKING:
    from foldline.ide.folder import Folder


@record
class Rule:
    """Files that a client loads; `clients.toml` says what the fields mean."""

    source: str = ""
    read: str = ""
    files: tuple[str, ...] = ()
    setting: tuple[str, str] | None = None
    joins: bool = False
    folders: Literal["all", "root", "start", "above", "below"] = "all"
    not_below: str = ""
    pick: Literal["all", "first", "kind"] = "all"
    unless: tuple[str, ...] = ()
    repair: str = ""
    patterns: str = ""
    without: str = ""
    fields: tuple[str, ...] = ()
    anchored: bool = False
    loose: bool = False
    lists: str = ""
    hidden: str = ""
    paragraph: bool = False
    about: str = ""
    confirmed: bool = True


@record
class Client:
    """A client, and its rules in the order in which it applies them in each folder."""

    title: str
    source: str
    read: str
    rules: tuple[Rule, ...]
    name: str = ""
    limit: int | None = None
    limit_setting: tuple[str, str] | None = None
    excludes: tuple[str, str] | None = None
    imports: int = 0
    import_stops: str = ""
    comments: bool = True
    nearest_first: bool = False
    editor: bool = False
    settings: Literal["above", "start"] = "above"
    once: bool = False
    note: str = ""
    own: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()


@cache
def all_clients() -> tuple[Client, ...]:
    """Return the clients whose rules are known."""
    clients: dict[str, Client] = {}
    plugins().read(lambda plugin: plugin.clients, partial(_read_into, clients))
    return tuple(clients.values())


def _read_into(clients: dict[str, Client], file: Path) -> None:
    """Add a file's clients; `PathError` if it can't be read, `ArgumentsError` if it's wrong."""
    tables, problems = reading.read(read_toml(file), dict[str, Client])
    problems |= {name: "is the name of another client" for name in tables or () if name in clients}
    if problems:
        raise ArgumentsError(problems)
    clients |= {name: replace(client, name=name) for name, client in (tables or {}).items()}


def chosen_clients(names: Iterable[str]) -> tuple[Client, ...]:
    """Return the clients of these names, all of them for none.

    Raises:
        ToolRefused: There is none of that name.
    """
    every = all_clients()
    return clients_named(names, {client.name: client for client in every}) or every


def project_clients(folder: Folder, file: Path | None = None) -> tuple[Client, ...]:
    """Return the clients that the settings for a file name, or that the folder shows to be used.

    Without settings, these are all but those whose `own` files it lacks.
    """
    exists, names = folder.access.file_backend.exists, folder.options(file).clients
    every = [one for one in all_clients() if not one.own or any(map(exists, one.own))]
    return tuple(one for one in all_clients() if one.name in names) if names else tuple(every)
