"""Where a request asks a provider to keep its beginning, by the prompt's cache plan."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from foldline.prompts.cache.cache_plan import TOOLS, CacheRules
from foldline.prompts.roles import Role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.prompts.layout.messages import PromptMessage
    from foldline.prompts.rendered import RenderedPrompt

# Both providers write up to four prefixes; one place is for the end of the request, which moves.
_EXPLICIT = 3
_MINIMUMS: Mapping[int, tuple[str, ...]] = {
    512: ("opus-5", "sonnet-5-5", "haiku-5-5", "fable-5", "mythos-5"),
    2_048: ("mythos-preview", "opus-4-7", "haiku-3-5"),
    4_096: ("opus-4-6", "opus-4-5", "haiku-4-5"),
}
_ROLES = tuple(Role)
_GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?")


def anthropic_rules(model: str) -> CacheRules:
    """What Anthropic keeps for a model: a prefix of 512 to 4,096 tokens or more."""
    minimum = next(
        (tokens for tokens, names in _MINIMUMS.items() if any(name in model for name in names)),
        1_024,
    )
    return CacheRules(_EXPLICIT, minimum)


def openai_rules(model: str) -> CacheRules:
    """What OpenAI keeps for a model; those before GPT-5.6 take no breakpoints."""
    generation = gpt_generation(model)
    takes = generation is not None and generation >= (5, 6)
    return CacheRules(_EXPLICIT if takes else 0)


def gpt_generation(model: str) -> tuple[int, int] | None:
    """Return the version of a GPT model by its name, such as (5, 6); None for other names."""
    found = _GPT.search(model)
    return None if found is None else (int(found[1]), int(found[2] or 0))


class Cuts:
    """The breakpoints of a prompt, in its messages as they are sent.

    Args:
        rendered: The prompt.
        rules: Those of the provider and the model.
        tools: The definitions of the tools, as they are sent.
    """

    def __init__(
        self,
        rendered: RenderedPrompt[Any],
        rules: CacheRules,
        tools: Sequence[Mapping[str, object]],
    ) -> None:
        plan = rendered.cache_plan(rules=rules, tools=tools, goes_on=False)
        kept = [mark for mark in plan.breakpoints if mark.kept]
        self.after_tools = any(mark.part == TOOLS for mark in kept)
        """Whether the tools are kept by themselves."""
        offsets = [mark.offset for mark in kept if mark.part != TOOLS]
        self._pieces = {
            message.text: _cut(message.text, places)
            for message in rendered.messages
            if (places := _within(message, offsets))
        }

    def pieces(self, text: object) -> Sequence[str] | None:
        """Return a message's text in pieces, a breakpoint after each but the last.

        None if there is none in it. The last piece is empty where the message ends in one.
        """
        return self._pieces.get(text) if isinstance(text, str) else None


def keep_prefix(messages: Sequence[dict[str, object]], cuts: Cuts, kind: str) -> None:
    """Set the breakpoints of the prompt that OpenAI's messages begin with.

    Its texts become parts of this type.
    """
    for message in messages:
        if message.get("role") not in _ROLES:
            return
        if pieces := cuts.pieces(message["content"]):
            message["content"] = _text_parts(pieces, kind)


def _text_parts(pieces: Sequence[str], kind: str) -> list[dict[str, object]]:
    """Return the pieces of a text as OpenAI takes them, as parts of this type."""
    *kept, last = pieces
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    parts: list[dict[str, object]] = [{"type": kind, "text": piece, **mark} for piece in kept]
    return [*parts, {"type": kind, "text": last}] if last else parts


def _cut(text: str, places: Sequence[int]) -> list[str]:
    """Return the pieces of a text between places in it, its end included."""
    return [text[start:end] for start, end in pairwise((0, *places, len(text)))]


def _within(message: PromptMessage, offsets: Sequence[int]) -> list[int]:
    """The places in a message's text; what separates it from the next one counts as its end."""
    found = {
        min(offset, message.span.end) - message.span.start
        for offset in offsets
        if message.span.start < offset <= message.span.end + len("\n\n")
    }
    return sorted(found)
