"""Redaction: takes keys, tokens and addresses out of texts before they are kept or exported."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

Redact: TypeAlias = Callable[[str], str]
"""A redaction hook: returns a text without what mustn't be kept. `str` changes nothing."""

# Each pattern starts at the start of a run of letters, or has a bounded length, so that matching
# stays linear in long base64. In quoted JSON the `n` of `\n` isn't part of a word.
_BEGIN = r"(?:(?<![\w-])(?!(?<=\\)[nrt])|(?<=\\[nrt]))"
_NAME = (
    r"(?:pass(?:word|wd|phrase)|secret|credentials?|"
    r"(?:access|account|api|auth|bearer|private|refresh|session)[_-]?(?:key|token))"
)
SECRET = 500
"""Characters of a text that may be a secret as a whole."""
PATTERNS: Mapping[str, str] = {
    "key": r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?s:.*?)(?:-----END [A-Z ]{0,30}KEY-----|\Z)"
    rf"|{_BEGIN}(?:sk-[\w-]{{16,}}|[srp]k_(?:live|test)_\w{{16,}}|A[KS]IA[0-9A-Z]{{16}}|"
    r"(?:gh[pousr]|github_pat|gsk|hf|npm)_\w{22,}|(?:glpat|pypi|xai|xox[a-z])-[\w-]{20,}|"
    r"AIza[\w-]{35})"
    rf"|{_BEGIN}[\w-]{{0,40}}?(?i:{_NAME}\\?[\"']?\s{{0,9}}[:=]\s{{0,9}})"
    r"(?:(?P<by>\\?[\"'])(?:(?!(?P=by))(?:\\{4}|\\{3}.|\\.|.))+|(?=\S{0,99}\d)[^\s\"'\\,;&]{6,})",
    "token": rf"{_BEGIN}eyJ[\w-]{{8,}}\.[\w-]{{8,}}\.?[\w-]*"
    r"|\b(?i:bearer|basic)\s{1,9}(?=\S{0,99}\d)[\w.~+/=-]{16,}"
    r"|(?<=://)[^\s/:@]{0,99}:[^\s/@]{1,99}(?=@)",
    "address": rf"{_BEGIN}[\w.+-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}})+"
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w)"
    r"|(?i:(?<![\w:])(?:(?:[\da-f]{1,4}:){7}[\da-f]{1,4}|"
    r"(?:[\da-f]{1,4}:){2,6}(?::[\da-f]{1,4}){1,5})(?![\w:]))",
}
"""Ready patterns: providers' keys and values named as secrets, with the names; bearer tokens, JSON
web tokens, and users with passwords in URLs; addresses of mail and of IP."""


class Redaction:
    """Replaces what patterns find by its name, such as `[key]`.

    >>> redact = Redaction({**PATTERNS, "customer": "C-[0-9]{6}"})
    >>> redact("C-204611 (ann@example.com) has OPENAI_API_KEY=sk-proj-4f9aXkeWm20qLqpT")
    '[customer] ([address]) has [key]'

    What no pattern knows, such as a person's name or a password in a sentence, stays.
    """

    def __init__(self, patterns: Mapping[str, str] = PATTERNS) -> None:
        self._patterns = [(f"[{name}]", re.compile(text)) for name, text in patterns.items()]

    def __call__(self, text: str) -> str:
        """Return the text with what the patterns find replaced."""
        for name, pattern in self._patterns:
            text = pattern.sub(name, text)
        return text


def redacted(value: object, redact: Redact | bool, name: object = "") -> object:
    """Return JSON with each of its texts as a hook returns it, or with what the hook raised.

    A short text is given to it by its `name`, too, which may be what says that it's a secret.
    """
    if isinstance(value, str) and callable(redact):
        try:
            text = redact(value)
            if name and text == value[:SECRET]:
                named = redact(f'"{name}": {(quoted := json.dumps(value))}')
                text = text if named.endswith(quoted) else named.strip('"')
            return text
        except Exception as error:
            # Its message may quote the text.
            return f"[not redacted: {type(error).__name__}]"
    if isinstance(value, Mapping):
        return {redacted(key, redact): redacted(item, redact, key) for key, item in value.items()}
    return [redacted(item, redact) for item in value] if isinstance(value, list | tuple) else value
