"""Turns of a conversation as messages of Anthropic's API, and what its models support."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING

from foldline.prompts.errors import PromptConfigurationError
from foldline.prompts.runtime.conversation import (
    AssistantTurn,
    DeveloperTurn,
    Image,
    SystemTurn,
    ToolTurn,
    UserTurn,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.prompts.adapters.breakpoints import Cuts
    from foldline.prompts.runtime.conversation import File, ToolAnswer, Turn

_MODEL = re.compile(r"claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_SYSTEM_SINCE: Mapping[str, tuple[int, int]] = {
    "opus": (4, 8),
    "sonnet": (5, 5),
    "haiku": (5, 5),
    "fable": (5, 0),
    "mythos": (5, 0),
}
"""The first model of each family that takes system messages within a conversation."""
_DEFERS_SINCE = (4, 5)
EPHEMERAL: Mapping[str, object] = {"type": "ephemeral"}
"""A breakpoint."""


def defers_tools(model: str) -> bool:
    """Return True if a model has tools with `defer_loading` and references to them."""
    family, version = _generation(model)
    return bool(family) and version >= _DEFERS_SINCE


def searches_tools(model: str) -> bool:
    """Return True if a model has the tool search, or isn't known."""
    return not _generation(model)[0] or defers_tools(model)


def takes_system_messages(model: str) -> bool:
    """Return True if a model takes system messages within a conversation."""
    family, version = _generation(model)
    return family in _SYSTEM_SINCE and version >= _SYSTEM_SINCE[family]


def _generation(model: str) -> tuple[str, tuple[int, int]]:
    found = _MODEL.search(model)
    if found is None:
        return "", (0, 0)
    return found[1], (int(found[2]), int(found[3] or 0))


class Messages(list[dict[str, object]]):
    """The messages of a request; equal turns become equal messages, whenever they are added.

    Args:
        deferred: Names of the deferred tools of the request.
        system: True if system messages can stand between others.
    """

    def __init__(self, deferred: frozenset[str], *, system: bool) -> None:
        super().__init__()
        self.system: list[dict[str, object]] = []
        """The request's `system`: the instructions before the first message."""
        self._deferred = deferred
        self._takes_system = system

    def add(self, turn: Turn) -> Sequence[dict[str, object]]:
        """Add a turn, and return the results of tools in it.

        Raises:
            PromptConfigurationError: The model takes no system message there.
        """
        match turn:
            case SystemTurn() | DeveloperTurn():
                self._add_system(turn.text)
            case UserTurn():
                self._add_user(turn)
            case AssistantTurn():
                content = _assistant(turn)
                if content:
                    self.append({"role": "assistant", "content": content})
            case ToolTurn():
                return self._add_results(turn)
        return ()

    def keep(self, cuts: Cuts) -> None:
        """Set the breakpoints of the prompt that the conversation begins with."""
        self.system[:] = [
            piece for block in self.system for piece in _pieces(block["text"], cuts) or (block,)
        ]
        for message in self:
            if message["role"] == "user" and (pieces := _pieces(message["content"], cuts)):
                message["content"] = pieces
                return

    def checked(self) -> Messages:
        """Return the messages themselves.

        Raises:
            PromptConfigurationError: There are none.
        """
        if not self:
            raise PromptConfigurationError(
                "The prompt has no message of the user, which Anthropic's API needs: give it a "
                "section with the role `user`, or a conversation with `.user(…)`."
            )
        return self

    def _add_system(self, text: str) -> None:
        if not self:
            self.system.append({"type": "text", "text": text})
            return
        if not self._takes_system:
            raise PromptConfigurationError(
                "The model takes instructions only at the beginning of a conversation; say it in "
                "the user's turn, or choose a model that takes system messages in between."
            )
        if self[-1]["role"] == "assistant":
            raise PromptConfigurationError(
                "An instruction within a conversation comes after the user's turn, not after the "
                "model's."
            )
        self.append({"role": "system", "content": text})

    def _add_user(self, turn: UserTurn) -> None:
        if self and self[-1]["role"] == "system":
            raise PromptConfigurationError(
                "Only the model's turn can follow an instruction within a conversation: say it "
                "after the user's turn."
            )
        match turn.parts:
            case (str() as text,):
                self.append({"role": "user", "content": text})
            case parts:
                self.append({"role": "user", "content": [_part(part) for part in parts]})

    def _add_results(self, turn: ToolTurn) -> Sequence[dict[str, object]]:
        results: list[dict[str, object]] = []
        texts: list[dict[str, object]] = []
        for answer in turn.answers:
            references = [name for name in answer.tools if name in self._deferred]
            results.append(_result(answer, references))
            if references:
                # The API takes no other content beside references, so the text follows the results.
                texts.append({"type": "text", "text": answer.text})
        self.append({"role": "user", "content": [*results, *texts]})
        return results


def _pieces(text: object, cuts: Cuts) -> list[dict[str, object]]:
    """The blocks of a text, a breakpoint at the end of each but the last; none without any."""
    *kept, last = cuts.pieces(text) or ("",)
    blocks: list[dict[str, object]] = [
        {"type": "text", "text": piece, "cache_control": EPHEMERAL} for piece in kept
    ]
    return [*blocks, {"type": "text", "text": last}] if last else blocks


def _result(answer: ToolAnswer, references: Sequence[str]) -> dict[str, object]:
    content: object = answer.text
    if references:
        content = [{"type": "tool_reference", "tool_name": name} for name in references]
    return {
        "type": "tool_result",
        "tool_use_id": answer.call_id,
        "content": content,
        "is_error": not answer.success,
    }


def _assistant(turn: AssistantTurn) -> Sequence[Mapping[str, object]]:
    if turn.provider == "anthropic" and turn.native is not None:
        return list(turn.native)
    content: list[Mapping[str, object]] = []
    if turn.text:
        content.append({"type": "text", "text": turn.text})
    for call in turn.calls:
        arguments = call.arguments
        content.append(
            {
                "type": "tool_use",
                "id": call.id,
                "name": call.name,
                "input": _object(arguments) if isinstance(arguments, str) else arguments,
            }
        )
    return content


def _object(arguments: str) -> object:
    """Return arguments that another provider gave as text."""
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {"arguments": arguments}
    return value if isinstance(value, dict) else {"arguments": value}


def _part(part: str | Image | File) -> dict[str, object]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    source: dict[str, object] = (
        {"type": "url", "url": part.url}
        if part.data is None
        else {"type": "base64", "media_type": part.media_type, "data": part.data}
    )
    if isinstance(part, Image):
        return {"type": "image", "source": source}
    if part.data is not None and part.media_type.startswith("text/"):
        text = base64.b64decode(part.data).decode("utf-8", "replace")
        source = {"type": "text", "media_type": "text/plain", "data": text}
    elif part.data is not None and part.media_type != "application/pdf":
        raise PromptConfigurationError(
            f"Anthropic's API takes PDF and text files, not {part.media_type!r} ({part.name!r})."
        )
    document: dict[str, object] = {"type": "document", "source": source}
    return document | ({"title": part.name} if part.name else {})
