"""Signatures in fewer bytes, in any language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def brief_signature(name: str, signature: str) -> str:
    """The signature without annotations, defaults, type parameters and what is returned.

    Itself where it has nothing of the kind, or isn't understood.

    >>> brief_signature("f", "async def f(a: int = 3, *, b: list[str]) -> None")
    'async def f(a, *, b)'
    >>> brief_signature("f", "export function f<T>(a?: T, ...b: [A, B]): Promise<void>")
    'export function f(a, ...b)'
    >>> brief_signature("LIMIT", "LIMIT: int = 3")
    'LIMIT'
    """
    leaf = name.rpartition(".")[2] or name
    found = re.search(rf"(?<!\w){re.escape(leaf)}(?!\w)", signature)
    if found is None:
        return signature
    before, after = signature[: found.end()], signature[found.end() :]
    opening = after.find("(")
    between = after[:opening].strip() if opening >= 0 else after.strip()
    if opening >= 0 and (not between or between[0] in "<[=:"):
        names = [_before(part, ":=")[0] for part in _parameters(after[opening + 1 :])]
        return f"{before}({', '.join(filter(None, names))})"
    return before if between[:1] in {"=", ":", "?"} else signature


def _parameters(text: str) -> Iterator[str]:
    """The parameters up to the parenthesis that ends them, or to the end of the text."""
    more = True
    while more:
        parameter, text = _before(text, ",")
        yield parameter
        more = text.startswith(",")
        text = text[1:]


def _before(text: str, ends: str) -> tuple[str, str]:
    """The text up to one of the characters outside of all brackets, and the rest."""
    depth = 0
    for at, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or (character == ">" and text[at - 1 : at] not in {"=", "-"}):
            depth -= 1
        if depth < 0 or (not depth and character in ends):
            return text[:at].strip().removesuffix("?"), text[at:]
    return text.strip(), ""
