"""Recordings of evaluations, which can be played again."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from foldline.prompts.adapters.protocol import ModelTurn
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.disclosure.opening import Appending
from foldline.prompts.files import read_text_file
from foldline.prompts.forms.json_values import to_json
from foldline.prompts.forms.values import read_json
from foldline.prompts.runtime.dispatch import ToolCall
from foldline.prompts.runtime.response import NOTHING_USED, TokenUsage

MAX_BYTES = 64 << 20
"""Long recordings with whole files in their results have a few megabytes."""


@FrozenDataclass()
class PromptSeen:
    """The prompt that an exchange started with."""

    text: str
    tools: tuple[str, ...] = ()
    """Names of the offered tools, in order."""


@FrozenDataclass()
class ScriptedCall:
    """A tool call; `arguments` is an object, or the raw text if that isn't a JSON object."""

    name: str
    arguments: Mapping[str, object] | str = field(default_factory=dict)
    id: str | None = None
    """By default, derived from the position."""


@FrozenDataclass()
class ScriptedTurn:
    """One message of the model, and the results of its tool calls."""

    text: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    results: tuple[str, ...] | None = None
    """The results as the model got them; None to not check them."""
    usage: TokenUsage = NOTHING_USED
    model: str | None = None

    def message(self, number: int) -> ModelTurn:
        """Return the turn as a message, the `number`th of its exchange."""
        return ModelTurn(
            text=self.text,
            tool_calls=tuple(
                ToolCall(call.id or f"call_{number}_{index}", call.name, call.arguments)
                for index, call in enumerate(self.tool_calls, start=1)
            ),
            usage=self.usage,
            model=self.model,
        )


@FrozenDataclass()
class Exchange:
    """All turns of one evaluation; the last has the answer or an expansion request."""

    turns: tuple[ScriptedTurn, ...]
    prompt: PromptSeen | None = None
    """The prompt; None to not check it."""


@FrozenDataclass()
class Transcript:
    """Evaluations, in order.

    >>> script = Transcript.of([ScriptedTurn("Hello!")])
    >>> Transcript.from_json(script.to_json()) == script
    True
    """

    exchanges: tuple[Exchange, ...]
    provider: str | None = None
    format: int = 1
    appending: Appending | None = None
    """The means by which sections were opened without rendering the prompt anew."""

    @classmethod
    def of(cls, *exchanges: Sequence[ScriptedTurn]) -> Transcript:
        """Return a transcript from the turns of each evaluation; prompts aren't checked."""
        return cls(tuple(Exchange(tuple(turns)) for turns in exchanges))

    def relaxed(self, *, prompts: bool = True, results: bool = True) -> Transcript:
        """Return the transcript without the checks of the model's input.

        Args:
            prompts: Don't check prompts and tools.
            results: Don't check the tools' results.
        """
        return replace(
            self,
            exchanges=tuple(
                Exchange(
                    tuple(replace(t, results=None) if results else t for t in exchange.turns),
                    None if prompts else exchange.prompt,
                )
                for exchange in self.exchanges
            ),
        )

    def to_json(self) -> str:
        """Return the transcript as JSON text that people can read and edit."""
        return json.dumps(to_json(self), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Transcript:
        """Return the transcript from the result of `to_json`.

        Raises:
            ValueError: The text has another form; the message has the location.
        """
        return read_json(text, cls, "transcript", 1)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Transcript:
        """Read a transcript from a file.

        Raises:
            OSError: The file can't be read.
            ValueError: It isn't a transcript.
            PromptValidationError: It isn't a regular file, or is too large.
        """
        return cls.from_json(read_text_file(Path(path), MAX_BYTES))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the transcript to a file, atomically."""
        target = Path(path)
        beside = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            beside.write_text(self.to_json(), encoding="utf-8")
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
