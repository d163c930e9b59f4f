"""The parts of its prompt that a conversation was sent."""

from __future__ import annotations

from dataclasses import field

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.visibility import SectionPath


@FrozenDataclass()
class SentSection:
    """A section of the prompt as the model has seen it."""

    path: SectionPath
    digest: str
    """A hash of its text and its role."""
    folded: bool = False
    """True if its summary was shown."""


@FrozenDataclass()
class SentPrompt:
    """The parts of its prompt that a conversation has: sent at its beginning, or appended since."""

    sections: tuple[SentSection, ...] = ()
    prompt: str = ""
    """Its namespace and key, with a slash between them."""
    tools: tuple[str, ...] = ()
    """Names of the tools in each request."""
    deferred: tuple[str, ...] = ()
    """Names of the tools in each request that the model doesn't see until they are brought."""
    proxy: str = ""
    """The one among `tools` that calls those of appended sections; empty without any."""
    brought: tuple[str, ...] = ()
    """Names of the tools that came with appended sections."""
    definitions: dict[str, str] = field(default_factory=dict)
    """A hash of each of these tools' definition, but for the library's own, by name."""


NOTHING_SENT = SentPrompt()
