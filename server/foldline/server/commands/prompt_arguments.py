"""The arguments of the commands that render a prompt, and what they choose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from foldline.ide.render.render_options import RenderOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArguments:
    """A prompt, and how it's rendered.

    Attributes:
        uri: The document.
        name: The prompt's variable, or `ns/key`.
        params: Fields by dataclass name or section key.
        overrides: `FULL` or `SUMMARY` by section key.
        chapters: The chapters that are open, as far as the prompt lets them; without it all, as
            `evaluate` opens them by default.
        sessionId: A preview, whose values, sections and chapters are taken instead.
    """

    uri: str | None = None
    name: str | None = None
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    overrides: dict[str, str] = field(default_factory=dict)
    chapters: tuple[str, ...] | None = None
    sessionId: str | None = None  # noqa: N815  # The name on the wire.

    @property
    def options(self) -> RenderOptions:
        """The options of a render without a preview."""
        return RenderOptions(
            params=self.params,
            overrides=self.overrides,
            chapters=None if self.chapters is None else frozenset(self.chapters),
        )
