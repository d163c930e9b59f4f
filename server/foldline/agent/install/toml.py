"""Changes one value in TOML, and keeps comments, order and white space."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from foldline.agent.install.errors import UnparsableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
    """Return the text with the table at `keys`; tables on the way are made.

    Raises:
        UnparsableError: The text isn't TOML, or has no table there.
    """
    import tomlkit
    from tomlkit.items import InlineTable

    document = _document(text)
    place: Any = document
    for key in keys[:-1]:
        if key not in place:
            return _appended(text, keys, value)
        place = place[key]
        _check_table(place, key)
    last = keys[-1]
    if last in place:
        own = place[last]
        _check_table(own, last)
        for name in [name for name in own if name not in value]:
            del own[name]
        for name, item in value.items():
            if name not in own or own[name] != item:
                own[name] = item
    elif isinstance(place, InlineTable):
        place[last] = tomlkit.inline_table()
        place[last].update(value)
    else:
        return _appended(text, keys, value)
    return tomlkit.dumps(document)


def without(text: str, keys: Sequence[str]) -> str:
    """Return the text without the table at `keys`, and without tables that it leaves empty.

    Raises:
        UnparsableError: As `with_value`.
    """
    import tomlkit

    own = read(text)
    for key in keys:
        own = own.get(key) if isinstance(own, dict) else None
    if own is not None and f"\n{text}".endswith(block := _appended("\n", keys, own)[1:]):
        return f"\n{text}".removesuffix(block)[1:]
    document = _document(text)
    places: list[Any] = [document]
    for key in keys:
        if key not in places[-1]:
            return text
        places.append(places[-1][key])
        _check_table(places[-1], key)
    for place, key in reversed(list(zip(places, keys, strict=False))):
        del place[key]
        if len(place):
            break
    return tomlkit.dumps(document)


def _appended(text: str, keys: Sequence[str], value: Any) -> str:
    """Return the text with a table at its end, which `without` takes back to the byte."""
    import tomlkit

    for key in reversed(keys):
        value = {key: value}
    return text + "\n" * bool(text) + tomlkit.dumps(value)


def _document(text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    read(text)
    try:
        return tomlkit.parse(text)
    except (TOMLKitError, RecursionError) as error:
        raise UnparsableError(str(error)) from error


def _check_table(value: Any, key: str) -> None:
    if not hasattr(value, "items"):
        raise UnparsableError(f"{key!r} is no table")
