"""JSON with comments and trailing commas, as the configurations of many programs have it."""

from __future__ import annotations

import re

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)|[^\s"]', re.DOTALL)


def without_comments(text: str) -> tuple[str, str]:
    """The text without its comments, and also without trailing commas, each of the same length.

    Blanks stand in their place. An unclosed comment is kept, so that parsing fails there.
    """
    before, comma = "", None
    commented, strict = list(text), list(text)
    for match in _TOKEN.finditer(text):
        token, at = match[0], match.start()
        if token.startswith("/*") and (len(token) < 4 or not token.endswith("*/")):
            break
        if token.startswith(("//", "/*")):
            blank = re.sub(r"[^\n]", " ", token)
            commented[at : match.end()] = strict[at : match.end()] = blank
            continue
        if comma is not None and token in "}]":
            strict[comma] = " "
        comma = at if token == "," and before not in ("", "{", "[", ",", ":") else None
        before = token
    return "".join(commented), "".join(strict)
