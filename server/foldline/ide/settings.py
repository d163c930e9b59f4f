"""The client's settings, from `initializationOptions`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from foldline.ide.errors import ArgumentsError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


class Network(StrEnum):
    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class PreviewSettings:
    """Restrictions on rendered prompts.

    Attributes:
        network: With `deny`, accessing the network raises an error in the prompt's module. This
            isn't a sandbox: code can evade it.
    """

    network: Network = Network.ALLOW


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings with their defaults.

    Attributes:
        trusted: Prompts of this workspace may be executed.
        interpreter: The Python that renders prompts. By default an activated environment, else the
            nearest `.venv` upward from the file, else the server's own.
        render_deadline: Seconds that importing and rendering a prompt may take.
        preview: Restrictions on rendered prompts.
        client_commands: The client's own `foldline.*` commands, for code actions.
    """

    trusted: bool = False
    interpreter: str | None = None
    render_deadline: float = 10.0
    preview: PreviewSettings = PreviewSettings()
    client_commands: tuple[str, ...] = ()


def read_settings(options: object) -> tuple[Settings, tuple[str, ...]]:
    """Read the settings in `options`; also returns a sentence per wrong value."""
    if options is None:
        return Settings(), ()
    if not isinstance(options, Mapping):
        return Settings(), ("initializationOptions must be an object",)
    return structure_valid(options, Settings, "setting")


def structure_valid(
    table: Mapping[str, object], kind: type[T], what: str
) -> tuple[T, tuple[str, ...]]:
    """Return a `kind` from the valid values of `table`, and a sentence per wrong value.

    All fields of `kind` have defaults; `what` is the word for one of them.
    """
    # It takes long to load, and most verbs of the command line read no settings.
    from foldline.ide.structuring import structure

    known = {field.name for field in fields(kind)}
    problems = [f"unknown {what} {name!r}" for name in table if name not in known]
    values = {name: value for name, value in table.items() if name in known}
    while True:
        try:
            return structure(values, kind), tuple(problems)
        except ArgumentsError as error:
            problems += [f"{name}: {what}" for name, what in error.problems.items()]
            wrong = {re.split(r"[.\[]", name)[0] for name in error.problems} & values.keys()
            if not wrong:
                return kind(), tuple(problems)
            values = {name: value for name, value in values.items() if name not in wrong}
