"""Cache breakpoints of a request, set by the prompt's cache plan."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from foldline.prompts.cache.cache_plan import NOT_TEXT, TOOLS, CacheRules
from foldline.prompts.layout.blocks import PromptMessage
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.roles import Role

# Both providers write up to four prefixes; one place is for the end of the request, which moves.
_EXPLICIT = 3
_MINIMUMS: Mapping[int, tuple[str, ...]] = {
    512: ("opus-5", "sonnet-5-5", "haiku-5-5", "fable-5", "mythos-5"),
    2_048: ("mythos-preview", "opus-4-7", "haiku-3-5"),
    4_096: ("opus-4-6", "opus-4-5", "haiku-4-5"),
}
_ROLES = tuple(Role)
_MARK = {"prompt_cache_breakpoint": {"mode": "explicit"}}
_GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?")


def anthropic_rules(model: str) -> CacheRules:
    """Return Anthropic's rules for a model: it keeps prefixes from 512 to 4,096 tokens on."""
    minimum = next(
        (tokens for tokens, names in _MINIMUMS.items() if any(name in model for name in names)),
        1_024,
    )
    return CacheRules(_EXPLICIT, minimum)


def openai_rules(model: str) -> CacheRules:
    """Return OpenAI's rules for a model; those before GPT-5.6 take no breakpoints."""
    generation = gpt_generation(model)
    takes = generation is not None and generation >= (5, 6)
    return CacheRules(_EXPLICIT if takes else 0)


def gpt_generation(model: str) -> tuple[int, int] | None:
    """Return the version of a GPT model by its name, such as (5, 6); None for other names."""
    version = _GPT.search(model)
    return None if version is None else (int(version[1]), int(version[2] or 0))


class Cuts:
    """The breakpoints of a prompt, in its messages as they are sent, with the tools as sent."""

    def __init__(
        self,
        rendered: RenderedPrompt[Any],
        rules: CacheRules,
        tools: Sequence[Mapping[str, object]],
    ) -> None:
        plan = rendered.cache_plan(rules=rules, tools=tools, goes_on=False)
        kept = [mark for mark in plan.breakpoints if mark.kept]
        self.after_tools = any(mark.part == TOOLS for mark in kept)
        """True if there is a breakpoint behind the tools."""
        offsets = [mark.offset for mark in kept if mark.part not in NOT_TEXT]
        self._pieces = {
            text: [text[start:end] for start, end in pairwise((0, *places, len(text)))]
            for text, places in ((one.text, _within(one, offsets)) for one in rendered.messages)
            if places
        }

    def parts(self, text: object, kind: str, mark: Mapping[str, object]) -> list[dict[str, object]]:
        """Return a message's text as parts of this type, with the mark where a breakpoint is.

        Empty if there is none in it.
        """
        pieces = self._pieces.get(text, ()) if isinstance(text, str) else ()
        parts: list[dict[str, object]] = [{"type": kind, "text": p, **mark} for p in pieces[:-1]]
        # Nothing follows where the message ends in a breakpoint.
        parts += [{"type": kind, "text": piece} for piece in pieces[-1:] if piece]
        return parts


def keep_prefix(messages: Sequence[dict[str, object]], cuts: Cuts, kind: str) -> None:
    """Set the breakpoints of the prompt that OpenAI's messages begin with.

    Its texts become parts of this type.
    """
    for message in messages:
        if message.get("role") not in _ROLES:
            return
        if parts := cuts.parts(message["content"], kind, _MARK):
            message["content"] = parts


def _within(message: PromptMessage, offsets: Sequence[int]) -> list[int]:
    """The places in a message's text; what separates it from the next one counts as its end."""
    counts = {
        min(offset, message.span.end) - message.span.start
        for offset in offsets
        if message.span.start < offset <= message.span.end + len("\n\n")
    }
    return sorted(counts)
