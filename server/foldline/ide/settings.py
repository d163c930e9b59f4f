"""The client's settings, from `initializationOptions`."""

from enum import StrEnum

from foldline.backends.base.reading import read_table
from foldline.records import record


class Network(StrEnum):
    ALLOW = "allow"
    DENY = "deny"


@record
class PreviewSettings:
    """Restrictions on rendered prompts.

    Attributes:
        network: With `deny`, accessing the network raises an error in the prompt's module. This
            isn't a sandbox: code can evade it.
    """

    network: Network = Network.ALLOW


@record
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
    return read_table(options, Settings(), "initializationOptions")
