"""What a model said to a prompt, written down so that it can be played again."""

from __future__ import annotations

import json
import uuid
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.prompts.adapters.protocol import ModelTurn
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.files import read_text_file
from foldline.prompts.runtime.dispatch import ToolCall
from foldline.prompts.runtime.usage import NOTHING_USED, TokenUsage
from foldline.prompts.tool_calls import to_json
from foldline.prompts.values import Mismatch, convert

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

MAX_BYTES = 64 << 20
"""Long recordings with whole files among their results have some megabytes."""

__all__ = ["Exchange", "PromptSeen", "ScriptedCall", "ScriptedTurn", "Transcript"]


@FrozenDataclass()
class PromptSeen:
    """The prompt that an exchange began with."""

    text: str
    tools: tuple[str, ...] = ()
    """The names of the tools that were offered, in order."""


@FrozenDataclass()
class ScriptedCall:
    """A tool call; `arguments` is an object, or the raw text where that is no JSON object."""

    name: str
    arguments: dict[str, object] | str = field(default_factory=dict)
    id: str | None = None
    """Made up from the position where there is none."""


@FrozenDataclass()
class ScriptedTurn:
    """One message of the model, and what its tool calls gave."""

    text: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    results: tuple[str, ...] | None = None
    """What the model was told about each call; None where nobody checks that."""
    usage: TokenUsage = NOTHING_USED
    model: str | None = None

    def message(self, number: int) -> ModelTurn:
        """The turn as an adapter gives it, the `number`th of its exchange."""
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
    """All turns of one evaluation; the last one has the answer, or asks for an expansion."""

    turns: tuple[ScriptedTurn, ...]
    prompt: PromptSeen | None = None
    """What the model was shown; None where nobody checks that."""


@FrozenDataclass()
class Transcript:
    """Evaluations in the order in which they were made.

    >>> script = Transcript.of([ScriptedTurn("Hello!")])
    >>> Transcript.from_json(script.to_json()) == script
    True
    """

    exchanges: tuple[Exchange, ...]
    provider: str | None = None
    format: int = 1

    @classmethod
    def of(cls, *exchanges: Sequence[ScriptedTurn]) -> Transcript:
        """A transcript written by hand: the turns of each evaluation; prompts are not checked."""
        return cls(tuple(Exchange(tuple(turns)) for turns in exchanges))

    def relaxed(self, *, prompts: bool = True, results: bool = True) -> Transcript:
        """The same transcript without the checks of what goes to the model.

        Args:
            prompts: Play to whatever prompts and tools there are.
            results: Let tools give whatever they give.
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
        """The transcript as JSON text that people can read and edit."""
        return json.dumps(to_json(self), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Transcript:
        """The transcript that `to_json` wrote.

        Raises:
            ValueError: The text is something else; the message names the place.
        """
        try:
            made = convert(json.loads(text), cls, allow_extra_keys=False)
        except Mismatch as mismatch:
            raise ValueError(f"This is no transcript: {mismatch}") from mismatch
        assert isinstance(made, Transcript)
        if made.format != 1:
            raise ValueError(f"The transcript has the format {made.format}; this reads format 1.")
        return made

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Transcript:
        """The transcript in a file.

        Raises:
            OSError: The file cannot be read.
            ValueError: It holds something else.
            PromptValidationError: It is no regular file, or is too large.
        """
        return cls.from_json(read_text_file(Path(path), MAX_BYTES))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the transcript to a file, which is replaced as a whole or not at all."""
        target = Path(path)
        beside = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            beside.write_text(self.to_json(), encoding="utf-8")
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
