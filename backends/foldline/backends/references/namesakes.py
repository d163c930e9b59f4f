"""Which of several definitions of a name its uses mean: by their receivers, imports and places."""

from __future__ import annotations

import re
from dataclasses import replace
from posixpath import dirname
from typing import TYPE_CHECKING

from foldline.backends.formatting.text import column_in
from foldline.backends.models import Reference, ReferenceKind
from foldline.backends.references.hierarchy import fit, modules_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldline.backends.references.hierarchy import Hierarchy

_RECEIVER = re.compile(r"(\w*)[\])]*[?!]?(?:\.|->|::)\s*\Z")
_SELF = frozenset({"self", "this", "cls", "Self"})
# `name: T`, `name = T(…)`, `name := &T{`, `with T() as name`, Go's `name *T`, and C's `T name`.
_TYPED = (
    r"\b{0}(?: *\??:| *:?=(?!=)) *(?:[&*\[\]\"']|(?:new|mut|dyn|await) )*([\w.:]*\w)(?!.*\)\.)"
    r"|\b([\w.]*\w)\([^()]*\) as {0}\b"
    r"|\b{0} +\*?((?:\w+\.)?\w+)(?=[,){{ ])|\b([A-Z]\w*)(?:<[^<>\n]*>)?[ *&]+{0}\b"
)
_MOST_ABOVE, _LONGEST = 120, 300
# How badly a definition explains a use; those that a type or an import leads to are below.
_NEAR, _MEMBER, _NOT = 5, 6, 7


async def told_apart(
    uses: Iterable[Reference],
    word: str,
    every: Iterable[Reference],
    meant: set[tuple[str, int]],
    types: Hierarchy,
) -> tuple[Reference, ...]:
    """The uses: first the files with some that only the `meant` definitions explain, tests last.

    Possible ones that others among `every` use explain better have the tier `another`.
    """
    sides: list[list[Reference]] = [[], []]
    for one in every:
        if one.kind == ReferenceKind.DEFINITION:
            sides[_place(one) not in meant].append(one)
    if not sides[True]:
        return tuple(uses)
    known: dict[tuple[str, str], set[tuple[str, int]]] = {}
    fits: dict[tuple[str, str], list[int]] = {}
    ranked: list[tuple[Reference, int]] = []
    best: dict[str, int] = {}
    for use in uses:
        before = use.context[: column_in(use.context, use.column - 1)]
        is_definition = use.kind == ReferenceKind.DEFINITION
        receiver = None if is_definition else _RECEIVER.search(before)
        members = {_place(use)}
        if receiver:
            key = (use.path, _type_of(use, receiver[1], types))
            if key not in known:
                known[key] = {(one.path, one.line) for one in await types.members(*key, word)}
            members = known[key]
        key = (use.path, f"{receiver[1]}.{word}" if receiver else word)
        if key not in fits:
            names = [key[1]] * bool(receiver) + modules_of(types.read(use.path)[0], key[1])
            fits[key] = [
                min((_fit(one, word, names) for one in side), default=_NOT) for side in sides
            ]
        own, other = (
            0
            if any(_place(one) in members for one in side)
            else min(
                rank,
                _MEMBER if receiver and any(one.enclosing for one in side) else _NOT,
                _NEAR if not receiver and any(_is_known(one, use) for one in side) else _NOT,
            )
            for side, rank in zip(sides, fits[key], strict=True)
        )
        rank = (own > other) - (own < other)
        ranked.append((use, rank))
        rank -= 2 * (_place(use) in meant)
        best[use.path] = min(rank, best.get(use.path, rank))
    return tuple(
        replace(use, tier="another") if rank > 0 and use.tier == "possible" else use
        for use, rank in sorted(ranked, key=lambda one: (one[0].test, best[one[0].path]))
    )


def _fit(one: Reference, word: str, names: Iterable[str]) -> int:
    """How badly a definition fits the best of some dotted names."""
    whole = f"{one.enclosing}.{word}".strip(".")
    ranks = (fit(one.path, whole, name) for name in names)
    return min((rank + 1 for rank in ranks if rank is not None), default=_NOT)


def _place(use: Reference) -> tuple[str, int]:
    return use.path, use.line


def _type_of(use: Reference, receiver: str, types: Hierarchy) -> str:
    """The type of a receiver where the lines above tell it, or an empty string."""
    if not receiver or receiver in _SELF:
        return use.enclosing.rpartition(".")[0] if receiver else ""
    above = types.read(use.path)[2][max(use.line - _MOST_ABOVE, 0) : use.line]
    typed = re.findall(_TYPED.format(receiver), "\n".join(line[:_LONGEST] for line in above))
    # Of `T::new` and `mod.T` it is T.
    return re.sub(r"\.[a-z_]\w*\Z", "", "".join(typed[-1]).replace("::", ".")) if typed else ""


def _is_known(one: Reference, use: Reference) -> bool:
    """Return whether a definition is known at a use without an import or a receiver."""
    if one.path == use.path:
        return not one.enclosing or f"{use.enclosing}.".startswith(f"{one.enclosing}.")
    in_package = use.path.endswith(".go") and dirname(one.path) == dirname(use.path)
    return in_package and not one.enclosing
