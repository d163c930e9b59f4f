"""Operators and string methods on known values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.ide.analysis import source_map
from foldline.ide.analysis.memo import STEP, text_cost
from foldline.ide.analysis.values import (
    UNKNOWN,
    ClassValue,
    External,
    Items,
    Nothing,
    Plain,
    PromptValue,
    SectionValue,
    Specialised,
    TemplateValue,
    Text,
    Unknown,
    Value,
)
from foldline.prompts.forms import forms

if TYPE_CHECKING:
    from foldline.ide.analysis.syntax import Call, Constant, Expression, Operation, String

UNION = "typing.Union"
"""The `External` that stands for the origin of `A | B`."""

_CASES = {
    "capitalize": str.capitalize,
    "lower": str.lower,
    "title": str.title,
    "upper": str.upper,
}


def string(node: String) -> Value:
    """Return the value of a string literal; `UNKNOWN` for bytes."""
    if node.mapped is None:
        parts: list[source_map.MappedText] = []
        for literal in node.parts:
            part = source_map.decode(node.anchor, literal)
            if part is None:
                return UNKNOWN
            parts.append(part)
        node.mapped = parts[0] if len(parts) == 1 else source_map.join(parts)
    return Text(node.mapped)


def constant(node: Constant) -> Value:
    """Return the value of a number, a boolean or None."""
    if node.value is not None:
        return Plain(node.value)
    return Nothing() if node.source == "None" else UNKNOWN


def as_text(value: Value, node: Expression) -> source_map.MappedText:
    """Return a value's text inside a concatenated string; its code where the text isn't known."""
    if isinstance(value, Text):
        return value.mapped
    return source_map.code(node.anchor, node.start, node.end)


def as_set(items: Items) -> Items:
    """Return the items as those of a set."""
    certain = items.is_set or (items.complete and not any(item.maybe for item in items.items))
    return Items(items.items, complete=False, is_set=certain)


def item_at(items: Items, index: tuple[Value, ...]) -> Value:
    """`items[index]`."""
    if len(index) == 1 and isinstance(index[0], Plain) and items.complete:
        at = index[0].value
        if isinstance(at, int) and -len(items.items) <= at < len(items.items):
            return items.items[at].value
    return UNKNOWN


def one_of(first: Value, second: Value) -> Value:
    """Merge two possible values: the first one that is informative, marked as uncertain."""
    if first is second or (isinstance(first, External) and first == second):
        return first
    for value in (first, second):
        if isinstance(value, Items):
            items = tuple(replace(item, maybe=True) for item in value.items)
            return Items(items, complete=False)
        if isinstance(value, SectionValue | TemplateValue | PromptValue):
            return replace(value, maybe=True)
        if isinstance(value, External) and value.library_name in forms.NAMES:
            return UNKNOWN  # Never guess a text that a model reads.
        if isinstance(value, ClassValue) or (isinstance(value, External) and _is_class(value)):
            return value
    return UNKNOWN


def union(left: Value, right: Value, node: Operation) -> Value:
    """Return the type `left | right`; `UNKNOWN` if either is something else."""
    types = (External, ClassValue, Specialised, Nothing, Unknown)
    if not (isinstance(left, types) and isinstance(right, types)):
        return UNKNOWN
    if isinstance(left, Unknown) and isinstance(right, Unknown):
        return UNKNOWN
    return Specialised(External(UNION), (left, right), (node.left, node.right))


def _is_class(value: External) -> bool:
    """Return True for a class of the library, rather than a member of its enums."""
    name = value.library_name
    return bool(name) and not name.isupper()


def method_cost(owner: Text, argument: Value | None) -> int:
    """Upper bound of the cost of a string method's result."""
    cost = text_cost(owner.mapped)
    if isinstance(argument, Items):
        cost *= len(argument.items)
        texts = (item.value.mapped for item in argument.items if isinstance(item.value, Text))
        cost += STEP * len(argument.items) + text_cost(*texts)
    return cost


def text_method(owner: Text, name: str, node: Call, argument: Value | None) -> Value:
    """Return the result of a string method; its code where only running it would tell."""
    if name == "strip" and not node.args:
        return Text(owner.mapped.strip())
    if name in _CASES and not node.args and owner.known is not None:
        changed = _CASES[name](owner.known)
        if len(changed) == len(owner.known):
            return Text(source_map.MappedText(changed, owner.mapped.runs))
    if name == "join" and isinstance(argument, Items) and argument.complete:
        parts: list[source_map.MappedText] = []
        for item in argument.items:
            if parts:
                parts.append(owner.mapped)
            parts.append(as_text(item.value, item.node))
        return Text(source_map.join(parts))
    if name == "format":
        return Text(owner.mapped.formatted(source_map.BRACES))
    return Text(source_map.code(node.anchor, node.start, node.end))
