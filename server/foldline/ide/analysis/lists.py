"""Sections that show a list: the dataclass of an item, and the field that has the items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.params import EXAMPLE, HARMLESS_BASES, dataclass_of, params_of
from foldline.ide.analysis.values import (
    UNKNOWN,
    ClassValue,
    Dataclass,
    External,
    Nothing,
    Specialised,
    Text,
    Unknown,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.syntax import Expression
    from foldline.ide.analysis.values import Argument, Field, Value

    Params = Dataclass | Nothing | Unknown

_MODULES = ("builtins", "collections.abc", "typing")
_SEQUENCES = frozenset({"list", "tuple", "List", "Tuple", "Sequence", "MutableSequence"})
_OTHERS = frozenset(
    {
        *("str", "int", "float", "bool", "dict", "set", "frozenset"),
        *("Dict", "Set", "FrozenSet", "AbstractSet", "Mapping", "MutableMapping"),
        *("Iterable", "Iterator", "Collection", "Generator"),
    }
)
_WRAPPERS = frozenset({"typing.Annotated", "typing.Optional"})
_DEPTH = 20


def item_of(
    evaluator: Evaluator, root: str, types: Specialised | None
) -> tuple[Params | None, Expression | None]:
    """Return the dataclass of an item and the expression that names it.

    Args:
        evaluator: Evaluates the type.
        root: The library class of the section; None is returned for one that shows no list.
        types: Its type arguments.
    """
    if root == "ExamplesSection":
        return EXAMPLE, None
    if root != "EachSection":
        return None, None
    if types is None or len(types.arguments) != 2:
        return UNKNOWN, None
    node = types.nodes[1] if len(types.nodes) > 1 else None
    return params_of(evaluator, types.arguments[1]), node


def holds_items(
    evaluator: Evaluator, params: Params, item: Params | None, arguments: Mapping[str, Argument]
) -> bool | None:
    """Return False if the field that `items` names certainly holds no sequence of items.

    None if that isn't known, or if there is no such field.
    """
    argument = arguments.get("items")
    name = argument.value.known if argument and isinstance(argument.value, Text) else None
    if name is None or not isinstance(params, Dataclass) or not isinstance(item, Dataclass):
        return None
    field = params.field(name)
    return None if field is None else field_holds_items(evaluator, field, item)


def field_holds_items(evaluator: Evaluator, field: Field, item: Params | None) -> bool | None:
    """Return False if a field certainly holds no sequence of items; None if that isn't known."""
    if field.hint is None or not isinstance(item, Dataclass) or not item.is_dataclass:
        return None
    annotation, scope = field.hint
    return _is_sequence(evaluator, evaluator.value(annotation, scope), item)


def _is_sequence(evaluator: Evaluator, hint: Value, item: Dataclass) -> bool | None:
    origin = hint.origin if isinstance(hint, Specialised) else hint
    arguments = hint.arguments if isinstance(hint, Specialised) else ()
    if isinstance(origin, ClassValue):
        # A class may be a sequence by one of its bases.
        return None if origin.definition.bases else False
    if not isinstance(origin, External):
        return None
    if origin.dotted in _WRAPPERS and arguments:
        return _is_sequence(evaluator, arguments[0], item)
    module, _, name = origin.dotted.rpartition(".")
    if module not in _MODULES:
        return None
    if name in _OTHERS:
        return False
    if name not in _SEQUENCES:
        return None
    # The dots of `tuple[Item, ...]` are unknown here.
    held = [_is_item(evaluator, argument, item, 0) for argument in arguments]
    return False if False in held else None if None in held else True


def _is_item(evaluator: Evaluator, value: Value, item: Dataclass, depth: int) -> bool | None:
    """Return True for the dataclass of an item, or one derived from it; None if unknown."""
    origin = value.origin if isinstance(value, Specialised) else value
    if isinstance(origin, Nothing):
        return False
    if isinstance(origin, External):
        if origin.library_name:
            return True if origin.library_name == item.name and item.definition is None else None
        is_other = origin.dotted.startswith("builtins.") and origin.dotted != "builtins.object"
        return False if is_other and depth == 0 else None
    if not isinstance(origin, ClassValue) or depth > _DEPTH:
        return None
    if dataclass_of(evaluator, origin).identity is item.identity:
        return True
    above = [
        _is_item(evaluator, base, item, depth + 1)
        for base in (evaluator.value(base, origin.scope) for base in origin.definition.bases)
        if not (isinstance(base, External) and base.dotted in HARMLESS_BASES)
    ]
    return True if True in above else None if None in above else False
