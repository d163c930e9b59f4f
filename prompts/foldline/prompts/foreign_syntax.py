"""Finds the syntax of other template languages in template texts, which renders as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

_FOREIGN = re.compile(
    r"(?<![{$])\{\{(?!\{)[#/^&>~-]?(?P<double>[^{}\n]+?)[~-]?\}\}(?!\})"
    r"|\{%(?P<tag>[^{}\n]+?)%\}"
    # `{name:03d}`, but no `{name: a type}` of a schema, and no `/{name}` of an address.
    r"|(?<![{$/\\])\{(?P<single>[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*|\[[^\]{}\s]+\])*(?:![rsa])?"
    r"(?::[^\s{}]?[<>=^]?[-+ #]?[\d,_.]+[a-zA-Z%]?)?\}(?!\})"
)
_WORD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*(?![\"'])")
_LEADING = re.compile(r"\s*(?:(?:#?if|#?each|#?with|#?unless)\s+)?([A-Za-z_]\w*)")
# The start of an f-string is looked for in this many characters before a match.
_FAR = 1_000
_IN_F_STRING = re.compile(r"\b[fF][rR]?(?:\"[^\"\n]*|'[^'\n]*)\Z")
# Between backticks there is code, which may well be of another template language.
_CODE = re.compile(
    r"^(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^\1|\Z)|(?<!`)(`++)[^\n]*?(?<!`)\2(?!`)", re.M | re.S
)


def occurrences(text: str, fields: Container[str]) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each `{{ name }}`, `{% if name %}` and `{name}` in a text, and the field that it means.

    `fields` lacks those that the text has as `${name}`: its author knows how to write them.
    """
    outside = ""
    for match in _FOREIGN.finditer(text):
        name = _field(match, fields)
        if name is None:
            continue
        start = match.start()
        outside = outside or _CODE.sub(lambda code: " " * len(code[0]), text)
        if outside[start] != " " and not _IN_F_STRING.search(text, max(start - _FAR, 0), start):
            yield match, name


def message(match: re.Match[str], name: str) -> str:
    """Return what a model reads of a match about the field `name`, and what to write instead."""
    if match["tag"] is not None:
        advice = "conditions and loops are sections with `enabled`, or a text computed in a field"
    else:
        advice = f"write `${{{name}}}` for the field"
    return f"`{match[0]}` is another template language, and renders as it is: {advice}."


def _field(match: re.Match[str], fields: Container[str]) -> str | None:
    """Return the field that a match is about."""
    if match["tag"] is not None:
        words = (word for word in _WORD.findall(match["tag"]) if word in fields)
        return next(words, None)
    if match["single"] is not None:
        return match["single"] if match["single"] in fields else None
    leading = _LEADING.match(match["double"])
    return leading[1] if leading is not None and leading[1] in fields else None
