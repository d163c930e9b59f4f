"""Enums of a workspace: what a member of theirs shows as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.syntax import Attribute
from foldline.ide.analysis.values import ClassValue, External

if TYPE_CHECKING:
    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.syntax import Expression

PLAIN_ENUM = "plain"
MIXED_ENUM = "mixed"
TEXT_ENUM = "text"
OWN_ENUM = "own"

_BASES = {
    "enum.Enum": PLAIN_ENUM,
    "enum.Flag": PLAIN_ENUM,
    "enum.StrEnum": TEXT_ENUM,
    "enum.IntEnum": TEXT_ENUM,
    "enum.IntFlag": TEXT_ENUM,
    "enum.ReprEnum": OWN_ENUM,
}
_DEPTH = 20


def enum_of(evaluator: Evaluator, value: ClassValue, depth: int = 0) -> str:
    """Return which kind of enum a class is; empty if it isn't one.

    The members of a `TEXT_ENUM` show their values, those of a `PLAIN_ENUM` their names. So do those
    of a `MIXED_ENUM` (`class Mixed(str, Enum)`), though they are their values, too. An `OWN_ENUM`
    has its own `__str__`.
    """
    kind, mixed = "", False
    for base in value.definition.bases:
        above = evaluator.value(base, value.scope)
        if isinstance(above, External):
            kind = kind or _BASES.get(above.dotted, "")
            mixed = mixed or above.dotted in ("builtins.str", "builtins.int")
        elif isinstance(above, ClassValue) and depth < _DEPTH:
            kind = kind or enum_of(evaluator, above, depth + 1)
    if not kind:
        return ""
    if "__str__" in evaluator.body(value.definition, value.scope).names:
        return OWN_ENUM
    return MIXED_ENUM if mixed and kind == PLAIN_ENUM else kind


def shows_name(evaluator: Evaluator, node: Expression, scope: Scope) -> bool:
    """Return True for a member of an enum that is a text or number, but shows another text."""
    if not isinstance(node, Attribute):
        return False
    owner = evaluator.value(node.value, scope)
    return isinstance(owner, ClassValue) and enum_of(evaluator, owner) in (MIXED_ENUM, OWN_ENUM)
