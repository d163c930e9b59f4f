"""Redaction: takes keys, tokens and addresses out of texts before they are kept or exported."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

__all__ = ["PATTERNS", "Redact", "Redaction", "redacted"]

Redact: TypeAlias = Callable[[str], str]
"""A redaction hook: returns a text without what mustn't be kept. `str` changes nothing."""

# No pattern looks twice at a long run of letters: each begins where such a run does, or its length
# is bounded. So the base64 of an image costs no more than reading it.
_BEGIN = r"(?:(?<![\w-])|(?<=\\[nrt]))"
_SECRET = (
    r"pass(?:word|wd|phrase)|secret|(?:api|access|private|account)[_-]?key|credentials?|"
    r"(?:access|auth|refresh|session|id|bearer|api)[_-]?token"
)
_SECRET_NAME = re.compile(rf"(?i)(?:.*[_-])?(?:{_SECRET}|token|authorization|(?:set-)?cookie)")

PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "key": r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?s:.*?)(?:-----END [A-Z ]{0,30}KEY-----|\Z)"
        rf"|{_BEGIN}(?:sk-[\w-]{{16,}}|[srp]k_(?:live|test)_\w{{16,}}|A[KS]IA[0-9A-Z]{{16}}|"
        r"gh[pousr]_\w{30,}|github_pat_\w{22,}|glpat-[\w-]{20,}|xox[a-z]-[\w-]{10,}|"
        r"xapp-[\w-]{10,}|AIza[\w-]{35}|(?:hf|gsk|npm)_\w{30,}|(?:xai|pplx|pypi|pat)-[\w-]{30,}|"
        r"SG\.[\w-]{16,}\.[\w-]{16,})"
        rf"|(?i:(?:{_SECRET})\\?[\"']?\s{{0,9}}[:=]\s{{0,9}})(?:\\?[\"'](?P<quoted>[^\"'\\\n]+)|"
        r"(?P<bare>(?=\D{0,99}\d)[^\s\"'\\,;&]{6,}))",
        "token": rf"{_BEGIN}eyJ[\w-]{{8,}}\.[\w-]{{8,}}\.?[\w-]*"
        r"|(?i:\b(?:bearer|basic)\s{1,9})(?P<carried>(?=\D{0,99}\d)[\w.~+/=-]{16,})"
        r"|(?<=://)[^\s/:@]{0,99}:(?P<password>[^\s/@]{1,99})(?=@)",
        "address": r"(?:(?<![\w.+-])|(?<=\\[nrt]))[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
        r"|(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?!\.?\w)"
        r"|(?i:(?<![\w:])(?:(?:[\da-f]{1,4}:){7}[\da-f]{1,4}|"
        r"(?:[\da-f]{1,4}:){2,6}(?::[\da-f]{1,4}){1,5})(?![\w:]))",
    }
)
"""Ready patterns by what they find: providers' keys, and values that are named as secrets;
bearer tokens, JSON web tokens, passwords in URLs; addresses of mail and of IP."""

_log = logging.getLogger(__name__)


class Redaction:
    """Replaces what patterns find by its name, such as `[key]`.

    >>> redact = Redaction({**PATTERNS, "customer": "C-[0-9]{6}"})
    >>> redact("C-204611 (ann@example.com) has OPENAI_API_KEY=sk-proj-4f9aXkeWm20qLqpT")
    '[customer] ([address]) has OPENAI_API_KEY=[key]'

    A pattern can find no more than it knows: a name, or a password in a sentence, stays.

    Args:
        patterns: Regular expressions by name. If groups with names match, they alone are replaced.

    Raises:
        re.error: One isn't a regular expression.
    """

    def __init__(self, patterns: Mapping[str, str] = PATTERNS) -> None:
        self._patterns = [(f"[{name}]", re.compile(text)) for name, text in patterns.items()]

    def __call__(self, text: str) -> str:
        """Return the text with what the patterns find replaced."""
        for name, pattern in self._patterns:
            text = pattern.sub(partial(_without, name), text)
        return text


def _without(name: str, match: re.Match[str]) -> str:
    start, end = match.span(match.lastgroup or 0)
    return match.string[match.start() : start] + name + match.string[end : match.end()]


def redacted(value: object, redact: Redact | None) -> object:
    """Return JSON with each of its texts redacted; None changes nothing.

    Under a name such as `password`, a `Redaction` replaces the whole text. Where a hook fails, its
    error's name stands for the text, which is not kept.
    """
    if redact is None:
        return value
    if isinstance(value, str):
        try:
            return str.__str__(redact(value))
        except Exception as error:
            # Its message may quote the text.
            _log.warning("A redaction hook raised %s", type(error).__name__)
            return f"[not redacted: {type(error).__name__}]"
    if isinstance(value, Mapping):
        hides = isinstance(redact, Redaction)
        return {
            redacted(name, redact): "[key]"
            if hides and isinstance(item, str) and _SECRET_NAME.fullmatch(str(name))
            else redacted(item, redact)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [redacted(item, redact) for item in value]
    return value
