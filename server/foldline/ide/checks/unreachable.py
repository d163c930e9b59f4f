"""Check for sections and chapters that can never be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.syntax import Block, Constant, Operation, Return, String
from foldline.ide.analysis.values import FunctionValue, LambdaValue, SectionValue
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, at_argument, at_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foldline.ide.analysis.syntax import Expression, Statement
    from foldline.ide.analysis.values import Argument

_DEPTH = 32


def check_unreachable(section: SectionValue) -> Iterator[LazyDiagnostic]:
    """Report a section that is never enabled, and a chapter that never opens or shows nothing."""
    argument = section.arguments.get("enabled")
    never = argument is not None and always_false(argument.value)
    shown: Argument | None
    if section.kind != "chapter":
        if argument is not None and never:
            yield LazyDiagnostic(
                Code.UNREACHABLE_SECTION,
                "The section can never be shown: `enabled` is always false.",
                at_node(argument.node),
            )
        return
    if argument is not None and never:
        message, shown = "The chapter can never open: `enabled` is always false.", argument
    elif _is_empty(section):
        message = (
            "Opening the chapter shows nothing: no section in it is ever enabled."
            if section.children.items
            else "The chapter holds no sections, so opening it shows nothing."
        )
        shown = section.arguments.get("key")
    else:
        return
    where = at_argument(shown) if shown is not None else at_node(section.class_node)
    yield LazyDiagnostic(Code.CHAPTER_NEVER_OPENS, message, where)


def _is_empty(section: SectionValue, depth: int = 0) -> bool:
    """Return True if a section certainly shows nothing."""
    argument = section.arguments.get("enabled")
    if argument is not None and always_false(argument.value):
        return True
    if section.kind != "chapter" or section.opaque or depth > _DEPTH:
        return False
    return section.children.complete and all(
        isinstance(item.value, SectionValue)
        and not (item.maybe or item.value.maybe)
        and _is_empty(item.value, depth + 1)
        for item in section.children.items
    )


def always_false(value: object) -> bool:
    """Return True if a callable certainly returns a false value for any arguments."""
    if isinstance(value, LambdaValue):
        return _is_false(value.definition.body)
    if isinstance(value, FunctionValue) and value.definition.simple:
        returned = list(_returned(value.definition.body))
        # A function without a `return` may raise an error.
        return bool(returned) and all(result is None or _is_false(result) for result in returned)
    return False


def _returned(body: Sequence[Statement]) -> Iterator[Expression | None]:
    for statement in body:
        if isinstance(statement, Return):
            yield statement.value
        elif isinstance(statement, Block):
            yield from _returned(statement.body)


def _is_false(node: Expression) -> bool:
    if isinstance(node, Operation):
        both = _is_false(node.left) and _is_false(node.right)
        one = _is_false(node.left) or _is_false(node.right)
        return (node.operator == "and" and one) or (node.operator == "or" and both)
    if isinstance(node, Constant):
        return node.source == "None" or (node.value is not None and not node.value)
    return isinstance(node, String) and node.source in ('""', "''")
