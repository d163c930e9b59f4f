"""Tells uses of a name's several definitions apart: by their receivers, imports and places."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from posixpath import dirname

from foldline.backends.base.languages import language_of
from foldline.backends.formatting.text import column_in
from foldline.backends.models import Reference, ReferenceKind
from foldline.backends.references.hierarchy import Hierarchy, fit, modules_of
from foldline.backends.references.spelling import key_of, word_of

# `name.`, `mod.T::` or `T(…).`; any other receiver has no name.
_RECEIVER = re.compile(r"(?:(?<![\w.)\]}>:@])(\w[\w.:]*)(\([^()]*\))?)?[?!]?(?:\.|->|::)\s*\Z")
_SELF = frozenset({"self", "this", "cls", "Self"})
_EXPLICIT = frozenset({"python", "go", "rust", "typescript", "tsx", "javascript", "php", "c"})
_STD = re.compile(r"(?:(?:std|core|alloc)|(?:Box|Option|Result|String|Vec)(?=\.\w+\Z))\.")
# What another type may be without a word, or what makes types.
_ABSTRACT = re.compile(r"\b(?:interface|trait|[Pp]rotocol)\b|=")
# How a name is bound to one plain type. Every other mention of it, but for its members, is a doubt.
# A pattern that begins with the name is looked for several times faster than one that looks behind.
_FROM_NAME = (
    r"{{0}}(?:(?<![\w.$*]{{0}})(?:{})|(?<![\w.$]{{0}})(?<!->{{0}})\b(?!\s*[?!]?(?:\.|->|::)|:\"))"
)
_BOUND = {
    "python": _FROM_NAME.format(
        r": *[\"']?([\w.]+)[\"']? *(?=[,)=\n])| = ([\w.]+)\([^()\n]*\) *(?=[#\n])"
    ),
    "go": _FROM_NAME.format(
        r" (?:\*?([\w.]+) *(?=[,)=\n])|:= &?([\w.]+)\{{[^{{}}\n]*\}}(?=[;\n]))"
    ),
    "": r"(?<![\w.$*])(?:{0}\??: *(?:&|mut )*([\w.:]+) *(?=[,)=;\n])"
    r"|([A-Z]\w*)[ *&]+{0}(?=\s*[,)=;])"
    r"|(?:const|let|va[lr]) {0} = (?:new )?([\w.]+)\([^()\n]*\)(?=[;\n]))"
    r"|(?<![\w.$])(?<!->){0}\b(?!\s*[?!]?(?:\.|->|::)|:\")",
}
# How badly a definition explains a use without a receiver; those that an import leads to are below.
_NEAR, _NOT = 5, 7
# So many uses without a type that is known are read one by one.
_FEW = 8


async def told_apart(
    uses: Iterable[Reference],
    name: str,
    every: Iterable[Reference],
    meant: set[tuple[str, int]],
    types: Hierarchy,
) -> tuple[Reference, ...]:
    """The uses: first the files with some that only the `meant` definitions explain, tests last.

    Possible ones that another among `every` use is known to explain have the tier `another`, and
    many unsure ones `unnamed` where their file doesn't have the word for what a definition is in.
    """
    owner, _, last = name.rpartition(".")
    word = key_of(last)
    sides: list[list[Reference]] = [[], []]
    for one in every:
        if one.kind == ReferenceKind.DEFINITION:
            sides[_place(one) not in meant].append(one)
    owners = {(one.path, one.enclosing) for one in sides[False] if one.enclosing}
    no_variable = bool(sides[False]) and not any(map(_is_variable, sides[False]))
    by_type: dict[tuple[str, str], int | None] = {}
    ranked: list[tuple[Reference, int]] = []
    best: dict[str, int] = {}
    for use in uses:
        rank = -1
        if use.kind == ReferenceKind.DEFINITION:
            rank = -2 if _place(use) in meant else 1
        elif use.tier == "possible" and no_variable and _is_variable(use):
            rank = 1
        elif use.tier == "possible":
            receiver, of = _receiver(use, types) if sides[True] else ("?", "")
            key = (use.path, of)
            if of and key not in by_type:
                by_type[key] = await _of_type(key, word, meant, owners, types)
            if of and (of_type := by_type[key]) is not None:
                rank = of_type
            else:
                sure = not receiver or receiver == of
                rank = _by_name(use, f"{receiver}.{word}".strip("."), sides, types) if sure else 0
                if not (rank or owners) and receiver and use.path.endswith((".py", ".go")):
                    # A function is reached through its module.
                    rank = int(any(one.enclosing for one in sides[True]))
        ranked.append((use, rank))
        best[use.path] = min(rank, best.get(use.path, rank))
    words = {word_of(one.rpartition(".")[2]) for one in (owner, *(inside for _, inside in owners))}
    is_member = bool(owners) and all(one.enclosing for one in sides[False])
    is_many = is_member and sum(not rank for _, rank in ranked) > _FEW
    named = {path for path in best if not is_many or types.has_word(path, words)}

    def tier(use: Reference, rank: int) -> str:
        if use.tier != "possible" or rank < 0:
            return use.tier
        return "another" if rank else "possible" if use.path in named else "unnamed"

    ranked.sort(key=lambda one: (one[0].test, best[one[0].path]))
    return tuple(replace(use, tier=tier(use, rank)) for use, rank in ranked)


async def _of_type(
    key: tuple[str, str],
    word: str,
    meant: set[tuple[str, int]],
    owners: Iterable[tuple[str, str]],
    types: Hierarchy,
) -> int | None:
    """-1 if a member of the type is meant, 1 if it is another, 0 if unsure; None without a type."""
    called = await types.types_called(key[1], key[0])
    members = [(await types.member(one, word)).found for one in called]
    if not any(members):
        return None
    if any((one.path, one.line) in meant for group in members for one in group):
        return -1
    kin = {base for one in called for base in await _above(one.path, one.name, types)}
    names = {one.name.rpartition(".")[2] for one in called}
    for path, owner in owners:
        if owner.rpartition(".")[2] in kin or names & await _above(path, owner, types):
            return 0
    unsure = any(_ABSTRACT.search(one.located.symbol.signature) for one in called)
    return int(all(members) and not unsure)


async def _above(path: str, name: str, types: Hierarchy) -> set[str]:
    """The last names of the bases of a file's type."""
    return {
        (base if isinstance(base, str) else base.name).rpartition(".")[2]
        for one in await types.types_called(name, path)
        for base in (await types.order(one))[1:]
    }


def _by_name(use: Reference, name: str, sides: list[list[Reference]], types: Hierarchy) -> int:
    """-1 if imports and places say that a name is the one that is meant, 1 if another is."""
    imports, word = types.read(use.path)[0], name.rpartition(".")[2]
    names = modules_of(imports, name)
    first = name.partition(".")[0]
    mentioned = "::" in use.context or first in re.split(r"\W", f"{imports}")
    if not names and name != word and (mentioned or first[0].isupper()):
        # A type or a namespace that is written out.
        names = [name]
    if names and use.path.endswith(".rs") and all(map(_STD.match, names)):
        return 1
    same, other = (
        min(
            min((_fit(one, word, names) for one in side), default=_NOT),
            _NEAR if name == word and any(_is_known(one, use) for one in side) else _NOT,
        )
        for side in sides
    )
    return (same > other) - (same < other)


def _fit(one: Reference, word: str, names: Iterable[str]) -> int:
    """The rank of a definition's fit to the best of some dotted names; 0 is best."""
    qualified = f"{one.enclosing}.{word}".strip(".")
    ranks = (fit(one.path, qualified, name) for name in names)
    return min((rank + 1 for rank in ranks if rank is not None), default=_NOT)


def _is_variable(use: Reference) -> bool:
    """Return True for a variable of PHP: `$name` is never a method or a class."""
    before = use.context[: column_in(use.context, use.column - 1)]
    return use.path.endswith(".php") and before.endswith("$") and not before.endswith("::$")


def _place(use: Reference) -> tuple[str, int]:
    return use.path, use.line


def _receiver(use: Reference, types: Hierarchy) -> tuple[str, str]:
    """The receiver as it is written, and its type where that is certain; `?` for an expression."""
    before = use.context[: column_in(use.context, use.column - 1)]
    match = _RECEIVER.search(before)
    language = language_of(use.path)
    if match is None and language in _EXPLICIT:
        return "", ""
    name = (match[1] or "").replace("::", ".") if match else "this"
    if not match or (name in _SELF and not match[2]):
        return name * bool(match), use.enclosing.rpartition(".")[0]
    if not name or match[2] or name[0].isupper():
        return f"{name}()" if match[2] else name or "?", name
    _, symbols, lines = types.read(use.path)
    around = [
        lines[one.located.symbol.line - 1 : one.located.symbol.line_end]
        for one in symbols
        if one.name == use.enclosing
        and one.located.symbol.line <= use.line <= one.located.symbol.line_end
    ]
    text = "".join(f"{line}\n" for lines in around for line in lines)
    bound = _types_of(text, name.partition(".")[0], language)
    if not bound:
        return name, name
    return name, "".join(bound).replace("::", ".") if len(bound) == 1 and "." not in name else ""


# The uses in a function follow each other.
@lru_cache(maxsize=64)
def _types_of(text: str, name: str, language: str) -> frozenset[str]:
    """The types that a name is bound to in a definition; an empty one for any other mention."""
    pattern = _BOUND.get(language, _BOUND[""]).format(re.escape(name))
    return frozenset("".join(one.groups("")) for one in re.finditer(pattern, text))


def _is_known(one: Reference, use: Reference) -> bool:
    """Return whether a definition is known at a use without an import or a receiver."""
    if one.path == use.path:
        return not one.enclosing or f"{use.enclosing}.".startswith(f"{one.enclosing}.")
    in_package = use.path.endswith(".go") and dirname(one.path) == dirname(use.path)
    return in_package and not one.enclosing
