"""Changes one table in TOML, and keeps comments, order and white space."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

from foldline.agent.install.files import UnparsableError


def read(text: str) -> Any:
    """Return the tables of a text.

    Raises:
        UnparsableError: It isn't TOML.
    """
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnparsableError(str(error)) from error


def with_value(text: str, keys: Sequence[str], value: Mapping[str, object]) -> str:
    """Return the text with the table at two `keys`.

    Raises:
        UnparsableError: The text isn't TOML, or has no table there.
    """
    table, name = keys
    document = _document(text)
    servers: Any = document.get(table, {})
    if not hasattr(servers, "items"):
        raise UnparsableError(f"{table!r} isn't a table")
    server = servers.get(name)
    if hasattr(server, "items"):
        for key in server.keys() - value.keys():
            del server[key]
        server.update({key: item for key, item in value.items() if server.get(key) != item})
    elif server is None and not isinstance(servers, InlineTable):
        return _appended(text, keys, value)
    else:
        servers[name] = tomlkit.inline_table()
        servers[name].update(value)
    return tomlkit.dumps(document)


def without(text: str, keys: Sequence[str]) -> str:
    """Return the text without the table at two `keys`, nor the table that this leaves empty.

    Raises:
        UnparsableError: As `with_value`.
    """
    table, name = keys
    server = read(text).get(table, {}).get(name)
    if server is None:
        return text
    block = _appended("\n", keys, server)[1:]
    if f"\n{text}".endswith(block):
        return f"\n{text}".removesuffix(block)[1:]
    document: Any = _document(text)
    del document[table][name]
    if not document[table]:
        del document[table]
    return tomlkit.dumps(document)


def _appended(text: str, keys: Sequence[str], value: object) -> str:
    """Return the text with a table at its end, which `without` takes back to the byte."""
    table, name = keys
    return text + "\n" * bool(text) + tomlkit.dumps({table: {name: value}})


def _document(text: str) -> Any:
    read(text)
    try:
        return tomlkit.parse(text)
    except (TOMLKitError, RecursionError) as error:
        raise UnparsableError(str(error)) from error
